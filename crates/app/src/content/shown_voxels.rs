use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_render::{RenderError, Renderer, View};
use drystone_world::{LodData, LodTree};
use web_time::Instant;

use super::{Content, LodLimits};
use crate::scene::{Meshing, OpenDevice, RendererKind, Size, VoxelScene};

/// Voxels with their limits, in a renderer. During a change of renderer they have meshes in both.
pub struct ShownVoxels {
    pub(super) scene: VoxelScene,
    pub(super) limits: LodLimits,
    change: Option<Change>,
    /// Whether the change of renderer waits: a large edit is applied in parts, to this tree only.
    pub(super) is_held: bool,
}

/// A change in progress. The picture stays as it is until the change is complete.
enum Change {
    /// To another renderer.
    Renderer(Box<Next>),
    /// Of the options of the mesher. Holds the old ones.
    Meshing(Meshing),
}

/// Scene in the renderer that takes over, while its meshes are made.
struct Next {
    scene: VoxelScene,
    kind: RendererKind,
    begun: Instant,
}

/// While the camera moves, neither renderer is complete. After this time, the next one only needs
/// every part at some level.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);
/// Largest fraction of a change that is not complete.
const MAX_PART: f32 = 0.99;

impl ShownVoxels {
    /// Creates a scene without any meshes.
    pub(super) fn new(
        data: Arc<LodData>,
        limits: LodLimits,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let scene = scene(data, limits, renderer)?;
        Ok(Self { scene, limits, change: None, is_held: false })
    }

    /// Whether a part could not be read and is retried by drawing.
    pub(super) fn is_broken(&self) -> bool {
        self.scene.tree().is_broken()
    }

    pub(super) fn into_content(self) -> Content {
        Content::Voxels(self.scene.tree().shared_data(), self.limits)
    }

    /// Begins to mesh again with other options; [`follow`](Self::follow) continues. Pictures do not
    /// change while ambient occlusion has no strength, except for pixels at edges.
    pub(super) fn change_meshing(&mut self, meshing: Meshing) {
        let before = self.limits.config.meshing;
        self.set_meshing(meshing);
        self.change = Some(Change::Meshing(before));
    }

    fn set_meshing(&mut self, meshing: Meshing) {
        self.limits.config.meshing = meshing;
        self.scene.set_meshing(meshing);
    }

    /// Begins a change of renderer; [`follow`](Self::follow) continues.
    pub(super) fn change_renderer(
        &mut self,
        device: &OpenDevice,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        self.change = None;
        let data = self.scene.tree().shared_data();
        let content = Content::Voxels(Arc::clone(&data), self.limits);
        let renderer = device.renderer(kind, content.capacity())?;
        let scene = scene(data, self.limits, renderer)?;
        self.change = Some(Change::Renderer(Box::new(Next { scene, kind, begun: Instant::now() })));
        Ok(())
    }

    /// Cancels a change. Meshes that were already replaced are made again as before.
    pub(super) fn stop_change(&mut self) {
        if let Some(Change::Meshing(before)) = self.change.take() {
            self.set_meshing(before);
        }
    }

    /// Restarts a change of renderer after an edit, since edits go to one tree only.
    pub(super) fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        match &self.change {
            Some(Change::Renderer(next)) => self.change_renderer(device, next.kind),
            _ => Ok(()),
        }
    }

    /// Updates meshes for `view`, here and in the next renderer. Returns the finished fraction of a
    /// change, or `None` once it is complete or if there is none.
    ///
    /// # Cost
    /// The budget of the tree per frame; without threads `time`, in which the meshes are made.
    ///
    /// # Errors
    /// If a device failed, or the next renderer refuses such meshes. The change is cancelled then.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        let has_threads = self.limits.config.threads > 0;
        let update = |scene: &mut VoxelScene| match has_threads {
            true => scene.update(view, size),
            false => scene.update_for(view, size, time),
        };
        update(&mut self.scene)?;
        match &mut self.change {
            None => Ok(None),
            Some(Change::Meshing(_)) => Ok(self.remeshed_part()),
            Some(Change::Renderer(next)) => match update(&mut next.scene) {
                Ok(()) => Ok(self.moved_part()),
                Err(error) => {
                    self.change = None;
                    Err(error)
                }
            },
        }
    }

    /// Returns the fraction of the meshes that are made with the new options. Ends the change and
    /// returns `None` once all are.
    fn remeshed_part(&mut self) -> Option<f32> {
        let tree = self.scene.tree();
        let (outdated, count) = (tree.outdated_count(), tree.shown().count());
        if outdated == 0 && !tree.has_waiting_edits() {
            self.change = None;
            return None;
        }
        Some((1.0 - outdated as f32 / count.max(1) as f32).clamp(0.0, MAX_PART))
    }

    /// Returns the fraction of the meshes that the next renderer has. Ends the change and returns
    /// `None` once it draws.
    fn moved_part(&mut self) -> Option<f32> {
        let Some(Change::Renderer(next)) = &mut self.change else { return None };
        let (now, then) = (self.scene.tree(), next.scene.tree());
        let is_late = !now.is_settled() && next.begun.elapsed() > MAX_CHANGE_TIME;
        if self.is_held || !then.is_whole() || !(then.is_settled() || is_late) {
            let bytes = |scene: &mut VoxelScene| scene.renderer().held().used_bytes;
            let part = bytes(&mut next.scene) as f32 / bytes(&mut self.scene).max(1) as f32;
            return Some(part.min(MAX_PART));
        }
        if let Some(Change::Renderer(next)) = self.change.take() {
            self.scene = next.scene;
        }
        None
    }
}

