//! Change of renderer or meshing in steps. The old picture stays until the new one is complete.

use std::{collections::HashMap, time::Duration};

use drystone_render::{RenderError, Renderer};
use drystone_voxel::{ChunkMesh, ChunkPos};
use web_time::Instant;

use super::{Capacity, Meshes, Meshing, Scene, Shown, SideBySide, set_palette};

/// Change in progress.
pub(super) struct Change {
    chunks: Vec<ChunkPos>,
    done: usize,
    /// Number of chunks that are meshed between two checks of the time.
    chunks_per_step: usize,
    /// Renderer that draws once it has all meshes; `None` to update the scene's own renderer.
    next: Option<NextRenderer>,
}

struct NextRenderer {
    renderer: Box<dyn Renderer>,
    meshes: HashMap<ChunkPos, Meshes>,
    /// Error of an edit in the new renderer.
    failure: Option<RenderError>,
}

impl Change {
    /// Returns the finished fraction.
    fn part(&self) -> f32 {
        self.done as f32 / self.chunks.len().max(1) as f32
    }

    /// Shows an edited chunk in the new renderer, too.
    pub(super) fn edited(&mut self, side: u32, chunk: ChunkPos, mesh: &ChunkMesh) {
        let Some(NextRenderer { renderer, meshes, failure }) = &mut self.next else { return };
        let shown = Shown { side, renderer: renderer.as_mut(), meshes }.update(chunk, mesh);
        *failure = failure.take().or(shown.err());
    }
}

impl Scene {
    /// Begins to mesh every chunk with `meshing`; [`change_for`](Self::change_for) continues. Until
    /// it is done, some chunks have their old meshes. Pictures do not change if the difference is
    /// invisible, for instance while
    /// [`Atmosphere::ambient_occlusion`](drystone_render::Atmosphere::ambient_occlusion) is 0; only
    /// pixels at edges may.
    pub fn change_meshing(&mut self, meshing: Meshing) {
        self.set_meshing(meshing);
        self.begin(None);
    }

    /// Begins to upload every mesh to another renderer, which draws once it has all;
    /// [`change_for`](Self::change_for) continues. The two renderers may share a device, see
    /// [`OpenDevice`](super::OpenDevice). An earlier change in progress is cancelled.
    ///
    /// # Errors
    /// Errors of setting the palette; no change begins then.
    pub fn change_renderer(&mut self, mut renderer: Box<dyn Renderer>) -> Result<(), RenderError> {
        set_palette(renderer.as_mut(), self.world.materials())?;
        self.begin(Some(NextRenderer { renderer, meshes: HashMap::new(), failure: None }));
        Ok(())
    }

    fn begin(&mut self, next: Option<NextRenderer>) {
        let chunks = self.world.positions().collect();
        self.change =
            Some(Change { chunks, done: 0, chunks_per_step: SideBySide::chunks_per_step(), next });
    }

    /// Cancels a change in progress. The new renderer is dropped; replaced meshes stay.
    pub fn stop_change(&mut self) {
        self.change = None;
    }

    /// Returns the capacity that another renderer needs for this scene.
    ///
    /// # Cost
    /// O(chunks).
    pub fn capacity(&self) -> Capacity {
        Capacity::of(self.meshes.values().map(|it| it.quads).sum(), self.meshes.len())
    }

    /// Continues a change for about `time`, on all cores. Returns the finished fraction, or `None`
    /// if the change is complete or there is none. During an edit in parts it waits, since those
    /// parts must appear together.
    ///
    /// # Cost
    /// `time`, plus at most the meshes of a few chunks per core: some milliseconds.
    ///
    /// # Errors
    /// If the renderer is full, refuses such meshes, or its device failed. The change is cancelled
    /// then.
    pub fn change_for(&mut self, time: Duration) -> Result<Option<f32>, RenderError> {
        if let (Some(change), false) = (&self.change, self.parts.is_empty()) {
            return Ok(Some(change.part()));
        }
        let Some(mut change) = self.change.take() else { return Ok(None) };
        let start = Instant::now();
        loop {
            let left = &change.chunks[change.done..];
            if left.is_empty() {
                return self.finish(change).map(|()| None);
            }
            let part = &left[..left.len().min(change.chunks_per_step)];
            let side = self.world.side();
            let (renderer, meshes) = match &mut change.next {
                Some(NextRenderer { failure: Some(_), .. }) => {
                    return self.finish(change).map(|()| None);
                }
                Some(next) => (next.renderer.as_mut(), &mut next.meshes),
                None => (self.renderer.as_mut(), &mut self.meshes),
            };
            let mut shown = Shown { side, renderer, meshes };
            self.side_by_side.mesh(&self.world, part, |at, mesh| shown.update(at, mesh))?;
            change.done += part.len();
            if start.elapsed() >= time && change.done < change.chunks.len() {
                let part = change.part();
                self.change = Some(change);
                return Ok(Some(part));
            }
        }
    }

