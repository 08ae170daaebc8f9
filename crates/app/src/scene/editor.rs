use std::collections::VecDeque;
use std::time::Duration;

use drystone_render::RenderError;
use drystone_voxel::Material;
use drystone_world::{Edit, EditHistory, VoxelBox, VoxelRay, VoxelShape, WorldError};

use super::EditScene;

mod aim;
mod brush;
mod job;
mod saver;

pub use brush::{Brush, BrushForm};
use job::{Job, Outcome, Task};
pub use saver::{EditSaver, KeptBy, Reread, SaveState};

/// What is to be done with the voxels that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// They become air.
    Remove,
    /// What lies before them becomes the brush's material.
    Place,
    /// The brush takes their material.
    Pick,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// So many voxels changed.
    Voxels(u64),
    /// The brush is of this now.
    Picked(Material),
    /// There is no voxel, as far as is looked for one.
    OutOfReach,
    /// What there may be is farther than is looked: see [`EditScene::reach_voxels`].
    TooFar,
    /// Nothing changed: all was so already, or lies outside of the world; or there is nothing
    /// to be taken back, or to be done again.
    Nothing,
    /// It goes on with [`Editor::update`], after all that was begun before it.
    Begun,
    /// So much waits to be done that no more is begun.
    Busy,
}

/// What it was that came to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditStep {
    /// Something was edited, or picked.
    Edit,
    /// An edit was taken back.
    Undo,
    /// An edit was done again.
    Redo,
}

impl Edited {
    /// In words: what `step` came to, as "3 voxels changed".
    pub fn words(&self, step: EditStep) -> String {
        let done = match step {
            EditStep::Edit => "changed",
            EditStep::Undo => "taken back",
            EditStep::Redo => "done again",
        };
        match self {
            Self::Voxels(1) => format!("1 voxel {done}"),
            Self::Voxels(count) => format!("{count} voxels {done}"),
            Self::Picked(_) => "picked".into(),
            Self::OutOfReach => "there is no voxel".into(),
            Self::TooFar => "too far: fly nearer".into(),
            Self::Nothing if step == EditStep::Edit => {
                "nothing changed: so already, or outside of the world".into()
            }
            Self::Nothing => format!("nothing to be {done}"),
            Self::Begun => "editing …".into(),
            Self::Busy => "editing …: too much waits already".into(),
        }
    }
}

/// Why an edit was not done, or not shown.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is too large.
    #[error(transparent)]
    World(#[from] WorldError),
    /// There is no room for more edits that nothing keeps.
    #[error(
        "no room for this edit: {} MiB of edits that no file keeps, of {} MiB at the most", mib(*held_bytes), mib(*limit_bytes)
    )]
    Full {
        /// Bytes of memory of edits that nothing has taken.
        held_bytes: usize,
        /// About as many this one would add.
        more_bytes: usize,
        /// The most there may be.
        limit_bytes: usize,
    },
    /// It is done, but could not be shown.
    #[error("the edit is done but not all of it is shown: {0}")]
    Render(#[from] RenderError),
}

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

