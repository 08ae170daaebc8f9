//! A terrain's tiles in a renderer.

use drystone_render::{
    Atmosphere, Camera, HeldStats, Layer, RenderError, Renderer, TriangleMesh, TriangleTransform,
    TrianglesId, View,
};
use glam::DVec3;

use super::{
    terrain::{TILE, Terrain},
    tile::{Detail, Tile},
};

/// A terrain that is shown: one mesh a tile.
pub(crate) struct Pictured {
    pub(crate) renderer: Box<dyn Renderer>,
    pub(crate) view: View,
    tiles: Vec<TrianglesId>,
    scratch: Tile,
    detail: Detail,
}

/// How far a tile's triangles may lie above or below its heights, in voxels.
pub(crate) const TOLERANCE: f32 = 0.12;

impl Pictured {
    /// Puts every tile of a terrain into a renderer.
    pub(crate) fn new(terrain: &Terrain, renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        Self::with_detail(terrain, renderer, Detail::within(TOLERANCE))
    }

    /// The same, with tiles made in another way.
    pub(crate) fn with_detail(
        terrain: &Terrain,
        mut renderer: Box<dyn Renderer>,
        detail: Detail,
    ) -> Result<Self, RenderError> {
        let (mut tiles, mut scratch) = (Vec::new(), Tile::default());
        for tile in places(terrain) {
            scratch.fill(terrain, tile, detail);
            tiles.push(renderer.insert_triangles(&mesh(&scratch, tile))?);
        }
        let side = (terrain.tiles() * TILE) as f64;
        let middle = DVec3::new(side * 0.5, 0.0, side * 0.48);
        let eye = middle + DVec3::new(0.27, 0.42, 0.64) * side;
        let camera = Camera::look_at(eye, middle);
        let view = View { atmosphere: Atmosphere::default(), ..View::new(camera) };
        Ok(Self { renderer, view, tiles, scratch, detail })
    }

    /// Makes those tiles anew that have changed and puts them in the old ones' place; says
    /// how many.
    ///
    /// # Cost
    /// O(samples of what has changed).
    pub(crate) fn update(
        &mut self,
        terrain: &Terrain,
        changed: &[bool],
    ) -> Result<u64, RenderError> {
        let mut count = 0;
        let tiles = self.tiles.iter().zip(changed).zip(places(terrain));
        for ((&id, _), tile) in tiles.filter(|((_, changed), _)| **changed) {
            self.scratch.fill(terrain, tile, self.detail);
            self.renderer.replace_triangles(id, &mesh(&self.scratch, tile))?;
            count += 1;
        }
        Ok(count)
    }

    /// What the renderer holds.
    pub(crate) fn held(&self) -> HeldStats {
        self.renderer.held()
    }
}

/// Where the tiles are, row by row.
fn places(terrain: &Terrain) -> impl Iterator<Item = [usize; 2]> {
    let side = terrain.tiles();
    (0..side * side).map(move |at| [at % side, at / side])
}

fn mesh(tile: &Tile, [x, z]: [usize; 2]) -> TriangleMesh<'_> {
    TriangleMesh {
        vertices: &tile.vertices,
        indices: &tile.indices,
        transform: TriangleTransform {
            origin: [(x * TILE) as i32, 0, (z * TILE) as i32],
            scale: 1.0,
        },
        layer: Layer::Opaque,
    }
}
