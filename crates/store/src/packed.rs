use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drystone_formats::{Arrivals, Source, SourceError};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos};

use crate::ranges::{ByteRanges, LocalRanges};
use crate::recent::Recent;

mod arrivals;
mod check;
mod directory;
#[doc(hidden)]
pub mod fuzzed;
mod group;
mod header;
mod key;
mod memory;
mod pack;
mod part;
mod table;
mod varint;

use arrivals::Received;
use directory::{Entry, EntryContent, Page};
use group::Chunks;
use header::{HeaderError, MAX_HEADER_BYTES, ParsedHeader, VERSION};
use key::{GROUP_CHUNKS, GroupKey};
use memory::{CHUNK_CACHE_BYTES, PAGE_CACHE_BYTES};
pub use pack::{MergeProgress, PackOptions, PackProgress, merge, pack};
pub use part::PackPart;

/// A world in one file that never changes, made for parts to be read from anywhere: a disk, a web server,
/// or memory. [`pack`] writes it.
///
/// ```text
///  header │ materials │ directory pages │ records of level n │ … │ records of level 0
///  64 KiB at most       1 % of the file   coarse first, neighbours side by side
/// ```
/// A record holds the eight children of a node, compressed together. The header describes all directory
/// pages, so that any chunk is found with at most one read before that of its record. Checksums cover
/// everything, and the header's [`checksum`](Self::checksum) covers all other checksums.
///
/// `docs/packed-world.md` in the repository describes the format for other programs.
///
/// # Cost
/// Opening reads at most 64 KiB, and the materials if they are beyond. A chunk costs one read and 0.1 ms,
/// for all eight chunks of its record. Memory: at most 32 MiB of recently used directory pages, and as
/// much of decoded chunks, unless [`limit_memory`](Source::limit_memory) sets another limit.
///
/// # Examples
/// ```
/// use drystone_formats::Source;
/// use drystone_store::{PackOptions, PackedWorld, pack};
/// use drystone_world::{GeneratedWorld, GeneratorConfig};
///
/// let path = std::env::temp_dir().join(format!("packed-{}.dsw", std::process::id()));
/// let config = GeneratorConfig::default().with_size_chunks([2, 4, 2]);
/// let source = GeneratedWorld::new(config)?;
/// pack(&source, &path, &PackOptions::default(), &mut |_| {})?;
///
/// let world = PackedWorld::open(&path)?;
/// let position = world.chunk_positions()[0];
/// assert_eq!(world.chunk(position)?, source.chunk(position)?);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub struct PackedWorld {
    path: PathBuf,
    bytes: Box<dyn ByteRanges>,
    parsed: ParsedHeader,
    materials: MaterialTable,
    pages: Mutex<Recent<usize, Arc<Page>>>,
    groups: Mutex<Recent<GroupKey, Arc<Chunks>>>,
    faults: Mutex<Vec<String>>,
    /// Parts that came over a network.
    received: Mutex<Received>,
}

/// A level of detail in a packed world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackedLevel {
    /// Level of detail. 0 is full detail.
    pub level: u8,
    /// Number of groups of eight chunks that are not all air.
    pub group_count: u64,
    /// Length of their records, in bytes.
    pub record_bytes: u64,
}

/// Maximum number of damaged parts that are listed.
const MAX_FAULTS: usize = 1_000;

impl PackedWorld {
    /// File name extension of packed worlds.
    pub const EXTENSION: &str = "dsw";

