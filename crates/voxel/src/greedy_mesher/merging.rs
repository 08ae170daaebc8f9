use drystone_mesh::{Face, Quad, QuadSink};

use super::ambient_occlusion::Outside;
use super::face_steps::{BitOffsets, QuadSteps};
use super::grid::{Axes, Grid, axes};
use super::layer::{Layer, Patch};
use super::masks::{Layers, Masks};
use super::row::Row;
use super::steps::add_steps;
use crate::chunk_mesh::Sink;
use crate::simd::{Instructions, SingleFaces, Work, widest};
use crate::{Material, MesherOptions};

/// Number of quads written at a time for single faces, regardless of the actual number. The number
/// is unpredictable, and a wrong prediction costs more than some stores. In the worst case, random
/// voxels with a tenth filled, a word has five quads on average.
pub(super) const BATCH: usize = 8;

/// Number of faces collected at a time in rows with few faces.
const FEW: usize = 4;

/// Minimum number of single faces in a word of 64 for which testing all bits is faster than searching
/// for the set ones.
const DENSE: u32 = 20;

/// Maximum number of faces collected before their quads are written.
const FOUND: usize = 128;

/// Meshes the faces of masks, in the order of the face directions of `axes`.
pub(super) fn mesh_directions<W: Row>(
    masks: &Masks<'_, W>,
    voxels: &[Material],
    (axes, options): (Axes, MesherOptions),
    [opaque, clear]: &mut [Sink<'_>; 2],
) {
    if masks.exposed == 0 {
        return;
    }
    let shaded = options.ambient_occlusion;
    for face in Face::ALL {
        let (face, sinks) = (axes.grid_face(face), [&mut *opaque, &mut *clear]);
        let work = MeshFace { masks, voxels, face, axes, steps: options.steps, sinks };
        if shaded { widest(Shaded::<true, W>(work)) } else { widest(Shaded::<false, W>(work)) }
    }
}

struct MeshFace<'a, 's, 'o, W: Row> {
    masks: &'a Masks<'s, W>,
    voxels: &'a [Material],
    /// Direction in the grid.
    face: Face,
    axes: Axes,
    /// Whether opaque quads have steps.
    steps: bool,
    /// Sinks for opaque and for translucent quads.
    sinks: [&'a mut Sink<'o>; 2],
}

/// Meshes a face direction, with ambient occlusion or without.
struct Shaded<'a, 's, 'o, const SHADED: bool, W: Row>(MeshFace<'a, 's, 'o, W>);

impl<const SHADED: bool, W: Row> Work for Shaded<'_, '_, '_, SHADED, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let Self(work) = self;
        if !I::CONSTANT_AXES {
            return work.mesh::<ANY, SHADED, I>();
        }
        match work.face.axis() {
            0 => work.mesh::<0, SHADED, I>(),
            1 => work.mesh::<1, SHADED, I>(),
            _ => work.mesh::<2, SHADED, I>(),
        }
    }
}

impl<W: Row> MeshFace<'_, '_, '_, W> {
    /// Meshes the face direction, layer by layer from back to front.
    #[inline(always)]
    fn mesh<const AXIS: usize, const SHADED: bool, I: Instructions>(mut self) {
        let face = self.face;
        let axis = axis_or_any::<AXIS>(face);
        let Masks { grid, has_translucent, ref layers, .. } = *self.masks;
        let layers = &layers[axis];
        let offsets = BitOffsets::<W>::new(axis, &grid);
        let [bit_count, row_count] = grid.layer_extents(axis);
        let layer_count = grid.extents[axis];
        for step in 0..layer_count {
            let (at, beyond) = if face.is_positive() {
                (step, step as isize + 1)
            } else {
                let at = layer_count - 1 - step;
                (at, at as isize - 1)
            };
            let visible = layers.visible(row_count, at, beyond, has_translucent);
            for (kind, (visible, sink)) in visible.iter().zip(&mut self.sinks).enumerate() {
                let any = visible.as_ref().iter().fold(W::ZERO, |any, &row| any | row);
                if any == W::ZERO {
                    continue;
                }
                let outside = SHADED.then(|| Outside::new(layers, beyond, bit_count, face));
                let [along, across] =
                    [&layers.along, &layers.across].map(|mask| Layers::rows(mask, at));
                // Capacity for all faces, and for the surplus of a batch.
                let output = sink.reserve(bit_count * row_count + BATCH);
                let voxels = LayerVoxels { voxels: self.voxels, grid: &grid, face, at };
                let faces = LayerFaces { visible, along, across, outside, offsets: &offsets };
                let count = write_layer::<AXIS, SHADED, W, I>(faces, voxels, output);
                if self.steps && kind == 0 {
                    let quads = output.get_mut(..count).unwrap_or_default();
                    add_steps(face, visible.as_ref(), [bit_count, row_count], quads);
                }
                if self.axes != Axes::SAME {
                    output.iter_mut().take(count).for_each(|quad| *quad = self.axes.quad(*quad));
                }
                sink.commit(self.axes.face(face), count);
            }
        }
    }
}

