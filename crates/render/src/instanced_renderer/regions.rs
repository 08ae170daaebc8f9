use drystone_alloc::{Handle, Slots};
use drystone_mesh::Cube;
use drystone_pool::PoolError;

use crate::{draw_data::DrawData, error::RenderError};

/// Id of a region of one renderer; stale once the region is removed. Another renderer cannot detect
/// it as foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(Handle<DrawData>);

impl RegionId {
    /// Slot of the region, which its cubes contain.
    pub const fn slot(self) -> u32 {
        self.0.index()
    }
}

/// Origins and levels of regions, and their numbers of cubes, indexed by slot.
#[derive(Debug)]
pub(super) struct Regions {
    data: Slots<DrawData>,
    /// [`REMOVED`] for slots without a region.
    cube_counts: Vec<u32>,
    /// Data of the regions whose cubes have changed since the last picture. One region is listed
    /// again only after another.
    changed: Vec<DrawData>,
    /// Region of the last change.
    last_changed: u32,
}

/// Count of a slot without a region: more cubes than there can be.
const REMOVED: u32 = u32::MAX;
/// Slot of no region.
const NO_REGION: u32 = u32::MAX;
/// Maximum number of listed changes. Further ones are one change of everything.
const MAX_CHANGED: usize = 1024;
/// A box of all that can be drawn.
const EVERYTHING: DrawData =
    DrawData { origin: [i32::MIN; 3], level: DrawData::MAX_LEVEL, extent: u32::MAX, sort_rank: 0 };

impl Regions {
    pub(super) const fn new() -> Self {
        Self {
            data: Slots::new(),
            cube_counts: Vec::new(),
            changed: Vec::new(),
            last_changed: NO_REGION,
        }
    }

    pub(super) fn insert(&mut self, data: DrawData) -> Result<RegionId, RenderError> {
        let full = PoolError::SlotsFull { capacity: Cube::MAX_REGIONS };
        if self.data.len() >= Cube::MAX_REGIONS {
            return Err(full.into());
        }
        let handle = self.data.insert(data).map_err(|_| full)?;
        let slot = handle.index() as usize;
        if slot >= self.cube_counts.len() {
            self.cube_counts.resize(slot + 1, REMOVED);
        }
        self.cube_counts[slot] = 0;
        self.last_changed = NO_REGION;
        Ok(RegionId(handle))
    }

    pub(super) fn set(&mut self, region: RegionId, data: DrawData) -> Result<(), RenderError> {
        let slot = region.slot();
        let own = self.data.get_mut(region.0).ok_or(RenderError::NoRegion { region: slot })?;
        let old = std::mem::replace(own, data);
        [old, data].into_iter().for_each(|data| self.list_change(data));
        self.last_changed = NO_REGION;
        Ok(())
    }

    pub(super) fn remove(&mut self, region: RegionId) -> Result<(), RenderError> {
        let slot = region.slot();
        if !self.data.contains(region.0) {
            return Err(RenderError::NoRegion { region: slot });
        }
        match self.cube_counts.get_mut(slot as usize) {
            Some(0) => {}
            cubes => return Err(RenderError::RegionInUse { cubes: cubes.map_or(0, |n| *n) }),
        }
        self.cube_counts[slot as usize] = REMOVED;
        self.data.remove(region.0);
        Ok(())
    }

    /// Counts an inserted cube.
    #[inline]
    pub(super) fn add_cube(&mut self, region: u32) -> Result<(), RenderError> {
        match self.cube_counts.get_mut(region as usize) {
            Some(count) if *count != REMOVED => {
                *count += 1;
                self.touch(region);
                Ok(())
            }
            _ => Err(RenderError::NoRegion { region }),
        }
    }

    /// Counts a removed cube.
    #[inline]
    pub(super) fn remove_cube(&mut self, region: u32) {
        if let Some(count) = self.cube_counts.get_mut(region as usize) {
            *count -= 1;
            self.touch(region);
        }
    }

    /// Calls `each` with a box around each region whose cubes have changed since the last call.
    pub(super) fn take_changed(&mut self, mut each: impl FnMut(&DrawData)) {
        /// Number of voxels along a region.
        const SIDE: u32 = 64;
        self.last_changed = NO_REGION;
        for data in self.changed.drain(..) {
            let extent = data.extent.max(SIDE << data.level.min(DrawData::MAX_LEVEL));
            each(&DrawData { extent, ..data });
        }
    }

    /// Lists a region as changed, unless it is the one that was listed last.
    #[inline]
    fn touch(&mut self, region: u32) {
        if region != self.last_changed {
            self.touch_other(region);
        }
    }

    #[cold]
    fn touch_other(&mut self, region: u32) {
        self.last_changed = region;
        if let Some(data) = self.data.handle_at(region).and_then(|it| self.data.get(it)) {
            self.list_change(*data);
        }
    }

    fn list_change(&mut self, data: DrawData) {
        match self.changed.len() {
            ..MAX_CHANGED => self.changed.push(data),
            MAX_CHANGED => self.changed.push(EVERYTHING),
            _ => {}
        }
    }

    /// Slot and data of every region.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &DrawData)> {
        self.data.iter().map(|(handle, data)| (handle.index(), data))
    }
}
