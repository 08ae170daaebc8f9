use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{ChunkBox, ChunkPos};
use rayon::prelude::*;

use super::directory::Entry;
use super::key::GROUP_CHUNKS;
use super::{PackedWorld, decoded, location_of};
use crate::stored::WorldCheck;

/// Length of the records that are read before any is decoded, in bytes.
const BATCH_BYTES: u64 = 16 << 20;

impl PackedWorld {
    /// Reads and verifies a whole file: the header, every page of the directory, and every record.
    ///
    /// # Cost
    /// Reads the file once. Decodes all chunks, on all cores.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open). All other damage is in the result.
    pub fn check(path: &Path) -> Result<WorldCheck, SourceError> {
        Self::open(path)?.verify()
    }

    /// Verifies the whole file like [`check`](Self::check).
    ///
    /// # Errors
    /// When the file can no longer be read.
    pub fn verify(&self) -> Result<WorldCheck, SourceError> {
        let mut check = WorldCheck::default();
        let mut lost = BTreeSet::new();
        let (mut count, mut extent) = (0, None);
        for index in 0..self.parsed.header.pages.len() {
            let page = match self.page(index) {
                Ok(page) => page,
                Err(SourceError::BadPacked { location, problem, .. }) => {
                    check.damage.push(format!("{location}: {problem}"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let entries: Vec<_> = page.iter().collect();
            let mut rest = entries.as_slice();
            while !rest.is_empty() {
                let mut bytes = 0;
                let fitting = rest.iter().take_while(|(entry, _)| {
                    bytes += entry.record_bytes();
                    bytes <= BATCH_BYTES
                });
                let (batch, after) = rest.split_at(fitting.count().max(1));
                self.verify_records(batch, &mut check, &mut lost)?;
                rest = after;
            }
            let is_lowest = self.parsed.header.pages[index].first.level == 0;
            let chunks = entries.iter().flat_map(|(entry, _)| chunks_of(entry));
            for chunk in chunks.filter(|_| is_lowest) {
                count += 1;
                let corners = extent.map_or([chunk; 2], |all: ChunkBox| [all.min, all.max]);
                extent = ChunkBox::around(corners.into_iter().chain([chunk]));
            }
        }
        if check.damage.is_empty() && (count, extent) != (self.chunk_count(), self.extent()) {
            let problem = "header: its number or box of chunks differs from the directory";
            check.damage.push(problem.into());
        }
        check.lost = lost.into_iter().collect();
        Ok(check)
    }

    /// Reads, verifies and decodes records.
    fn verify_records(
        &self,
        batch: &[(Entry, Range<u64>)],
        check: &mut WorldCheck,
        lost: &mut BTreeSet<ChunkPos>,
    ) -> Result<(), SourceError> {
        let read =
            |(entry, range): &(Entry, Range<u64>)| Ok((*entry, self.read_range(range.clone())?));
        let records: Vec<_> = batch.iter().map(read).collect::<Result<_, SourceError>>()?;
        check.values += records.len() as u64;
        check.value_bytes += records.iter().map(|it| it.1.len() as u64).sum::<u64>();
        let problem = |(entry, record): &(Entry, Vec<u8>)| decoded(*entry, record).err();
        let problems: Vec<_> = records.par_iter().map(problem).collect();
        for ((entry, _), problem) in records.iter().zip(problems) {
            let count = u64::from(entry.mask.count_ones());
            match (problem, entry.key.level) {
                (Some(problem), level) => {
                    let first = location_of(entry.key.chunk(0));
                    check.damage.push(format!("record of {first}: {problem}"));
                    lost.extend(chunks_of(entry).filter(|_| level == 0));
                }
                (None, 0) => check.chunks += count,
                (None, _) => check.levels += count,
            }
        }
        Ok(())
    }
}

fn chunks_of(entry: &Entry) -> impl Iterator<Item = ChunkPos> {
    (0..GROUP_CHUNKS).filter(|at| entry.mask >> at & 1 != 0).map(|at| entry.key.chunk(at).chunk)
}
