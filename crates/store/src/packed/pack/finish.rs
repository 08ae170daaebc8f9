use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{ChunkBox, MaterialTable};
use twox_hash::XxHash3_64;

use super::spools::Spools;
use crate::codec::zstd::Zstd;
use crate::packed::directory::{MAX_PAGE_ENTRIES, PageInfo};
use crate::packed::header::{Header, MAX_PAGES};
use crate::packed::part::PartInfo;
use crate::packed::table;
use crate::publish::{rename_over, reserve};

/// Number of groups in a page of the directory, if there are not too many pages.
const PAGE_ENTRIES: usize = 512;

/// A source that lists other chunks than in an earlier run.
const NOT_SORTED: &str = "the source has changed meanwhile; remove this folder to begin again";

/// Content of a packed world, beside its records.
pub(super) struct Finished {
    pub(super) name: String,
    /// Smallest box around all chunks.
    pub(super) extent: Option<ChunkBox>,
    /// Highest level that is written.
    pub(super) top_level: u8,
    /// Number of chunks of level 0 that are not air.
    pub(super) chunk_count: u64,
    pub(super) materials: MaterialTable,
    pub(super) part: Option<PartInfo>,
}

/// Joins all levels to the packed world and removes the folder.
pub(super) fn finish(finished: Finished, mut spools: Spools) -> Result<(), SourceError> {
    let path = spools.path.clone();
    let unwritable = |problem| SourceError::Unwritable { path: path.clone(), problem };
    let levels: Vec<u8> = spools.levels().filter(|&level| level <= finished.top_level).collect();
    let counts: Vec<u64> = levels.iter().map(|&level| spools.entry_count(level)).collect();
    let page_entries = page_entries(&counts).ok_or_else(|| SourceError::TooLarge {
        what: path.display().to_string(),
        found: counts.iter().sum(),
        limit: MAX_PAGES as u64 * u64::from(MAX_PAGE_ENTRIES),
        unit: "groups of chunks",
        advice: "pack parts of the world",
    })?;
    let mut directory = spools.directory_file()?;
    let (mut pages, mut zstd) = (Vec::new(), Zstd::new());
    for &level in &levels {
        spools.for_each_entries(level, page_entries, |entries| {
            let encoded = PageInfo::encode(entries, &mut zstd);
            let (info, page) = encoded.ok_or_else(|| io::Error::other(NOT_SORTED))?;
            pages.push(info);
            directory.write_all(&page)
        })?;
    }
    let materials = table::to_bytes(&finished.materials);
    let header = Header {
        name: finished.name,
        extent: finished.extent,
        chunk_count: finished.chunk_count,
        materials: (materials.len() as u64, XxHash3_64::oneshot(&materials)),
        pages,
        part: finished.part,
    };
    let new = reserve(&path).map_err(unwritable)?;
    let mut write = || {
        let mut file = OpenOptions::new().write(true).open(&new)?;
        file.write_all(&header.to_bytes())?;
        file.write_all(&materials)?;
        append(&mut directory, &mut file)?;
        levels.iter().try_for_each(|&level| spools.copy_records(level, &mut file))?;
        file.sync_all()
    };
    write().map_err(unwritable)?;
    rename_over(new, &path).map_err(unwritable)?;
    spools.remove();
    Ok(())
}

/// The source's name without folders, which concern only the machine that packs.
pub(super) fn name_of(source: &dyn Source) -> String {
    let name = Path::new(source.name()).file_name();
    name.map_or_else(|| source.name().into(), |name| name.to_string_lossy().into_owned())
}

fn append(from: &mut File, to: &mut File) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    io::copy(from, to).map(drop)
}

/// Number of groups in a page, so that the header has room for all pages of all levels. `None` if even the
/// largest pages are too many.
fn page_entries(counts: &[u64]) -> Option<usize> {
    let page_count = |entries: u64| counts.iter().map(|count| count.div_ceil(entries)).sum::<u64>();
    let mut sizes = std::iter::successors(Some(PAGE_ENTRIES as u64), |entries| Some(entries * 2));
    sizes
        .find(|&entries| {
            page_count(entries) <= MAX_PAGES as u64 || entries > MAX_PAGE_ENTRIES.into()
        })
        .filter(|&entries| entries <= MAX_PAGE_ENTRIES.into())
        .map(|entries| entries as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_grow_with_the_world_until_the_header_is_full() {
        assert_eq!(page_entries(&[]), Some(512));
        assert_eq!(page_entries(&[1; 25]), Some(512));
        assert_eq!(page_entries(&[512 * 1_500]), Some(512));
        assert_eq!(page_entries(&[512 * 1_500, 1]), Some(1_024));
        assert_eq!(page_entries(&[65_536 * 1_499, 65_536]), Some(65_536));
        assert_eq!(page_entries(&[65_536 * 1_500, 1]), None);
    }
}
