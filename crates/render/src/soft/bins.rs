//! Conversion of quads to triangles, sorted by the bands of rows that they touch.

use std::ops::Range;

use drystone_mesh::{Cube, FaceSet, Quad};
use glam::Vec4;

use super::{
    clip::Polygon,
    geometry::{DrawTable, Run},
    occlusion::{PixelKind, SHADED},
    triangle::Triangle,
    vertex::{MeshTransform, VertexStage},
    viewport::{Containment, Viewport},
};

/// Number of rows in a band. A band is drawn by one thread. Its depths and colours fit a core's
/// cache, and a picture has enough bands for all threads.
pub(super) const BAND_ROWS: usize = 16;

/// The corners of a quad's two triangles, as in the index pattern for GPUs.
const TRIANGLES: [[usize; 3]; 2] = [[0, 1, 2], [2, 1, 3]];

/// The triangles of a few runs of quads, in order.
#[derive(Default)]
pub(super) struct Bins {
    triangles: Vec<Triangle>,
    /// Indices of triangles, band by band; they ascend within a band.
    by_band: Vec<u32>,
    /// Start of each band in `by_band`, and the end of the last one.
    band_starts: Vec<u32>,
}

impl Bins {
    /// Replaces the contents by the triangles of these runs.
    pub(super) fn fill(&mut self, runs: &[Run<'_>], stage: &VertexStage, viewport: &Viewport) {
        self.triangles.clear();
        for run in runs {
            if let Some(draws) = run.cubes {
                self.push_cubes(bytemuck::cast_slice(run.quads), draws, stage, viewport);
                continue;
            }
            let transform = stage.transform(&run.data);
            for &quad in run.quads {
                let kind = stage.pixel_kind(quad, &run.data);
                self.push(quad, kind, transform, stage, viewport);
            }
        }
        self.sort(viewport);
    }

    /// Adds the faces of cubes that point towards the camera.
    fn push_cubes(
        &mut self,
        cubes: &[Cube],
        draws: &DrawTable,
        stage: &VertexStage,
        viewport: &Viewport,
    ) {
        for cube in cubes.iter().filter(|cube| cube.faces() != FaceSet::EMPTY) {
            let data = draws.read(cube.region());
            let transform = stage.transform(&data);
            for face in stage.faces_towards_camera(*cube, transform) {
                if cube.faces().contains(face) {
                    let quad = cube.quad(face);
                    // Cubes are not merged, so the length of a step is unknown.
                    let kind = PixelKind { shares: [0; 2], ..stage.pixel_kind(quad, &data) };
                    self.push(quad, kind, transform, stage, viewport);
                }
            }
        }
    }

    #[inline]
    fn push(
        &mut self,
        quad: Quad,
        kind: PixelKind,
        transform: MeshTransform,
        stage: &VertexStage,
        viewport: &Viewport,
    ) {
        let kind = PixelKind { word: kind.word & !SHADED, ..kind };
        let corners = stage.corners(quad, transform);
        match viewport.containment(&corners) {
            Containment::Outside => {}
            Containment::Inside => self.push_whole(corners, kind, viewport),
            Containment::Across => self.push_clipped(corners, kind, viewport),
        }
    }

    /// Replaces the contents by these triangles.
    pub(super) fn refill(
        &mut self,
        triangles: impl Iterator<Item = Triangle>,
        viewport: &Viewport,
    ) {
        self.triangles.clear();
        self.triangles.extend(triangles);
        self.sort(viewport);
    }

    /// The triangles that touch a band, in order.
    pub(super) fn of_band(&self, band: usize) -> impl Iterator<Item = &Triangle> {
        let Range { start, end } =
            self.band_starts[band] as usize..self.band_starts[band + 1] as usize;
        self.by_band[start..end].iter().map(|&number| &self.triangles[number as usize])
    }

    #[inline]
    fn push_whole(&mut self, corners: [Vec4; 4], kind: PixelKind, viewport: &Viewport) {
        let snapped = corners.map(|corner| viewport.snap(corner));
        for triangle in TRIANGLES {
            let corners = triangle.map(|corner| snapped[corner]);
            self.triangles.extend(Triangle::new(corners, kind, viewport));
        }
    }

    #[cold]
    fn push_clipped(&mut self, corners: [Vec4; 4], kind: PixelKind, viewport: &Viewport) {
        for triangle in TRIANGLES {
            let corners = triangle.map(|corner| corners[corner]);
            for piece in Polygon::clipped(corners, viewport.guard).triangles() {
                let corners = piece.map(|corner| viewport.snap(corner));
                self.triangles.extend(Triangle::new(corners, kind, viewport));
            }
        }
    }

    /// Counting sort: counts the triangles of each band, computes where each band begins, and
    /// stores each triangle's index.
    fn sort(&mut self, viewport: &Viewport) {
        let band_count = (viewport.height as usize).div_ceil(BAND_ROWS);
        self.band_starts.clear();
        self.band_starts.resize(band_count + 1, 0);
        for triangle in &self.triangles {
            bands(triangle, viewport).for_each(|band| self.band_starts[band + 1] += 1);
        }
        let mut total = 0;
        for start in &mut self.band_starts {
            total += *start;
            *start = total;
        }
        self.by_band.clear();
        self.by_band.resize(total as usize, 0);
        // From the last to the first, so that the ends count down to the starts.
        for (number, triangle) in self.triangles.iter().enumerate().rev() {
            for band in bands(triangle, viewport) {
                let end = &mut self.band_starts[band + 1];
                *end -= 1;
                self.by_band[*end as usize] = number as u32;
            }
        }
        // Each entry is now the start of its own band, but one entry too late.
        self.band_starts.rotate_left(1);
        if let Some(end) = self.band_starts.last_mut() {
            *end = total;
        }
    }
}

fn bands(triangle: &Triangle, viewport: &Viewport) -> Range<usize> {
    let rows = triangle.rows(viewport);
    rows.start as usize / BAND_ROWS..(rows.end as usize).div_ceil(BAND_ROWS)
}
