use std::collections::VecDeque;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_render::{Camera, RenderError};
use drystone_voxel::{Material, VoxelBox};
use drystone_world::{Edit, EditHistory, VoxelRay, VoxelShape};

use super::outline::{OutlineLine, OutlinePart, outline};
use super::{Size, VoxelScene};

mod aim;
mod brush;
mod job;
mod saver;

pub(crate) use aim::hit_distance;
pub use brush::{Brush, BrushForm};
use job::{Job, Outcome, Task};
pub use saver::{EditSaver, SaveState};

/// Action on the voxels that a ray hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// Replaces them with air.
    Remove,
    /// Places the brush's material next to the hit voxel.
    Place,
    /// Sets the brush's material to that of the hit voxel.
    Pick,
}

/// Result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Number of changed voxels.
    Voxels(u64),
    /// New material of the brush.
    Picked(Material),
    /// The ray hits no voxel.
    OutOfReach,
    /// The ray may hit a voxel, but beyond the reach of the scene.
    TooFar,
    /// Nothing changed: the voxels have that material already or lie outside the world, or there is
    /// nothing to undo or redo.
    Nothing,
    /// Started; [`Editor::update`] continues it, after all edits that were started before.
    Begun,
    /// Refused, since too many edits are waiting.
    Busy,
}

/// Kind of a finished action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditStep {
    /// Edit, or pick of a material.
    Edit,
    /// Undo of an edit.
    Undo,
    /// Redo of an edit.
    Redo,
}

impl Edited {
    /// Describes the result of `step` in words, such as "3 voxels changed".
    pub fn words(&self, step: EditStep) -> String {
        let done = match step {
            EditStep::Edit => "changed",
            EditStep::Undo => "undone",
            EditStep::Redo => "redone",
        };
        match self {
            Self::Voxels(1) => format!("1 voxel {done}"),
            Self::Voxels(count) => format!("{count} voxels {done}"),
            Self::Picked(_) => "picked".into(),
            Self::OutOfReach => "nothing to edit under the pointer".into(),
            Self::TooFar => "too far away to edit; move closer".into(),
            Self::Nothing if step == EditStep::Edit => {
                "nothing changed: the voxels have this material already, or lie outside the world"
                    .into()
            }
            Self::Nothing => match step {
                EditStep::Redo => "nothing to redo".into(),
                EditStep::Edit | EditStep::Undo => "nothing to undo".into(),
            },
            Self::Begun => "editing …".into(),
            Self::Busy => "too many edits are waiting; try again in a moment".into(),
        }
    }
}

/// Error of an edit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Too large.
    #[error(transparent)]
    World(#[from] SourceError),
    /// The memory limit for unsaved edits is reached.
    #[error(
        "out of memory for this edit: {} MiB of unsaved edits, limit {} MiB", mib(*held_bytes), mib(*limit_bytes)
    )]
    Full {
        /// Bytes of unsaved edits in memory.
        held_bytes: usize,
        /// Estimated bytes that this edit would add.
        more_bytes: usize,
        /// Limit in bytes.
        limit_bytes: usize,
    },
    /// The edit was applied, but could not be shown.
    #[error("the edit was applied but not all of it is shown: {0}")]
    Render(#[from] RenderError),
}

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

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
    history: EditHistory,
    saver: EditSaver,
    touched: Option<VoxelBox>,
    /// Limit for the bytes of unsaved edits and history together.
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
        let (touched, limit_bytes, job, queue) = (None, None, None, VecDeque::new());
        Self { brush, history, saver, touched, limit_bytes, job, queue }
    }

    /// Limits the memory for unsaved edits and history together, in bytes. At the limit, the oldest
    /// history is dropped first; after that, edits are refused until they are
    /// [saved](EditSaver::save).
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

    /// Returns the outlines of the voxel that the ray hits and of the brush around it, in a picture
    /// of the camera. Empty if it hits none nearby.
    ///
    /// # Cost
    /// One ray to the voxel, and up to 108 short ones.
    pub fn outline(
        &self,
        scene: &VoxelScene,
        ray: &VoxelRay,
        (camera, size): (&Camera, Size),
    ) -> Vec<OutlineLine> {
        /// Farther voxels are smaller than their lines, and a ray to them may read many chunks.
        const REACH: f64 = 512.0;
        let mut lines = Vec::new();
        let (data, view) = (scene.data(), (camera, size));
        let reach = scene.reach_voxels().min(REACH);
        if let Ok(hit) = aim::aim(data, scene.bounds(), reach, ray) {
            let voxel = VoxelShape::voxel(hit.voxel);
            let brush = self.brush.shape_at(hit.voxel);
            if brush != voxel {
                outline(&mut lines, (&brush, OutlinePart::Brush), data, view);
            }
            outline(&mut lines, (&voxel, OutlinePart::Voxel), data, view);
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
        let Some(limit_bytes) = self.limit_bytes else { return Ok(()) };
        if self.saver.accepts_edits() {
            self.history.set_limit_bytes(limit_bytes);
            return Ok(());
        }
        let held_bytes = self.saver.held_bytes();
        let more_bytes = self.saver.more_bytes(edit);
        if held_bytes + more_bytes > limit_bytes {
            return Err(EditError::Full { held_bytes, more_bytes, limit_bytes });
        }
        // The edit itself becomes a part of the history.
        self.history.set_limit_bytes(limit_bytes - held_bytes - more_bytes + edit.size_bytes());
        Ok(())
    }

    /// Enforces the limit after an edit.
    fn enforce_limit(&mut self) {
        if let Some(limit_bytes) = self.limit_bytes {
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
