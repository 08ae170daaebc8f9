use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
use redb::ReadableTable;

use super::batch::{HEAD, ID, LOOKS, MATERIALS};
use super::database::{Access, INDEX, META, Store};
use super::group::{Group, GroupPos, SLOTS};
use super::index::Index;
use super::meta::{Head, VERSION};
use super::nodes::{location_of_node, node_at_stored_position};
use super::options::CACHE_BYTES;
use super::pages::{CHUNKS, LEVELS, Values};
use super::{MISSING, id, location_of};
use crate::codec::{WRONG_SUM, looks, materials, record};

/// Result of reading a whole file, including one that is damaged.
pub(super) struct Survey {
    path: PathBuf,
    access: Access,
    pub(super) head: Option<Head>,
    /// The id; a new one if the stored id is damaged, `None` if the file has none.
    pub(super) id: Option<u128>,
    pub(super) materials: Option<MaterialTable>,
    /// Intact chunks.
    pub(super) found: Index,
    pub(super) value_count: u64,
    pub(super) value_bytes: u64,
    /// Number of intact LOD chunks.
    pub(super) level_count: u64,
    /// Number of problems found in LOD chunks.
    pub(super) damaged_levels: u64,
    /// One line per problem.
    pub(super) damage: Vec<String>,
    /// Damaged chunks; each has a line in `damage`.
    pub(super) lost: BTreeSet<ChunkPos>,
    /// Chunks according to the index; `None` if the index is unusable.
    index: Option<Index>,
    visited: BTreeSet<GroupPos>,
}

impl Survey {
    /// Reads every value and calls `each` with every intact chunk.
    ///
    /// # Errors
    /// A file that cannot be opened at all, and errors of `each`.
    pub(super) fn of(
        path: &Path,
        access: Access,
        each: &mut dyn FnMut(ChunkPos, Chunk) -> Result<(), SourceError>,
    ) -> Result<Self, SourceError> {
        let store = Store::open(path, access.clone(), CACHE_BYTES)?;
        let mut survey = Self {
            path: path.into(),
            access,
            head: None,
            id: None,
            materials: None,
            found: Index::default(),
            value_count: 0,
            value_bytes: 0,
            level_count: 0,
            damaged_levels: 0,
            damage: Vec::new(),
            lost: BTreeSet::new(),
            index: None,
            visited: BTreeSet::new(),
        };
        survey.read_meta(&store)?;
        let store = survey.read_index(store);
        let store = survey.read_values(store, each)?;
        let store = survey.read_missed(store, each)?;
        survey.compare();
        if let Some(store) = store.or_else(|| survey.open().ok()) {
            survey.read_levels(&store);
        }
        Ok(survey)
    }

