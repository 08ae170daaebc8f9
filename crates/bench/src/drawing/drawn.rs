//! A renderer with a scene that does not change.

use drystone_render::{RenderError, Renderer, View};

use super::{
    contenders::{Capacity, Kind},
    frames::{FrameTimes, warm_up},
    scene::Meshes,
};
use crate::Figure;

/// Duration of a round of a small scene.
pub(super) const ROUND_SECONDS: f64 = 0.25;
/// Largest number of frames of a round.
pub(super) const ROUND_FRAMES: u32 = 32;

/// Movement per frame of a moving camera, in voxels: too small to be visible.
pub(super) const TREMBLE_VOXELS: f64 = 1e-3;

/// A contender with its scene.
pub(super) struct Drawn {
    pub(super) kind: Kind,
    pub(super) renderer: Box<dyn Renderer>,
    /// Number of frames drawn so far, which determines the camera's position.
    frame: u32,
}

impl Drawn {
    pub(super) fn open(kind: Kind, meshes: &Meshes) -> Result<Self, RenderError> {
        let capacity =
            Capacity { quads: meshes.quad_count().into(), meshes: meshes.list.len() as u32 };
        Self::with_renderer(kind, kind.open(capacity)?, meshes)
    }

    /// Creates it with a new renderer of this kind.
    pub(super) fn with_renderer(
        kind: Kind,
        mut renderer: Box<dyn Renderer>,
        meshes: &Meshes,
    ) -> Result<Self, RenderError> {
        renderer.set_palette(&meshes.palette)?;
        for mesh in &meshes.list {
            renderer.insert(&mesh.data())?;
        }
        Ok(Self { kind, renderer, frame: 0 })
    }

    pub(super) fn contender(&mut self) -> (Kind, &mut dyn Renderer) {
        (self.kind, self.renderer.as_mut())
    }

    /// Draws frames and measures them. The camera moves by `tremble_voxels` per frame. If that is
    /// not 0, no result of the last frame can be reused. Then `submit` includes masking, sorting
    /// and making commands.
    pub(super) fn round(
        &mut self,
        view: &View,
        tremble_voxels: f64,
    ) -> Result<Vec<Figure>, String> {
        let renderer = self.renderer.as_mut();
        warm_up(renderer, view)?;
        let mut times = FrameTimes::default();
        while times.frames < ROUND_FRAMES && times.draw_ns < ROUND_SECONDS * 1e9 {
            self.frame += 1;
            times.draw(renderer, &moved(view, tremble_voxels, self.frame))?;
        }
        Ok(times.figures(renderer, self.kind))
    }
}

/// Returns the view of frame `frame`, for a camera that moves by `tremble_voxels` per frame.
pub(super) fn moved(view: &View, tremble_voxels: f64, frame: u32) -> View {
    let mut view = *view;
    view.camera.position.x += tremble_voxels * f64::from(1 + frame % 2);
    view
}
