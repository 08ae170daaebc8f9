//! Splits runs of quads into tasks of equal work for threads.

use super::geometry::Run;

/// Number of quads that one thread sets up at a time.
const TASK_QUADS: usize = 2048;
/// Number of quads that are set up before any is drawn. It limits the memory for triangles to about
/// 6 MiB, and is enough to keep many threads busy.
const BATCH_QUADS: usize = 32 * TASK_QUADS;

/// Runs of at most [`BATCH_QUADS`] quads in total, in tasks of [`TASK_QUADS`].
#[derive(Default)]
pub(super) struct Tasks<'a> {
    runs: Vec<Run<'a>>,
    /// End of each task in `runs`.
    ends: Vec<usize>,
    /// Rest of the last run.
    rest: Option<Run<'a>>,
}

impl<'a> Tasks<'a> {
    /// Takes the next runs. Returns whether there were any.
    pub(super) fn refill(&mut self, source: &mut impl Iterator<Item = Run<'a>>) -> bool {
        self.runs.clear();
        self.ends.clear();
        let mut free = TASK_QUADS;
        while self.ends.len() * TASK_QUADS < BATCH_QUADS {
            let Some(run) = self.rest.take().or_else(|| source.next()) else { break };
            let (now, later) = run.quads.split_at(run.quads.len().min(free));
            self.runs.push(Run { quads: now, ..run });
            free -= now.len();
            if !later.is_empty() {
                self.rest = Some(Run { quads: later, ..run });
            }
            if free == 0 {
                self.ends.push(self.runs.len());
                free = TASK_QUADS;
            }
        }
        if free < TASK_QUADS {
            self.ends.push(self.runs.len());
        }
        !self.ends.is_empty()
    }

    /// Number of tasks.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The runs of one task.
    pub(super) fn runs(&self, task: usize) -> &[Run<'a>] {
        let start = if task == 0 { 0 } else { self.ends[task - 1] };
        &self.runs[start..self.ends[task]]
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::{Face, Quad};

    use super::*;
    use crate::DrawData;

    #[test]
    fn every_quad_is_in_one_task_in_order() {
        let data = DrawData::default();
        let quads: Vec<Quad> = (0..300_000u32)
            .map(|i| {
                Quad::new([i % 64, i / 64 % 64, i / 4096 % 64], [1, 1], Face::PosX, (i / 64) as u16)
            })
            .collect();
        // Runs of 1, 8, 64 … quads: many in a task, and many tasks in a run.
        let mut rest = &quads[..];
        let mut runs = Vec::new();
        for i in 0.. {
            if rest.is_empty() {
                break;
            }
            let (run, later) = rest.split_at(rest.len().min(8usize.pow(i % 7)));
            runs.push(Run { quads: run, data, cubes: None });
            rest = later;
        }
        let mut source = runs.into_iter();
        let mut tasks = Tasks::default();
        let (mut seen, mut batches) = (Vec::new(), 0);
        while tasks.refill(&mut source) {
            batches += 1;
            for task in 0..tasks.len() {
                let before = seen.len();
                tasks.runs(task).iter().for_each(|run| seen.extend_from_slice(run.quads));
                assert!((1..=TASK_QUADS).contains(&(seen.len() - before)));
            }
        }
        assert_eq!(batches, 300_000usize.div_ceil(BATCH_QUADS));
        assert!(seen == quads);
    }
}
