use std::sync::Arc;
use std::time::Duration;

use drystone_voxel::{Chunk, Material};
use drystone_world::{Edit, EditDirection, EditParts, Filling, VoxelRay, VoxelShape};
use web_time::Instant;

use super::aim::aim;
use super::{Brush, EditAction, EditError, EditStep, Edited, Editor, VoxelScene};

/// Requested action.
#[derive(Debug)]
pub(super) enum Task {
    Act { action: EditAction, ray: VoxelRay, brush: Brush },
    Fill { shape: VoxelShape, material: Material },
    Undo,
    Redo,
}

impl Task {
    const fn step(&self) -> EditStep {
        match self {
            Self::Act { .. } | Self::Fill { .. } => EditStep::Edit,
            Self::Undo => EditStep::Undo,
            Self::Redo => EditStep::Redo,
        }
    }
}

/// Action that is executed in parts.
#[derive(Debug)]
pub(super) enum Job {
    /// Finds the voxels that will change; nothing has changed yet.
    Finding(Filling),
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
            Task::Fill { shape, material } => return self.start_fill(scene, &shape, material),
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
        self.start_fill(scene, &brush.shape_at(center), material)
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
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Edited, EditError> {
        let mut filling = Filling::new(Chunk::SIDE, shape, material)?;
        if filling.chunk_count() > Self::CHUNKS_AT_ONCE as u64 {
            self.job = Some(Job::Finding(filling));
            return Ok(Edited::Begun);
        }
        while filling.step(scene.data())? {}
        self.start_setting(scene, Arc::new(filling.into_edit()), EditStep::Edit)
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
            EditStep::Edit | EditStep::Redo => scene.apply_edit(&edit),
        };
        self.touch(&edit);
        let count = self.note_set(&edit, step);
        Ok(shown.map(|_| Edited::Voxels(count))?)
    }

    /// Records that all of an edit is set; returns the number of its voxels.
    fn note_set(&mut self, edit: &Arc<Edit>, step: EditStep) -> u64 {
        self.saver.take(edit);
        if step == EditStep::Edit {
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
            Job::Finding(mut filling) => match filling.step(scene.data()) {
                Ok(true) => self.job = Some(Job::Finding(filling)),
                Ok(false) => {
                    let edit = Arc::new(filling.into_edit());
                    let started = self.start_setting(scene, edit, EditStep::Edit);
                    return if_done(EditStep::Edit, started);
                }
                Err(error) => return Some((EditStep::Edit, Err(error.into()))),
            },
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
