use std::collections::VecDeque;
use std::time::Duration;

use drystone_render::Camera;
use drystone_voxel::{Material, VoxelBox};
use drystone_world::{Edit, EditHistory, VoxelRay, VoxelShape};

use super::outline::{OutlineLine, outline};
use super::{Size, VoxelScene};

mod aim;
mod brush;
mod job;
mod results;
mod saver;
mod selecting;
mod selection;

pub(crate) use aim::hit_distance;
pub use brush::{Brush, BrushForm, Mirror, MirrorPlanes};
use job::{Job, Outcome, Task};
pub use results::{EditAction, EditError, EditStep, Edited};
pub use saver::{EditSaver, SaveState};
pub use selection::{EditTool, Selection};

/// Edits a scene by rays from the camera, with a brush, a history and saving. Independent of any
/// window; a viewer maps keys and clicks to it.
///
/// ```text
///  ray ─► voxel ─► brush's shape ─► Edit ─┬► scene: voxels and meshes
///                                         ├► history: undo, redo
///                                         └► saver ─► stored world, a while later
/// ```
///
/// Edits of at most [`CHUNKS_AT_ONCE`](Self::CHUNKS_AT_ONCE) chunks are applied and shown before
/// the call returns. Larger ones are only started. A viewer calls [`update`](Self::update) in each
/// frame, which finds the changed voxels, then sets them, then shows all of them together. Actions in
/// the meantime wait in a queue, so that results do not depend on timing. [`finish`](Self::finish)
/// waits for all of them.
/// # Examples
/// ```
/// use drystone::scene::{
///     BackendKind, EditAction, EditSaver, Edited, Editor, RendererKind, Size, VoxelScene,
///     open_renderer,
/// };
/// use drystone_voxel::{MaterialTable, VoxelPos};
/// use drystone_world::{Meshing, VoxelRay, World};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut world = World::new("a stone", materials);
/// world.set(VoxelPos::new(0, 0, 0), stone);
/// let (size, capacity) = (Size { width: 64, height: 64 }, VoxelScene::CAPACITY);
/// let renderer = open_renderer(RendererKind::Pool, BackendKind::Soft, size, capacity)?;
/// let mut scene = VoxelScene::of_world(world, Meshing::default(), renderer)?;
///
/// let mut editor = Editor::new(EditSaver::new(scene.tree().shared_data()));
/// let down = VoxelRay { origin: [0.5, 9.0, 0.5], direction: [0.0, -1.0, 0.0] };
/// assert_eq!(editor.act(&mut scene, EditAction::Place, &down)?, Edited::Voxels(1));
/// assert_eq!(scene.data().get(VoxelPos::new(0, 1, 0)), stone);
/// assert_eq!(editor.undo(&mut scene)?, Edited::Voxels(1));
/// assert!(scene.data().get(VoxelPos::new(0, 1, 0)).is_air());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    /// Brush for the next actions.
    pub brush: Brush,
    /// Selected box and copied voxels.
    pub selection: Selection,
    history: EditHistory,
    saver: EditSaver,
    touched: Option<VoxelBox>,
    /// Limit for the bytes of unsaved edits, history and copied voxels together.
    limit_bytes: Option<usize>,
    /// Action in progress, and waiting ones.
    job: Option<Job>,
    queue: VecDeque<Task>,
}

impl Editor {
    /// Edits of at most this many chunks are applied at once.
    pub const CHUNKS_AT_ONCE: usize = 8;
    /// Recommended time per frame for larger edits.
    pub const FRAME_TIME: Duration = Duration::from_millis(2);
    /// Maximum number of waiting actions.
    const MAX_QUEUED: usize = 64;

    /// Creates an editor whose edits `saver` saves.
    pub fn new(saver: EditSaver) -> Self {
        let (brush, history) = (Brush::default(), EditHistory::default());
        let selection = Selection::default();
        let (touched, limit_bytes, job, queue) = (None, None, None, VecDeque::new());
        Self { brush, selection, history, saver, touched, limit_bytes, job, queue }
    }

    /// Limits the memory for unsaved edits, history and copied voxels together, in bytes. At the limit,
    /// the oldest history is dropped first; after that, edits are refused until they are
    /// [saved](EditSaver::save). Copied voxels may take half of it.
    #[must_use]
    pub fn with_memory(self, limit_bytes: usize) -> Self {
        Self { limit_bytes: Some(limit_bytes), ..self }
    }

    /// Replaces the history, for instance by an empty one with another limit.
    #[must_use]
    pub fn with_history(self, history: EditHistory) -> Self {
        Self { history, ..self }
    }

    /// Returns the history for undo and redo.
    pub const fn history(&self) -> &EditHistory {
        &self.history
    }

    /// Returns a box around all voxels that were ever changed here, which may extend the world.
    /// `None` without changes.
    pub const fn touched(&self) -> Option<VoxelBox> {
        self.touched
    }

    /// Returns the state of saving.
    pub fn save_state(&self) -> SaveState {
        self.saver.state()
    }

    /// Returns the number of edits so far, including undone and redone ones.
    pub const fn edit_count(&self) -> u64 {
        self.saver.edit_count()
    }

    /// Returns the saver.
    pub const fn saver(&mut self) -> &mut EditSaver {
        &mut self.saver
    }

    /// Applies an action to the voxel that the ray hits.
    ///
    /// # Cost
    /// O(voxels of the chunks that the brush touches), plus meshing them. For many chunks, the work
    /// is done by [`update`](Self::update).
    ///
    /// # Errors
    /// If it cannot be shown; the edit is applied and saved anyway.
    pub fn act(
        &mut self,
        scene: &mut VoxelScene,
        action: EditAction,
        ray: &VoxelRay,
    ) -> Result<Edited, EditError> {
        self.enqueue(scene, Task::Act { action, ray: *ray, brush: self.brush })
    }

