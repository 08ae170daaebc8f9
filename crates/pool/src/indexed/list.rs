use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::IndexedPool;
use crate::{
    command::{DrawCommand, Grouping},
    draw_list::MeshRef,
    mesh::MeshHandle,
    parts::{PartSet, RunTable},
};

/// Consecutive commands of an [`IndexedList`] that read the same two buffers: one multi-draw call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedRun {
    /// Number of the vertex buffer.
    pub vertices: u32,
    /// Number of the index buffer.
    pub indices: u32,
    /// Range of the list's commands.
    pub commands: Range<usize>,
}

/// List of the meshes of an [`IndexedPool`] that are drawn together, and their order.
///
/// All meshes of a list belong to one pool. A mesh that is removed from the pool disappears from
/// the list.
///
/// # Cost
/// [`select`](Self::select) is O(meshes · log meshes): it visits each mesh and rebuilds all
/// commands. This suits models with few meshes. For tens of thousands of meshes that rarely change,
/// use a [`DrawList`](crate::DrawList), which reuses its commands.
#[derive(Clone, Debug, Default)]
pub struct IndexedList {
    pub(super) grouping: Grouping,
    members: Vec<MeshHandle>,
    /// Number of visible meshes, and their commands.
    visible: usize,
    selected: Vec<Selected>,
    /// Runs of parts for each mask.
    table: RunTable,
    commands: Vec<DrawCommand>,
    runs: Vec<IndexedRun>,
}

/// Command of a visible mesh.
#[derive(Clone, Copy, Debug)]
struct Selected {
    key: u64,
    buffers: [u32; 2],
    /// Rank among the commands of the mesh.
    rank: u32,
    command: DrawCommand,
}

impl Selected {
    /// Returns the position in draw order.
    const fn order(&self) -> (u64, u32, u32) {
        (self.key, self.command.first_instance, self.rank)
    }
}

impl IndexedList {
    /// Creates an empty list with this grouping of commands into runs.
    pub fn new(grouping: Grouping) -> Self {
        Self { grouping, ..Self::default() }
    }

    /// Adds a mesh. A mesh that is added twice is drawn twice.
    pub fn insert(&mut self, mesh: MeshHandle) {
        self.members.push(mesh);
    }

    /// Number of meshes visible at the last selection.
    pub const fn visible(&self) -> usize {
        self.visible
    }

    /// Selects and sorts the meshes. `select` returns the visible parts of a mesh and its sort key.
    /// Keys are in ascending order; equal keys are sorted by slot. Returns the runs and commands of
    /// the visible meshes for the frame being built, one multi-draw call per run. The counts and the
    /// location of a [`MeshRef`] are those of its vertices.
    pub fn select<V: Pod, D: Pod>(
        &mut self,
        pool: &IndexedPool<V, D>,
        mut select: impl FnMut(&MeshRef<'_, D>) -> (PartSet, u64),
    ) -> (&[IndexedRun], &[DrawCommand]) {
        let Self { members, visible, selected, table, .. } = self;
        *visible = 0;
        selected.clear();
        members.retain(|&handle| {
            let Some(mesh) = pool.mesh(handle) else { return false };
            let (parts, key) = select(&mesh);
            let before = selected.len();
            // A hidden mesh does not count as drawn.
            if !parts.is_empty() {
                pool.emit_commands(handle, parts, table, |buffers, command| {
                    let rank = (selected.len() - before) as u32;
                    selected.push(Selected { key, buffers, rank, command });
                });
            }
            *visible += usize::from(selected.len() > before);
            true
        });
        match self.grouping {
            Grouping::InOrder => selected.sort_unstable_by_key(Selected::order),
            Grouping::ByBuffer => selected.sort_unstable_by_key(|it| (it.buffers, it.order())),
        }
        self.cut_runs();
        pool.note_commands_returned(self.commands.len());
        (&self.runs, &self.commands)
    }

    fn cut_runs(&mut self) {
        self.commands.clear();
        self.runs.clear();
        let mut last = None;
        for Selected { buffers, command, .. } in &self.selected {
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