/// Edits a scene, by rays from the eye: brush, history, and what becomes of the edits. It has
/// no window; a viewer maps its keys and clicks to it.
///
/// ```text
///  ray ─► voxel ─► brush's shape ─► Edit ─┬► scene: voxels and meshes
///                                         ├► history: undo, redo
///                                         └► saver ─► stored world, a while later
/// ```
///
/// What touches no more than [`CHUNKS_AT_ONCE`](Self::CHUNKS_AT_ONCE) chunks is done and shown
/// before the call returns. Anything larger is begun, and done in parts by
/// [`update`](Self::update), which a viewer calls in each frame: first what changes is found,
/// then it is set, then it shows as a whole. Meanwhile whatever else is asked for waits for its turn, so that all
/// comes to what it would come to at once; [`finish`](Self::finish) waits for all of it.
///
/// # Examples
/// ```
/// use drystone::scene::{
///     BackendKind, EditAction, EditSaver, Edited, Editor, KeptBy, RendererKind, Scene, Size,
///     mesh_world, open_renderer,
/// };
/// use drystone_voxel::{MaterialTable, VoxelPos};
/// use drystone_world::{VoxelRay, World};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut world = World::new("a stone", materials);
/// world.set(VoxelPos::new(0, 0, 0), stone);
/// let (quads, size) = (mesh_world(&world), Size { width: 64, height: 64 });
/// let renderer = open_renderer(RendererKind::Pool, BackendKind::Soft, size, &quads)?;
/// let mut scene = Scene::new(world, &quads, renderer)?;
///
/// let mut editor = Editor::new(EditSaver::new(KeptBy::Nobody));
/// let down = VoxelRay { origin: [0.5, 9.0, 0.5], direction: [0.0, -1.0, 0.0] };
/// assert_eq!(editor.act(&mut scene, EditAction::Place, &down)?, Edited::Voxels(1));
/// assert_eq!(scene.world().get(VoxelPos::new(0, 1, 0)), stone);
/// assert_eq!(editor.undo(&mut scene)?, Edited::Voxels(1));
/// assert_eq!(scene.world().solid_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    /// What is set.
    pub brush: Brush,
    history: EditHistory,
    saver: EditSaver,
    touched: Option<VoxelBox>,
    /// Bytes of what nothing keeps and of what can be taken back.
    limit_bytes: Option<usize>,
    /// What is being done, and what is to be done then.
    job: Option<Job>,
    queue: VecDeque<Task>,
}

impl Editor {
    /// An edit that touches no more chunks than this is done at once.
    pub const CHUNKS_AT_ONCE: usize = 8;
    /// Time that larger ones may take of a frame.
    pub const FRAME_TIME: Duration = Duration::from_millis(2);
    /// So much waits to be done at the most.
    const MAX_QUEUED: usize = 64;

    /// An editor whose edits `saver` keeps.
    pub fn new(saver: EditSaver) -> Self {
        let (brush, history) = (Brush::default(), EditHistory::default());
        let (touched, limit_bytes, job, queue) = (None, None, None, VecDeque::new());
        Self { brush, history, saver, touched, limit_bytes, job, queue }
    }

    /// The same in at most about so many bytes of memory, for edits that nothing keeps and those
    /// that can be taken back together: the oldest of these are forgotten first; then no more
    /// is edited, before what there is was [saved](EditSaver::save).
    #[must_use]
    pub fn with_memory(self, limit_bytes: usize) -> Self {
        Self { limit_bytes: Some(limit_bytes), ..self }
    }

    /// The same with the edits that can be taken back so far, and room for more.
    #[must_use]
    pub fn with_history(self, history: EditHistory) -> Self {
        Self { history, ..self }
    }

    /// The edits that can be taken back.
    pub const fn history(&self) -> &EditHistory {
        &self.history
    }

    /// Has another keep the edits from now on, of the same voxels: what can be taken back stays so,
    /// and edits are counted on. The old one's must be its source's, which the new one keeps them
    /// in: what that [lacks](EditSaver::lacked_count) is lost.
    pub fn set_saver(&mut self, saver: EditSaver) {
        self.saver = saver.after(self.saver.edit_count());
    }

    /// A box around all that was ever changed here: the world may reach so far now. `None`
    /// where nothing was.
    pub const fn touched(&self) -> Option<VoxelBox> {
        self.touched
    }

    /// What became of the edits so far.
    pub fn save_state(&self) -> SaveState {
        self.saver.state()
    }

    /// How many edits were made so far, those that took others back too.
    pub const fn edit_count(&self) -> u64 {
        self.saver.edit_count()
    }

    /// What keeps the edits.
    pub const fn saver(&mut self) -> &mut EditSaver {
        &mut self.saver
    }

