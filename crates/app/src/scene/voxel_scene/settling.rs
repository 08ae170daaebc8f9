use std::time::Duration;

use drystone_render::{RenderError, View};
use drystone_world::{BlockedLight, LodTree};
use web_time::Instant;

use super::{VoxelScene, lod_camera, out_of_memory};
use crate::scene::Size;

/// Time to wait for a mesh before the next check.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time for which this thread makes meshes before the next update, which plans all nodes again.
const WORK_TIME: Duration = Duration::from_millis(10);
/// Time without a byte after which a picture that needs more is given up.
const CONNECTION_LIMIT: Duration = Duration::from_secs(30);

/// Updates without a time limit.
impl VoxelScene {
    /// Updates the meshes until everything around the camera is as fine as `view` requires, or as
    /// fine as fits in memory, however long it takes. Calls `progress` after each step.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update); if not even the coarsest meshes of the whole world fit; and if
    /// the world comes over a network and nothing is received for 30 s.
    pub fn settle(
        &mut self,
        view: &View,
        size: Size,
        progress: impl FnMut(&LodTree),
    ) -> Result<(), RenderError> {
        self.camera = lod_camera(view, size);
        self.finish(progress)
    }

    /// Updates the meshes as [`settle`](Self::settle) does, but only those that may be in the
    /// picture or keep light from it. The picture is the same, if no other view was shown before.
    ///
    /// # Cost
    /// Half of the time and a third of the memory for a view of a wide land by day. More with a low
    /// sun, whose shadows are long; as much as [`settle`](Self::settle) in a parallel projection.
    ///
    /// # Errors
    /// Errors of [`settle`](Self::settle).
    pub fn settle_picture(
        &mut self,
        view: &View,
        size: Size,
        progress: impl FnMut(&LodTree),
    ) -> Result<(), RenderError> {
        self.camera = lod_camera(view, size);
        let lights = drystone_render::BlockedLight::of_view(view, [size.width, size.height]);
        let lights = lights.iter().map(|light| BlockedLight {
            toward: light.toward.to_array(),
            radius_voxels: light.radius_voxels,
            margin_voxels: light.margin_voxels,
        });
        self.finish_within(Some(&lights.collect::<Vec<_>>()), progress)
    }

    /// Updates the meshes as [`settle`](Self::settle) does, for the view of the last update: edits
    /// and changes of meshing that are not shown yet.
    ///
    /// # Errors
    /// Errors of [`settle`](Self::settle).
    pub fn finish(&mut self, progress: impl FnMut(&LodTree)) -> Result<(), RenderError> {
        self.finish_within(None, progress)
    }

    /// Updates everything around the camera, or only the picture with these lights.
    fn finish_within(
        &mut self,
        picture: Option<&[BlockedLight]>,
        mut progress: impl FnMut(&LodTree),
    ) -> Result<(), RenderError> {
        let mut heard = (0, Instant::now());
        loop {
            let factor = self.coarsening();
            self.update_tree(picture)?;
            progress(&self.tree);
            if self.tree.is_settled() && self.coarsening() == factor {
                return Ok(());
            }
            self.check_connection(&mut heard)?;
            if self.coarsening.is_hopeless() {
                let whole = self.tree.is_whole();
                return whole
                    .then_some(())
                    .ok_or_else(|| out_of_memory("showing the world at its coarsest level"));
            }
            if self.tree.is_waiting() {
                self.work();
            }
        }
    }

    /// Fails if data that comes over a network is missing, and will not come or has not come for long.
    /// `heard` holds the number of bytes that were received, and when they had become more.
    fn check_connection(&self, heard: &mut (u64, Instant)) -> Result<(), RenderError> {
        let Some(state) = self.tree.data().arrival_state() else { return Ok(()) };
        let is_quiet = state.failure.is_none() && state.waiting_requests == 0;
        if is_quiet || state.received_bytes != heard.0 {
            *heard = (state.received_bytes, Instant::now());
        }
        let is_over = heard.1.elapsed() >= CONNECTION_LIMIT;
        match state.failure {
            Some(failure) if failure.is_final || is_over => {
                Err(RenderError::NotReceived { reason: failure.problem })
            }
            None if is_over => {
                Err(RenderError::NotReceived { reason: "the server is too slow".into() })
            }
            _ => Ok(()),
        }
    }

    /// Makes some meshes on this thread, or waits for those that other threads make.
    fn work(&mut self) {
        let start = Instant::now();
        let mut has_worked = false;
        while start.elapsed() < WORK_TIME && self.tree.work() {
            has_worked = true;
        }
        if !has_worked {
            self.tree.wait(CHECK_INTERVAL);
        }
    }
}
