use std::borrow::Cow;

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, TableError,
    WriteTransaction,
};

use super::group::{Group, GroupPos, Key, MAX_HEAD_BYTES, MAX_VALUE_BYTES};

/// Key of one page of a cut value: the group's key and the page's number.
pub(super) type PageKey = [u8; 14];

type ValuesDefinition = TableDefinition<'static, &'static Key, &'static [u8]>;
type PagesDefinition = TableDefinition<'static, &'static PageKey, &'static [u8]>;

/// A table of values by group, and the table of the pages into which long values are cut.
///
/// The database rounds a value that exceeds one page up to a power of two pages. Only the beginning
/// of a long value is therefore in the table of values, where short values share pages. The rest
/// fills pages of its own completely:
///
/// ```text
///  values   2, length (4), the value's beginning        pages   bytes │ bytes │ the last bytes
/// ```
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) values: ValuesDefinition,
    pub(super) pages: PagesDefinition,
}

/// Groups of eight chunks.
pub(super) const CHUNKS: Cut =
    Cut { values: TableDefinition::new("chunks"), pages: TableDefinition::new("chunk pages") };
/// Groups of eight LOD chunks.
pub(super) const LEVELS: Cut =
    Cut { values: TableDefinition::new("levels 3"), pages: TableDefinition::new("level pages 3") };
/// Groups of eight LOD chunks in files of version 2. They are not read, and the next commit deletes
/// them.
pub(super) const OLD_LEVELS: Cut =
    Cut { values: TableDefinition::new("levels"), pages: TableDefinition::new("level pages") };

/// First byte of a cut value. Other values begin with the format number of [`Group`].
const CUT: u8 = 2;
/// Length of the first byte and the value's length, in bytes.
const CUT_BYTES: usize = 5;
/// Length of a database page, in bytes.
const DATABASE_PAGE_BYTES: usize = 4096;
/// Bytes of a database page that are neither key nor value if it has a single entry: the page's
/// head (4) and the end of the entry (4), in redb 4.5.
const ENTRY_BYTES: usize = 4 + 4;
/// Bytes of a value that fill one database page as a single entry with its key.
const PAGE_BYTES: usize = DATABASE_PAGE_BYTES - ENTRY_BYTES - size_of::<PageKey>();
/// Longest value, in bytes, that fits a database page with its key. Such values are not cut.
const WHOLE_BYTES: usize = DATABASE_PAGE_BYTES - ENTRY_BYTES - size_of::<Key>();
/// Longest beginning, in bytes, that can share a database page with others. A longer one is better
/// in a page of its own.
const MAX_FIRST_BYTES: usize = 2800;

/// Read access to both tables.
pub(super) struct Values {
    pub(super) values: ReadOnlyTable<&'static Key, &'static [u8]>,
    /// `None` if no value was ever cut.
    pages: Pages,
}

type Pages = Option<ReadOnlyTable<&'static PageKey, &'static [u8]>>;

impl Values {
    /// Opens both tables in a transaction; `None` if there is no table of values.
    pub(super) fn open(
        transaction: &ReadTransaction,
        cut: Cut,
    ) -> Result<Option<Self>, redb::Error> {
        let values = match transaction.open_table(cut.values) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            values => values?,
        };
        let pages = match transaction.open_table(cut.pages) {
            Err(TableError::TableDoesNotExist(_)) => None,
            pages => Some(pages?),
        };
        Ok(Some(Self { values, pages }))
    }

    /// Calls `work` with a group's value. With a slot, only that slot's record is valid.
    pub(super) fn read<T>(
        &self,
        group: GroupPos,
        slot: Option<usize>,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, redb::Error> {
        let key = group.key();
        let Some(first) = self.values.get(&key)? else { return Ok(None) };
        Ok(Some(work(&self.joined(&key, first.value(), slot)?)))
    }

    /// The whole value that begins with `first`.
    pub(super) fn joined<'a>(
        &self,
        key: &Key,
        first: &'a [u8],
        slot: Option<usize>,
    ) -> Result<Cow<'a, [u8]>, redb::Error> {
        joined(self.pages.as_ref(), key, first, slot)
    }
}

/// Write access to both tables.
pub(super) struct ValuesMut<'a> {
    values: Table<'a, &'static Key, &'static [u8]>,
    pages: Table<'a, &'static PageKey, &'static [u8]>,
}

impl<'a> ValuesMut<'a> {
    pub(super) fn open(transaction: &'a WriteTransaction, cut: Cut) -> Result<Self, redb::Error> {
        let (values, pages) =
            (transaction.open_table(cut.values)?, transaction.open_table(cut.pages)?);
        Ok(Self { values, pages })
    }

    /// Reads the value of a group.
    pub(super) fn get(&self, group: GroupPos) -> Result<Option<Vec<u8>>, redb::Error> {
        let key = group.key();
        let Some(first) = self.values.get(&key)? else { return Ok(None) };
        Ok(Some(joined(Some(&self.pages), &key, first.value(), None)?.into_owned()))
    }

