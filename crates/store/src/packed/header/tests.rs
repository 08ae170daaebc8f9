use super::*;

/// Rank of the group at the origin.
const FIRST: u128 = 0b111 << 93;

fn header() -> Header {
    let page = |level, rank, count| PageInfo {
        first: GroupKey { level, rank },
        count,
        page_bytes: 20 + count,
        checksum: rank as u64 ^ 77,
        record_bytes: 1 << 33,
    };
    Header {
        name: "höhle".into(),
        extent: Some(ChunkBox { min: ChunkPos::new(-7, 0, i32::MIN), max: ChunkPos::new(9, 2, 4) }),
        chunk_count: 700,
        materials: (1_234, 99),
        pages: vec![page(2, FIRST + 7, 1), page(0, FIRST + 5, 512), page(0, FIRST + (1 << 80), 44)],
        part: None,
    }
}

#[test]
fn headers_are_read_back_with_offsets_from_lengths() {
    let mut bytes = header().to_bytes();
    let len = bytes.len() as u64;
    bytes.extend([9; 50]);
    let parsed = ParsedHeader::parse(&bytes).unwrap();
    assert_eq!(parsed.header, header());
    assert_eq!(parsed.materials_range(), len..len + 1_234);
    let pages = len + 1_234;
    assert_eq!(parsed.page_range(0), pages..pages + 21);
    assert_eq!(parsed.page_range(1), pages + 21..pages + 21 + 532);
    assert_eq!(parsed.front_bytes(), pages + 21 + 532 + 64);
    let records = parsed.front_bytes();
    assert_eq!(parsed.offsets[2].1, records + 2 * (1 << 33));
    assert_eq!(parsed.file_bytes, records + 3 * (1 << 33));
    let key = |level, rank| parsed.page_of(GroupKey { level, rank: FIRST + rank });
    let before = (1 << 80) - 1;
    assert_eq!(
        [key(2, 7), key(0, 4), key(0, 5), key(0, before)],
        [Some(0), None, Some(1), Some(1)]
    );
    assert_eq!([key(0, 1 << 90), key(3, 0), key(1, 9)], [Some(2), None, None]);
}

#[test]
fn every_changed_bit_of_a_header_is_detected() {
    let bytes = header().to_bytes();
    for bit in 0..bytes.len() * 8 {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(ParsedHeader::parse(&wrong).is_err(), "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert!(ParsedHeader::parse(&bytes[..len]).is_err(), "{len}");
    }
}

/// Headers with a right checksum whose claims cannot be true.
#[test]
fn impossible_claims_are_refused() {
    let refused = |change: fn(&mut Header)| {
        let mut header = header();
        change(&mut header);
        ParsedHeader::parse(&header.to_bytes()).is_err()
    };
    assert!(!refused(|_| {}));
    assert!(refused(|it| it.chunk_count = 1 << 60));
    assert!(refused(|it| it.chunk_count = 0));
    assert!(refused(|it| it.chunk_count = 555));
    assert!(refused(|it| it.pages[1].count = 1 << 17));
    assert!(refused(|it| it.pages[1].count = 0));
    assert!(refused(|it| it.pages[1].record_bytes = u64::MAX));
    assert!(refused(|it| it.pages.swap(1, 2)));
    assert!(refused(|it| it.pages[2] = it.pages[1].clone()));
    assert!(refused(|it| it.pages[0].first.level = 25));
    assert!(refused(|it| it.pages[0].first.rank = 1 << 96));
    assert!(refused(|it| it.pages[0].page_bytes = 0));
    assert!(refused(|it| it.pages[0].page_bytes = 30));
    assert!(refused(|it| it.pages[0].first.rank ^= 1 << 92));
    assert!(refused(|it| it.materials.0 = u64::MAX));
    assert!(refused(|it| it.materials.0 = 1 << 40));
    assert!(refused(
        |it| it.extent = Some(ChunkBox { min: ChunkPos::new(1, 0, 0), max: ChunkPos::default() })
    ));
    assert!(refused(|it| it.pages = vec![it.pages[1].clone(); 1_501]));
}

#[test]
fn the_largest_header_fits() {
    let page = |at: usize| PageInfo {
        first: GroupKey { level: 24, rank: FIRST + at as u128 },
        count: MAX_PAGE_ENTRIES,
        page_bytes: MAX_PAGE_ENTRIES * MAX_ENTRY_BYTES as u32,
        checksum: u64::MAX,
        record_bytes: 1 << 52,
    };
    let header = Header {
        name: "ö".repeat(4_000),
        extent: None,
        chunk_count: 0,
        materials: (1 << 20, u64::MAX),
        pages: (0..MAX_PAGES).map(page).collect(),
        part: Some(PartInfo { part: PackPart::new(1, PackPart::MAX_COUNT).unwrap(), source: 7 }),
    };
    let bytes = header.to_bytes();
    assert!(bytes.len() <= MAX_HEADER_BYTES, "{}", bytes.len());
    let parsed = ParsedHeader::parse(&bytes).unwrap();
    assert_eq!(parsed.header.name, "ö".repeat(512), "a long name is cut between letters");
    assert_eq!(parsed.header.pages, header.pages);
}
