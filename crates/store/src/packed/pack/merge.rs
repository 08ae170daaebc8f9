use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::path::Path;

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkBox, MaterialKind, MaterialTable, downsample};
use twox_hash::XxHash3_64;

use super::finish::{Finished, finish};
use super::spools::Spools;
use crate::packed::directory::{Entry, EntryContent};
use crate::packed::group::{self, Chunks};
use crate::packed::key::{GROUP_CHUNKS, GroupKey};
use crate::packed::part::PackPart;
use crate::packed::{PackedWorld, damaged, decoded, location_of};

/// Progress of [`merge`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeProgress {
    /// Number of processed groups of eight chunks.
    pub done: u64,
    /// Number of groups in all parts.
    pub total: u64,
}

/// Joins all parts of a world to the [packed world](PackedWorld) that one process makes of the whole source,
/// byte for byte.
///
/// Records are copied as they are. Only groups of eight chunks that several parts share, and those above the
/// highest level of a part, are made again from the groups below them. They are few: parts meet along lines.
///
/// # Cost
/// Reads every part once, and writes its records twice: to the folder `path` + `.part`, then to the file.
/// Memory: of each part its materials and a directory page, which takes 80 KiB, and at most 10 MiB in a part of
/// 98 million groups. Each part is an open file.
///
/// # Errors
/// * A file that is not a part, parts of different worlds or states of one, and missing parts.
/// * A damaged part. The message names it; pack this part again.
/// * A full disk. The folder may be removed.
pub fn merge(
    parts: &[PackedWorld],
    path: &Path,
    each: &mut dyn FnMut(&MergeProgress),
) -> Result<(), SourceError> {
    let parts = complete(parts)?;
    let first = *parts.first().ok_or_else(|| refused(path, "no parts are given".into()))?;
    let materials = materials_of(&parts)?;
    let corners = parts.iter().filter_map(|it| it.parsed.header.extent);
    let extent = ChunkBox::around(corners.flat_map(|all| [all.min, all.max]));
    let checksums: Vec<u8> = parts.iter().flat_map(|it| it.checksum().to_le_bytes()).collect();
    let mut spools = Spools::open(path, XxHash3_64::oneshot(&checksums))?;
    if spools.resume()?.is_some() {
        return Err(spools.refused("packing began it"));
    }
    let top_level = extent.map_or(0, |extent| extent.top_level());
    let mut merging = Merging {
        parts: &parts,
        materials: &materials,
        top_level,
        spools: &mut spools,
        remade: Remade::new(),
        progress: MergeProgress { done: 0, total: group_count(&parts) },
    };
    for level in 0..=top_level {
        merging.level(level, each)?;
    }
    let chunk_count = parts.iter().map(|it| it.parsed.header.chunk_count).sum();
    let name = first.parsed.header.name.clone();
    finish(Finished { name, extent, top_level, chunk_count, materials, part: None }, spools)
}

/// Chunks of one level that no part has as they are in the whole world: for each group's rank its chunks that
/// were made again. `Some(None)` is air.
type Remade = BTreeMap<u128, [Option<Option<Chunk>>; GROUP_CHUNKS]>;

struct Merging<'a> {
    parts: &'a [&'a PackedWorld],
    materials: &'a MaterialTable,
    top_level: u8,
    spools: &'a mut Spools,
    /// Chunks of the next level.
    remade: Remade,
    progress: MergeProgress,
}

