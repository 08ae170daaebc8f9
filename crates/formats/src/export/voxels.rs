//! Portions of voxel sources: the visible faces of one chunk.

use std::sync::{Mutex, PoisonError};

use drystone_mesh::{Face as Direction, Quad};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, NodePos, PaddedChunk,
    VoxelBox,
};

use super::ExportVoxels;
use super::closing::{Corners, Outline, POINTS};
use super::portion::{Attributes, Face, Palette, Patch, Placement, Portion, Vertex};
use crate::error::SourceError;

/// Distance of a vertex from the border of its patch, in texels. Rounding then never selects a
/// texel of another patch.
const INSET_TEXELS: f32 = 1.0 / 32.0;

/// Rule for the colours of faces that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergedColors {
    /// One material in each face.
    None,
    /// All opaque materials, with their colours in patches of a texture.
    Baked,
    /// All materials, as one solid without colours.
    All,
}

/// Options of a [`VoxelPortions`].
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshOptions {
    pub(super) colors: MergedColors,
    pub(super) attributes: Attributes,
    pub(super) placement: Placement,
}

/// Maker of portions, for any number of threads.
pub(super) struct VoxelPortions<'a> {
    voxels: &'a ExportVoxels<'a>,
    palette: Palette,
    options: MeshOptions,
    /// Material of all merged voxels.
    merged: Material,
    table: MaterialTable,
    /// Buffers of threads that make no portion at the moment.
    meshers: Mutex<Vec<ChunkMesher>>,
}

impl<'a> VoxelPortions<'a> {
    pub(super) fn new(voxels: &'a ExportVoxels<'a>, options: MeshOptions) -> Self {
        let table = match options.colors {
            // In an empty table, every material is opaque.
            MergedColors::All => MaterialTable::new(),
            // Exports have no textures, so cut-out voxels have no holes.
            _ => voxels.materials.without_cut_outs(),
        };
        let is_opaque = |&(material, _): &(Material, _)| !table.is_translucent(material);
        let merged = table.iter().skip(1).find(is_opaque).map_or(Material(1), |(it, _)| it);
        let (palette, meshers) = (face_palette(voxels.materials), Mutex::default());
        Self { voxels, palette, options, merged, table, meshers }
    }

    /// Returns the portion of a node, or `None` if it has no faces.
    pub(super) fn make(&self, node: NodePos) -> Result<Option<Portion>, SourceError> {
        let center = self.voxels.chunk(node)?;
        if center.is_empty() {
            return Ok(None);
        }
        let lock = || self.meshers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mesher = lock().pop().unwrap_or_else(ChunkMesher::new);
        let made = mesher.mesh(self, node, &center);
        lock().push(mesher);
        made
    }

    /// Returns the material that a voxel is meshed with.
    fn meshed(&self, material: Material) -> Material {
        let is_merged = match self.options.colors {
            MergedColors::None => false,
            MergedColors::Baked => !self.table.is_translucent(material),
            MergedColors::All => true,
        };
        if is_merged && !material.is_air() { self.merged } else { material }
    }
}

/// Returns the colours of a table, by material.
pub(super) fn palette(materials: &MaterialTable) -> Palette {
    let mut palette = Palette::default();
    for (_, kind) in materials.iter() {
        palette.push(&kind.name, kind.color);
        palette.emissions.push(kind.emission);
    }
    palette
}

/// Returns the colours of a table, by material, with those of face directions behind them. Beyond
/// 65,536 colours, all faces of a material have its common colour.
pub(super) fn face_palette(materials: &MaterialTable) -> Palette {
    const MAX_COLORS: usize = 1 << 16;
    let mut palette = palette(materials);
    for (material, kind) in materials.iter().filter(|(_, kind)| kind.faces.is_some()) {
        let colors = Direction::ALL.map(|face| kind.face_color(face));
        let mut added = vec![(kind.color, u32::from(material.0))];
        let faces = colors.map(|color| {
            if let Some((_, index)) = added.iter().find(|(known, _)| *known == color) {
                return *index;
            }
            if palette.colors.len() == MAX_COLORS {
                return u32::from(material.0);
            }
            let index = palette.colors.len() as u32;
            palette.push(&kind.name, color);
            palette.emissions.push(kind.emission);
            added.push((color, index));
            index
        });
        palette.faces.insert(material.0.into(), faces);
    }
    palette
}

