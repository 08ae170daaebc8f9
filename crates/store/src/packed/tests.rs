use std::fs;

use drystone_world::{GeneratedWorld, GeneratorConfig};
use tempfile::TempDir;

use super::*;

/// A small packed world, and its bytes.
fn world() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    let config = GeneratorConfig::default().with_seed(3).with_size_chunks([5, 3, 4]);
    let source = GeneratedWorld::new(config).unwrap();
    pack(&source, &path, &PackOptions::default(), &mut |_| {}).unwrap();
    fs::read(path).unwrap()
}

fn opened(bytes: &[u8]) -> Result<PackedWorld, SourceError> {
    PackedWorld::read(Box::new(bytes.to_vec()), "a.dsw")
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let bytes = world();
    for len in (0..bytes.len()).step_by(bytes.len() / 400 + 1).chain(bytes.len() - 40..bytes.len())
    {
        let error = opened(&bytes[..len]).unwrap_err().to_string();
        let is_clear = ["not a packed world", "the file ends in its header", "it is cut off"];
        assert!(is_clear.iter().any(|text| error.contains(text)), "{len}: {error}");
    }
    let error = opened(&[bytes.as_slice(), &[0]].concat()).unwrap_err().to_string();
    assert!(error.contains("instead of"), "{error}");
}

/// Each changed byte is found: when the world is opened, or by its check. What is read is right, or reported.
#[test]
fn every_changed_byte_is_detected() {
    let bytes = world();
    let whole = opened(&bytes).unwrap();
    let positions = whole.chunk_positions();
    for at in (0..bytes.len()).step_by(bytes.len() / 300 + 1).chain(0..200) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x10;
        let Ok(world) = opened(&wrong) else { continue };
        let check = world.verify().unwrap();
        assert_eq!(check.damage.len(), 1, "byte {at}: {:?}", check.damage);
        for &position in &positions {
            match world.chunk(position) {
                Ok(chunk) => {
                    assert!(chunk == whole.chunk(position).unwrap(), "byte {at}, {position:?}");
                }
                Err(SourceError::BadPacked { location, .. }) => {
                    let is_lost = check.lost.contains(&position);
                    assert!(is_lost || location.contains("directory"), "byte {at}: {location}");
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(world.faults().is_empty(), check.chunks == whole.chunk_count());
    }
}

#[test]
fn newer_and_other_files_are_refused() {
    let mut bytes = world();
    bytes[8] = 9;
    let error = opened(&bytes).unwrap_err();
    assert!(matches!(error, SourceError::NewerStored { found: 9, known: 1, .. }), "{error}");
    let error = opened(b"redb and more").unwrap_err();
    assert!(matches!(error, SourceError::Unsupported { .. }), "{error}");
    assert!(matches!(
        PackedWorld::open(Path::new("/no/such.dsw")),
        Err(SourceError::Unreadable { .. })
    ));
}

/// A file that is replaced by an unrelated one while it is read, as in a bucket.
#[test]
fn changed_records_are_reported_and_nothing_wrong_is_shown() {
    let bytes = world();
    let front = opened(&bytes).unwrap().front_bytes() as usize;
    let mut other = bytes.clone();
    other[front..].rotate_left(4_099);
    let world = opened(&other).unwrap();
    let position = world.chunk_positions()[0];
    let error = world.chunk(position).unwrap_err().to_string();
    assert!(
        error.contains("its checksum is wrong") && error.starts_with("a.dsw: level 0"),
        "{error}"
    );
    assert_eq!(world.faults().len(), 1);
}

#[test]
fn any_chunk_is_found_with_two_reads() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counted(Vec<u8>, Arc<AtomicUsize>);

    impl ByteRanges for Counted {
        fn size(&self) -> io::Result<u64> {
            self.0.size()
        }

        fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read(range)
        }
    }

    let bytes = world();
    let reads = Arc::new(AtomicUsize::new(0));
    for position in opened(&bytes).unwrap().chunk_positions() {
        let counted = Counted(bytes.clone(), Arc::clone(&reads));
        let world = PackedWorld::read(Box::new(counted), "a.dsw").unwrap();
        assert_eq!(reads.swap(0, Ordering::Relaxed), 1, "header and materials");
        world.chunk(position).unwrap();
        assert!(reads.swap(0, Ordering::Relaxed) <= 2);
        world.chunk(position).unwrap();
        assert_eq!(reads.swap(0, Ordering::Relaxed), 0, "of a recent record");
    }
}

/// A directory page that fails to be read must not make an import that lacks its chunks succeed.
#[test]
fn an_import_of_a_world_without_a_part_of_its_list_fails() {
    let bytes = world();
    let whole = opened(&bytes).unwrap();
    let last = whole.parsed.header.pages.len() - 1;
    let mut wrong = bytes.clone();
    wrong[whole.parsed.page_range(last).start as usize + 3] ^= 1;
    let damaged = opened(&wrong).unwrap();
    let folder = TempDir::new().unwrap();
    let (stored, packed) = (folder.path().join("a.drystone"), folder.path().join("b.dsw"));
    let error = crate::import(&damaged, &stored, &Default::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("only 0 of"), "{error}");
    let error = pack(&damaged, &packed, &PackOptions::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("only 0 of"), "{error}");
}
