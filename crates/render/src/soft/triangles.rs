//! Triangles of models: from vertices and indices to the colours of pixels. The arithmetic is that
//! of `wgpu_device/triangles.wgsl`, in the same order.

use drystone_pool::DrawCommand;
use glam::{DVec3, Vec2, Vec3A, Vec4};

use super::{
    bins::Bins,
    clip::Polygon,
    facet::Facet,
    geometry::SoftGeometry,
    occlusion::PixelKind,
    shade::unpacked,
    textures::{Corner, Textures},
    threads,
    triangle::Triangle,
    vertex::VertexStage,
    viewport::{Containment, Viewport},
    wire::Wire,
};
use crate::{
    buffers::BufferKind,
    frame::Frame,
    passes::Batch,
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

/// Number of triangles that one thread sets up at a time.
const TASK_TRIANGLES: usize = 2048;
/// Number of tasks whose triangles are set up before any is drawn; limits the memory.
const BATCH_TASKS: usize = 16;

/// The triangles of one task, in order.
#[derive(Default)]
pub(super) struct TriangleBins {
    bins: Bins,
    /// Facets of the triangles, indexed by `word` of a triangle's kind.
    facets: Vec<Facet>,
    triangles: Vec<Triangle>,
}

impl TriangleBins {
    /// The triangles that touch a band, in order.
    pub(super) fn of_band(&self, band: usize) -> impl Iterator<Item = (&Triangle, &Facet)> {
        let facet = |triangle: &Triangle| &self.facets[triangle.kind.word as usize];
        self.bins.of_band(band).map(move |triangle| (triangle, facet(triangle)))
    }
}

/// Some triangles of one draw.
struct Piece<'a> {
    vertices: &'a [TriangleVertex],
    indices: &'a [u32],
    transform: TriangleTransform,
    is_textured: bool,
}

/// Data for the corners of every triangle.
pub(super) struct TriangleStage<'a> {
    corners: VertexStage,
    viewport: &'a Viewport,
    wire: Option<Wire>,
    textures: &'a Textures,
}

impl<'a> TriangleStage<'a> {
    pub(super) fn new(frame: &Frame, viewport: &'a Viewport, textures: &'a Textures) -> Self {
        // Triangles of a model share their corners: there is no seam to close.
        let corners = VertexStage::new(frame, false);
        Self { corners, viewport, wire: Wire::new(frame), textures }
    }

