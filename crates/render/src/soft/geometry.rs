//! Quads and per-draw data in memory, and the ranges of commands in them.

use std::{ops::Range, sync::Arc};

use drystone_mesh::{INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;

use super::{draw_table::DrawTable, memory::zeroed};
use crate::{
    Batch, DrawData, RenderError, TriangleVertex,
    device::{Entries, copied_quads},
};

/// Maximum number of quads of one geometry: 128 MiB, as in Mesa's Vulkan rasteriser, so that pools
/// are alike on both.
pub(super) const MAX_QUADS: u32 = 1 << 24;

/// Quads and per-draw data in memory.
pub struct SoftGeometry {
    /// Quads, or cubes with the same bits.
    quads: Vec<Quad>,
    /// Vertices of triangles; empty in other geometries.
    vertices: Vec<TriangleVertex>,
    /// Indices of triangles; empty in other geometries.
    indices: Vec<u32>,
    entries: Entries,
    draws: Arc<DrawTable>,
}

/// Quads of one draw, and the data of their mesh.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) quads: &'a [Quad],
    pub(super) data: DrawData,
    /// The table of regions, if the quads are the bits of cubes.
    pub(super) cubes: Option<&'a DrawTable>,
}

impl SoftGeometry {
    pub(super) fn new(entries: Entries, count: u32, slots: u32) -> Result<Self, RenderError> {
        Self::with_draws(entries, count, Arc::new(DrawTable::new(slots)?))
    }

    /// Creates a geometry for entries of the same kind, with the table of another geometry.
    pub(super) fn sharing(other: &Self, count: u32) -> Result<Self, RenderError> {
        Self::with_draws(other.entries, count, Arc::clone(&other.draws))
    }