impl Merging<'_> {
    /// Writes all groups of a level.
    fn level(
        &mut self,
        level: u8,
        each: &mut dyn FnMut(&MergeProgress),
    ) -> Result<(), SourceError> {
        let mut remade = std::mem::take(&mut self.remade);
        let mut streams: Vec<_> = self.parts.iter().map(|part| Stream::new(part, level)).collect();
        let mut heads = BinaryHeap::new();
        for (at, stream) in streams.iter_mut().enumerate() {
            heads.extend(stream.next()?.map(|head| Reverse(Head { at, head })));
        }
        loop {
            let of_parts = heads.peek().map(|it| it.0.head.0.key.rank);
            let of_remade = remade.keys().next().copied();
            let Some(rank) = of_parts.into_iter().chain(of_remade).min() else { break };
            let mut owners = Vec::new();
            while heads.peek().is_some_and(|it| it.0.head.0.key.rank == rank)
                && let Some(Reverse(Head { at, head })) = heads.pop()
            {
                owners.push((self.parts[at], head));
                heads.extend(streams[at].next()?.map(|head| Reverse(Head { at, head })));
                self.progress.done += 1;
            }
            self.group(GroupKey { level, rank }, &owners, remade.remove(&rank))?;
            each(&self.progress);
        }
        Ok(())
    }

    /// Writes a group, which some parts have, and some of whose chunks may have been made again.
    fn group(
        &mut self,
        key: GroupKey,
        owners: &[(&PackedWorld, Located)],
        remade: Option<[Option<Option<Chunk>>; GROUP_CHUNKS]>,
    ) -> Result<(), SourceError> {
        if let ([(part, (entry, range))], None) = (owners, &remade) {
            let record = record_of(part, *entry, range)?;
            self.spools.put_entry(*entry, &record)?;
            let is_top =
                part.parsed.header.pages.first().is_some_and(|it| it.first.level == key.level);
            if is_top && key.level < self.top_level {
                self.raise(key, &chunks_of(part, *entry, &record)?);
            }
            return Ok(());
        }
        let remade = remade.unwrap_or_default();
        let mut chunks: Chunks = [const { None }; GROUP_CHUNKS];
        let mut owner_of: [Option<&PackedWorld>; GROUP_CHUNKS] = [None; GROUP_CHUNKS];
        for (part, (entry, range)) in owners {
            let own = chunks_of(part, *entry, &record_of(part, *entry, range)?)?;
            for (index, chunk) in own.into_iter().enumerate() {
                if chunk.is_none() || remade[index].is_some() {
                    continue;
                }
                if let Some(other) = owner_of[index] {
                    let node = location_of(key.chunk(index));
                    let problem = format!("{node} is also in {}", other.path().display());
                    return Err(refused(part.path(), problem));
                }
                (chunks[index], owner_of[index]) = (chunk, Some(*part));
            }
        }
        for (chunk, made) in chunks.iter_mut().zip(remade) {
            if let Some(made) = made {
                *chunk = made;
            }
        }
        if let Some(encoded) = group::encode(&chunks) {
            self.spools.put(key, &encoded)?;
        }
        if key.level < self.top_level {
            self.raise(key, &chunks);
        }
        Ok(())
    }

    /// Makes the parent of a group.
    fn raise(&mut self, key: GroupKey, chunks: &Chunks) {
        let parent = downsample(Chunk::SIDE, chunks.each_ref().map(Option::as_ref), self.materials);
        let (key, index) = GroupKey::of(key.chunk(0).parent());
        self.remade.entry(key.rank).or_default()[index] = Some(parent);
    }
}

/// A group and the range of its record in a part.
type Located = (Entry, Range<u64>);

/// The next group of the part with an index.
struct Head {
    at: usize,
    head: Located,
}

impl Head {
    fn order(&self) -> (u128, usize) {
        (self.head.0.key.rank, self.at)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// The groups of one level of a part, sorted. One page of the directory is in memory.
struct Stream<'a> {
    part: &'a PackedWorld,
    pages: Range<usize>,
    entries: std::vec::IntoIter<Located>,
}

impl<'a> Stream<'a> {
    fn new(part: &'a PackedWorld, level: u8) -> Self {
        let pages = &part.parsed.header.pages;
        let start = pages.partition_point(|page| page.first.level > level);
        let end = pages.partition_point(|page| page.first.level >= level);
        Self { part, pages: start..end, entries: Vec::new().into_iter() }
    }

    fn next(&mut self) -> Result<Option<Located>, SourceError> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Ok(Some(entry));
            }
            let Some(page) = self.pages.next() else { return Ok(None) };
            self.entries = self.part.uncached_page(page)?.iter().collect::<Vec<_>>().into_iter();
        }
    }
}

/// Reads and verifies the record of a group.
fn record_of(part: &PackedWorld, entry: Entry, range: &Range<u64>) -> Result<Vec<u8>, SourceError> {
    let EntryContent::Record { checksum, .. } = entry.content else { return Ok(Vec::new()) };
    let record = part.read_range(range.clone())?;
    match group::checksum(entry.key, &record) == checksum {
        true => Ok(record),
        false => {
            Err(damaged(part.path(), &location_of(entry.key.chunk(0)), crate::codec::WRONG_SUM))
        }
    }
}

