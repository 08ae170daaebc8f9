use std::sync::Arc;
use std::time::Duration;

use drystone_voxel::{Chunk, Material, VoxelBox};
use drystone_world::{
    Copying, Edit, EditDirection, EditParts, Filling, Orientation, PasteAir, Placement, VoxelRay,
    VoxelShape,
};
use web_time::Instant;

use super::aim::aim;
use super::selection::placed_at;
use super::{Brush, EditAction, EditError, EditStep, Edited, Editor, VoxelScene};

/// Requested action.
#[derive(Debug)]
pub(super) enum Task {
    Act { action: EditAction, ray: VoxelRay, brush: Brush },
    Fill { shape: VoxelShape, material: Material },
    Replace { shape: VoxelShape, materials: [Material; 2] },
    Copy { bounds: VoxelBox, mode: CopyMode },
    Paste { ray: VoxelRay, orientation: Orientation, air: PasteAir },
    Undo,
    Redo,
}

/// Whether copied voxels are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyMode {
    Copy,
    Cut,
}

impl Task {
    const fn step(&self) -> EditStep {
        match self {
            Self::Act { .. } | Self::Fill { .. } | Self::Replace { .. } | Self::Paste { .. } => {
                EditStep::Edit
            }
            Self::Copy { mode, .. } => mode.step(),
            Self::Undo => EditStep::Undo,
            Self::Redo => EditStep::Redo,
        }
    }
}

impl CopyMode {
    const fn step(self) -> EditStep {
        match self {
            Self::Copy => EditStep::Edit,
            Self::Cut => EditStep::Cut,
        }
    }
}

/// Action that is executed in parts.
#[derive(Debug)]
pub(super) enum Job {
    /// Finds the voxels that will change; nothing has changed yet.
    Finding { filling: Filling, step: EditStep },
    /// Copies voxels.
    Copying { copying: Copying, bounds: VoxelBox, mode: CopyMode },
    /// Sets parts, which are shown together after the last one.
    Setting { parts: EditParts, step: EditStep },
}

impl Job {
    fn setting(edit: Arc<Edit>, step: EditStep) -> Self {
        let direction = match step {
            EditStep::Undo => EditDirection::Inverse,
            _ => EditDirection::Forward,
        };
        Self::Setting { parts: EditParts::new(edit, direction), step }
    }

    /// Returns the finished fraction of the action, 0 to 1. Finding voxels is half of an edit.
    pub(super) fn fraction(&self) -> f32 {
        match self {
            Self::Finding { filling, .. } => filling.fraction() / 2.0,
            Self::Copying { copying, mode: CopyMode::Copy, .. } => copying.fraction(),
            Self::Copying { copying, mode: CopyMode::Cut, .. } => copying.fraction() / 2.0,
            Self::Setting { parts, step: EditStep::Undo | EditStep::Redo } => parts.fraction(),
            Self::Setting { parts, .. } => (1.0 + parts.fraction()) / 2.0,
        }
    }
}

/// Result of an action that was started.
pub(super) type Outcome = (EditStep, Result<Edited, EditError>);

impl Editor {
    /// Executes an action if it is small; otherwise starts it.
    pub(super) fn start(
        &mut self,
        scene: &mut VoxelScene,
        task: Task,
    ) -> Result<Edited, EditError> {
        let (step, next) = match task {
            Task::Act { action, ray, brush } => return self.start_act(scene, action, &ray, &brush),
            Task::Fill { shape, material } => {
                return self.start_fill(scene, &[shape], material, EditStep::Edit);
            }
            Task::Replace { shape, materials } => {
                let filling = Filling::replacing(Chunk::SIDE, &shape, materials)?;
                return self.start_filling(scene, filling, EditStep::Edit);
            }
            Task::Copy { bounds, mode } => return self.start_copy(scene, bounds, mode),
            Task::Paste { ray, orientation, air } => {
                return self.start_paste(scene, &ray, orientation, air);
            }
            Task::Undo => (EditStep::Undo, self.history.step_back()),
            Task::Redo => (EditStep::Redo, self.history.step_forward()),
        };
        match next {
            Some(edit) => self.start_setting(scene, edit, step),
            None => Ok(Edited::Nothing),
        }
    }

