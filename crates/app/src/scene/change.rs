//! The way to another renderer, or to other meshes, a part at a time: what was shown stays until
//! there is something to show instead.

use std::{collections::HashMap, time::Duration};

use drystone_render::{RenderError, Renderer};
use drystone_voxel::{ChunkMesh, ChunkPos};
use web_time::Instant;

use super::{Capacity, Meshes, Meshing, Scene, Shown, SideBySide, set_palette};

/// What is still to be meshed, and for whom.
pub(super) struct Change {
    chunks: Vec<ChunkPos>,
    done: usize,
    /// So many are meshed before the clock is looked at.
    at_once: usize,
    /// Who draws when it has all; the scene's own takes each mesh as it comes where there is none.
    next: Option<NextRenderer>,
}

struct NextRenderer {
    renderer: Box<dyn Renderer>,
    meshes: HashMap<ChunkPos, Meshes>,
    /// Why it lacks an edit.
    failure: Option<RenderError>,
}

impl Change {
    /// Which part of it is done.
    fn part(&self) -> f32 {
        self.done as f32 / self.chunks.len().max(1) as f32
    }

    /// Shows an edited chunk there, too.
    pub(super) fn edited(&mut self, side: u32, chunk: ChunkPos, mesh: &ChunkMesh) {
        let Some(NextRenderer { renderer, meshes, failure }) = &mut self.next else { return };
        let shown = Shown { side, renderer: renderer.as_mut(), meshes }.update(chunk, mesh);
        *failure = failure.take().or(shown.err());
    }
}

impl Scene {
    /// Begins to mesh every chunk anew, in this way: [`change_for`](Self::change_for) goes on.
    /// Until it is done some chunks are shown as they were. Where only what is not seen differs,
    /// such as shades while
    /// [`Atmosphere::ambient_occlusion`](drystone_render::Atmosphere::ambient_occlusion) is 0, no picture does,
    /// away from edges.
    pub fn change_meshing(&mut self, meshing: Meshing) {
        self.set_meshing(meshing);
        self.begin(None);
    }

    /// Begins to hand every mesh to another renderer, which draws when it has all:
    /// [`change_for`](Self::change_for) goes on. It may share its device with the one that draws;
    /// see [`OpenDevice`](super::OpenDevice). An earlier change that is not done is given up.
    ///
    /// # Errors
    /// What it says of the palette; no change is begun then.
    pub fn change_renderer(&mut self, mut renderer: Box<dyn Renderer>) -> Result<(), RenderError> {
        set_palette(renderer.as_mut(), self.world.materials())?;
        self.begin(Some(NextRenderer { renderer, meshes: HashMap::new(), failure: None }));
        Ok(())
    }

    fn begin(&mut self, next: Option<NextRenderer>) {
        let chunks = self.world.positions().collect();
        self.change = Some(Change { chunks, done: 0, at_once: SideBySide::at_once(), next });
    }

    /// Gives up a change that was begun. Another renderer is dropped; meshes stay as they are.
    pub fn stop_change(&mut self) {
        self.change = None;
    }

    /// What a renderer would need room for, to show the same.
    ///
    /// # Cost
    /// O(chunks).
    pub fn room(&self) -> Capacity {
        Capacity::of(self.meshes.values().map(|it| it.quads).sum(), self.meshes.len())
    }

    /// Goes on with a change for about so long, on all cores. Returns which part of it is done,
    /// and `None` when all is, or none was begun. It waits for an edit in parts, of which nothing is
    /// to be shown before all is.
    ///
    /// # Cost
    /// `time`, and at most the meshes of a few chunks a core: some milliseconds.
    ///
    /// # Errors
    /// When the renderer is full, refuses such meshes, or its device failed. The change is given
    /// up then.
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
            let part = &left[..left.len().min(change.at_once)];
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

    /// From now on the next renderer draws.
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

    use super::super::{OpenDevice, RendererKind, default_view, mesh_world_with};
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
        let look = default_view(scene.world(), SIZE[0] as f32 / SIZE[1] as f32);
        let mut view = View::new(look.camera);
        view.atmosphere = Atmosphere { ambient_occlusion: occlusion, ..look.atmosphere };
        view
    }

    fn picture(scene: &mut Scene, occlusion: f32) -> Image {
        let view = view(scene, occlusion);
        scene.picture(&view).unwrap().0
    }

    /// Pixels that differ by more than rounding at edges does.
    fn differing(one: &Image, other: &Image) -> usize {
        one.difference(other, 8).unwrap().pixels as usize
    }

    /// Takes the change on by small steps, with a look at each.
    fn step_through(scene: &mut Scene, mut look: impl FnMut(&mut Scene, f32)) {
        scene.change.as_mut().unwrap().at_once = 5;
        let mut before = 0.0;
        while let Some(done) = scene.change_for(Duration::ZERO).unwrap() {
            assert!(before < done && done < 1.0, "{before} {done}");
            before = done;
            look(scene, done);
        }
        assert!(scene.change.is_none());
    }

    /// Every picture on the way is the one before, or with an edit the one with the edit; in the
    /// end it is that of a scene that was never anything else.
    #[test]
    fn another_renderer_takes_over_without_a_picture_that_lacks_anything() {
        let kinds =
            [RendererKind::Naive, RendererKind::Instanced(SlotPolicy::Lowest), RendererKind::Pool];
        let device = device();
        let mut scene = scene(world(), &device, RendererKind::Pool, Meshing::default());
        for (kind, height) in kinds.into_iter().zip([70, 75, 80]) {
            let mut expected = picture(&mut scene, 0.0);
            let old = scene.renderer().name();
            scene.change_renderer(device.renderer(kind, scene.room()).unwrap()).unwrap();
            let mut steps = 0;
            step_through(&mut scene, |scene, _| {
                assert!(picture(scene, 0.0) == expected, "{kind:?}");
                assert_eq!(scene.renderer().name(), old);
                if steps == 1 {
                    // In the air, where there was no chunk, and in one that is shown already.
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
    fn shades_come_and_go_unseen_until_they_are_shown() {
        let device = device();
        let mut scene = scene(world(), &device, RendererKind::Pool, Meshing::default());
        let before = picture(&mut scene, 0.0);
        let shaded = Meshing { occlusion: true };
        let mut twin = self::scene(world(), &device, RendererKind::Pool, shaded);
        let dark = picture(&mut twin, Atmosphere::OCCLUSION);
        // Where quads are cut elsewhere, their edges move by less than a pixel.
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

    /// What the next renderer cannot take costs nothing that is shown.
    #[test]
    fn a_renderer_that_refuses_leaves_the_one_that_draws() {
        let device = device();
        let shaded = Meshing { occlusion: true };
        let mut scene = scene(world(), &device, RendererKind::Pool, shaded);
        let before = picture(&mut scene, Atmosphere::OCCLUSION);
        let cubes = RendererKind::Instanced(SlotPolicy::Lowest);
        scene.change_renderer(device.renderer(cubes, scene.room()).unwrap()).unwrap();
        assert!(scene.change_for(Duration::MAX).is_err());
        assert!(matches!(scene.change_for(Duration::MAX), Ok(None)), "it is given up");
        assert_eq!(scene.renderer().name(), "pool");
        assert!(picture(&mut scene, Atmosphere::OCCLUSION) == before);
    }
}