/// Voxels with their halo, and the layer of faces to mesh: its direction and its place.
#[derive(Clone, Copy)]
pub(super) struct LayerVoxels<'a> {
    pub voxels: &'a [Material],
    pub grid: &'a Grid,
    pub face: Face,
    pub at: usize,
}

/// Visible faces of a layer, and the masks that decide which of them can join.
pub(super) struct LayerFaces<'a, W: Row> {
    pub visible: &'a W::Slice,
    /// Faces with the material of the previous face in their row.
    pub along: &'a [W],
    /// Faces with the material of the face in the previous row.
    pub across: &'a [W],
    /// Present if faces are shaded.
    pub outside: Option<Outside<'a, W>>,
    /// Offsets for the axis of the layer.
    pub offsets: &'a BitOffsets<W>,
}

/// Any axis: that of the face direction, a value instead of a constant. This is slower and less code.
pub(super) const ANY: usize = 3;

#[inline(always)]
fn axis_or_any<const AXIS: usize>(face: Face) -> usize {
    if AXIS == ANY { face.axis() } else { AXIS }
}

/// Writes the quads of a layer perpendicular to `AXIS`, or with [`ANY`] to the axis of its faces, to
/// `output`. Its length must be the number of faces plus [`BATCH`]. Returns the number of quads.
///
/// A constant axis and a constant `SHADED` make the increments of each quad constants. The direction along
/// the axis is a value: as a constant it would double the code.
#[inline(always)]
pub(super) fn write_layer<const AXIS: usize, const SHADED: bool, W: Row, I: Instructions>(
    faces: LayerFaces<'_, W>,
    of: LayerVoxels<'_>,
    output: &mut [Quad],
) -> usize {
    let LayerFaces { visible, along, across, outside, offsets } = faces;
    let mut layer = Layer::new::<I>(visible, along, across, outside.as_ref());
    let first = Quad::new([0; 3], [1, 1], of.face, 0).to_bits();
    let mut quads = LayerQuads::<AXIS, SHADED, W> { of, first, outside, output, count: 0 };
    if !quads.push_rows::<I>(&layer) {
        match layer.few_single_rows(of.grid.layer_extents(quads.axis())[1]) {
            Some(rows) => quads.push_few(&layer, rows),
            None => quads.push_single::<I>(&layer, offsets),
        }
    }
    layer.merge(|patch| quads.push(patch));
    quads.count
}

/// Quads of a layer perpendicular to `AXIS`, or with [`ANY`] to the axis of its faces.
struct LayerQuads<'a, const AXIS: usize, const SHADED: bool, W: Row> {
    of: LayerVoxels<'a>,
    /// Quad of one face at the origin, without a material.
    first: u64,
    outside: Option<Outside<'a, W>>,
    output: &'a mut [Quad],
    count: usize,
}