    /// Makes the new renderer the current one.
    fn finish(&mut self, change: Change) -> Result<(), RenderError> {
        match change.next {
            None => Ok(()),
            Some(NextRenderer { failure: Some(error), .. }) => Err(error),
            Some(NextRenderer { renderer, meshes, failure: None }) => {
                (self.renderer, self.meshes) = (renderer, meshes);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_render::{Atmosphere, Image, SlotPolicy, SoftDevice, View};
    use drystone_voxel::{Material, VoxelPos};
    use drystone_world::{GeneratedWorld, GeneratorConfig, World};

    use super::super::{OpenDevice, RendererKind, mesh_world_with};
    use super::*;

    const SIZE: [u32; 2] = [96, 64];

    fn world() -> World {
        let size_chunks = [3, 3, 3];
        let config = GeneratorConfig { size_chunks, ..GeneratorConfig::default() };
        World::load(&GeneratedWorld::new(config).unwrap()).unwrap()
    }

    fn device() -> OpenDevice {
        OpenDevice::new(SoftDevice::new(SIZE[0], SIZE[1]).unwrap())
    }

    fn scene(world: World, device: &OpenDevice, kind: RendererKind, meshing: Meshing) -> Scene {
        let quads = mesh_world_with(&world, meshing);
        let mut scene = Scene::new(world, &quads, device.renderer(kind, &quads).unwrap()).unwrap();
        scene.set_meshing(meshing);
        scene
    }

    fn view(scene: &Scene, occlusion: f32) -> View {
        let default_view =
            crate::scene::default_view(scene.world(), SIZE[0] as f32 / SIZE[1] as f32);
        let mut view = View::new(default_view.camera);
        view.atmosphere = Atmosphere { ambient_occlusion: occlusion, ..default_view.atmosphere };
        view
    }

    fn picture(scene: &mut Scene, occlusion: f32) -> Image {
        let view = view(scene, occlusion);
        scene.picture(&view).unwrap().0
    }

    /// Counts pixels that differ by more than rounding at edges does.
    fn differing(one: &Image, other: &Image) -> usize {
        one.difference(other, 8).unwrap().pixels as usize
    }

    /// Executes the change in small steps and calls `check` after each.
    fn step_through(scene: &mut Scene, mut check: impl FnMut(&mut Scene, f32)) {
        scene.change.as_mut().unwrap().chunks_per_step = 5;
        let mut before = 0.0;
        while let Some(done) = scene.change_for(Duration::ZERO).unwrap() {
            assert!(before < done && done < 1.0, "{before} {done}");
            before = done;
            check(scene, done);
        }
        assert!(scene.change.is_none());
    }

    /// Every picture during the change equals the one before, or the one with the edit. The final
    /// picture equals that of a new scene.
    #[test]
    fn a_change_of_renderer_never_shows_an_incomplete_picture() {
        let kinds =
            [RendererKind::Naive, RendererKind::Instanced(SlotPolicy::Lowest), RendererKind::Pool];
        let device = device();
        let mut scene = scene(world(), &device, RendererKind::Pool, Meshing::default());
        for (kind, height) in kinds.into_iter().zip([70, 75, 80]) {
            let mut expected = picture(&mut scene, 0.0);
            let old = scene.renderer().name();
            scene.change_renderer(device.renderer(kind, scene.capacity()).unwrap()).unwrap();
            let mut steps = 0;
            step_through(&mut scene, |scene, _| {
                assert!(picture(scene, 0.0) == expected, "{kind:?}");
                assert_eq!(scene.renderer().name(), old);
                if steps == 1 {
                    // In the air, without a chunk, and in one that is shown already.
                    for x in 20..40 {
                        scene.set(VoxelPos::new(x, height, x), Material(1)).unwrap();
                    }
                    let before = std::mem::replace(&mut expected, picture(scene, 0.0));
                    assert!(expected != before, "{kind:?}");
                }
                steps += 1;
            });
            assert!(steps > 1 && scene.renderer().name() != old, "{steps}");
            let held = scene.renderer().held();
            let mut twin =
                self::scene(scene.world().clone(), &self::device(), kind, Meshing::default());
            assert_eq!(held.meshes, twin.renderer().held().meshes);
            assert!(picture(&mut scene, 0.0) == picture(&mut twin, 0.0), "{kind:?}");
        }
    }

    #[test]
    fn a_change_of_ambient_occlusion_is_invisible_until_it_is_enabled() {
        let device = device();
        let mut scene = scene(world(), &device, RendererKind::Pool, Meshing::default());
        let before = picture(&mut scene, 0.0);
        let shaded = Meshing { occlusion: true };
        let mut twin = self::scene(world(), &device, RendererKind::Pool, shaded);
        let dark = picture(&mut twin, Atmosphere::OCCLUSION);
        // Quads with other cuts move their edges by less than a pixel.
        const FEW: usize = 8;
        assert!(differing(&before, &dark) > 15 * FEW, "{}", differing(&before, &dark));
        for meshing in [shaded, Meshing::default()] {
            scene.change_meshing(meshing);
            step_through(&mut scene, |scene, _| {
                let count = differing(&picture(scene, 0.0), &before);
                assert!(count <= FEW, "{meshing:?}: {count}");
            });
            let expected = if meshing.occlusion { &dark } else { &before };
            let now = picture(&mut scene, Atmosphere::OCCLUSION);
            let count = differing(&now, expected);
            assert!(count <= FEW, "{meshing:?}: {count}");
        }
    }

    /// A renderer that refuses a mesh does not affect the picture.
    #[test]
    fn a_refused_change_keeps_the_current_renderer() {
        let device = device();
        let shaded = Meshing { occlusion: true };
        let mut scene = scene(world(), &device, RendererKind::Pool, shaded);
        let before = picture(&mut scene, Atmosphere::OCCLUSION);
        let cubes = RendererKind::Instanced(SlotPolicy::Lowest);
        scene.change_renderer(device.renderer(cubes, scene.capacity()).unwrap()).unwrap();
        assert!(scene.change_for(Duration::MAX).is_err());
        assert!(matches!(scene.change_for(Duration::MAX), Ok(None)), "the change is cancelled");
        assert_eq!(scene.renderer().name(), "pool");
        assert!(picture(&mut scene, Atmosphere::OCCLUSION) == before);
    }
}