    fn start_act(
        &mut self,
        scene: &mut VoxelScene,
        action: EditAction,
        ray: &VoxelRay,
        brush: &Brush,
    ) -> Result<Edited, EditError> {
        let hit = match aim(scene.data(), scene.bounds(), scene.reach_voxels(), ray) {
            Ok(hit) => hit,
            Err(none) => return Ok(none),
        };
        let (center, material) = match action {
            EditAction::Pick => {
                self.pick(brush.material, hit.material);
                return Ok(Edited::Picked(hit.material));
            }
            EditAction::Remove => (hit.voxel, Material::AIR),
            EditAction::Place => match hit.beside() {
                Some(beside) => (beside, brush.material),
                None => return Ok(Edited::Nothing),
            },
        };
        self.start_fill(scene, &brush.shapes_at(center), material, EditStep::Edit)
    }

    /// Sets a picked material on the brush and on waiting actions, as long as they still have the
    /// material `old`. A material chosen in the meantime stays.
    fn pick(&mut self, old: Material, picked: Material) {
        let later = self.queue.iter_mut().filter_map(|task| match task {
            Task::Act { brush, .. } => Some(brush),
            _ => None,
        });
        for brush in later.chain([&mut self.brush]) {
            if brush.material != old {
                return;
            }
            brush.material = picked;
        }
    }

    fn start_fill(
        &mut self,
        scene: &mut VoxelScene,
        shapes: &[VoxelShape],
        material: Material,
        step: EditStep,
    ) -> Result<Edited, EditError> {
        let filling = Filling::of_shapes(Chunk::SIDE, shapes, material)?;
        self.start_filling(scene, filling, step)
    }

    fn start_filling(
        &mut self,
        scene: &mut VoxelScene,
        mut filling: Filling,
        step: EditStep,
    ) -> Result<Edited, EditError> {
        if filling.chunk_count() > Self::CHUNKS_AT_ONCE as u64 {
            self.job = Some(Job::Finding { filling, step });
            return Ok(Edited::Begun);
        }
        while filling.step(scene.data())? {}
        self.start_setting(scene, Arc::new(filling.into_edit()), step)
    }

    fn start_paste(
        &mut self,
        scene: &mut VoxelScene,
        ray: &VoxelRay,
        orientation: Orientation,
        air: PasteAir,
    ) -> Result<Edited, EditError> {
        let hit = match aim(scene.data(), scene.bounds(), scene.reach_voxels(), ray) {
            Ok(hit) => hit,
            Err(none) => return Ok(none),
        };
        let Some(clipboard) = self.selection.clipboard() else { return Ok(Edited::NothingCopied) };
        let size = orientation.size(clipboard.size_voxels());
        let Some(at) = placed_at(&hit, size) else { return Ok(Edited::Nothing) };
        let placement = Placement { at, orientation, air };
        let filling = Filling::pasting(Chunk::SIDE, clipboard, placement)?;
        self.start_filling(scene, filling, EditStep::Edit)
    }

    fn start_copy(
        &mut self,
        scene: &mut VoxelScene,
        bounds: VoxelBox,
        mode: CopyMode,
    ) -> Result<Edited, EditError> {
        let copying = Copying::new(Chunk::SIDE, bounds);
        if copying.is_err() {
            self.drop_pastes();
        }
        let mut copying = copying?;
        if copying.chunk_count() > Self::CHUNKS_AT_ONCE as u64 {
            self.job = Some(Job::Copying { copying, bounds, mode });
            return Ok(Edited::Begun);
        }
        while copying.step(scene.data()) {}
        self.finish_copy(scene, copying, bounds, mode)
    }

    fn finish_copy(
        &mut self,
        scene: &mut VoxelScene,
        copying: Copying,
        bounds: VoxelBox,
        mode: CopyMode,
    ) -> Result<Edited, EditError> {
        self.check_copy(&copying)?;
        let clipboard = copying.into_clipboard();
        let (voxels, unreadable_chunks) = (clipboard.solid_count(), clipboard.unreadable_count());
        self.selection.set_clipboard(clipboard);
        self.enforce_limit();
        match mode {
            CopyMode::Copy if unreadable_chunks > 0 => {
                Ok(Edited::CopiedInPart { voxels, unreadable_chunks })
            }
            CopyMode::Copy => Ok(Edited::Copied(voxels)),
            CopyMode::Cut => {
                let shape = VoxelShape::Box(bounds);
                self.start_fill(scene, &[shape], Material::AIR, mode.step())
            }
        }
    }

