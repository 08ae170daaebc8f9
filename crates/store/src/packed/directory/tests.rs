use super::*;
use crate::packed::key::GroupKey;

/// Rank of the group at the origin.
const FIRST: u128 = 0b111 << 93;

fn entries() -> Vec<Entry> {
    let key = |rank| GroupKey { level: 3, rank: FIRST + rank };
    let record =
        |len| EntryContent::Record { len, checksum: u64::from(len).wrapping_mul(0x9e37_79b9) };
    let uniform = |material| EntryContent::Uniform(Material(material));
    let mut all = vec![
        Entry { key: key(7), mask: 1, content: record(1) },
        Entry { key: key(8), mask: 255, content: uniform(9) },
        Entry { key: key(1 << 80), mask: 128, content: record(MAX_RECORD_BYTES as u32) },
        Entry { key: key((1 << 80) + 1), mask: 3, content: uniform(65_535) },
    ];
    all.extend((0..600_u32).map(|at| {
        let content = if at % 3 == 0 { uniform(5) } else { record(at + 1) };
        Entry { key: key((1 << 81) + u128::from(at * at)), mask: 255, content }
    }));
    all
}

#[test]
fn pages_are_read_back_with_the_ranges_of_their_records() {
    let entries = entries();
    for count in [1, 2, 4, 300, 604] {
        let (info, bytes) = PageInfo::encode(&entries[..count], &mut Zstd::new()).unwrap();
        let page = info.decode(&bytes, 1_000).unwrap();
        let mut offset = 1_000;
        for (entry, (read, range)) in entries[..count].iter().zip(page.iter()) {
            assert_eq!(*entry, read);
            assert_eq!(range, offset..offset + entry.record_bytes());
            assert_eq!(page.find(entry.key), Some((read, range)));
            offset += entry.record_bytes();
        }
        assert_eq!((page.iter().count(), offset - 1_000), (count, info.record_bytes));
        assert_eq!(page.find(GroupKey { level: 3, rank: FIRST + 9 }), None);
        assert_eq!(page.find(GroupKey { level: 2, rank: FIRST + 7 }), None);
    }
    assert!(PageInfo::encode(&[], &mut Zstd::new()).is_none());
    for wrong in [[entries[1], entries[0]], [entries[0]; 2]] {
        assert!(PageInfo::encode(&wrong, &mut Zstd::new()).is_none(), "not in order");
    }
}

#[test]
fn damaged_pages_are_refused_without_a_panic() {
    let (info, bytes) = PageInfo::encode(&entries(), &mut Zstd::new()).unwrap();
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x55;
        assert!(info.decode(&wrong, 0).is_err());
        // Without the checksum, any result is valid in itself.
        if let Ok(page) = info.decode_unchecked(&wrong, 0) {
            let end = page.iter().last().map(|(_, range)| range.end);
            assert_eq!(end, Some(info.record_bytes));
        }
        assert!(info.decode_unchecked(&bytes[..at], 0).is_err());
    }
    for count in [0, 1, 603, 605, u32::MAX] {
        let claimed = PageInfo { count, ..info.clone() };
        assert!(claimed.decode(&bytes, 0).is_err(), "{count}");
    }
    let shorter = PageInfo { record_bytes: info.record_bytes - 1, ..info.clone() };
    assert!(shorter.decode(&bytes, 0).is_err());
}

/// Of groups with full records, a page takes a thousandth.
#[test]
fn a_group_takes_few_bytes() {
    let entries: Vec<Entry> = (0..4_096_u32)
        .map(|at| {
            let content = EntryContent::Record {
                len: 8_000 + at % 777,
                checksum: u64::from(at).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            };
            Entry {
                key: GroupKey { level: 0, rank: FIRST + u128::from(at + at / 9) },
                mask: 255,
                content,
            }
        })
        .collect();
    let (info, bytes) = PageInfo::encode(&entries, &mut Zstd::new()).unwrap();
    assert!(bytes.len() < 12 * entries.len(), "{} bytes", bytes.len());
    assert!(bytes.len() as u64 * 500 < info.record_bytes);
}