    /// Opens a local file.
    ///
    /// # Errors
    /// A file that cannot be read, is of another format or a newer version, is cut off, or damaged.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Self::open_as(path, path)
    }

    /// Opens a local file. `name` is for messages, such as the address from which the file was copied.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn open_as(path: &Path, name: &Path) -> Result<Self, SourceError> {
        let ranges = LocalRanges::open(path)
            .map_err(|problem| SourceError::Unreadable { path: path.into(), problem })?;
        Self::read(Box::new(ranges), name)
    }

    /// Opens a packed world whose bytes are read in ranges. `name` is for messages.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn read(bytes: Box<dyn ByteRanges>, name: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = name.as_ref().to_path_buf();
        let unreadable = |problem| unreadable(&path, bytes.as_ref(), problem);
        let size = bytes.size().map_err(unreadable)?;
        let front = bytes.read(0..size.min(MAX_HEADER_BYTES as u64)).map_err(unreadable)?;
        let parsed = ParsedHeader::parse(&front).map_err(|error| header_error(&path, error))?;
        if parsed.file_bytes != size {
            let expected = parsed.file_bytes;
            let problem = format!(
                "the file has {size} bytes instead of {expected}: it is cut off or incomplete"
            );
            return Err(damaged(&path, "header", &problem));
        }
        let Range { start, end } = parsed.materials_range();
        let materials = match front.get(start as usize..end as usize) {
            Some(materials) => materials.to_vec(),
            None => bytes.read(start..end).map_err(unreadable)?,
        };
        let materials = table::of_bytes(&materials, parsed.header.materials.1)
            .map_err(|problem| damaged(&path, "materials", problem))?;
        Ok(Self {
            path,
            bytes,
            parsed,
            materials,
            pages: Mutex::new(Recent::new(PAGE_CACHE_BYTES)),
            groups: Mutex::new(Recent::new(CHUNK_CACHE_BYTES)),
            faults: Mutex::default(),
            received: Mutex::default(),
        })
    }

    /// Returns the file, or the name under which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Version of the file format.
    pub const fn version(&self) -> u32 {
        VERSION
    }

    /// Checksum of the header (128-bit XXH3). It covers all other checksums of the file, so that two files
    /// with the same one have the same content. It detects damage, but does not protect against forgery.
    pub const fn checksum(&self) -> u128 {
        self.parsed.checksum
    }

    /// The part of a world that the file has. `None` if it has a whole world.
    pub fn part(&self) -> Option<PackPart> {
        self.parsed.header.part.map(|it| it.part)
    }

    /// Length of the file, in bytes.
    pub const fn file_bytes(&self) -> u64 {
        self.parsed.file_bytes
    }

    /// Length of header, materials and directory, in bytes.
    pub fn front_bytes(&self) -> u64 {
        self.parsed.front_bytes()
    }

    /// Returns what each level takes, highest level first.
    pub fn levels(&self) -> Vec<PackedLevel> {
        let mut levels: Vec<PackedLevel> = Vec::new();
        for page in &self.parsed.header.pages {
            let level = page.first.level;
            if levels.last().is_none_or(|last| last.level != level) {
                levels.push(PackedLevel { level, group_count: 0, record_bytes: 0 });
            }
            if let Some(last) = levels.last_mut() {
                last.group_count += u64::from(page.count);
                last.record_bytes += page.record_bytes;
            }
        }
        levels
    }

    /// The chunk of a node; `None` if it is all air.
    fn load(&self, node: NodePos) -> Result<Option<Chunk>, SourceError> {
        let (key, index) = GroupKey::of(node);
        if let Some(chunks) = lock(&self.groups).get(key) {
            return Ok(chunks[index].clone());
        }
        let Some((entry, range)) =
            self.entry(key)?.filter(|(entry, _)| entry.mask >> index & 1 != 0)
        else {
            return Ok(None);
        };
        let chunks = match entry.content {
            EntryContent::Uniform(material) => group::uniform(entry.mask, material),
            EntryContent::Record { .. } => {
                let received = lock(&self.received).records.get(key);
                let record = match received {
                    Some(record) => record,
                    None => self.read_range(range.clone())?.into(),
                };
                match decoded(entry, &record) {
                    Ok(chunks) => chunks,
                    Err(_) if self.is_requested_again(&range) => return self.load(node),
                    Err(problem) => return Err(damaged(&self.path, &location_of(node), problem)),
                }
            }
        };
        let chunk = chunks[index].clone();
        let size_bytes =
            chunks.iter().flatten().map(|chunk| chunk.size_bytes() + size_of::<Chunk>());
        let size_bytes = size_bytes.sum();
        lock(&self.groups).insert(key, Arc::new(chunks), size_bytes);
        Ok(chunk)
    }

    /// A group of the directory, with the range of its record. `None` if all its chunks are air.
    fn entry(&self, key: GroupKey) -> Result<Option<(Entry, Range<u64>)>, SourceError> {
        let Some(index) = self.parsed.page_of(key) else { return Ok(None) };
        Ok(self.page(index)?.find(key))
    }

    fn page(&self, index: usize) -> Result<Arc<Page>, SourceError> {
        loop {
            match self.read_page(index) {
                Err(SourceError::BadPacked { .. })
                    if self.is_requested_again(&self.parsed.page_range(index)) => {}
                page => return page,
            }
        }
    }

    fn read_page(&self, index: usize) -> Result<Arc<Page>, SourceError> {
        if let Some(page) = lock(&self.pages).get(index) {
            return Ok(page);
        }
        self.decoded_page(index, &self.read_range(self.parsed.page_range(index))?)
    }

    /// Reads a page of the directory without keeping it.
    fn uncached_page(&self, index: usize) -> Result<Page, SourceError> {
        self.parsed_page(index, &self.read_range(self.parsed.page_range(index))?)
    }

    /// Decodes a page of the directory, and keeps it.
    fn decoded_page(&self, index: usize, bytes: &[u8]) -> Result<Arc<Page>, SourceError> {
        let page = Arc::new(self.parsed_page(index, bytes)?);
        lock(&self.pages).insert(index, Arc::clone(&page), page.size_bytes());
        Ok(page)
    }

    fn parsed_page(&self, index: usize, bytes: &[u8]) -> Result<Page, SourceError> {
        let info = &self.parsed.header.pages[index];
        let next = self.parsed.header.pages.get(index + 1).map(|next| next.first);
        let page = info.decode(bytes, self.parsed.offsets[index].1);
        let page = page.and_then(|page| match (page.last(), next) {
            (Some(last), Some(next)) if last >= next => Err("its groups are not in order"),
            _ => Ok(page),
        });
        let location = || format!("directory page {index} (level {})", info.first.level);
        page.map_err(|problem| damaged(&self.path, &location(), problem))
    }

    fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let bytes = self.bytes.as_ref();
        bytes.read(range).map_err(|problem| unreadable(&self.path, bytes, problem))
    }

    /// Stores the text of an error for [`faults`](Source::faults).
    fn note(&self, error: &SourceError) {
        let mut faults = lock(&self.faults);
        let text = error.to_string();
        if faults.len() < MAX_FAULTS && !faults.contains(&text) {
            faults.push(text);
        }
    }
}