    /// Checks that copied voxels take at most half of the memory for edits.
    fn check_copy(&mut self, copying: &Copying) -> Result<(), EditError> {
        match self.limit_bytes.map(|limit| limit / 2) {
            Some(limit_bytes) if copying.size_bytes() > limit_bytes => {
                self.drop_pastes();
                Err(EditError::LargeCopy { limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Removes the waiting pastes of a copy that is refused, up to the next copy. They would place what
    /// was copied before.
    fn drop_pastes(&mut self) {
        let mut is_next = false;
        self.queue.retain(|task| {
            is_next |= matches!(task, Task::Copy { .. });
            is_next || !matches!(task, Task::Paste { .. })
        });
    }

    fn start_setting(
        &mut self,
        scene: &mut VoxelScene,
        edit: Arc<Edit>,
        step: EditStep,
    ) -> Result<Edited, EditError> {
        if edit.is_empty() {
            return Ok(Edited::Nothing);
        }
        // An undo frees more memory than it needs.
        if step != EditStep::Undo
            && let Err(full) = self.reserve_memory(&edit)
        {
            if step == EditStep::Redo {
                self.history.step_back();
            }
            return Err(full);
        }
        if edit.chunk_count() > Self::CHUNKS_AT_ONCE {
            self.job = Some(Job::setting(edit, step));
            return Ok(Edited::Begun);
        }
        let shown = match step {
            EditStep::Undo => scene.apply_edit(&edit.inverse()),
            EditStep::Edit | EditStep::Redo | EditStep::Cut => scene.apply_edit(&edit),
        };
        self.touch(&edit);
        let count = self.note_set(&edit, step);
        Ok(shown.map(|_| Edited::Voxels(count))?)
    }

    /// Records that all of an edit is set; returns the number of its voxels.
    fn note_set(&mut self, edit: &Arc<Edit>, step: EditStep) -> u64 {
        self.saver.take(edit);
        if matches!(step, EditStep::Edit | EditStep::Cut) {
            self.history.push(Arc::clone(edit));
        }
        self.enforce_limit();
        edit.voxel_count()
    }

    pub(super) fn continue_jobs(
        &mut self,
        scene: &mut VoxelScene,
        time: Duration,
    ) -> Option<Outcome> {
        let (start, mut longest_step) = (Instant::now(), Duration::ZERO);
        while self.is_busy() {
            let begun = Instant::now();
            let done = match self.job.take() {
                Some(job) => self.step(scene, job),
                None => self.start_next(scene),
            };
            if done.is_some() {
                return done;
            }
            longest_step = longest_step.max(begun.elapsed());
            if start.elapsed().saturating_add(longest_step) > time {
                break;
            }
        }
        None
    }

    /// Starts the first waiting action.
    fn start_next(&mut self, scene: &mut VoxelScene) -> Option<Outcome> {
        let task = self.queue.pop_front()?;
        let step = task.step();
        if_done(step, self.start(scene, task))
    }

    /// Executes the next part of a job.
    fn step(&mut self, scene: &mut VoxelScene, job: Job) -> Option<Outcome> {
        match job {
            Job::Finding { mut filling, step } => match filling.step(scene.data()) {
                Ok(true) => self.job = Some(Job::Finding { filling, step }),
                Ok(false) => {
                    let edit = Arc::new(filling.into_edit());
                    return if_done(step, self.start_setting(scene, edit, step));
                }
                Err(error) => return Some((step, Err(error.into()))),
            },
            Job::Copying { mut copying, bounds, mode } => {
                if let Err(error) = self.check_copy(&copying) {
                    return Some((mode.step(), Err(error)));
                }
                if copying.step(scene.data()) {
                    self.job = Some(Job::Copying { copying, bounds, mode });
                } else {
                    let done = self.finish_copy(scene, copying, bounds, mode);
                    return if_done(mode.step(), done);
                }
            }
            Job::Setting { mut parts, step } => match parts.next() {
                Some(part) => {
                    scene.apply_part(&part);
                    self.touch(&part);
                    self.job = Some(Job::Setting { parts, step });
                }
                None => {
                    let count = self.note_set(parts.edit(), step);
                    scene.show_parts();
                    return Some((step, Ok(Edited::Voxels(count))));
                }
            },
        }
        None
    }
}

/// Returns the result of a started action if it is finished.
fn if_done(step: EditStep, started: Result<Edited, EditError>) -> Option<Outcome> {
    (!matches!(started, Ok(Edited::Begun))).then_some((step, started))
}
