use std::collections::BTreeSet;
use std::path::Path;

use drystone_formats::{Source, SourceError};
use drystone_voxel::ChunkPos;
use rayon::prelude::*;

use super::directory::Entry;
use super::key::GROUP_CHUNKS;
use super::{PackedWorld, decoded, location_of};
use crate::stored::WorldCheck;

/// Number of records that are read before any is decoded.
const BATCH: usize = 256;

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
        let mut found = 0;
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
            for batch in entries.chunks(BATCH) {
                let records: Result<Vec<_>, SourceError> = batch
                    .iter()
                    .map(|(entry, range)| Ok((*entry, self.read_range(range.clone())?)))
                    .collect();
                let records = records?;
                check.values += records.len() as u64;
                check.value_bytes += records.iter().map(|it| it.1.len() as u64).sum::<u64>();
                let problems: Vec<_> = records
                    .par_iter()
                    .map(|(entry, record)| decoded(*entry, record).err())
                    .collect();
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
                    found += if entry.key.level == 0 { count } else { 0 };
                }
            }
        }
        if check.damage.is_empty() && found != self.chunk_count() {
            let counted = self.chunk_count();
            check
                .damage
                .push(format!("header: it counts {counted} chunks, but {found} are listed"));
        }
        check.lost = lost.into_iter().collect();
        Ok(check)
    }
}

fn chunks_of(entry: &Entry) -> impl Iterator<Item = ChunkPos> {
    (0..GROUP_CHUNKS).filter(|at| entry.mask >> at & 1 != 0).map(|at| entry.key.chunk(at).chunk)
}
