use drystone_mesh::{Cube, INDICES_PER_QUAD, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;

use super::regions::Regions;
use crate::{
    buffers::{BufferData, BufferKind, DrawSlots, PATTERN_QUADS, QUADS_PER_CUBE},
    device::Device,
    draw_data::DrawData,
    error::RenderError,
    passes::Batch,
};

/// The cubes on the device, in consecutive segments of one length. Growing adds a segment, so
/// nothing is copied. All segments share one table of regions.
pub(super) struct Segments<G> {
    all: Vec<G>,
    /// Number of cubes in each segment.
    cubes_each: u32,
    /// Number of slots in the table of regions.
    slots: u32,
    /// Commands that draw the slots below the high-water mark.
    commands: Vec<DrawCommand>,
    /// Number of commands of each segment.
    command_counts: Vec<usize>,
}

/// Number of cubes in a segment: 2 MiB.
const SEGMENT_CUBES: u32 = 1 << 18;
/// Number of regions in a new table.
const FIRST_SLOTS: u32 = 64;
/// Number of cubes that one command draws.
const COMMAND_CUBES: u32 = PATTERN_QUADS / QUADS_PER_CUBE;

impl<G> Segments<G> {
    /// Creates an empty list of segments with at most `max_cubes` cubes each.
    pub(super) fn new(max_cubes: u32) -> Self {
        let cubes_each = max_cubes.clamp(1, SEGMENT_CUBES);
        let (commands, command_counts) = (Vec::new(), Vec::new());
        Self { all: Vec::new(), cubes_each, slots: FIRST_SLOTS, commands, command_counts }
    }

    /// Number of cubes that fit all segments.
    #[inline]
    pub(super) fn capacity(&self) -> u64 {
        self.all.len() as u64 * u64::from(self.cubes_each)
    }

    /// Adds a segment. Its contents are undefined until written.
    pub(super) fn grow<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        regions: &Regions,
    ) -> Result<(), RenderError> {
        let slots = match self.all.first() {
            Some(first) => DrawSlots::SharedWith(first),
            None => DrawSlots::New(self.slots),
        };
        let segment = device.create(BufferKind::Cubes, self.cubes_each, slots)?;
        self.all.push(segment);
        if self.all.len() == 1 {
            self.write_regions(device, regions);
        }
        Ok(())
    }

    /// Frees the segments above `high_water`, except the first one.
    pub(super) fn shrink(&mut self, high_water: u32) {
        let used = high_water.div_ceil(self.cubes_each) as usize;
        self.all.truncate((used + 1).max(1));
    }

    /// Writes a region's data, and grows the table if needed.
    pub(super) fn write_region<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (slot, data): (u32, &DrawData),
        regions: &Regions,
    ) -> Result<(), RenderError> {
        if slot >= self.slots {
            let slots = (slot + 1).next_power_of_two().min(Cube::MAX_REGIONS);
            if !self.all.is_empty() {
                let mut sharing: Vec<&mut G> = self.all.iter_mut().collect();
                device.resize_draw_data(&mut sharing, slots)?;
            }
            self.slots = slots;
            self.write_regions(device, regions);
        }
        if let Some(first) = self.all.first_mut() {
            device.write(first, slot, BufferData::DrawData(std::slice::from_ref(data)));
        }
        Ok(())
    }

    fn write_regions<D: Device<Geometry = G>>(&mut self, device: &mut D, regions: &Regions) {
        let Some(first) = self.all.first_mut() else { return };
        let mut table = vec![DrawData::default(); self.slots as usize];
        for (slot, data) in regions.iter() {
            if let Some(entry) = table.get_mut(slot as usize) {
                *entry = *data;
            }
        }
        device.write(first, 0, BufferData::DrawData(&table));
    }

    /// Writes cubes from slot `first` on. Cubes beyond the last segment are ignored: they are
    /// written when the segment exists.
    pub(super) fn write<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        mut first: u32,
        mut cubes: &[Cube],
    ) {
        while !cubes.is_empty() {
            let (segment, at) = (first / self.cubes_each, first % self.cubes_each);
            let Some(segment) = self.all.get_mut(segment as usize) else { return };
            let now = cubes.len().min((self.cubes_each - at) as usize);
            device.write(segment, at, BufferData::Cubes(&cubes[..now]));
            first += now as u32;
            cubes = &cubes[now..];
        }
    }

    /// Creates the commands that draw the slots before `high_water`.
    pub(super) fn prepare(&mut self, high_water: u32) {
        self.commands.clear();
        self.command_counts.clear();
        let mut left = high_water;
        while left > 0 {
            let in_segment = left.min(self.cubes_each);
            let firsts = (0..in_segment).step_by(COMMAND_CUBES as usize);
            self.command_counts.push(firsts.len());
            let commands =
                firsts.map(|first| command(first, COMMAND_CUBES.min(in_segment - first)));
            self.commands.extend(commands);
            left -= in_segment;
        }
    }

    /// Batches of the commands that were [prepared](Self::prepare).
    pub(super) fn batches(&self) -> impl Iterator<Item = Batch<'_, G>> {
        let mut rest = &self.commands[..];
        self.all.iter().zip(&self.command_counts).map(move |(geometry, &count)| {
            let (commands, later) = rest.split_at(count);
            rest = later;
            Batch::new(geometry, commands).trusted()
        })
    }
}

/// Minimum number of commands that draw the slots before `high_water`.
pub(super) fn command_count(high_water: u32) -> u64 {
    high_water.div_ceil(COMMAND_CUBES).into()
}

/// Command that draws `count` cubes of a segment.
const fn command(first: u32, count: u32) -> DrawCommand {
    DrawCommand {
        index_count: count * QUADS_PER_CUBE * INDICES_PER_QUAD,
        instance_count: 1,
        first_index: 0,
        base_vertex: (first * QUADS_PER_CUBE * VERTICES_PER_QUAD) as i32,
        first_instance: 0,
    }
}