    /// Verifies the LOD chunks. Damaged ones can be rebuilt.
    fn read_levels(&mut self, store: &Store) {
        let read = store.read(|transaction| {
            let Some(table) = Values::open(transaction, LEVELS)? else { return Ok(()) };
            for entry in table.values.iter()? {
                let (key, value) = entry?;
                let value = table.joined(key.value(), value.value(), None)?;
                self.verify_level_group(GroupPos::of_key(*key.value()), &value);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.damaged_levels += 1;
            self.damage.push(format!("levels: {error}"));
        }
    }

    fn verify_level_group(&mut self, position: GroupPos, value: &[u8]) {
        let mut wrong = |location: String, problem: &str| {
            self.damaged_levels += 1;
            self.damage.push(format!("{location}: {problem}; it can be rebuilt"));
        };
        let Some(first) = node_at_stored_position(position.chunk(0)) else {
            return wrong("levels".into(), "a group that belongs to no level");
        };
        let group = match Group::parse(position, value) {
            Ok(group) => group,
            Err(problem) => {
                return wrong(format!("group of {}", location_of_node(first)), problem);
            }
        };
        for slot in 0..SLOTS {
            let Some(record) = group.record(slot) else { continue };
            let node = node_at_stored_position(position.chunk(slot));
            match record.and_then(record::decode) {
                Err(problem) => wrong(location_of_node(node.unwrap_or(first)), problem),
                Ok(_) => self.level_count += 1,
            }
        }
    }

    fn read_meta(&mut self, store: &Store) -> Result<(), SourceError> {
        let read = store.read(|transaction| {
            let table = transaction.open_table(META)?;
            let bytes = |name| table.get(name).map(|it| it.map(|bytes| bytes.value().to_vec()));
            let [head, materials] = [bytes(HEAD)?, bytes(MATERIALS)?];
            let meta = (head.unwrap_or_default(), bytes(ID)?, materials.unwrap_or_default());
            Ok((meta, bytes(LOOKS)?))
        });
        let ((head, id, materials), looks) = match read {
            Ok(all) => all,
            Err(error) => {
                self.damage.push(error.to_string());
                return Ok(());
            }
        };
        if let Some(found) = Head::version_of(&head).filter(|&found| found > VERSION) {
            return Err(SourceError::NewerStored {
                path: self.path.clone(),
                found,
                known: VERSION,
            });
        }
        self.head = Head::of_bytes(&head);
        self.materials = materials::of_bytes(&materials);
        let read_id = id.as_deref().map(id::of_bytes);
        self.id = read_id.map(|id| id.unwrap_or_else(id::random));
        let parts = [
            ("head", self.head.is_none()),
            ("id", read_id == Some(None)),
            ("materials", self.materials.is_none()),
        ];
        for (part, _) in parts.into_iter().filter(|(_, is_lost)| *is_lost) {
            self.damage.push(format!("{part}: {WRONG_SUM}"));
        }
        if let (Some(materials), Some(looks)) = (&self.materials, looks) {
            match looks::read(materials, &looks) {
                Ok(materials) => self.materials = Some(materials),
                Err(problem) => self.damage.push(format!("looks of materials: {problem}")),
            }
        }
        Ok(())
    }

    fn read_index(&mut self, store: Store) -> Option<Store> {
        let mut index = Index::default();
        let damage = &mut self.damage;
        let before = damage.len();
        let read = store.read(|transaction| {
            for entry in transaction.open_table(INDEX)?.iter()? {
                let (region, bytes) = entry?;
                if let Err(problem) = index.add_region(region.value(), bytes.value()) {
                    damage.push(format!("index, region {:?}: {problem}", region.value()));
                }
            }
            Ok(())
        });
        let failed = read.map_err(|error| damage.push(error.to_string())).is_err();
        let expected = self.head.as_ref().map(|head| (head.chunk_count, head.region_count));
        let found = (index.chunk_count(), index.region_count() as u64);
        if expected.is_some_and(|expected| expected != found) && damage.len() == before {
            let listed = expected.map_or(0, |it| it.0);
            damage.push(format!("index: it lists {} chunks instead of {listed}", found.0));
        }
        let is_whole = damage.len() == before;
        // Even a damaged index is used to find chunks.
        self.index = Some(index);
        if !is_whole && self.head.is_none() {
            self.index = None;
        }
        if failed { self.open().ok() } else { Some(store) }
    }

    /// Reads all values in key order. If that stops at damage, also reads backwards from the end.
    fn read_values(
        &mut self,
        store: Option<Store>,
        each: &mut dyn FnMut(ChunkPos, Chunk) -> Result<(), SourceError>,
    ) -> Result<Option<Store>, SourceError> {
        let Some(store) = store else { return Ok(None) };
        if self.read_run(&store, false, each)? {
            return Ok(Some(store));
        }
        drop(store);
        if let Ok(store) = self.open() {
            self.read_run(&store, true, each)?;
        }
        Ok(self.open().ok())
    }

    /// Reads values from the first or, with `is_back`, from the last, up to one that was visited.
    /// Returns whether no damage stopped it.
    fn read_run(
        &mut self,
        store: &Store,
        is_back: bool,
        each: &mut dyn FnMut(ChunkPos, Chunk) -> Result<(), SourceError>,
    ) -> Result<bool, SourceError> {
        let mut stopped = Ok(());
        let read = store.read(|transaction| {
            let Some(table) = Values::open(transaction, CHUNKS)? else { return Ok(()) };
            let mut values = table.values.iter()?;
            while let Some(entry) = if is_back { values.next_back() } else { values.next() } {
                let (key, value) = entry?;
                let group = GroupPos::of_key(*key.value());
                if self.visited.contains(&group) {
                    break;
                }
                let value = table.joined(key.value(), value.value(), None)?;
                stopped = self.verify_group(group, &value, each);
                if stopped.is_err() {
                    break;
                }
            }
            Ok(())
        });
        stopped?;
        Ok(read.map_err(|error| self.damage.push(error.to_string())).is_ok())
    }

    /// Reads the groups that the index lists and that were not visited, one by one.
    fn read_missed(
        &mut self,
        mut store: Option<Store>,
        each: &mut dyn FnMut(ChunkPos, Chunk) -> Result<(), SourceError>,
    ) -> Result<Option<Store>, SourceError> {
        let known = self.index.iter().flat_map(Index::iter).map(|chunk| GroupPos::of(chunk).0);
        let missed: BTreeSet<GroupPos> =
            known.filter(|group| !self.visited.contains(group)).collect();
        for group in missed {
            let Some(open_store) = &store else { return Ok(None) };
            let read = open_store.chunks(|values| values.read(group, None, <[u8]>::to_vec));
            match read {
                Ok(Some(value)) => self.verify_group(group, &value, each)?,
                Ok(None) => {}
                Err(_) => store = self.open().ok(),
            }
        }
        Ok(store)
    }

    /// Verifies and decompresses all chunks of a group.
    fn verify_group(
        &mut self,
        position: GroupPos,
        value: &[u8],
        each: &mut dyn FnMut(ChunkPos, Chunk) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        self.value_count += 1;
        self.value_bytes += value.len() as u64;
        self.visited.insert(position);
        let group = match Group::parse(position, value) {
            Ok(group) => group,
            Err(problem) => {
                let at = location_of(position.chunk(0));
                self.damage.push(format!("group of {at}: {problem}"));
                return Ok(());
            }
        };
        for slot in 0..SLOTS {
            let Some(record) = group.record(slot) else { continue };
            let at = position.chunk(slot);
            match record.and_then(record::decode) {
                Ok(chunk) => {
                    self.found.set(at, true);
                    each(at, chunk)?;
                }
                Err(problem) => {
                    self.lost.insert(at);
                    self.damage.push(format!("{}: {problem}", location_of(at)));
                }
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<Store, SourceError> {
        Store::open(&self.path, self.access.clone(), CACHE_BYTES)
    }

    /// Reports chunks that only the index lists, and chunks that the index does not list.
    fn compare(&mut self) {
        let Some(index) = &self.index else { return };
        for chunk in index.iter().filter(|&chunk| !self.found.contains(chunk)) {
            if self.lost.insert(chunk) {
                self.damage.push(format!("{}: {MISSING}", location_of(chunk)));
            }
        }
        for chunk in self.found.iter().filter(|&chunk| !index.contains(chunk)) {
            self.damage.push(format!("{}: missing from the index", location_of(chunk)));
        }
    }
}