    /// Sets up the batches' triangles in groups of limited size, and draws them.
    pub(super) fn rasterise(
        &self,
        batches: &[Batch<'_, SoftGeometry>],
        bins: &mut Vec<TriangleBins>,
        mut draw: impl FnMut(&[TriangleBins]),
    ) {
        let mut pieces = batches.iter().flat_map(pieces);
        loop {
            let tasks: Vec<Piece<'_>> = pieces.by_ref().take(BATCH_TASKS).collect();
            if tasks.is_empty() {
                return;
            }
            if bins.len() < tasks.len() {
                bins.resize_with(tasks.len(), TriangleBins::default);
            }
            let used = &mut bins[..tasks.len()];
            threads::for_each(used, |task, bins| self.fill(bins, &tasks[task]));
            draw(used);
        }
    }

    fn fill(&self, bins: &mut TriangleBins, piece: &Piece<'_>) {
        let TriangleBins { bins, facets, triangles } = bins;
        facets.clear();
        triangles.clear();
        let TriangleTransform { origin, scale } = piece.transform;
        let origin = self.corners.origin(origin);
        for indices in piece.indices.chunks_exact(3) {
            let vertex = |n: usize| piece.vertices.get(indices[n] as usize);
            // Triangles with indices out of range are not drawn.
            let (Some(a), Some(b), Some(c)) = (vertex(0), vertex(1), vertex(2)) else { continue };
            let local = [a, b, c].map(|vertex| Vec3A::from(vertex.position) * scale);
            let relative = local.map(|local| self.corners.relative(origin, local));
            let clip = relative.map(|relative| self.corners.to_clip(relative));
            let (first, is_back) = (triangles.len(), is_back_facing(clip));
            let kind = PixelKind { word: facets.len() as u32, ..PixelKind::default() };
            self.push(clip, is_back, kind, triangles);
            if triangles.len() > first {
                let heights = self.wire.as_ref().map(|wire| wire.heights(relative, local));
                let heights = heights.unwrap_or_default();
                let corners = [a, b, c].map(|vertex| self.surface(vertex, piece.is_textured));
                let plane = (relative[1] - relative[0]).cross(relative[2] - relative[0]);
                let own = facet(clip, ([a, b, c], corners), is_back);
                facets.push(Facet { heights, plane, ..own });
            }
        }
        bins.refill(triangles.drain(..), self.viewport);
    }

    /// The colour of a vertex, and its position in its textures.
    fn surface(&self, vertex: &TriangleVertex, is_textured: bool) -> Corner {
        let corner = is_textured.then(|| self.textures.corner(u32::from_le_bytes(vertex.color)));
        let plain = Corner { uv: Vec2::ZERO, color: unpacked(vertex.color), material: 0 };
        corner.flatten().unwrap_or(plain)
    }

    /// Appends the visible parts of a triangle.
    ///
    /// Snapping can turn over slivers that are left by clipping. They overlap their neighbours and
    /// are skipped.
    fn push(&self, clip: [Vec4; 3], is_back: bool, kind: PixelKind, triangles: &mut Vec<Triangle>) {
        let viewport = self.viewport;
        let wound = |[a, b, c]: [Vec4; 3], is_back: bool| {
            let [a, b, c] = [a, b, c].map(|corner| viewport.snap(corner));
            let corners = if is_back { [a, c, b] } else { [a, b, c] };
            Triangle::new(corners, kind, viewport)
        };
        let [a, b, c] = clip;
        match viewport.containment(&[a, b, c, c]) {
            Containment::Outside => {}
            Containment::Inside => {
                triangles.extend(wound(clip, false).or_else(|| wound(clip, true)));
            }
            Containment::Across => {
                let polygon = Polygon::clipped(clip, viewport.guard);
                triangles.extend(polygon.triangles().filter_map(|part| wound(part, is_back)));
            }
        }
    }
}

/// Whether the camera sees the back of a triangle, by the volume that its corners' clip x, y and w
/// span. Correct also for corners behind the camera, and for all parts after clipping.
fn is_back_facing(clip: [Vec4; 3]) -> bool {
    let [a, b, c] = clip.map(homogeneous);
    a.dot(b.cross(c)) < 0.0
}

/// Homogeneous position of a corner in the picture: x and y, times w, and w.
fn homogeneous(clip: Vec4) -> DVec3 {
    clip.truncate().as_dvec3().with_z(clip.w.into())
}

/// All triangles of a batch, draw by draw in order, in pieces of equal work.
fn pieces<'a>(batch: &'a Batch<'a, SoftGeometry>) -> impl Iterator<Item = Piece<'a>> {
    let is_drawn = batch.geometry.kind().is_drawn_by(batch.indices.map(SoftGeometry::kind));
    let indices =
        batch.indices.filter(|_| is_drawn && batch.geometry.kind() == BufferKind::Vertices);
    indices.into_iter().flat_map(move |indices| {
        batch.commands.iter().flat_map(move |command| {
            let vertices = usize::try_from(command.base_vertex).ok();
            let vertices = vertices.and_then(|first| batch.geometry.vertices().get(first..));
            let indices = indices_of(indices.indices(), command);
            let slots = if indices.is_empty() { 0..0 } else { batch.geometry.slots_of(command) };
            slots.flat_map(move |slot| {
                let data = batch.geometry.draws().read(slot);
                let transform = TriangleTransform::of_slot(&data);
                let is_textured = TriangleTransform::is_textured(&data);
                let vertices = vertices.unwrap_or_default();
                let pieces = indices.chunks(3 * TASK_TRIANGLES);
                pieces.map(move |indices| Piece { vertices, indices, transform, is_textured })
            })
        })
    })
}

/// The indices of a command that exist.
fn indices_of<'a>(indices: &'a [u32], command: &DrawCommand) -> &'a [u32] {
    let first = command.first_index as usize;
    let end = first.saturating_add(command.index_count as usize).min(indices.len());
    indices.get(first..end).unwrap_or_default()
}

/// Corner data of a triangle for its pixels.
fn facet(
    clip: [Vec4; 3],
    (vertices, corners): ([&TriangleVertex; 3], [Corner; 3]),
    is_back: bool,
) -> Facet {
    let side = if is_back { -1.0 } else { 1.0 };
    // A pixel (x, y) shows a mixture of corners whose clip x, y and w have the ratio x : y : 1. The
    // weights are those times the inverse of the corners' matrix, whose rows are these products up
    // to the determinant. Correct for clipped triangles too.
    let [a, b, c] = clip.map(homogeneous);
    let shares = [b.cross(c), c.cross(a), a.cross(b)];
    let largest = shares.iter().fold(0.0, |most: f64, share| most.max(share.abs().max_element()));
    let shares = shares.map(|share| (share / largest.max(f64::MIN_POSITIVE)).as_vec3a());
    Facet {
        shares,
        normals: vertices.map(|vertex| Vec3A::from(vertex.normal()) * side),
        colors: corners.map(|corner| corner.color),
        uvs: corners.map(|corner| corner.uv),
        material: corners[0].material,
        plane: Vec3A::ZERO,
        heights: Vec3A::ZERO,
    }
}
