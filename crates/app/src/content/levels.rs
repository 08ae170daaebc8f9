use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_render::{RenderError, Renderer, View};
use drystone_world::{LodData, LodTree};
use web_time::Instant;

use super::LodLimits;
use crate::scene::{LodScene, OpenDevice, RendererKind, Size};

/// World at levels of detail, with its memory limits. During a change of renderer it is loaded
/// twice.
pub struct ShownLevels {
    pub(super) scene: LodScene,
    limits: LodLimits,
    next: Option<Next>,
    /// Whether the change of renderer waits: a large edit is applied in parts, to this tree only.
    pub(super) is_held: bool,
}

/// Scene of the world in the renderer that takes over, while it loads.
struct Next {
    scene: LodScene,
    kind: RendererKind,
    begun: Instant,
}

/// While the camera moves, neither renderer is complete. After this time, the next one only needs
/// every part at some level.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);

impl ShownLevels {
    /// Creates a world without any meshes.
    pub(super) fn new(
        data: Arc<LodData>,
        limits: LodLimits,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        Ok(Self { scene: scene(data, limits, renderer)?, limits, next: None, is_held: false })
    }

    /// Whether a part could not be read and is retried by drawing.
    pub(super) fn is_broken(&self) -> bool {
        self.scene.tree().is_broken()
    }

    pub(super) fn into_parts(self) -> (Arc<LodData>, LodLimits) {
        (self.scene.tree().shared_data(), self.limits)
    }

    /// Begins a change of renderer; [`follow`](Self::follow) continues.
    pub(super) fn change_renderer(
        &mut self,
        device: &OpenDevice,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        self.next = None;
        let renderer = device.renderer(kind, LodScene::CAPACITY)?;
        let scene = scene(self.scene.tree().shared_data(), self.limits, renderer)?;
        self.next = Some(Next { scene, kind, begun: Instant::now() });
        Ok(())
    }

    pub(super) fn stop_change(&mut self) {
        self.next = None;
    }

    /// Restarts a change of renderer after an edit, since edits go to one tree only.
    pub(super) fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        self.next
            .as_ref()
            .map(|next| next.kind)
            .map_or(Ok(()), |it| self.change_renderer(device, it))
    }

    /// Updates meshes for `view`, here and in the next renderer. Returns the fraction that the next
    /// renderer has, or `None` once it draws or if there is none.
    ///
    /// # Cost
    /// The budget of the tree per frame; without threads `time`, in which the meshes are made.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        let has_threads = self.limits.config.threads > 0;
        let update = |scene: &mut LodScene| match has_threads {
            true => scene.update(view, size),
            false => scene.update_for(view, size, time),
        };
        update(&mut self.scene)?;
        let Some(next) = &mut self.next else { return Ok(None) };
        update(&mut next.scene)?;
        let (now, then) = (self.scene.tree(), next.scene.tree());
        let is_late = !now.is_settled() && next.begun.elapsed() > MAX_CHANGE_TIME;
        if !self.is_held && then.is_whole() && (then.is_settled() || is_late) {
            if let Some(Next { scene, .. }) = self.next.take() {
                self.scene = scene;
            }
            return Ok(None);
        }
        let bytes = |scene: &mut LodScene| scene.renderer().held().used_bytes;
        let part = bytes(&mut next.scene) as f32 / bytes(&mut self.scene).max(1) as f32;
        Ok(Some(part.min(0.99)))
    }
}

fn scene(
    data: Arc<LodData>,
    limits: LodLimits,
    renderer: Box<dyn Renderer>,
) -> Result<LodScene, RenderError> {
    let no_threads = |error: SourceError| RenderError::Device {
        during: "starting the threads that make meshes",
        reason: error.to_string(),
    };
    let tree = LodTree::new(data, limits.config).map_err(no_threads)?;
    let mut scene = LodScene::new(tree, renderer)?;
    scene.set_max_bytes(limits.vertex_bytes);
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use crate::scene::{MemoryBudget, default_view_of_box, level_corners};
    use drystone_render::{Image, SoftDevice};
    use drystone_voxel::{Material, VoxelPos};
    use drystone_world::{Edit, GeneratedWorld, GeneratorConfig, VoxelShape};

    use super::*;

    const SIZE: Size = Size { width: 96, height: 64 };

    fn picture(levels: &mut ShownLevels, view: &View) -> Image {
        levels.scene.picture(view).unwrap().0
    }

    /// Puts a ball into view.
    fn edit(levels: &mut ShownLevels) {
        let ball = VoxelShape::Sphere { center: VoxelPos::new(128, 100, 128), radius_voxels: 30 };
        let edit = Edit::fill(levels.scene.tree().data(), &ball, Material(1)).unwrap();
        assert!(levels.scene.apply_edit(&edit).unwrap() > 0);
    }

    #[test]
    fn a_world_at_levels_of_detail_changes_its_renderer() {
        let config = GeneratorConfig { size_chunks: [8, 4, 8], ..GeneratorConfig::default() };
        let source = Box::new(GeneratedWorld::new(config).unwrap());
        let data = Arc::new(LodData::new(source, 16 << 20));
        let view = View::new(default_view_of_box(level_corners(&data), SIZE.aspect()).camera);
        let device = OpenDevice::new(SoftDevice::new(SIZE.width, SIZE.height).unwrap());
        let renderer = device.renderer(RendererKind::Pool, LodScene::CAPACITY).unwrap();
        let mut levels =
            ShownLevels::new(data, MemoryBudget::new(64 << 20).into(), renderer).unwrap();
        levels.scene.settle(&view, SIZE, |_| {}).unwrap();
        let mut expected = picture(&mut levels, &view);
        levels.change_renderer(&device, RendererKind::Naive).unwrap();
        let mut steps = 0;
        while let Some(part) = levels.follow(&view, SIZE, Duration::ZERO).unwrap() {
            assert!((0.0..1.0).contains(&part) && steps < 10_000, "{part} {steps}");
            assert_eq!(levels.scene.renderer().name(), "pool");
            assert!(picture(&mut levels, &view) == expected);
            if steps == 1 {
                // The meshes of the next one are older than the edit.
                let next = levels.next.as_mut().unwrap();
                next.scene.settle(&view, SIZE, |_| {}).unwrap();
                edit(&mut levels);
                levels.edited(&device).unwrap();
                levels.scene.settle(&view, SIZE, |_| {}).unwrap();
                let before = std::mem::replace(&mut expected, picture(&mut levels, &view));
                assert!(before != expected, "the edit is visible");
            }
            steps += 1;
            sleep(Duration::from_millis(1));
        }
        assert!(steps > 1, "{steps}");
        assert_eq!(levels.scene.renderer().name(), "naive");
        let difference = expected.difference(&picture(&mut levels, &view), 8).unwrap();
        assert!(difference.pixels < 20, "{difference:?}");
    }
}