    /// Replaces the value of a group; `None` removes it.
    pub(super) fn put(&mut self, group: GroupPos, value: Option<&[u8]>) -> Result<(), redb::Error> {
        let key = group.key();
        let (first, rest) = value.map_or((None, &[][..]), |value| {
            let (first, rest) = cut(value);
            (Some(first), rest)
        });
        let old_count = match first {
            Some(first) => self.values.insert(&key, &*first)?.map(|old| page_count(old.value())),
            None => self.values.remove(&key)?.map(|old| page_count(old.value())),
        };
        for (page, bytes) in rest.chunks(PAGE_BYTES).enumerate() {
            self.pages.insert(&page_key(&key, page), bytes)?;
        }
        let Some(old_count) = old_count else { return Ok(()) };
        // Continues past `old_count`: a damaged beginning may give too small a count.
        for page in rest.len().div_ceil(PAGE_BYTES).. {
            let was_there = self.pages.remove(&page_key(&key, page))?.is_some();
            if page >= old_count && !was_there {
                break;
            }
        }
        Ok(())
    }
}

/// Cuts a value: the entry for the table of values, and the bytes for pages.
fn cut(value: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    // A value over the limit could not be read again, and is never produced.
    if value.len() <= WHOLE_BYTES || value.len() > MAX_VALUE_BYTES {
        return (Cow::Borrowed(value), &[]);
    }
    let left = value.len() % PAGE_BYTES;
    let is_good = (MAX_HEAD_BYTES..=MAX_FIRST_BYTES).contains(&left);
    let (first, rest) = value.split_at(if is_good { left } else { MAX_HEAD_BYTES });
    let mut bytes = Vec::with_capacity(CUT_BYTES + first.len());
    bytes.push(CUT);
    bytes.extend((value.len() as u32).to_le_bytes());
    bytes.extend(first);
    (Cow::Owned(bytes), rest)
}

/// Length and beginning of a cut value; `None` if the value is not cut.
fn parse_cut(first: &[u8]) -> Option<(usize, &[u8])> {
    let (&[kind, a, b, c, d], first) = first.split_first_chunk()?;
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    (kind == CUT && (first.len()..=MAX_VALUE_BYTES).contains(&len)).then_some((len, first))
}

fn page_count(first: &[u8]) -> usize {
    parse_cut(first).map_or(0, |(len, first)| (len - first.len()).div_ceil(PAGE_BYTES))
}

fn page_key(key: &Key, page: usize) -> PageKey {
    let mut page_key = [0; size_of::<PageKey>()];
    page_key[..key.len()].copy_from_slice(key);
    page_key[key.len()..].copy_from_slice(&(page as u16).to_be_bytes());
    page_key
}

/// Joins a cut value; with a slot, only the pages of that slot's record. Missing bytes are 0, which
/// the records' checksums detect.
fn joined<'a>(
    pages: Option<&impl ReadableTable<&'static PageKey, &'static [u8]>>,
    key: &Key,
    first: &'a [u8],
    slot: Option<usize>,
) -> Result<Cow<'a, [u8]>, redb::Error> {
    let Some((len, first)) = parse_cut(first) else { return Ok(Cow::Borrowed(first)) };
    let mut value = Vec::with_capacity(len);
    value.extend(first);
    value.resize(len, 0);
    let needed = slot.map_or(Some(0..len), |slot| Group::record_range(first, slot));
    let (Some(pages), Some(needed)) = (pages, needed) else { return Ok(Cow::Owned(value)) };
    for (page, to) in value[first.len()..].chunks_mut(PAGE_BYTES).enumerate() {
        let start = first.len() + page * PAGE_BYTES;
        if start >= needed.end || start + to.len() <= needed.start {
            continue;
        }
        if let Some(bytes) = pages.get(&page_key(key, page))? {
            to.iter_mut().zip(bytes.value()).for_each(|(to, byte)| *to = *byte);
        }
    }
    Ok(Cow::Owned(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_short_and_pages_are_full() {
        for len in (0..30_000).chain([MAX_VALUE_BYTES - 1, MAX_VALUE_BYTES]) {
            let value: Vec<u8> = (0..len).map(|n| 1 + (n % 250) as u8).collect();
            let (first, rest) = cut(&value);
            assert!(first.len() <= WHOLE_BYTES, "{len}");
            if rest.is_empty() {
                assert!(*first == *value && parse_cut(&first).is_none_or(|_| value[0] == CUT));
                continue;
            }
            let (found, beginning) = parse_cut(&first).unwrap();
            assert!(found == len && [beginning, rest].concat() == value, "{len}");
            assert!((MAX_HEAD_BYTES..=MAX_FIRST_BYTES).contains(&beginning.len()), "{len}");
            assert_eq!(page_count(&first), rest.len().div_ceil(PAGE_BYTES));
            let last = (rest.len() - 1) % PAGE_BYTES + 1;
            assert!(
                last > PAGE_BYTES - MAX_HEAD_BYTES - 1 || last > MAX_FIRST_BYTES - MAX_HEAD_BYTES,
                "{len}: {last}"
            );
        }
    }

    #[test]
    fn beginnings_with_an_impossible_length_are_refused() {
        assert!(parse_cut(&[CUT, 255, 255, 255, 255, 1]).is_none());
        assert!(parse_cut(&[CUT, 0, 0, 0, 0, 1]).is_none());
        assert!(parse_cut(&[CUT, 9, 0, 0]).is_none());
        assert_eq!(page_count(&[1, 2, 3]), 0);
    }
}
