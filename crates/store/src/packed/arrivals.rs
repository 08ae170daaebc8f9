use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use drystone_formats::{ArrivalState, Arrivals, Source, SourceError};
use drystone_voxel::NodePos;
use hashbrown::{HashMap, HashSet};

use super::directory::{EntryContent, Page};
use super::header::{MAX_HEADER_BYTES, ParsedHeader};
use super::key::GroupKey;
use super::memory::RECORD_CACHE_BYTES;
use super::{PackedWorld, group, header_error, lock};
use crate::ranges::{ArrivingRanges, BLOCK_BYTES};
use crate::recent::Recent;

/// Number of times that wrong bytes are requested again before they are reported as damage.
const MAX_ATTEMPTS: u32 = 4;

/// Parts that came over a network. Wrong bytes are requested again before anything
/// reads them, so that a fault on the way is not taken for damage of the file.
pub(super) struct Received {
    /// Records with the right checksum that were not read yet. Their bytes are kept, because those of the same place may be
    /// dropped with wrong ones beside them.
    pub(super) records: Recent<GroupKey, Arc<[u8]>>,
    /// Number of attempts by the start of each range whose bytes were wrong.
    attempts: HashMap<u64, u32>,
}

/// Reason why a page of the directory cannot be used now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unread {
    /// The bytes have not come.
    Missing,
    /// The bytes are wrong.
    Damaged,
}

impl Default for Received {
    fn default() -> Self {
        Self { records: Recent::new(RECORD_CACHE_BYTES), attempts: HashMap::new() }
    }
}

impl PackedWorld {
    /// Returns the length of a whole file, and the length of its start that [`read`](Self::read) needs at
    /// least, from its first 64 KiB. For files that come over a network, where `read` must not wait.
    ///
    /// # Errors
    /// A file of another format or a newer version, or a damaged header. `name` is for messages.
    pub fn lengths_of(front: &[u8], name: impl AsRef<Path>) -> Result<[u64; 2], SourceError> {
        let parsed =
            ParsedHeader::parse(front).map_err(|error| header_error(name.as_ref(), error))?;
        let needed = parsed.materials_range().end.max(MAX_HEADER_BYTES as u64);
        // Only whole blocks of a remote file can be read.
        let needed = needed.next_multiple_of(BLOCK_BYTES).min(parsed.file_bytes);
        Ok([parsed.file_bytes, needed])
    }

    /// Returns the bytes that have to arrive before a group can be read: a page of the directory, or its
    /// record. `None` if it can be read.
    fn missing_bytes(&self, key: GroupKey) -> Option<Range<u64>> {
        let bytes = self.bytes.arriving()?;
        if lock(&self.groups).get(key).is_some() {
            return None;
        }
        let index = self.parsed.page_of(key)?;
        let page = match self.page_here(index) {
            Ok(page) => page,
            Err(Unread::Missing) => return Some(self.parsed.page_range(index)),
            Err(Unread::Damaged) => return self.discarded(bytes, self.parsed.page_range(index)),
        };
        let (entry, record) = page.find(key)?;
        let EntryContent::Record { checksum, .. } = entry.content else { return None };
        if lock(&self.received).records.get(key).is_some() {
            return None;
        }
        let Some(found) = bytes.read_here(&record) else { return Some(record) };
        if group::checksum(entry.key, &found) != checksum {
            return self.discarded(bytes, record);
        }
        let size_bytes = found.len();
        let mut received = lock(&self.received);
        received.attempts.remove(&record.start);
        received.records.insert(key, found.into(), size_bytes);
        None
    }

    /// Returns a page of the directory without waiting for a network.
    pub(super) fn page_here(&self, index: usize) -> Result<Arc<Page>, Unread> {
        let Some(bytes) = self.bytes.arriving() else {
            return self.page(index).map_err(|_| Unread::Damaged);
        };
        if let Some(page) = lock(&self.pages).get(index) {
            return Ok(page);
        }
        let found = bytes.read_here(&self.parsed.page_range(index)).ok_or(Unread::Missing)?;
        let page = self.decoded_page(index, &found).map_err(|_| Unread::Damaged)?;
        lock(&self.received).attempts.remove(&self.parsed.page_range(index).start);
        Ok(page)
    }

    /// Drops wrong bytes and returns their range, to be requested again. `None` after too many attempts:
    /// then reading them reports the damage.
    fn discarded(&self, bytes: &dyn ArrivingRanges, range: Range<u64>) -> Option<Range<u64>> {
        let mut received = lock(&self.received);
        let attempts = received.attempts.entry(range.start).or_default();
        *attempts += 1;
        (*attempts <= MAX_ATTEMPTS).then(|| {
            bytes.discard(range.clone());
            range
        })
    }

    /// Whether wrong bytes that came over a network were dropped, to be read once more. False after too many
    /// attempts; each later read makes one more.
    pub(super) fn is_requested_again(&self, range: &Range<u64>) -> bool {
        let Some(bytes) = self.bytes.arriving() else { return false };
        let is_again = self.discarded(bytes, range.clone()).is_some();
        if !is_again {
            bytes.discard(range.clone());
        }
        is_again
    }
}

impl Arrivals for PackedWorld {
    fn missing(&self, node: NodePos, missing: &mut Vec<NodePos>) {
        let Some(top) = self.parsed.header.pages.first() else { return };
        if node.level <= top.first.level {
            if self.missing_bytes(GroupKey::of(node).0).is_some() {
                missing.push(node);
            }
        } else if !self.is_air(node) {
            // Made from the nodes below.
            node.children().into_iter().flatten().for_each(|child| self.missing(child, missing));
        }
    }

    fn request(&self, nodes: &[NodePos]) {
        let Some(bytes) = self.bytes.arriving() else { return };
        let mut keys: Vec<GroupKey> = nodes.iter().map(|&node| GroupKey::of(node).0).collect();
        let mut seen = HashSet::with_capacity(keys.len());
        keys.retain(|&key| seen.insert(key));
        let ranges: Vec<_> = keys.into_iter().filter_map(|key| self.missing_bytes(key)).collect();
        bytes.request(&ranges);
    }

    fn state(&self) -> ArrivalState {
        self.bytes.arriving().map(ArrivingRanges::state).unwrap_or_default()
    }
}
