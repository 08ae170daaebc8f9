use std::collections::VecDeque;
use std::sync::Arc;

use super::Edit;

/// Edits that can be taken back, and done again.
///
/// # Cost
/// As much memory as is said; the oldest edits are forgotten for new ones. An edit that is
/// larger than all of it can't be taken back, and neither can those before it.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, VoxelPos};
/// use drystone_world::{Edit, EditHistory, VoxelShape, World};
///
/// let mut world = World::new("stones", MaterialTable::new());
/// let mut history = EditHistory::new(EditHistory::DEFAULT_BYTES);
/// let edit = Edit::fill(&world, &VoxelShape::cube(VoxelPos::default(), 2), Material(1))?;
/// world.apply(&edit);
/// history.push(edit);
///
/// world.apply(&history.undo().unwrap());
/// assert!(world.is_empty() && history.undo().is_none());
/// world.apply(&history.redo().unwrap());
/// assert_eq!(world.solid_count(), 125);
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EditHistory {
    limit_bytes: usize,
    /// The newest last.
    done: VecDeque<Arc<Edit>>,
    /// What was taken back last, last.
    undone: Vec<Arc<Edit>>,
    size_bytes: usize,
}

impl EditHistory {
    /// Enough for some ten thousand balls of 32 voxels.
    pub const DEFAULT_BYTES: usize = 128 << 20;

    /// No edits yet, later at most `limit_bytes` of them.
    pub const fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, done: VecDeque::new(), undone: Vec::new(), size_bytes: 0 }
    }

    /// From now on at most so many bytes: the oldest edits are forgotten for that, then what was
    /// taken back first, and last the newest.
    pub fn set_limit_bytes(&mut self, limit_bytes: usize) {
        self.limit_bytes = limit_bytes;
        while self.size_bytes > self.limit_bytes && self.done.len() > 1 {
            self.size_bytes -= self.done.pop_front().map_or(0, |oldest| oldest.size_bytes());
        }
        while self.size_bytes > self.limit_bytes && !self.undone.is_empty() {
            // What was taken back first is the last to be done again.
            self.size_bytes -= self.undone.remove(0).size_bytes();
        }
        self.keep_limit();
    }

    fn keep_limit(&mut self) {
        while self.size_bytes > self.limit_bytes {
            let Some(oldest) = self.done.pop_front() else { break };
            self.size_bytes -= oldest.size_bytes();
        }
    }

    /// Notes an edit that was done. What was taken back before can't be done again then.
    pub fn push(&mut self, edit: impl Into<Arc<Edit>>) {
        let edit = edit.into();
        if edit.is_empty() {
            return;
        }
        self.size_bytes -= self.undone.drain(..).map(|edit| edit.size_bytes()).sum::<usize>();
        self.size_bytes += edit.size_bytes();
        self.done.push_back(edit);
        self.keep_limit();
    }

    /// The edit that takes the newest one back; `None` where there is none.
    ///
    /// # Cost
    /// A copy of the edit: [`step_back`](Self::step_back) makes none.
    pub fn undo(&mut self) -> Option<Edit> {
        self.step_back().map(|newest| newest.inverse())
    }

    /// The edit that was taken back last, to be done again; `None` where there is none.
    ///
    /// # Cost
    /// As [`undo`](Self::undo).
    pub fn redo(&mut self) -> Option<Edit> {
        self.step_forward().map(|next| Edit::clone(&next))
    }

    /// The newest edit, whose [inverse](Edit::inverse) is to be applied; `None` where there is
    /// none.
    pub fn step_back(&mut self) -> Option<Arc<Edit>> {
        let newest = self.done.pop_back()?;
        self.undone.push(Arc::clone(&newest));
        Some(newest)
    }

    /// The edit that was taken back last, to be applied again; `None` where there is none.
    pub fn step_forward(&mut self) -> Option<Arc<Edit>> {
        let next = self.undone.pop()?;
        self.done.push_back(Arc::clone(&next));
        Some(next)
    }

    /// How many edits can be taken back.
    pub fn undo_count(&self) -> usize {
        self.done.len()
    }

    /// How many edits can be done again.
    pub fn redo_count(&self) -> usize {
        self.undone.len()
    }

    /// Bytes of memory that the edits take.
    pub const fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl Default for EditHistory {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}