impl<const AXIS: usize, const SHADED: bool, W: Row> LayerQuads<'_, AXIS, SHADED, W> {
    const STEPS: QuadSteps = QuadSteps::ALL[AXIS % ANY];

    #[inline(always)]
    fn axis(&self) -> usize {
        axis_or_any::<AXIS>(self.of.face)
    }

    #[inline(always)]
    fn steps(&self) -> QuadSteps {
        // A constant of its own: the compiler does not replace an element of the array by its value.
        if AXIS == ANY { QuadSteps::ALL[self.of.face.axis()] } else { Self::STEPS }
    }

    /// Returns the distances of voxels that are adjacent along the bits and along the rows of the layer.
    #[inline(always)]
    fn strides(&self) -> [usize; 2] {
        axes(self.axis()).map(|axis| self.of.grid.stride(axis))
    }

    /// Pushes a quad for each single face, row by row. Returns false, without a quad, if the instructions
    /// have no fast way, or if there are too few voxels behind the last row or too little space.
    #[inline(always)]
    fn push_rows<I: Instructions>(&mut self, layer: &Layer<W>) -> bool {
        const { assert!(BATCH > SingleFaces::<'_, W>::MAX_SURPLUS) };
        if SHADED && layer.single_faces().as_ref().iter().all(|&row| row == W::ZERO) {
            return true;
        }
        let LayerVoxels { voxels, face, .. } = self.of;
        let ([bit_stride, row_stride], steps) = (self.strides(), self.steps());
        let outside = self.outside.as_ref().filter(|_| SHADED);
        let faces = SingleFaces::<'_, W> {
            rows: layer.single_faces(),
            first: self.quad(0, 0),
            bit_shift: steps.bit.trailing_zeros(),
            row_shift: steps.row.trailing_zeros(),
            material_shift: steps.material.trailing_zeros(),
            occlusion_shift: steps.occlusion.trailing_zeros(),
            occlusion: outside.map(|outside| outside.planes(face)),
            voxels: voxels.get(self.voxel(0, 0)..).unwrap_or_default(),
            bit_stride,
            row_stride,
        };
        let written =
            I::write_single(&faces, self.output.get_mut(self.count..).unwrap_or_default());
        self.count += written.unwrap_or(0);
        written.is_some()
    }

    /// Pushes a quad for each single face, if few rows have any. First collects the positions of
    /// the faces, a few per row at a time, then writes all quads. This avoids branches that depend
    /// on the number of faces per row.
    #[inline(always)]
    fn push_few(&mut self, layer: &Layer<W>, mut rows: u64) {
        let mut found = [0_u16; FOUND];
        let mut count = 0;
        while rows != 0 {
            let row = rows.trailing_zeros();
            rows &= rows - 1;
            let mut bits = layer.single(row as usize);
            let mut left = bits.count_ones() as usize;
            loop {
                let output = found.get_mut(count..);
                let Some(positions) = output.and_then(|output| output.first_chunk_mut::<FEW>())
                else {
                    return;
                };
                for position in positions {
                    *position = (row * W::ROWS as u32 + bits.trailing_zeros() % 64) as u16;
                    bits &= bits.wrapping_sub(1);
                }
                count += left.min(FEW);
                if count >= FOUND - FEW {
                    self.push_found(&found[..count]);
                    count = 0;
                }
                if left <= FEW {
                    break;
                }
                left -= FEW;
            }
        }
        self.push_found(&found[..count]);
    }

    /// Pushes a quad for each collected face, given as row and bit in one number.
    #[inline(always)]
    fn push_found(&mut self, found: &[u16]) {
        let ([bit_stride, row_stride], steps) = (self.strides(), self.steps());
        let (first_quad, first_voxel) = (self.quad(0, 0), self.voxel(0, 0));
        let Some(voxels) = self.of.voxels.get(first_voxel..) else { return };
        let Some(output) = self.output.get_mut(self.count..) else { return };
        for (quad, &at) in output.iter_mut().zip(found) {
            let [row, bit] = [u32::from(at) / W::ROWS as u32, u32::from(at) % W::ROWS as u32];
            let voxel = voxels.get(row as usize * row_stride + bit as usize * bit_stride);
            let Some(material) = voxel else { return };
            let bits = first_quad
                + u64::from(row) * steps.row
                + u64::from(bit) * steps.bit
                + u64::from(material.0) * steps.material
                + Self::ambient_occlusion(self.outside.as_ref(), row, bit) * steps.occlusion;
            *quad = Quad::from_bits(bits);
        }
        self.count += found.len();
    }

    /// Pushes a quad for each single face.
    #[inline(always)]
    fn push_single<I: Instructions>(&mut self, layer: &Layer<W>, offsets: &BitOffsets<W>) {
        for row in (0..W::ROWS).step_by(64 / W::ROWS) {
            let word = layer.single(row);
            let is_dense = !SHADED && word.count_ones() >= DENSE;
            if word != 0 && !(is_dense && self.push_dense::<I>(word, row)) {
                self.push_word(word, row, offsets);
            }
        }
    }

    /// Pushes a quad for each bit of a word whose first row is `row`, four bits at a time. Returns
    /// false, without a quad, if there are too few voxels behind these rows or too little space.
    #[inline(always)]
    fn push_dense<I: Instructions>(&mut self, word: u64, row: usize) -> bool {
        let [bit_stride, row_stride] = self.strides();
        let (first_quad, steps) = (self.quad(row as u32, 0), self.steps());
        let voxels = self.of.voxels.get(self.voxel(row as u32, 0)..).unwrap_or_default();
        let output = self.output.get_mut(self.count..);
        let output = output.and_then(|output| output.first_chunk_mut::<{ 64 + 4 }>());
        let (row_count, row_len) = (64 / W::ROWS, W::ROWS * bit_stride);
        let (Some(output), true) = (output, voxels.len() >= (row_count - 1) * row_stride + row_len)
        else {
            return false;
        };
        let mut count = 0;
        for row in 0..row_count {
            let bits = word >> (row * W::ROWS);
            let first = first_quad + row as u64 * steps.row;
            let mut quads = [first; 4];
            for (i, quad) in quads.iter_mut().enumerate() {
                *quad += i as u64 * steps.bit;
            }
            let fours = voxels[row * row_stride..][..row_len].chunks_exact(4 * bit_stride);
            for (at, four) in fours.enumerate() {
                // Loops: compilers do not always inline the closures of `map`.
                let mut all = quads;
                for (i, quad) in all.iter_mut().enumerate() {
                    *quad += u64::from(four[i * bit_stride].0) * steps.material;
                }
                let mask = (bits >> (4 * at) & 15) as usize;
                let count_now = count.min(64);
                if let Some(to) = output[count_now..].first_chunk_mut() {
                    I::select_4(&all, mask, to);
                }
                count += mask.count_ones() as usize;
                for quad in &mut quads {
                    *quad += 4 * steps.bit;
                }
            }
        }
        self.count += count;
        true
    }

    /// Pushes a quad for each bit of a word whose first row is `row`, one batch at a time.
    #[inline(always)]
    fn push_word(&mut self, mut word: u64, row: usize, offsets: &BitOffsets<W>) {
        let (voxels, strides, steps) = (self.of.voxels, self.strides(), self.steps());
        let first_quad = self.quad(row as u32, 0);
        let Some(voxels) = voxels.get(self.voxel(row as u32, 0)..) else { return };
        let mut left = word.count_ones() as usize;
        loop {
            let output = self.output.get_mut(self.count..);
            let Some(batch) = output.and_then(|output| output.first_chunk_mut::<BATCH>()) else {
                return;
            };
            for quad in batch {
                // After the last bit, any valid face can be written.
                let at = word.trailing_zeros();
                let offset = offsets.at(&steps, strides, at);
                let at = at % u64::BITS;
                let [row, bit] = [row as u32 + at / W::ROWS as u32, at % W::ROWS as u32];
                let Some(material) = voxels.get(offset.voxel as usize) else { return };
                let material = u64::from(material.0) * steps.material;
                let occlusion = Self::ambient_occlusion(self.outside.as_ref(), row, bit);
                let bits = first_quad + u64::from(offset.quad) + material;
                *quad = Quad::from_bits(bits + occlusion * steps.occlusion);
                word &= word.wrapping_sub(1);
            }
            self.count += left.min(BATCH);
            if left <= BATCH {
                break;
            }
            left -= BATCH;
        }
    }

    /// Pushes the quad of a patch.
    #[inline(always)]
    fn push(&mut self, patch: Patch) {
        let steps = self.steps();
        let voxel = self.of.voxels.get(self.voxel(patch.row, patch.bit));
        let material = u64::from(voxel.copied().unwrap_or(Material::AIR).0);
        let bits = self.quad(patch.row, patch.bit)
            + u64::from(patch.bit_count - 1) * steps.bit_count
            + u64::from(patch.row_count - 1) * steps.row_count
            + material * steps.material
            + Self::ambient_occlusion(self.outside.as_ref(), patch.row, patch.bit)
                * steps.occlusion;
        if let Some(quad) = self.output.get_mut(self.count) {
            *quad = Quad::from_bits(bits);
            self.count += 1;
        }
    }

    /// Returns the ambient occlusion of a face.
    #[inline(always)]
    fn ambient_occlusion(outside: Option<&Outside<'_, W>>, row: u32, bit: u32) -> u64 {
        match outside {
            Some(outside) if SHADED => u64::from(outside.occlusion(row, bit)),
            _ => 0,
        }
    }

    /// Returns the bits of a quad of one face, without a material.
    #[inline(always)]
    fn quad(&self, row: u32, bit: u32) -> u64 {
        let steps = self.steps();
        self.first
            + self.of.at as u64 * steps.layer
            + u64::from(row) * steps.row
            + u64::from(bit) * steps.bit
    }

    /// Returns the index of a voxel in the voxels with their halo.
    #[inline(always)]
    fn voxel(&self, row: u32, bit: u32) -> usize {
        let LayerVoxels { grid, at, .. } = self.of;
        let [bit_stride, row_stride] = self.strides();
        // The halo shifts all positions by one.
        (at + 1) * grid.stride(self.axis())
            + (row as usize + 1) * row_stride
            + (bit as usize + 1) * bit_stride
    }
}