    fn with_draws(
        entries: Entries,
        count: u32,
        draws: Arc<DrawTable>,
    ) -> Result<Self, RenderError> {
        let (mut quads, mut vertices, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        match entries {
            Entries::Quads | Entries::Cubes => quads = capacity_for("quads of a geometry", count)?,
            Entries::Vertices => vertices = capacity_for("vertices of a geometry", count)?,
            Entries::Indices => indices = capacity_for("indices of a geometry", count)?,
        }
        Ok(Self { quads, vertices, indices, entries, draws })
    }

    pub(super) fn set_draws(&mut self, draws: &Arc<DrawTable>) {
        self.draws = Arc::clone(draws);
    }

    pub(super) fn write_quads(&mut self, first: u32, quads: &[Quad]) {
        write(&mut self.quads, first, quads);
    }

    pub(super) fn write_vertices(&mut self, first: u32, vertices: &[TriangleVertex]) {
        write(&mut self.vertices, first, vertices);
    }

    pub(super) fn write_indices(&mut self, first: u32, indices: &[u32]) {
        write(&mut self.indices, first, indices);
    }

    pub(super) fn write_draw_data(&mut self, first: u32, data: &[DrawData]) {
        self.draws.write(first, data);
    }

    pub(super) fn copy_from(&mut self, to_first: u32, from: &Self, from_first: u32, count: u32) {
        let count = copied_quads((from.len(), from_first), (self.len(), to_first), count) as usize;
        if count == 0 || self.entries != from.entries {
            return;
        }
        let (from_first, to_first) = (from_first as usize, to_first as usize);
        let (source, target) = (from_first..from_first + count, to_first..to_first + count);
        match self.entries {
            Entries::Quads | Entries::Cubes => {
                self.quads[target].copy_from_slice(&from.quads[source]);
            }
            Entries::Vertices => self.vertices[target].copy_from_slice(&from.vertices[source]),
            Entries::Indices => self.indices[target].copy_from_slice(&from.indices[source]),
        }
    }

    pub(super) fn copy_within(&mut self, from_first: u32, to_first: u32, count: u32) {
        let count = copied_quads((self.len(), from_first), (self.len(), to_first), count) as usize;
        let (from_first, to_first) = (from_first as usize, to_first as usize);
        let source = from_first..from_first + count;
        match self.entries {
            _ if count == 0 => {}
            Entries::Quads | Entries::Cubes => self.quads.copy_within(source, to_first),
            Entries::Vertices => self.vertices.copy_within(source, to_first),
            Entries::Indices => self.indices.copy_within(source, to_first),
        }
    }

    pub(super) const fn entries(&self) -> Entries {
        self.entries
    }

    /// The table of per-draw data.
    pub(super) fn draws(&self) -> &DrawTable {
        &self.draws
    }

    /// The vertices; empty in other geometries.
    pub(super) fn vertices(&self) -> &[TriangleVertex] {
        &self.vertices
    }

    /// The indices; empty in other geometries.
    pub(super) fn indices(&self) -> &[u32] {
        &self.indices
    }

    fn len(&self) -> u32 {
        let len = match self.entries {
            Entries::Quads | Entries::Cubes => self.quads.len(),
            Entries::Vertices => self.vertices.len(),
            Entries::Indices => self.indices.len(),
        };
        len as u32
    }

    /// The quads of a command that exist.
    fn quads_of(&self, command: &DrawCommand) -> &[Quad] {
        // Indices are those of the shared pattern, so a first index skips whole quads.
        let skipped = i64::from(command.first_index / INDICES_PER_QUAD);
        let first = i64::from(command.base_vertex).div_euclid(VERTICES_PER_QUAD.into()) + skipped;
        let end = first + i64::from(command.index_count / INDICES_PER_QUAD);
        let per_entry = i64::from(self.entries.pattern_quads(1)).max(1);
        let [first, end] = [first, end].map(|quad| quad.div_euclid(per_entry));
        let [first, end] = [first, end].map(|at| at.clamp(0, self.quads.len() as i64) as usize);
        &self.quads[first..end]
    }

    /// The slots of a command that exist, one for each instance.
    pub(super) fn slots_of(&self, command: &DrawCommand) -> Range<u32> {
        let end = command.first_instance.saturating_add(command.instance_count);
        command.first_instance..end.min(self.draws.len())
    }
}

/// All quads of the batches, draw by draw in order.
pub(super) fn runs<'a>(
    batches: impl Iterator<Item = &'a Batch<'a, SoftGeometry>>,
) -> impl Iterator<Item = Run<'a>> {
    let are_quads = |batch: &&Batch<'_, SoftGeometry>| {
        batch.geometry.entries.are_drawn_by(batch.indices.map(SoftGeometry::entries))
    };
    batches.filter(are_quads).flat_map(|batch| {
        batch.commands.iter().flat_map(move |command| {
            let quads = batch.geometry.quads_of(command);
            let slots = if quads.is_empty() { 0..0 } else { batch.geometry.slots_of(command) };
            let draws = &*batch.geometry.draws;
            let cubes = (batch.geometry.entries == Entries::Cubes).then_some(draws);
            slots.map(move |slot| Run { quads, data: draws.read(slot), cubes })
        })
    })
}

/// Zeroed memory for `count` entries, at most the size of [`MAX_QUADS`] quads.
fn capacity_for<T: bytemuck::Zeroable + Clone>(
    what: &'static str,
    count: u32,
) -> Result<Vec<T>, RenderError> {
    let limit = MAX_QUADS as usize * size_of::<Quad>() / size_of::<T>();
    if count as usize > limit {
        let (requested, limit) = (count.into(), limit as u64);
        return Err(RenderError::TooLarge { what, requested, limit });
    }
    zeroed(what, count as usize)
}