    /// Does something with what the ray meets.
    ///
    /// # Cost
    /// O(voxels of the chunks that the brush touches), and meshing these; of many chunks none of
    /// it here.
    ///
    /// # Errors
    /// When it cannot be shown: then it is done all the same, and kept.
    pub fn act(
        &mut self,
        scene: &mut dyn EditScene,
        action: EditAction,
        ray: &VoxelRay,
    ) -> Result<Edited, EditError> {
        self.ask(scene, Task::Act { action, ray: *ray, brush: self.brush })
    }

    /// Sets all voxels of a shape.
    ///
    /// # Errors
    /// As [`act`](Self::act), or when the shape is too large.
    pub fn fill(
        &mut self,
        scene: &mut dyn EditScene,
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Edited, EditError> {
        self.ask(scene, Task::Fill { shape: *shape, material })
    }

    /// Takes the last edit back; [`Edited::Nothing`] where there is none.
    ///
    /// # Errors
    /// As [`act`](Self::act).
    pub fn undo(&mut self, scene: &mut dyn EditScene) -> Result<Edited, EditError> {
        self.ask(scene, Task::Undo)
    }

    /// Does again what was taken back last; [`Edited::Nothing`] where there is nothing.
    ///
    /// # Errors
    /// As [`act`](Self::act).
    pub fn redo(&mut self, scene: &mut dyn EditScene) -> Result<Edited, EditError> {
        self.ask(scene, Task::Redo)
    }

    fn ask(&mut self, scene: &mut dyn EditScene, task: Task) -> Result<Edited, EditError> {
        if !self.is_busy() {
            return self.start(scene, task);
        }
        if self.queue.len() >= Self::MAX_QUEUED {
            return Ok(Edited::Busy);
        }
        self.queue.push_back(task);
        Ok(Edited::Begun)
    }

    /// Whether something was begun that is not done.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || !self.queue.is_empty()
    }

    /// Goes on with what was begun, for about so long; what the first of it came to that is
    /// done now.
    ///
    /// # Cost
    /// At most `time`, or one part: some milliseconds for four chunks. A chunk that was not used lately takes what
    /// its source does.
    pub fn update(&mut self, scene: &mut dyn EditScene, time: Duration) -> Option<Outcome> {
        self.go_on(scene, time)
    }

    /// Goes on until all is done that was begun, however long that takes; what the last of it
    /// came to, or the first that failed.
    ///
    /// # Errors
    /// As [`act`](Self::act); the rest is done all the same.
    pub fn finish(&mut self, scene: &mut dyn EditScene) -> Result<Option<Edited>, EditError> {
        let mut all = Ok(None);
        while self.is_busy() {
            if let Some((_, done)) = self.update(scene, Duration::MAX) {
                all = all.and_then(|_| done.map(Some));
            }
        }
        all
    }

    /// Makes room for an edit, if nothing takes it.
    ///
    /// # Errors
    /// [`EditError::Full`]: what can be taken back is as before then.
    fn make_room(&mut self, scene: &dyn EditScene, edit: &Edit) -> Result<(), EditError> {
        let Some(limit_bytes) = self.limit_bytes else { return Ok(()) };
        if self.saver.takes() {
            self.history.set_limit_bytes(limit_bytes);
            return Ok(());
        }
        let held_bytes = self.saver.held_bytes();
        let more_bytes = self.saver.more_bytes(scene.voxels(), edit);
        if held_bytes + more_bytes > limit_bytes {
            return Err(EditError::Full { held_bytes, more_bytes, limit_bytes });
        }
        // Of the rest, the edit itself is a part.
        self.history.set_limit_bytes(limit_bytes - held_bytes - more_bytes + edit.size_bytes());
        Ok(())
    }

    /// Keeps the limit after an edit.
    fn keep_limit(&mut self) {
        if let Some(limit_bytes) = self.limit_bytes {
            let rest = limit_bytes.saturating_sub(self.saver.held_bytes());
            self.history.set_limit_bytes(rest);
        }
    }

    /// Notes that something is set now.
    fn touch(&mut self, edit: &Edit) {
        let boxes = edit.chunks().map(|(_, bounds)| bounds).chain(self.touched);
        self.touched = boxes.reduce(VoxelBox::union);
    }
}