    /// Returns the outlines of the selected box, of the voxel that the ray hits, and of the brush around
    /// it or the box to place beside it, in a picture of the camera.
    ///
    /// # Cost
    /// One ray to the voxel, and up to 500 short ones.
    pub fn outline(
        &self,
        scene: &VoxelScene,
        ray: Option<&VoxelRay>,
        (camera, size): (&Camera, Size),
    ) -> Vec<OutlineLine> {
        /// Farther voxels are smaller than their lines, and a ray to them may read many chunks.
        const REACH: f64 = 512.0;
        let mut lines = Vec::new();
        let (data, view) = (scene.data(), (camera, size));
        let reach = scene.reach_voxels().min(REACH);
        let hit = ray.and_then(|ray| aim::aim(data, scene.bounds(), reach, ray).ok());
        for (shape, part) in self.outlined(hit.as_ref()) {
            outline(&mut lines, (&shape, part), data, view);
        }
        lines
    }

    /// Sets all voxels of a shape.
    ///
    /// # Errors
    /// Errors of [`act`](Self::act), or if the shape is too large.
    pub fn fill(
        &mut self,
        scene: &mut VoxelScene,
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Edited, EditError> {
        self.enqueue(scene, Task::Fill { shape: *shape, material })
    }

    /// Undoes the last edit; [`Edited::Nothing`] if there is none.
    ///
    /// # Errors
    /// Errors of [`act`](Self::act).
    pub fn undo(&mut self, scene: &mut VoxelScene) -> Result<Edited, EditError> {
        self.enqueue(scene, Task::Undo)
    }

    /// Redoes the last undone edit; [`Edited::Nothing`] if there is none.
    ///
    /// # Errors
    /// Errors of [`act`](Self::act).
    pub fn redo(&mut self, scene: &mut VoxelScene) -> Result<Edited, EditError> {
        self.enqueue(scene, Task::Redo)
    }

    fn enqueue(&mut self, scene: &mut VoxelScene, task: Task) -> Result<Edited, EditError> {
        if !self.is_busy() {
            return self.start(scene, task);
        }
        if self.queue.len() >= Self::MAX_QUEUED {
            return Ok(Edited::Busy);
        }
        self.queue.push_back(task);
        Ok(Edited::Begun)
    }

    /// Whether an action is in progress or waiting.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || !self.queue.is_empty()
    }

    /// Returns the finished fraction of the action in progress, 0 to 1; `None` if there is none.
    pub fn fraction(&self) -> Option<f32> {
        self.job.as_ref().map(Job::fraction)
    }

    /// Continues actions in progress for about `time`. Returns the result of the first one that
    /// finishes.
    ///
    /// # Cost
    /// At most `time`, or one part: some milliseconds for four chunks. Chunks that are not cached
    /// are read from their source in addition.
    pub fn update(&mut self, scene: &mut VoxelScene, time: Duration) -> Option<Outcome> {
        self.continue_jobs(scene, time)
    }

    /// Continues until all actions are finished. Returns the result of the last one, or the first
    /// error.
    ///
    /// # Errors
    /// Errors of [`act`](Self::act); the other actions are finished anyway.
    pub fn finish(&mut self, scene: &mut VoxelScene) -> Result<Option<Edited>, EditError> {
        let mut all = Ok(None);
        while self.is_busy() {
            if let Some((_, done)) = self.update(scene, Duration::MAX) {
                all = all.and_then(|_| done.map(Some));
            }
        }
        all
    }

    /// Reserves memory for an edit if it cannot be saved, by dropping history.
    ///
    /// # Errors
    /// [`EditError::Full`]; the history is unchanged then.
    fn reserve_memory(&mut self, edit: &Edit) -> Result<(), EditError> {
        let (Some(all_bytes), Some(limit_bytes)) = (self.limit_bytes, self.edit_bytes()) else {
            return Ok(());
        };
        if self.saver.accepts_edits() {
            self.history.set_limit_bytes(limit_bytes);
            return Ok(());
        }
        let held_bytes = self.saver.held_bytes();
        let more_bytes = self.saver.more_bytes(edit);
        if held_bytes + more_bytes > limit_bytes {
            let (copied_bytes, limit_bytes) = (self.copied_bytes(), all_bytes);
            return Err(EditError::Full { held_bytes, copied_bytes, more_bytes, limit_bytes });
        }
        // The edit itself becomes a part of the history.
        self.history.set_limit_bytes(limit_bytes - held_bytes - more_bytes + edit.size_bytes());
        Ok(())
    }

    /// Returns the limit for edits and history: what the copied voxels leave.
    fn edit_bytes(&self) -> Option<usize> {
        self.limit_bytes.map(|limit| limit.saturating_sub(self.copied_bytes()))
    }

    fn copied_bytes(&self) -> usize {
        self.selection.clipboard().map_or(0, |it| it.size_bytes())
    }

    /// Enforces the limit after an edit.
    fn enforce_limit(&mut self) {
        if let Some(limit_bytes) = self.edit_bytes() {
            let rest = limit_bytes.saturating_sub(self.saver.held_bytes());
            self.history.set_limit_bytes(rest);
        }
    }

    /// Extends the box of changes by an edit.
    fn touch(&mut self, edit: &Edit) {
        let boxes = edit.chunks().map(|(_, bounds)| bounds).chain(self.touched);
        self.touched = boxes.reduce(VoxelBox::union);
    }
}