/// Copies the values that fit.
fn write<T: Copy>(to: &mut [T], first: u32, from: &[T]) {
    let target = to.get_mut(first as usize..).unwrap_or_default();
    let count = target.len().min(from.len());
    target[..count].copy_from_slice(&from[..count]);
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Face;

    use super::*;

    fn geometry() -> SoftGeometry {
        let mut geometry = SoftGeometry::new(Entries::Quads, 10, 3).unwrap();
        let quads: Vec<Quad> =
            (0..20).map(|i| Quad::new([i, 0, 0], [1, 1], Face::PosY, 0)).collect();
        geometry.write_quads(0, &quads);
        for slot in 0..5 {
            geometry.write_draw_data(
                slot,
                &[DrawData { origin: [slot as i32; 3], level: 0, extent: 1 }],
            );
        }
        geometry
    }

    /// Slot and number of every quad that the command draws.
    fn drawn(command: DrawCommand) -> Vec<(i32, u32)> {
        let geometry = geometry();
        let commands = [command];
        let batches = [Batch::new(&geometry, &commands)];
        runs(batches.iter())
            .flat_map(|run| run.quads.iter().map(move |q| (run.data.origin[0], q.position()[0])))
            .collect()
    }

    fn command(quads: Range<u32>, slot: u32) -> DrawCommand {
        DrawCommand {
            index_count: (quads.end - quads.start) * 6,
            instance_count: 1,
            first_index: 0,
            base_vertex: quads.start as i32 * 4,
            first_instance: slot,
        }
    }

    #[test]
    fn commands_draw_their_quads_and_slots() {
        let two = command(3..5, 2);
        assert_eq!(drawn(two), [(2, 3), (2, 4)]);
        assert_eq!(drawn(DrawCommand { first_index: 6 * 4, ..two }), [(2, 7), (2, 8)]);
        assert_eq!(drawn(DrawCommand { instance_count: 0, ..two }), []);
        let twice = DrawCommand { instance_count: 2, ..command(0..1, 1) };
        assert_eq!(drawn(twice), [(1, 0), (2, 0)]);
    }

    #[test]
    fn commands_beyond_the_geometry_are_cut_off() {
        assert_eq!(drawn(command(9..12, 0)), [(0, 9)]);
        assert_eq!(drawn(command(0..1, 3)), []);
        assert_eq!(drawn(DrawCommand { base_vertex: -4, ..command(0..2, 0) }), [(0, 0)]);
        let all = u32::MAX;
        let huge = DrawCommand {
            index_count: all,
            instance_count: all,
            first_index: all,
            base_vertex: i32::MAX,
            first_instance: all,
        };
        assert_eq!(drawn(huge), []);
        assert_eq!(drawn(DrawCommand { first_index: 0, base_vertex: i32::MIN, ..huge }), []);
        let from_first = DrawCommand { first_index: 0, base_vertex: 0, first_instance: 2, ..huge };
        assert_eq!(drawn(from_first).len(), 10);
    }

    #[test]
    fn copies_beyond_an_end_are_cut_off() {
        let quad = |i: u32| Quad::new([i, 0, 0], [1, 1], Face::PosY, 0);
        let from = geometry();
        let mut to = SoftGeometry::new(Entries::Quads, 4, 0).unwrap();
        to.copy_from(1, &from, 8, 9);
        assert_eq!(to.quads[1..3], [quad(8), quad(9)]);
        to.copy_from(3, &from, 0, 9);
        to.copy_from(4, &from, 0, 1);
        to.copy_from(0, &from, u32::MAX, u32::MAX);
        assert_eq!(to.quads[3], quad(0));
        to.copy_within(2, 0, 1);
        to.copy_within(3, 2, 5);
        to.copy_within(9, 0, 1);
        assert_eq!(to.quads[..], [quad(9), quad(8), quad(0), quad(0)]);
    }

    #[test]
    fn geometries_that_share_a_table_see_each_others_writes() {
        let mut one = geometry();
        let mut other = SoftGeometry::sharing(&one, 1).unwrap();
        let data = DrawData { origin: [7; 3], level: 0, extent: 9 };
        other.write_draw_data(2, &[data]);
        assert_eq!(one.draws.read(2), data);
        let table = Arc::new(DrawTable::new(100).unwrap());
        for geometry in [&mut one, &mut other] {
            geometry.set_draws(&table);
        }
        one.write_draw_data(99, &[data]);
        assert_eq!(other.draws.read(99), data);
    }

    #[test]
    fn writes_beyond_the_end_are_cut_off() {
        let mut geometry = SoftGeometry::new(Entries::Quads, 2, 0).unwrap();
        let quad = Quad::new([1, 2, 3], [1, 1], Face::PosX, 9);
        geometry.write_quads(1, &[quad; 5]);
        geometry.write_quads(u32::MAX, &[quad]);
        assert_eq!(geometry.quads.len(), 2);
        assert_eq!(geometry.quads[1], quad);
        assert!(matches!(
            SoftGeometry::new(Entries::Quads, MAX_QUADS + 1, 0),
            Err(RenderError::TooLarge { limit: 16_777_216, .. })
        ));
    }
}
