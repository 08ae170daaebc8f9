//! A terrain's tiles in a renderer.

use drystone_render::{
    Atmosphere, Camera, HeldStats, Layer, RenderError, Renderer, TriangleMesh, TriangleTransform,
    TrianglesId, View,
};
use drystone_world::CraterLand;
use glam::DVec3;

use super::tile::{Detail, Tile};

/// Terrain with its meshes in a renderer, one per tile.
pub(crate) struct Pictured {
    pub(crate) renderer: Box<dyn Renderer>,
    pub(crate) view: View,
    tiles: Vec<TrianglesId>,
    scratch: Tile,
    detail: Detail,
}

/// Tolerance of a tile's triangles to its heights, in voxels.
pub(crate) const TOLERANCE: f32 = 0.12;

impl Pictured {
    /// Inserts every tile of a terrain into a renderer.
    pub(crate) fn new(
        terrain: &CraterLand,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        Self::with_detail(terrain, renderer, Detail::within(TOLERANCE))
    }

    /// Inserts every tile, with another level of detail.
    pub(crate) fn with_detail(
        terrain: &CraterLand,
        mut renderer: Box<dyn Renderer>,
        detail: Detail,
    ) -> Result<Self, RenderError> {
        let (mut tiles, mut scratch) = (Vec::new(), Tile::default());
        for tile in tile_positions(terrain) {
            scratch.fill(terrain, tile, detail);
            tiles.push(renderer.insert_triangles(&mesh(&scratch, tile))?);
        }
        let side = (terrain.tiles() * CraterLand::TILE) as f64;
        let middle = DVec3::new(side * 0.5, 0.0, side * 0.48);
        let eye = middle + DVec3::new(0.27, 0.42, 0.64) * side;
        let camera = Camera::look_at(eye, middle);
        let view = View { atmosphere: Atmosphere::default(), ..View::new(camera) };
        Ok(Self { renderer, view, tiles, scratch, detail })
    }

    /// Rebuilds the changed tiles and replaces their meshes; returns their number.
    ///
    /// # Cost
    /// O(samples of the changed tiles).
    pub(crate) fn update(
        &mut self,
        terrain: &CraterLand,
        changed: &[bool],
    ) -> Result<u64, RenderError> {
        let mut count = 0;
        let tiles = self.tiles.iter().zip(changed).zip(tile_positions(terrain));
        for ((&id, _), tile) in tiles.filter(|((_, changed), _)| **changed) {
            self.scratch.fill(terrain, tile, self.detail);
            self.renderer.replace_triangles(id, &mesh(&self.scratch, tile))?;
            count += 1;
        }
        Ok(count)
    }

    /// Returns the statistics of the renderer.
    pub(crate) fn held(&self) -> HeldStats {
        self.renderer.held()
    }
}

/// Positions of the tiles, row by row.
fn tile_positions(terrain: &CraterLand) -> impl Iterator<Item = [usize; 2]> {
    let side = terrain.tiles();
    (0..side * side).map(move |at| [at % side, at / side])
}

fn mesh(tile: &Tile, [x, z]: [usize; 2]) -> TriangleMesh<'_> {
    TriangleMesh {
        is_textured: false,
        vertices: &tile.vertices,
        indices: &tile.indices,
        transform: TriangleTransform {
            origin: [(x * CraterLand::TILE) as i32, 0, (z * CraterLand::TILE) as i32],
            scale: 1.0,
        },
        layer: Layer::Opaque,
    }
}
