use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos, downsample};

use super::CELL_LEVEL;
use super::cell::Cell;
use super::spools::{Spools, take, take_u64};
use super::used::UsedMaterials;
use crate::packed::group::{self, Chunks, Content, Encoded};
use crate::packed::key::{GROUP_CHUNKS, GroupKey};

/// The levels above the cells. Nodes come in the order of the curve, so that one incomplete group a level is
/// enough.
pub(super) struct Pyramid {
    /// The incomplete group of each level from [`CELL_LEVEL`] up.
    pending: Vec<Option<(GroupKey, Chunks)>>,
    /// Highest level that the source can have.
    max_level: u8,
    /// Smallest box around all chunks.
    pub(super) extent: Option<ChunkBox>,
    /// Number of chunks of level 0 that are not air.
    pub(super) chunk_count: u64,
    pub(super) used: UsedMaterials,
}

impl Pyramid {
    pub(super) fn new(max_level: u8) -> Self {
        let level_count = usize::from(max_level.saturating_sub(CELL_LEVEL)) + 1;
        let pending = std::iter::repeat_with(|| None).take(level_count).collect();
        let used = UsedMaterials::default();
        Self { pending, max_level, extent: None, chunk_count: 0, used }
    }

    /// Adds the next cell along the curve.
    ///
    /// # Errors
    /// When a record cannot be written.
    pub(super) fn add(
        &mut self,
        cell: Cell,
        materials: &MaterialTable,
        spools: &mut Spools,
    ) -> Result<(), SourceError> {
        let ends = self.extent.into_iter().flat_map(|all| [all.min, all.max]);
        self.extent = ChunkBox::around(ends.chain(cell.solid.iter().copied()));
        self.chunk_count += cell.solid.len() as u64;
        self.used.merge(&cell.used);
        for (key, encoded) in cell.groups {
            spools.put(key, &encoded)?;
        }
        match cell.chunk {
            Some(chunk) => self.add_node(cell.node, chunk, materials, spools),
            None => Ok(()),
        }
    }

    fn add_node(
        &mut self,
        node: NodePos,
        chunk: Chunk,
        materials: &MaterialTable,
        spools: &mut Spools,
    ) -> Result<(), SourceError> {
        let (key, index) = GroupKey::of(node);
        let slot = usize::from(node.level - CELL_LEVEL);
        if self.pending.get(slot).is_none() {
            return Ok(());
        }
        if self.pending[slot].as_ref().is_some_and(|(pending, _)| *pending != key) {
            self.flush(slot, materials, spools)?;
        }
        let (_, chunks) = self.pending[slot].get_or_insert((key, [const { None }; GROUP_CHUNKS]));
        chunks[index] = Some(chunk);
        Ok(())
    }

    /// Writes the incomplete group of a level, and adds its parent to the next level.
    fn flush(
        &mut self,
        slot: usize,
        materials: &MaterialTable,
        spools: &mut Spools,
    ) -> Result<(), SourceError> {
        let Some((key, chunks)) = self.pending[slot].take() else { return Ok(()) };
        let Some(encoded) = group::encode(&chunks) else { return Ok(()) };
        spools.put(key, &encoded)?;
        if key.level >= self.max_level {
            return Ok(());
        }
        let parent = downsample(Chunk::SIDE, chunks.each_ref().map(Option::as_ref), materials);
        match parent {
            Some(parent) => {
                self.used.add_chunk(&parent);
                self.add_node(key.chunk(0).parent(), parent, materials, spools)
            }
            None => Ok(()),
        }
    }

    /// Writes all incomplete groups, after the last cell.
    ///
    /// # Errors
    /// When a record cannot be written.
    pub(super) fn complete(
        &mut self,
        materials: &MaterialTable,
        spools: &mut Spools,
    ) -> Result<(), SourceError> {
        (0..self.pending.len()).try_for_each(|slot| self.flush(slot, materials, spools))
    }

    /// Level of the roots of what was added.
    pub(super) fn top_level(&self) -> u8 {
        self.extent.map_or(0, |extent| extent.top_level()).min(self.max_level)
    }

    /// Encodes the state between two cells: counters, extent, used materials, and the incomplete groups.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.chunk_count.to_le_bytes().to_vec();
        let ends = self.extent.map(|all| [all.min, all.max]).unwrap_or_default();
        for ChunkPos { x, y, z } in ends {
            [x, y, z].iter().for_each(|c| bytes.extend(c.to_le_bytes()));
        }
        self.used.bits().iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        for pending in &self.pending {
            let encoded =
                pending.as_ref().and_then(|(key, chunks)| Some((key, group::encode(chunks)?)));
            let Some((key, Encoded { mask, content })) = encoded else {
                bytes.push(0);
                continue;
            };
            bytes.push(mask);
            bytes.push(key.level);
            bytes.extend(key.rank.to_le_bytes());
            let (record, material) = match content {
                Content::Uniform(material) => (Vec::new(), material),
                Content::Record(record) => (record, Material::AIR),
            };
            bytes.extend((record.len() as u64).to_le_bytes());
            bytes.extend(material.0.to_le_bytes());
            bytes.extend(record);
        }
        bytes
    }

    /// Restores what [`to_bytes`](Self::to_bytes) encoded. `None` for other bytes.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Option<()> {
        let rest = &mut &*bytes;
        self.chunk_count = take_u64(rest)?;
        let mut corner = || {
            let mut c = || take(rest).map(i32::from_le_bytes);
            Some(ChunkPos::new(c()?, c()?, c()?))
        };
        let (min, max) = (corner()?, corner()?);
        self.extent = (self.chunk_count > 0).then_some(ChunkBox { min, max });
        let word_count = self.used.bits().len();
        let bits = (0..word_count).map(|_| take_u64(rest)).collect::<Option<_>>()?;
        self.used = UsedMaterials::of_bits(bits);
        for pending in &mut self.pending {
            let [mask] = take(rest)?;
            if mask == 0 {
                continue;
            }
            let [level] = take(rest)?;
            let key = GroupKey { level, rank: u128::from_le_bytes(take(rest)?) };
            let len = usize::try_from(take_u64(rest)?).ok()?;
            let material = Material(u16::from_le_bytes(take(rest)?));
            let (record, after) = rest.split_at_checked(len)?;
            *rest = after;
            let chunks = match record {
                [] => group::uniform(mask, material),
                record => group::decode(mask, record).ok()?,
            };
            *pending = Some((key, chunks));
        }
        rest.is_empty().then_some(())
    }
}
