use super::directory::Page;
use super::{PackedWorld, lock};

/// Memory of a packed world for what was read, in sevenths: decoded pages of the directory, decoded chunks, and
/// over a network received blocks and verified records.
const SEVENTHS: usize = 7;
const PAGES: usize = 2;
const CHUNKS: usize = 2;
const BLOCKS: usize = 2;
const RECORDS: usize = 1;
const _: () = assert!(PAGES + CHUNKS + BLOCKS + RECORDS == SEVENTHS);

/// Default limit, in bytes.
const DEFAULT_BYTES: usize = 112 << 20;
/// Smallest limit, in bytes. Records have up to half a MiB, and eight requests are under way.
const MIN_BYTES: usize = 16 << 20;
/// Number of the largest pages that fit at least. A cache keeps nothing above half of its limit, and requests are
/// for at most a quarter.
const MIN_PAGES: usize = 4;

pub(super) const PAGE_CACHE_BYTES: usize = DEFAULT_BYTES / SEVENTHS * PAGES;
pub(super) const CHUNK_CACHE_BYTES: usize = DEFAULT_BYTES / SEVENTHS * CHUNKS;
pub(super) const RECORD_CACHE_BYTES: usize = DEFAULT_BYTES / SEVENTHS * RECORDS;

impl PackedWorld {
    /// Sets the limit for all that is kept because it was read or received, in bytes.
    pub(super) fn limit_caches(&self, bytes: usize) {
        let seventh = bytes.max(MIN_BYTES) / SEVENTHS;
        let pages = &self.parsed.header.pages;
        let decoded = pages.iter().map(|page| page.count as usize * Page::ENTRY_BYTES).max();
        let encoded = pages.iter().map(|page| page.page_bytes as usize).max();
        let at_least = |page: Option<usize>| MIN_PAGES * page.unwrap_or_default();
        lock(&self.pages).set_limit_bytes((seventh * PAGES).max(at_least(decoded)));
        lock(&self.groups).set_limit_bytes(seventh * CHUNKS);
        lock(&self.received).records.set_limit_bytes(seventh * RECORDS);
        if let Some(arriving) = self.bytes.arriving() {
            arriving.limit_memory((seventh * BLOCKS).max(at_least(encoded)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use drystone_formats::Source;
    use drystone_world::{GeneratedWorld, GeneratorConfig};
    use tempfile::TempDir;

    use super::*;
    use crate::packed::{PackOptions, pack};

    #[test]
    fn little_is_kept_within_a_small_limit() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.dsw");
        let config = GeneratorConfig::default().with_size_chunks([24, 4, 24]);
        let source = GeneratedWorld::new(config).unwrap();
        pack(&source, &path, &PackOptions::default(), &mut |_| {}).unwrap();
        let world = PackedWorld::read(Box::new(fs::read(path).unwrap()), "a").unwrap();
        let kept = || {
            for position in world.chunk_positions() {
                assert!(!world.chunk(position).unwrap().is_empty());
            }
            lock(&world.groups).size_bytes()
        };
        let most = MIN_BYTES / SEVENTHS * CHUNKS;
        assert!(kept() > most);
        world.limit_memory(0);
        assert!(kept() <= most);
    }
}