fn scene(
    data: Arc<LodData>,
    limits: LodLimits,
    renderer: Box<dyn Renderer>,
) -> Result<VoxelScene, RenderError> {
    let no_threads = |error: SourceError| RenderError::Device {
        during: "starting the threads that make meshes",
        reason: error.to_string(),
    };
    let tree = LodTree::new(data, limits.config).map_err(no_threads)?;
    let mut scene = VoxelScene::new(tree, renderer)?;
    scene.set_max_bytes(limits.max_vertex_bytes());
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use drystone_render::{Atmosphere, Image, SlotPolicy, SoftDevice};
    use drystone_voxel::{Material, VoxelPos};
    use drystone_world::{Edit, GeneratedWorld, GeneratorConfig, VoxelShape};

    use super::*;
    use crate::scene::{MemoryBudget, default_view_of_box, level_corners};

    const SIZE: Size = Size { width: 96, height: 64 };
    const CUBES: RendererKind = RendererKind::Instanced(SlotPolicy::Lowest);
    /// Number of pixels at edges that quads with other cuts may change.
    const FEW: u32 = 20;

    fn full_detail() -> LodLimits {
        LodLimits::from(MemoryBudget::new(64 << 20)).full_detail()
    }

    fn device() -> OpenDevice {
        OpenDevice::new(SoftDevice::new(SIZE.width, SIZE.height).unwrap())
    }

    /// Shows a generated world, with all meshes.
    fn shown(limits: LodLimits, device: &OpenDevice) -> ShownVoxels {
        let config = GeneratorConfig { size_chunks: [8, 4, 8], ..GeneratorConfig::default() };
        let source = Box::new(GeneratedWorld::new(config).unwrap());
        let data = Arc::new(LodData::new(source, 16 << 20));
        let content = Content::Voxels(Arc::clone(&data), limits);
        let renderer = device.renderer(RendererKind::Pool, content.capacity()).unwrap();
        let mut voxels = ShownVoxels::new(data, limits, renderer).unwrap();
        let view = view(&voxels, 0.0);
        voxels.scene.settle(&view, SIZE, |_| {}).unwrap();
        voxels
    }

    fn view(voxels: &ShownVoxels, occlusion: f32) -> View {
        let corners = level_corners(voxels.scene.data());
        let mut view = View::new(default_view_of_box(corners, SIZE.aspect()).camera);
        view.atmosphere.ambient_occlusion = occlusion;
        view
    }

    fn picture(voxels: &mut ShownVoxels, occlusion: f32) -> Image {
        let view = view(voxels, occlusion);
        voxels.scene.picture(&view).unwrap().0
    }

    fn differing(one: &Image, other: &Image) -> u32 {
        one.difference(other, 8).unwrap().pixels
    }

    /// Continues a change until it is complete, and calls `check` after each step.
    fn step_through(voxels: &mut ShownVoxels, mut check: impl FnMut(&mut ShownVoxels, u32)) -> u32 {
        let (view, mut steps) = (view(voxels, 0.0), 0);
        while let Some(part) = voxels.follow(&view, SIZE, Duration::ZERO).unwrap() {
            assert!((0.0..1.0).contains(&part) && steps < 10_000, "{part} {steps}");
            check(voxels, steps);
            steps += 1;
            sleep(Duration::from_millis(1));
        }
        steps
    }

    /// Puts a ball into view.
    fn edit(voxels: &mut ShownVoxels) {
        let ball = VoxelShape::Sphere { center: VoxelPos::new(128, 100, 128), radius_voxels: 30 };
        let edit = Edit::fill(voxels.scene.data(), &ball, Material(1)).unwrap();
        assert!(voxels.scene.apply_edit(&edit).unwrap() > 0);
        voxels.scene.finish(|_| {}).unwrap();
    }

    /// Every picture during the change equals the one before, or the one with the edit.
    #[test]
    fn a_change_of_renderer_never_shows_an_incomplete_picture() {
        for (limits, kind) in [
            (full_detail().all_levels(), RendererKind::Naive),
            (full_detail(), RendererKind::Naive),
            (full_detail(), CUBES),
        ] {
            let device = device();
            let mut voxels = shown(limits, &device);
            let mut expected = picture(&mut voxels, 0.0);
            voxels.change_renderer(&device, kind).unwrap();
            let steps = step_through(&mut voxels, |voxels, step| {
                assert_eq!(voxels.scene.renderer().name(), "pool");
                assert!(picture(voxels, 0.0) == expected, "{kind:?}");
                if step == 1 {
                    // The meshes of the next one are older than the edit.
                    let Some(Change::Renderer(next)) = &mut voxels.change else { panic!() };
                    next.scene.finish(|_| {}).unwrap();
                    edit(voxels);
                    voxels.edited(&device).unwrap();
                    let before = std::mem::replace(&mut expected, picture(voxels, 0.0));
                    assert!(before != expected, "the edit is visible");
                }
            });
            assert!(steps > 1, "{steps}");
            assert_ne!(voxels.scene.renderer().name(), "pool");
            assert!(differing(&expected, &picture(&mut voxels, 0.0)) < FEW, "{kind:?}");
        }
    }

    /// At all levels of detail, too.
    #[test]
    fn a_change_of_ambient_occlusion_is_invisible_until_it_is_enabled() {
        for limits in [full_detail(), full_detail().all_levels()] {
            let device = device();
            let mut voxels = shown(limits, &device);
            let before = picture(&mut voxels, 0.0);
            let shaded = Meshing { occlusion: true };
            let mut always = limits;
            always.config.meshing = shaded;
            let dark = picture(&mut shown(always, &device), Atmosphere::OCCLUSION);
            assert!(differing(&before, &dark) > 15 * FEW, "{}", differing(&before, &dark));
            for meshing in [shaded, Meshing::default()] {
                voxels.change_meshing(meshing);
                let steps = step_through(&mut voxels, |voxels, _| {
                    assert!(differing(&picture(voxels, 0.0), &before) < FEW, "{meshing:?}");
                });
                assert!(steps > 0, "{steps}");
                let expected = if meshing.occlusion { &dark } else { &before };
                let now = picture(&mut voxels, Atmosphere::OCCLUSION);
                assert!(differing(&now, expected) < FEW, "{meshing:?}");
            }
            // A cancelled change ends with the meshes of before.
            voxels.change_meshing(shaded);
            let view = view(&voxels, 0.0);
            voxels.follow(&view, SIZE, Duration::ZERO).unwrap();
            voxels.stop_change();
            voxels.scene.finish(|_| {}).unwrap();
            assert!(differing(&picture(&mut voxels, Atmosphere::OCCLUSION), &before) < FEW);
        }
    }

    /// A renderer that refuses a mesh does not affect the picture.
    #[test]
    fn a_refused_change_keeps_the_current_renderer() {
        let device = device();
        let mut limits = full_detail();
        limits.config.meshing = Meshing { occlusion: true };
        let mut voxels = shown(limits, &device);
        let before = picture(&mut voxels, Atmosphere::OCCLUSION);
        voxels.change_renderer(&device, CUBES).unwrap();
        let view = view(&voxels, 0.0);
        let mut follow = || voxels.follow(&view, SIZE, Duration::ZERO);
        let refused = (0..10_000).find_map(|_| {
            sleep(Duration::from_millis(1));
            follow().err()
        });
        assert!(refused.is_some(), "cubes have no ambient occlusion");
        assert!(matches!(follow(), Ok(None)), "the change is cancelled");
        assert_eq!(voxels.scene.renderer().name(), "pool");
        assert!(picture(&mut voxels, Atmosphere::OCCLUSION) == before);
    }
}
