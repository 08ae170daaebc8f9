use drystone_alloc::{Handle, Slots};
use drystone_mesh::Cube;
use drystone_pool::PoolError;

use crate::{DrawData, RenderError};

/// Names a region of the renderer that gave it, which another may take for one of its own;
/// stale once it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(Handle<DrawData>);

impl RegionId {
    /// The slot that its cubes name.
    pub const fn slot(self) -> u32 {
        self.0.index()
    }
}

/// What cubes' places count from, by slot, and how many cubes each has.
#[derive(Debug)]
pub(super) struct Regions {
    places: Slots<DrawData>,
    /// [`GONE`] where there is no region.
    cube_counts: Vec<u32>,
}

/// More cubes than there are.
const GONE: u32 = u32::MAX;

impl Regions {
    pub(super) const fn new() -> Self {
        Self { places: Slots::new(), cube_counts: Vec::new() }
    }

    pub(super) fn insert(&mut self, place: DrawData) -> Result<RegionId, RenderError> {
        let full = PoolError::SlotsFull { capacity: Cube::MAX_REGIONS };
        if self.places.len() >= Cube::MAX_REGIONS {
            return Err(full.into());
        }
        let handle = self.places.insert(place).map_err(|_| full)?;
        let slot = handle.index() as usize;
        if slot >= self.cube_counts.len() {
            self.cube_counts.resize(slot + 1, GONE);
        }
        self.cube_counts[slot] = 0;
        Ok(RegionId(handle))
    }

    pub(super) fn set(&mut self, region: RegionId, place: DrawData) -> Result<(), RenderError> {
        let slot = region.slot();
        let own = self.places.get_mut(region.0).ok_or(RenderError::NoRegion { region: slot })?;
        *own = place;
        Ok(())
    }

    pub(super) fn remove(&mut self, region: RegionId) -> Result<(), RenderError> {
        let slot = region.slot();
        if !self.places.contains(region.0) {
            return Err(RenderError::NoRegion { region: slot });
        }
        match self.cube_counts.get_mut(slot as usize) {
            Some(0) => {}
            cubes => return Err(RenderError::RegionInUse { cubes: cubes.map_or(0, |n| *n) }),
        }
        self.cube_counts[slot as usize] = GONE;
        self.places.remove(region.0);
        Ok(())
    }

    /// Counts a cube in.
    #[inline]
    pub(super) fn add_cube(&mut self, region: u32) -> Result<(), RenderError> {
        match self.cube_counts.get_mut(region as usize) {
            Some(count) if *count != GONE => {
                *count += 1;
                Ok(())
            }
            _ => Err(RenderError::NoRegion { region }),
        }
    }

    /// Counts a cube out that was counted in.
    #[inline]
    pub(super) fn take_cube(&mut self, region: u32) {
        if let Some(count) = self.cube_counts.get_mut(region as usize) {
            *count -= 1;
        }
    }

    /// Every region's slot and place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &DrawData)> {
        self.places.iter().map(|(handle, place)| (handle.index(), place))
    }
}