impl Source for PackedWorld {
    fn name(&self) -> &str {
        &self.parsed.header.name
    }

    /// The name of the world and the checksum of the file.
    fn identity(&self) -> String {
        format!("{}, packed {:032x}", self.name(), self.checksum())
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions = Vec::new();
        let pages = self.parsed.header.pages.iter().enumerate();
        for (index, _) in pages.filter(|(_, page)| page.first.level == 0) {
            match self.page(index) {
                Ok(page) => {
                    for (entry, _) in page.iter() {
                        let present = (0..GROUP_CHUNKS).filter(|at| entry.mask >> at & 1 != 0);
                        positions.extend(present.map(|at| entry.key.chunk(at).chunk));
                    }
                }
                Err(error) => self.note(&error),
            }
        }
        positions.sort_unstable();
        positions
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.parsed.header.extent
    }

    fn chunk_count(&self) -> u64 {
        self.parsed.header.chunk_count
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let chunk = self.load(position.into()).inspect_err(|error| self.note(error))?;
        Ok(chunk.unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR)))
    }

    /// The packed LOD chunk. Nodes above the highest packed level are made by the caller.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        if node.level > self.coarsest_level() {
            return None;
        }
        let chunk = self.load(node).inspect_err(|error| self.note(error));
        Some(chunk.map(|chunk| chunk.unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR))))
    }

    fn coarsest_level(&self) -> u8 {
        self.parsed.header.pages.first().map_or(0, |top| top.first.level)
    }

    fn has_exact_air(&self) -> bool {
        true
    }

    /// Exact, unless a page of the directory is damaged or has not arrived. Above the highest packed level,
    /// nodes that overlap the world's box are not air.
    fn is_air(&self, node: NodePos) -> bool {
        let (Some(top), Some(extent)) = (self.parsed.header.pages.first(), self.extent()) else {
            return true;
        };
        if node.level > top.first.level {
            return !extent.at_level(node.level).contains(node.chunk);
        }
        let (key, index) = GroupKey::of(node);
        let Some(page) = self.parsed.page_of(key) else { return true };
        let is_air =
            |page: Arc<Page>| page.find(key).is_none_or(|(entry, _)| entry.mask >> index & 1 == 0);
        self.page_here(page).is_ok_and(is_air)
    }

    fn arrivals(&self) -> Option<&dyn Arrivals> {
        self.bytes.arriving().is_some().then_some(self)
    }

    fn limit_memory(&self, bytes: usize) {
        self.limit_caches(bytes);
    }

    fn faults(&self) -> Vec<String> {
        lock(&self.faults).clone()
    }
}

impl std::fmt::Debug for PackedWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackedWorld").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Verifies and decodes the record of a group.
fn decoded(entry: Entry, record: &[u8]) -> Result<Chunks, &'static str> {
    match entry.content {
        EntryContent::Uniform(material) => Ok(group::uniform(entry.mask, material)),
        EntryContent::Record { checksum, .. } if group::checksum(entry.key, record) == checksum => {
            group::decode(entry.mask, record)
        }
        EntryContent::Record { .. } => Err(crate::codec::WRONG_SUM),
    }
}

fn header_error(path: &Path, error: HeaderError) -> SourceError {
    let path = path.to_path_buf();
    match error {
        HeaderError::Other => SourceError::Unsupported { path, found: "not a packed world".into() },
        HeaderError::Newer(found) => SourceError::NewerStored { path, found, known: VERSION },
        HeaderError::Damaged(problem) => damaged(&path, "header", problem),
    }
}

/// The error of bytes that cannot be read or received.
fn unreadable(path: &Path, bytes: &dyn ByteRanges, problem: io::Error) -> SourceError {
    let path = path.to_path_buf();
    match bytes.arriving() {
        Some(_) => SourceError::NotReceived { path, problem: problem.to_string() },
        None => SourceError::Unreadable { path, problem },
    }
}

fn damaged(path: &Path, location: &str, problem: &str) -> SourceError {
    let (location, problem) = (location.into(), problem.into());
    SourceError::BadPacked { path: path.into(), location, problem }
}

fn location_of(node: NodePos) -> String {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    format!("level {level}, chunk {x},{y},{z}")
}

/// Locks a mutex, even after a panic in another thread: entries are always inserted completely.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
