use std::collections::BTreeMap;

use drystone_voxel::{Chunk, Material};

use super::blocks::Blocks;
use super::column::{Column, SECTION_VOXELS};
use super::problems::BiomeProblems;
use super::region::{OpenRegion, Region};
use crate::cache::SizeBytes;
use crate::error::SourceError;
use crate::fault::Fault;
use crate::format::Format;

/// Side of a chunk, in voxels.
const SIDE: usize = Chunk::SIDE as usize;
/// Side of a section, in voxels.
const SECTION_SIDE: usize = 16;
/// Side of a chunk in sections, and of a stack in columns.
const SECTIONS: usize = SIDE / SECTION_SIDE;

/// All chunks at one X and Z: 2 × 2 columns.
#[derive(Debug, Default)]
pub(super) struct Stack {
    /// Chunks by height in chunks, without empty ones.
    pub(super) chunks: BTreeMap<i32, Chunk>,
}

/// Set of heights, in chunks, at which a stack can hold voxels. Bit 0 is [`LOWEST`].
pub(super) type Heights = u128;
/// Lowest height, in chunks.
pub(super) const LOWEST: i32 = -64;

/// Position of a stack in its region, in stacks (0 to 15).
#[derive(Clone, Copy, Debug)]
pub(super) struct StackSource {
    pub(super) x: usize,
    pub(super) z: usize,
}

impl StackSource {
    /// Calls `on` with the data of each of the four columns that exist, and its position among the
    /// four. Adds damage to `faults` and continues.
    ///
    /// # Errors
    /// Errors of the system.
    fn columns(
        self,
        region: &mut OpenRegion<'_>,
        at: &Region,
        faults: &mut Vec<SourceError>,
        mut on: impl FnMut(&[u8], [usize; 2]) -> Result<(), Fault>,
    ) -> Result<(), SourceError> {
        for [x, z] in [[0, 0], [1, 0], [0, 1], [1, 1]] {
            let column = [SECTIONS * self.x + x, SECTIONS * self.z + z];
            let read = match region.column(column[0], column[1]) {
                Ok(None) => continue,
                Ok(Some(bytes)) => on(&bytes, [x, z]),
                Err(fault) => Err(fault),
            };
            match read {
                Ok(()) => {}
                Err(Fault::Other(problem)) => return Err(problem),
                Err(fault) => {
                    let [x, z] = at.column_at(column[0], column[1]);
                    let fault = fault.at(format_args!("column {x}, {z}"));
                    faults.push(fault.in_file(Format::Minecraft, &at.name));
                }
            }
        }
        Ok(())
    }

    /// Heights at which the stack can hold voxels, according to the palettes of its sections. Adds
    /// problems with the biomes of columns that can hold voxels to `biomes`.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn heights(
        self,
        region: &mut OpenRegion<'_>,
        at: &Region,
        blocks: &Blocks,
        faults: &mut Vec<SourceError>,
        biomes: &mut BiomeProblems,
    ) -> Result<Heights, SourceError> {
        let mut heights = 0;
        self.columns(region, at, faults, |bytes, _| {
            let column = Column::parse(bytes, blocks)?;
            let mut own = 0;
            for section in column.sections.iter().filter(|section| section.may_be_solid()) {
                own |= 1 << (chunk_height(section.y) - LOWEST);
            }
            heights |= own;
            let checked = column.check_states();
            if own != 0 {
                biomes.add(column.biome_problems);
            }
            checked
        })?;
        Ok(heights)
    }

    /// Reads and unpacks the stack.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn read(
        self,
        region: &mut OpenRegion<'_>,
        at: &Region,
        blocks: &Blocks,
        faults: &mut Vec<SourceError>,
    ) -> Result<Stack, SourceError> {
        let mut chunks: BTreeMap<i32, Vec<Material>> = BTreeMap::new();
        let mut voxels = Box::new([Material::AIR; SECTION_VOXELS]);
        self.columns(region, at, faults, |bytes, [x, z]| {
            let column = Column::parse(bytes, blocks)?;
            for section in column.sections.iter().filter(|section| section.may_be_solid()) {
                section.voxels(blocks, column.biomes.as_ref(), &mut voxels)?;
                let chunk = chunks
                    .entry(chunk_height(section.y))
                    .or_insert_with(|| vec![Material::AIR; SIDE.pow(3)]);
                put(chunk, &voxels, [x, section.y.rem_euclid(SECTIONS as i32) as usize, z]);
            }
            column.check_states()
        })?;
        let whole = |voxels: Vec<Material>| Chunk::from_voxels(Chunk::SIDE, &voxels);
        let chunks = chunks
            .into_iter()
            .filter_map(|(y, voxels)| Some((y, whole(voxels)?)))
            .filter(|(_, chunk)| !chunk.is_empty())
            .collect();
        Ok(Stack { chunks })
    }
}

impl SizeBytes for Stack {
    /// Memory of the chunks and their table, in bytes.
    fn size_bytes(&self) -> usize {
        let chunk = |chunk: &Chunk| size_of::<(i32, Chunk)>() + chunk.size_bytes();
        size_of::<Self>() + self.chunks.values().map(chunk).sum::<usize>()
    }
}

fn chunk_height(section_y: i32) -> i32 {
    section_y.div_euclid(SECTIONS as i32)
}

/// Copies a section (X fastest, then Z, then Y) to its octant of a chunk (X, then Y, then Z).
fn put(chunk: &mut [Material], section: &[Material; SECTION_VOXELS], octant: [usize; 3]) {
    let [x, y, z] = octant.map(|side| side * SECTION_SIDE);
    for (row, voxels) in section.chunks_exact(SECTION_SIDE).enumerate() {
        let (row_y, row_z) = (y + row / SECTION_SIDE, z + row % SECTION_SIDE);
        let start = x + SIDE * (row_y + SIDE * row_z);
        chunk[start..start + SECTION_SIDE].copy_from_slice(voxels);
    }
}