impl ExportVoxels<'_> {
    /// Returns the chunk at `node`. Voxels outside the box are air.
    pub(super) fn chunk(&self, node: NodePos) -> Result<Chunk, SourceError> {
        let Some(bounds) = self.bounds else { return self.read_whole(node) };
        if is_outside(node, bounds) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        let [low, high] = inside(node, bounds);
        let mut chunk = self.read_whole(node)?;
        for axis in 0..3 {
            let mut outside = |start: u32, end: u32| {
                let mut size = [Chunk::SIDE; 3];
                size[axis] = end - start;
                let mut corner = [0; 3];
                corner[axis] = start as u8;
                chunk.fill_box(LocalPos::new(corner[0], corner[1], corner[2]), size, Material::AIR);
            };
            outside(0, low[axis]);
            outside(high[axis], Chunk::SIDE);
        }
        Ok(chunk)
    }

    /// Reads the chunk at `node`. [Partial materials](MaterialTable::filled_to) fill their voxel.
    fn read_whole(&self, node: NodePos) -> Result<Chunk, SourceError> {
        let (chunk, materials) = ((self.read)(node)?, self.materials);
        if node.level == 0 || !chunk.iter().any(|(_, it)| materials.whole(it) != it) {
            return Ok(chunk);
        }
        Ok(Chunk::from_fn(chunk.side(), |at| materials.whole(chunk.get(at))))
    }
}

/// Whether no voxel of a node touches a box of level 0.
pub(super) fn is_outside(node: NodePos, bounds: VoxelBox) -> bool {
    let [low, high] = inside(node, bounds);
    (0..3).any(|axis| low[axis] >= high[axis])
}

/// Returns the voxels of a node that touch a box of level 0, in coordinates of the chunk: the lowest
/// one, and the end.
fn inside(node: NodePos, bounds: VoxelBox) -> [[u32; 3]; 2] {
    let unit = i64::from(node.voxel_units());
    let [min, max] = [bounds.min, bounds.max].map(|corner| corner.to_array().map(i64::from));
    let chunk = [node.chunk.x, node.chunk.y, node.chunk.z].map(i64::from);
    let side = i64::from(Chunk::SIDE);
    let local = |voxel: i64, axis: usize| (voxel - chunk[axis] * side).clamp(0, side) as u32;
    // The end is rounded up.
    let end = |axis: usize| -(-max[axis]).div_euclid(unit);
    [
        [0, 1, 2].map(|axis| local(min[axis].div_euclid(unit), axis)),
        [0, 1, 2].map(|axis| local(end(axis), axis)),
    ]
}

/// Buffers of one thread.
struct ChunkMesher {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
    corners: Corners,
    outline: Outline,
    shared: SharedVertices,
}

impl ChunkMesher {
    fn new() -> Self {
        Self {
            padded: PaddedChunk::new(),
            mesher: GreedyMesher::new(),
            mesh: ChunkMesh::new(),
            corners: Corners::new(),
            outline: Outline::default(),
            shared: SharedVertices::new(),
        }
    }

    fn mesh(
        &mut self,
        from: &VoxelPortions<'_>,
        node: NodePos,
        center: &Chunk,
    ) -> Result<Option<Portion>, SourceError> {
        let mut around = [const { None }; 27];
        for offset in PaddedChunk::NEIGHBORS {
            if let Some(neighbor) = node.offset(offset) {
                around[index(offset)] = Some(from.voxels.chunk(neighbor)?);
            }
        }
        let Self { padded, mesher, mesh, .. } = self;
        padded.fill(center, |offset| around[index(offset)].as_ref());
        // Shapes are exported as cubes.
        padded.remove_thin(&from.table);
        if from.options.colors == MergedColors::None {
            mesher.mesh(padded, &from.table, mesh);
        } else {
            let merged = PaddedChunk::from_fn(Chunk::SIDE, |at| from.meshed(padded.get(at)));
            mesher.mesh(&merged, &from.table, mesh);
        }
        if self.mesh.is_empty() {
            return Ok(None);
        }
        self.corners.collect(&self.mesh);
        self.shared.clear();
        let [x, y, z] = [node.chunk.x, node.chunk.y, node.chunk.z];
        let mut portion = Portion { name: format!("chunk {x} {y} {z}"), ..Portion::default() };
        let quads = std::mem::take(&mut self.mesh);
        for (quad, _) in quads.iter() {
            self.push(quad, from, node, &mut portion);
        }
        self.mesh = quads;
        Ok(Some(portion))
    }

