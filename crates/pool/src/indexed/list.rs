use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::IndexedPool;
use crate::{DrawCommand, Grouping, MeshHandle};

/// Commands that follow each other in an [`IndexedList`] and read the same two buffers: one
/// multi-draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRun {
    /// The number of the buffer of vertices.
    pub vertices: u32,
    /// The number of the buffer of indices.
    pub indices: u32,
    /// Which of the list's commands.
    pub commands: Range<usize>,
}

/// Which meshes of an [`IndexedPool`] are drawn together, in what order.
///
/// A list is of one pool. A mesh that is removed from the pool drops out by itself.
///
/// # Cost
/// [`select`](Self::select) is O(meshes · log meshes): it looks at every mesh and makes all
/// commands anew. Models have few parts; where there are tens of thousands of meshes that
/// seldom change, [`DrawList`](crate::DrawList) keeps what it made.
#[derive(Clone, Debug, Default)]
pub struct IndexedList {
    pub(super) grouping: Grouping,
    members: Vec<MeshHandle>,
    /// Of each visible mesh its key, its buffers and its command.
    visible: Vec<(u64, [u32; 2], DrawCommand)>,
    commands: Vec<DrawCommand>,
    runs: Vec<IndexedRun>,
}

impl IndexedList {
    /// An empty list whose commands fall into runs in this way.
    pub fn new(grouping: Grouping) -> Self {
        Self { grouping, ..Self::default() }
    }

    /// Takes a mesh in. A mesh that is in twice is drawn twice.
    pub fn insert(&mut self, mesh: MeshHandle) {
        self.members.push(mesh);
    }

    /// Meshes that were selected last.
    pub const fn visible(&self) -> usize {
        self.visible.len()
    }

    /// Asks `key` about every mesh that is left, by its per-draw data: `None` hides it, a
    /// number is its place in the order, lowest first, and among equals by slot. Returns
    /// the commands of all that is shown, one multi-draw a run, for the frame being built.
    pub fn select<V: Pod, D: Pod>(
        &mut self,
        pool: &IndexedPool<V, D>,
        mut key: impl FnMut(&D) -> Option<u64>,
    ) -> (&[IndexedRun], &[DrawCommand]) {
        self.visible.clear();
        self.members.retain(|&mesh| {
            let Some(data) = pool.data(mesh) else { return false };
            if let Some(key) = key(data)
                && let Some((buffers, command)) = pool.command(mesh)
            {
                self.visible.push((key, buffers, command));
            }
            true
        });
        match self.grouping {
            Grouping::InOrder => {
                self.visible.sort_unstable_by_key(|(key, _, it)| (*key, it.first_instance));
            }
            Grouping::ByBuffer => self
                .visible
                .sort_unstable_by_key(|(key, buffers, it)| (*buffers, *key, it.first_instance)),
        }
        self.cut_runs();
        pool.note_commands_taken(self.commands.len());
        (&self.runs, &self.commands)
    }

    fn cut_runs(&mut self) {
        self.commands.clear();
        self.runs.clear();
        let mut last = None;
        for (_, buffers, command) in &self.visible {
            if last.replace(buffers) != Some(buffers) {
                let [vertices, indices] = *buffers;
                let commands = self.commands.len()..self.commands.len();
                self.runs.push(IndexedRun { vertices, indices, commands });
            }
            self.commands.push(*command);
            if let Some(run) = self.runs.last_mut() {
                run.commands.end = self.commands.len();
            }
        }
    }
}
