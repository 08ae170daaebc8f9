use std::collections::VecDeque;
use std::sync::Arc;

use super::{Edit, EditSummary};

/// An undo history: edits that can be undone and redone.
///
/// # Cost
/// Memory up to the limit. Beyond it, the oldest edits are dropped. An edit above the limit cannot
/// be undone, nor can any edit before it.
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
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EditHistory {
    limit_bytes: usize,
    /// Applied edits, newest last.
    done: VecDeque<Entry>,
    /// Undone edits. The last one is redone first.
    undone: Vec<Entry>,
    size_bytes: usize,
}

/// Edit with its summary, which takes time to find.
#[derive(Clone, Debug)]
struct Entry {
    edit: Arc<Edit>,
    summary: EditSummary,
}

impl EditHistory {
    /// Default limit in bytes. It holds about ten thousand balls of 32 voxels.
    pub const DEFAULT_BYTES: usize = 128 << 20;

    /// Creates an empty history with a limit of `limit_bytes`.
    pub const fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, done: VecDeque::new(), undone: Vec::new(), size_bytes: 0 }
    }

    /// Sets the limit in bytes. Edits are dropped in this order: the oldest applied ones, then the
    /// undone ones, then the newest applied one.
    pub fn set_limit_bytes(&mut self, limit_bytes: usize) {
        self.limit_bytes = limit_bytes;
        while self.size_bytes > self.limit_bytes && self.done.len() > 1 {
            self.size_bytes -= self.done.pop_front().map_or(0, |oldest| oldest.edit.size_bytes());
        }
        while self.size_bytes > self.limit_bytes && !self.undone.is_empty() {
            // The edit that was undone first is redone last.
            self.size_bytes -= self.undone.remove(0).edit.size_bytes();
        }
        self.drop_oldest_over_limit();
    }

    fn drop_oldest_over_limit(&mut self) {
        while self.size_bytes > self.limit_bytes {
            let Some(oldest) = self.done.pop_front() else { break };
            self.size_bytes -= oldest.edit.size_bytes();
        }
    }

    /// Records an applied edit. Undone edits are dropped and can no longer be redone.
    ///
    /// # Cost
    /// O(runs) for the summary.
    pub fn push(&mut self, edit: impl Into<Arc<Edit>>) {
        let edit = edit.into();
        if edit.is_empty() {
            return;
        }
        self.size_bytes -=
            self.undone.drain(..).map(|entry| entry.edit.size_bytes()).sum::<usize>();
        self.size_bytes += edit.size_bytes();
        let summary = edit.summary();
        self.done.push_back(Entry { edit, summary });
        self.drop_oldest_over_limit();
    }

    /// Steps back and returns the inverse of the newest edit, or `None` if nothing can be undone.
    /// Apply the result.
    ///
    /// # Cost
    /// Copies the edit. [`step_back`](Self::step_back) does not.
    pub fn undo(&mut self) -> Option<Edit> {
        self.step_back().map(|newest| newest.inverse())
    }

    /// Steps forward and returns the edit that was undone last, or `None` if nothing can be redone.
    /// Apply the result.
    ///
    /// # Cost
    /// Copies the edit. [`step_forward`](Self::step_forward) does not.
    pub fn redo(&mut self) -> Option<Edit> {
        self.step_forward().map(|next| Edit::clone(&next))
    }

    /// Steps back and returns the newest edit, or `None` if nothing can be undone. Apply its
    /// [inverse](Edit::inverse).
    pub fn step_back(&mut self) -> Option<Arc<Edit>> {
        let newest = self.done.pop_back()?;
        let edit = Arc::clone(&newest.edit);
        self.undone.push(newest);
        Some(edit)
    }

    /// Steps forward and returns the edit that was undone last, or `None` if nothing can be redone.
    /// Apply it.
    pub fn step_forward(&mut self) -> Option<Arc<Edit>> {
        let next = self.undone.pop()?;
        let edit = Arc::clone(&next.edit);
        self.done.push_back(next);
        Some(edit)
    }

    /// Returns summaries of the edits that can be undone, the newest first.
    pub fn undo_list(&self) -> impl ExactSizeIterator<Item = EditSummary> {
        self.done.iter().rev().map(|entry| entry.summary)
    }

    /// Returns summaries of the edits that can be redone, the next one first.
    pub fn redo_list(&self) -> impl ExactSizeIterator<Item = EditSummary> {
        self.undone.iter().rev().map(|entry| entry.summary)
    }

    /// Number of edits that can be undone.
    pub fn undo_count(&self) -> usize {
        self.done.len()
    }

    /// Number of edits that can be redone.
    pub fn redo_count(&self) -> usize {
        self.undone.len()
    }

    /// Size of the edits in memory, in bytes.
    pub const fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl Default for EditHistory {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}