    /// Appends the polygon of a quad.
    fn push(&mut self, quad: Quad, from: &VoxelPortions<'_>, node: NodePos, to: &mut Portion) {
        self.corners.outline(quad, &self.padded, &mut self.outline);
        let material = from.palette.of_face(quad.material().into(), quad.face());
        let is_baked = from.options.colors == MergedColors::Baked;
        let color = if is_baked { to.patches.len() as u32 } else { material };
        let patch = is_baked.then(|| PatchPlan::of(quad, &self.padded, &from.palette));
        let normal = quad.face().unwrap_or(Direction::NegX).normal().map(|n| n as f32);
        let corners: Vec<u32> = self
            .outline
            .points()
            .map(|point| {
                let unit = f64::from(node.voxel_units());
                let chunk = [node.chunk.x, node.chunk.y, node.chunk.z];
                let at = [0, 1, 2].map(|axis| {
                    let origin = f64::from(chunk[axis]) * f64::from(Chunk::SIDE);
                    (origin + f64::from(point[axis])) * unit
                });
                let placement = from.options.placement;
                let vertex = Vertex {
                    position: placement.position(at),
                    normal: placement.turned(normal),
                    color,
                };
                let count = to.vertices.len();
                let attributes = from.options.attributes;
                let number = self.shared.insert(point, vertex, attributes, &mut to.vertices);
                if let Some(patch) = patch.as_ref().filter(|_| to.vertices.len() > count) {
                    to.texels.push(patch.texel(point));
                }
                number
            })
            .collect();
        to.patches.extend(patch.map(|patch| patch.patch));
        let is_translucent =
            from.options.colors != MergedColors::All && from.palette.is_translucent(material);
        let (color, direction) = (material, quad.face());
        let mut face = Face { corners: [Face::NONE; 4], color, is_translucent, direction };
        if let (true, &[a, b, c, d]) = (self.outline.is_plain(), corners.as_slice()) {
            face.corners = [a, b, c, d];
            to.faces.push(face);
            return;
        }
        self.outline.triangulate(|triangle| {
            let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
            face.corners = [a, b, c, Face::NONE];
            to.faces.push(face);
        });
    }
}

/// Index of a neighbour at an offset of −1, 0 or 1 along each axis.
const fn index([x, y, z]: [i32; 3]) -> usize {
    (x + 1 + 3 * (y + 1) + 9 * (z + 1)) as usize
}

/// Vertices by their point of the grid, so that equal ones are stored once.
struct SharedVertices {
    /// First vertex at each point, plus 1.
    first: Vec<u32>,
    /// Next vertex at the same point, plus 1, by vertex.
    next: Vec<u32>,
}

impl SharedVertices {
    fn new() -> Self {
        Self { first: vec![0; POINTS * POINTS * POINTS], next: Vec::new() }
    }

    fn clear(&mut self) {
        self.first.fill(0);
        self.next.clear();
    }

    /// Returns the number of a vertex. Appends it if there is none with these attributes.
    fn insert(
        &mut self,
        [x, y, z]: [u32; 3],
        vertex: Vertex,
        attributes: Attributes,
        vertices: &mut Vec<Vertex>,
    ) -> u32 {
        let first = &mut self.first[(x + POINTS as u32 * (y + POINTS as u32 * z)) as usize];
        let mut at = *first;
        while let Some(number) = at.checked_sub(1) {
            let known = vertices[number as usize];
            let is_equal = (!attributes.normals || known.normal == vertex.normal)
                && (!attributes.colors || known.color == vertex.color);
            if is_equal {
                return number;
            }
            at = self.next[number as usize];
        }
        let number = vertices.len() as u32;
        vertices.push(vertex);
        self.next.push(*first);
        *first = number + 1;
        number
    }
}

/// Patch of a quad, and where the quad's points are in it.
struct PatchPlan {
    patch: Patch,
    origin: [u32; 3],
    /// Axes of the patch's width and height.
    axes: [usize; 2],
}

impl PatchPlan {
    /// Reads the colours below a quad. If there is only one, the patch is one texel.
    fn of(quad: Quad, padded: &PaddedChunk, palette: &Palette) -> Self {
        let face = quad.face().unwrap_or(Direction::NegX);
        let ([mut u, mut v], [mut width, mut height]) = (face.span_axes(), quad.size());
        if width < height {
            ((u, v), (width, height)) = ((v, u), (height, width));
        }
        let color = |across: u32, along: u32| {
            // Padded coordinates are larger by one.
            let mut at = quad.position().map(|c| c + 1);
            at[u] += across;
            at[v] += along;
            // A palette has at most 65,536 colours.
            palette.of_face(padded.get(at).0.into(), Some(face)) as u16
        };
        let rows = (0..height).flat_map(|along| (0..width).map(move |across| (across, along)));
        let mut colors: Vec<u16> = rows.map(|(across, along)| color(across, along)).collect();
        let mut size = [width, height];
        if colors.iter().all(|it| *it == colors[0]) {
            (colors, size) = (vec![colors[0]], [1, 1]);
        }
        Self { patch: Patch { size, colors }, origin: quad.position(), axes: [u, v] }
    }

    /// Returns the position of a point in the patch, in texels.
    fn texel(&self, point: [u32; 3]) -> [f32; 2] {
        if self.patch.size == [1, 1] {
            return [0.5; 2];
        }
        [0, 1].map(|axis| {
            let along = point[self.axes[axis]] - self.origin[self.axes[axis]];
            (along as f32).clamp(INSET_TEXELS, self.patch.size[axis] as f32 - INSET_TEXELS)
        })
    }
}