fn chunks_of(part: &PackedWorld, entry: Entry, record: &[u8]) -> Result<Chunks, SourceError> {
    let problem = |problem| damaged(part.path(), &location_of(entry.key.chunk(0)), problem);
    decoded(entry, record).map_err(problem)
}

fn group_count(parts: &[&PackedWorld]) -> u64 {
    let pages = parts.iter().flat_map(|it| &it.parsed.header.pages);
    pages.map(|page| u64::from(page.count)).sum()
}

fn refused(path: &Path, problem: String) -> SourceError {
    let advice = "name all parts of one world, as pack wrote them";
    SourceError::NotMerged { path: path.into(), problem, advice }
}

/// Returns the parts sorted by their numbers, each once.
///
/// # Errors
/// Files that are not all parts of one world.
fn complete(parts: &[PackedWorld]) -> Result<Vec<&PackedWorld>, SourceError> {
    let mut found: BTreeMap<u32, &PackedWorld> = BTreeMap::new();
    let mut first: Option<(&PackedWorld, PackPart)> = None;
    for world in parts {
        let refused = |problem: String| Err(refused(world.path(), problem));
        let Some(info) = world.parsed.header.part else {
            return refused("has a whole world, not a part of one".into());
        };
        let (of, part) = *first.get_or_insert((world, info.part));
        if part.count() != info.part.count() {
            let (own, other) = (info.part.count(), part.count());
            return refused(format!("is one of {own} parts, {} of {other}", of.path().display()));
        }
        let of_source = of.parsed.header.part.map(|it| it.source);
        if of_source != Some(info.source) || of.parsed.header.name != world.parsed.header.name {
            let of = of.path().display();
            return refused(format!("has another world than {of}, or another state of it"));
        }
        if let Some(other) = found.insert(info.part.index(), world)
            && other.checksum() != world.checksum()
        {
            let (index, other) = (info.part.index(), other.path().display());
            return refused(format!("is part {index} with other content than {other}"));
        }
    }
    if let Some((world, part)) = first {
        let missing: Vec<u32> =
            (1..=part.count()).filter(|index| !found.contains_key(index)).collect();
        if !missing.is_empty() {
            let listed: Vec<_> = missing.iter().take(MAX_LISTED).map(u32::to_string).collect();
            let more = if missing.len() > MAX_LISTED { ", …" } else { "" };
            let (count, listed) = (missing.len(), listed.join(", "));
            let problem = format!("{count} of {} parts are missing: {listed}{more}", part.count());
            return Err(refused(world.path(), problem));
        }
    }
    Ok(found.into_values().collect())
}

/// Maximum number of missing parts that a message lists.
const MAX_LISTED: usize = 10;

/// Joins the tables of all parts. Each has the numbers of the whole world, and placeholders for materials that
/// it does not use.
///
/// # Errors
/// Parts with different materials.
fn materials_of(parts: &[&PackedWorld]) -> Result<MaterialTable, SourceError> {
    let Some((first, others)) = parts.split_first() else { return Ok(MaterialTable::new()) };
    let mut kinds: Vec<MaterialKind> =
        first.materials.iter().skip(1).map(|it| it.1.clone()).collect();
    let mut textured = *first;
    let is_unused = |kind: &MaterialKind| *kind == MaterialKind::placeholder(kind.color[3]);
    for part in others {
        if !part.materials.textures().is_empty() {
            textured = *part;
        }
        let own: Vec<&MaterialKind> = part.materials.iter().skip(1).map(|it| it.1).collect();
        let is_same = |(kind, own): (&MaterialKind, &&MaterialKind)| {
            kind == *own || (kind.color[3] == own.color[3] && (is_unused(kind) || is_unused(own)))
        };
        if own.len() != kinds.len() || !kinds.iter().zip(&own).all(is_same) {
            let first = first.path().display();
            return Err(refused(part.path(), format!("has other materials than {first}")));
        }
        for (kind, own) in kinds.iter_mut().zip(own) {
            if is_unused(kind) {
                *kind = own.clone();
            }
        }
    }
    let mut table = MaterialTable::new();
    // The table of the part takes no more textures than this one.
    textured.materials.textures().iter().for_each(|it| _ = table.insert_texture(it.clone()));
    kinds.into_iter().for_each(|kind| _ = table.insert_kind(kind));
    Ok(table)
}

#[cfg(test)]
mod tests;
