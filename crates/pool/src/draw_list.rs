use alloc::vec::Vec;

use bytemuck::Pod;

use crate::{DrawCommand, MeshHandle, PartSet, VertexPool};

/// What is drawn of a pool, and in what order: a list of meshes that can be masked and
/// ordered, and the commands that come of it. Several lists over one pool are fine.
///
/// A mesh that was removed from the pool drops out by itself; one that was replaced is
/// drawn as it is now. Before the first mask everything is drawn.
///
/// # Cost
/// Mask and order touch 24 bytes a mesh and its per-draw data; commands are rebuilt only
/// when the mask, the order or the pool has changed.
#[derive(Clone, Debug, Default)]
pub struct DrawList {
    entries: Vec<Entry>,
    /// The first `visible` entries are those that passed the mask.
    visible: usize,
    commands: Vec<DrawCommand>,
    /// The pool's revision that `commands` were built from.
    built: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    mesh: MeshHandle,
    parts: PartSet,
}

impl DrawList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), visible: 0, commands: Vec::new(), built: None }
    }

    /// Adds a mesh, drawn last and with all its parts until the next mask and order.
    pub fn insert(&mut self, mesh: MeshHandle) {
        self.entries.push(Entry { key: 0, mesh, parts: PartSet::ALL });
        let last = self.entries.len() - 1;
        self.entries.swap(self.visible, last);
        self.visible += 1;
        self.built = None;
    }

    /// Shows of each mesh the parts that `visible_parts` says, from its per-draw data, and
    /// returns how many meshes show at all.
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        mut visible_parts: impl FnMut(&D) -> PartSet,
    ) -> usize {
        self.built = None;
        self.visible = 0;
        let mut index = 0;
        while index < self.entries.len() {
            let Some(data) = pool.data(self.entries[index].mesh) else {
                self.entries.swap_remove(index);
                continue;
            };
            let parts = visible_parts(data);
            self.entries[index].parts = parts;
            if !parts.is_empty() {
                self.entries.swap(self.visible, index);
                self.visible += 1;
            }
            index += 1;
        }
        self.visible
    }

    /// Orders the meshes that passed the mask by `key`, lowest first. Meshes of one key
    /// keep no particular order: give a total one where it shows (blending).
    pub fn order<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        mut key: impl FnMut(&D) -> u64,
    ) {
        self.built = None;
        for entry in &mut self.entries[..self.visible] {
            entry.key = pool.data(entry.mesh).map_or(u64::MAX, &mut key);
        }
        self.entries[..self.visible].sort_unstable_by_key(|entry| entry.key);
    }

    /// The commands that draw what passed the mask, in order.
    pub fn commands<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>) -> &[DrawCommand] {
        if self.built != Some(pool.revision()) {
            self.commands.clear();
            for entry in &self.entries[..self.visible] {
                pool.emit_commands(entry.mesh, entry.parts, |command| self.commands.push(command));
            }
            self.built = Some(pool.revision());
        }
        &self.commands
    }

    /// Meshes in the list; removed ones count until the next mask.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list has no mesh.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Meshes that passed the last mask or were inserted since.
    pub const fn visible(&self) -> usize {
        self.visible
    }
}

/// A key that orders as the (non-negative, finite) distance does, nearest first, and among
/// equal distances by `tie`. Use its complement for farthest first.
#[inline]
pub const fn sort_key(distance: f32, tie: u32) -> u64 {
    (distance.to_bits() as u64) << 32 | tie as u64
}

#[cfg(test)]
mod tests;
