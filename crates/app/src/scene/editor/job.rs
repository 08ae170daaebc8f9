use std::sync::Arc;
use std::time::Duration;

use drystone_render::RenderError;
use drystone_voxel::Material;
use drystone_world::{Edit, EditDirection, EditParts, Filling, VoxelRay, VoxelShape};
use web_time::Instant;

use super::aim::aim;
use super::{Brush, EditAction, EditError, EditScene, EditStep, Edited, Editor};

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
    /// Sets parts, which are not shown yet.
    Setting { parts: EditParts, step: EditStep, shown: Result<(), RenderError> },
    /// Shows the edit; all parts are set.
    Showing { count: u64, step: EditStep, shown: Result<(), RenderError> },
}

impl Job {
    fn setting(edit: Arc<Edit>, step: EditStep) -> Self {
        let direction = match step {
            EditStep::Undo => EditDirection::Inverse,
            _ => EditDirection::Forward,
        };
        Self::Setting { parts: EditParts::new(edit, direction), step, shown: Ok(()) }
    }
}

/// Result of an action that was started.
pub(super) type Outcome = (EditStep, Result<Edited, EditError>);

impl Editor {
    /// Executes an action if it is small; otherwise starts it.
    pub(super) fn start(
        &mut self,
        scene: &mut dyn EditScene,
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
        scene: &mut dyn EditScene,
        action: EditAction,
        ray: &VoxelRay,
        brush: &Brush,
    ) -> Result<Edited, EditError> {
        let hit = match aim(scene, ray) {
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
        scene: &mut dyn EditScene,
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Edited, EditError> {
        let mut filling = Filling::new(scene.voxels().side(), shape, material)?;
        if filling.chunk_count() > Self::CHUNKS_AT_ONCE as u64 {
            self.job = Some(Job::Finding(filling));
            return Ok(Edited::Begun);
        }
        while filling.step(scene.voxels())? {}
        self.start_setting(scene, Arc::new(filling.into_edit()), EditStep::Edit)
    }

    fn start_setting(
        &mut self,
        scene: &mut dyn EditScene,
        edit: Arc<Edit>,
        step: EditStep,
    ) -> Result<Edited, EditError> {
        if edit.is_empty() {
            return Ok(Edited::Nothing);
        }
        // An undo frees more memory than it needs.
        if step != EditStep::Undo
            && let Err(full) = self.reserve_memory(scene, &edit)
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
            EditStep::Undo => scene.apply(&edit.inverse()),
            EditStep::Edit | EditStep::Redo => scene.apply(&edit),
        };
        self.touch(&edit);
        let count = self.note_set(scene, &edit, step);
        Ok(shown.map(|()| Edited::Voxels(count))?)
    }

    /// Records that all of an edit is set; returns the number of its voxels.
    fn note_set(&mut self, scene: &dyn EditScene, edit: &Arc<Edit>, step: EditStep) -> u64 {
        self.saver.take(scene.voxels(), edit);
        if step == EditStep::Edit {
            self.history.push(Arc::clone(edit));
        }
        self.enforce_limit();
        edit.voxel_count()
    }

    pub(super) fn continue_jobs(
        &mut self,
        scene: &mut dyn EditScene,
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
    fn start_next(&mut self, scene: &mut dyn EditScene) -> Option<Outcome> {
        let task = self.queue.pop_front()?;
        let step = task.step();
        if_done(step, self.start(scene, task))
    }

    /// Executes the next part of a job.
    fn step(&mut self, scene: &mut dyn EditScene, job: Job) -> Option<Outcome> {
        match job {
            Job::Finding(mut filling) => match filling.step(scene.voxels()) {
                Ok(true) => self.job = Some(Job::Finding(filling)),
                Ok(false) => {
                    let edit = Arc::new(filling.into_edit());
                    let started = self.start_setting(scene, edit, EditStep::Edit);
                    return if_done(EditStep::Edit, started);
                }
                Err(error) => return Some((EditStep::Edit, Err(error.into()))),
            },
            Job::Setting { mut parts, step, shown } => {
                self.job = Some(match parts.next() {
                    Some(part) => {
                        let shown = shown.and(scene.apply_part(&part));
                        self.touch(&part);
                        Job::Setting { parts, step, shown }
                    }
                    None => {
                        let count = self.note_set(scene, parts.edit(), step);
                        Job::Showing { count, step, shown }
                    }
                });
            }
            Job::Showing { count, step, shown } => match scene.show_parts() {
                Ok(false) => self.job = Some(Job::Showing { count, step, shown }),
                last => {
                    let shown = shown.and(last).map(|_| Edited::Voxels(count));
                    return Some((step, shown.map_err(EditError::from)));
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
