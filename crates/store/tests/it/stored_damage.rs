//! Copies of a world's file are cut and changed at a thousand positions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use drystone_formats::Source;
use drystone_store::{StoreOptions, StoredWorld};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use crate::stored_child::{Folder, command, order, peak_bytes};

const DAMAGE_COUNT: usize = 1000;

fn chunks() -> BTreeMap<ChunkPos, Chunk> {
    let chunk = |n: i32| {
        Chunk::from_fn(Chunk::SIDE, |at| match n % 4 {
            0 => Material(n as u16 + 1),
            1 => Material(u16::from(at.y < 9)),
            _ => {
                let dice = u32::from(at.x) * 7 + u32::from(at.y / 2) * 131 + u32::from(at.z) * 37;
                Material((dice.wrapping_mul(2_654_435_761) >> 28) as u16 * (n as u16 % 3 + 1))
            }
        })
    };
    (0..30).map(|n| (ChunkPos::new(n % 5 - 2, n / 5 % 3, n / 15), chunk(n))).collect()
}

fn world_at(path: &Path, chunks: &BTreeMap<ChunkPos, Chunk>) {
    let mut materials = MaterialTable::new();
    for n in 0..70 {
        materials.insert(&format!("kind {n}"), [n, 1, 2, 255]).unwrap();
    }
    let world = StoredWorld::create(path, "to be damaged", &materials).unwrap();
    // Several commits, so that the file has free pages.
    for (at, chunk) in chunks {
        world.put([(*at, Chunk::new(Chunk::SIDE, Material(3)))]).unwrap();
        if at.x == 0 {
            world.flush().unwrap();
        }
        world.put([(*at, chunk.clone())]).unwrap();
    }
    world.close().unwrap();
}

/// Whether readers report the damage of the file at `path`.
fn is_reported(path: &Path, chunks: &BTreeMap<ChunkPos, Chunk>) -> bool {
    let Ok(world) = StoredWorld::open(path, &StoreOptions::read_only()) else { return true };
    if world.chunk_positions() != chunks.keys().copied().collect::<Vec<_>>() {
        panic!("wrong chunks without a report");
    }
    let mut is_reported = false;
    for (&at, chunk) in chunks {
        match world.chunk(at) {
            Ok(read) => assert!(read == *chunk, "{at:?} differs without a report"),
            Err(error) => {
                assert!(error.to_string().contains(".drystone"), "{error}");
                is_reported = true;
            }
        }
    }
    is_reported
}

/// The child: cuts the file or flips a bit, and reads the rest.
#[test]
fn child_damages() {
    let Some((path, _)) = order() else { return };
    let (chunks, whole, mut random) = (chunks(), fs::read(&path).unwrap(), Random::new(5));
    let copy = path.with_file_name("copy.drystone");
    let (mut reported, mut checked, mut bits_reported) = (0, 0, 0);
    for damage in 0..DAMAGE_COUNT {
        let mut bytes = whole.clone();
        // Half of the positions are in the first pages, which list all other pages.
        let range = if damage % 4 < 2 { whole.len() } else { whole.len().min(20_000) };
        let at = random.below(range);
        match damage % 2 {
            0 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << random.below(8),
        }
        fs::write(&copy, bytes).unwrap();
        let start = Instant::now();
        let check = StoredWorld::check(&copy);
        let is_damaged = check.is_err() || check.is_ok_and(|check| !check.damage.is_empty());
        let was_reported = is_reported(&copy, &chunks);
        assert!(is_damaged || !was_reported, "damage {damage}, byte {at}: the check saw nothing");
        (reported, checked) =
            (reported + usize::from(was_reported), checked + usize::from(is_damaged));
        bits_reported += usize::from(damage % 2 == 1 && was_reported);
        assert!(start.elapsed() < Duration::from_secs(20), "damage {damage}, byte {at}");
    }
    let peak = peak_bytes().unwrap_or_default();
    println!("reported {reported} checked {checked} bits {bits_reported} peak {peak}");
}

#[test]
fn a_thousand_damages_are_reported() {
    let folder = Folder::new();
    let path = folder.file("whole.drystone");
    world_at(&path, &chunks());
    assert!(!is_reported(&path, &chunks()));
    let output = command("stored_damage::child_damages", &path, 0).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("reported ")).unwrap().1;
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [reported, checked, bits, peak] = numbers[..] else { panic!("{line}") };
    // Every cut is reported. So are flipped bits in pages that are in use; a check finds more of
    // these.
    assert_eq!((reported - bits) as usize, DAMAGE_COUNT / 2, "{line}");
    assert!(bits as usize > DAMAGE_COUNT / 20 && checked >= reported, "{line}");
    assert!(peak < 512 << 20, "{line}");
}

#[test]
fn undamaged_chunks_are_salvaged_from_a_damaged_file() {
    let (folder, chunks) = (Folder::new(), chunks());
    let path = folder.file("whole.drystone");
    world_at(&path, &chunks);
    let whole = fs::read(&path).unwrap();
    let mut random = Random::new(3);
    let (mut repaired_count, mut refused_count) = (0, 0);
    for round in 0..60 {
        let file = folder.file(&format!("r{round}.drystone"));
        let mut bytes = whole.clone();
        for _ in 0..3 {
            bytes[random.below(whole.len() - 8192) + 8192] ^= 0x10;
        }
        fs::write(&file, bytes).unwrap();
        let readable = readable(&file, &chunks);
        let (found, kept) = match StoredWorld::repair(&file) {
            Ok(repaired) => repaired,
            Err(error) => {
                assert_eq!(readable, [], "{error}");
                refused_count += 1;
                continue;
            }
        };
        assert_eq!(kept.is_some(), !found.damage.is_empty());
        let again = StoredWorld::check(&file).unwrap();
        assert_eq!((again.damage.len(), again.chunks), (0, found.chunks), "{:?}", again.damage);
        let world = StoredWorld::open(&file, &StoreOptions::default()).unwrap();
        for at in world.chunk_positions() {
            assert!(world.chunk(at).unwrap() == chunks[&at]);
        }
        let saved = world.chunk_positions();
        assert!(readable.iter().all(|at| saved.contains(at)), "what was whole is lost");
        // Each lost chunk has its own line, or its group has one.
        let lost = chunks.len() as u64 - found.chunks;
        assert!(found.damage.len() as u64 * 8 >= lost, "{lost} lost: {:?}", found.damage);
        repaired_count += usize::from(kept.is_some());
    }
    println!("{repaired_count} of 60 repaired, {refused_count} refused");
    assert!(repaired_count > 5 && refused_count < 30, "{repaired_count} {refused_count}");
}

/// Returns the chunks that can be read from a damaged file.
fn readable(path: &Path, chunks: &BTreeMap<ChunkPos, Chunk>) -> Vec<ChunkPos> {
    let Ok(world) = StoredWorld::open(path, &StoreOptions::read_only()) else { return Vec::new() };
    let is_whole = |it: &ChunkPos| world.chunk(*it).is_ok_and(|chunk| !chunk.is_empty());
    chunks.keys().copied().filter(is_whole).collect()
}

/// A file that was cut short cannot be opened. This is reported, and the rest can be salvaged.
#[test]
fn the_rest_of_a_cut_file_is_salvaged() {
    let (folder, chunks) = (Folder::new(), chunks());
    let path = folder.file("whole.drystone");
    world_at(&path, &chunks);
    StoredWorld::compact(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let (mut saved_count, mut partly_count) = (0, 0);
    for part in 1..20 {
        let file = folder.file(&format!("c{part}.drystone"));
        fs::write(&file, &whole[..whole.len() * part / 20]).unwrap();
        let reported = StoredWorld::check(&file).unwrap_err().to_string();
        assert!(
            reported.contains("cut short") && reported.contains("check and repair"),
            "{reported}"
        );
        match StoredWorld::repair(&file) {
            Ok((found, kept)) => {
                assert!(kept.is_some() && found.damage[0].contains("cut short"), "{found:?}");
                assert!(found.damage.iter().all(|line| !line.contains(".new")), "{found:?}");
                let again = StoredWorld::check(&file).unwrap();
                assert_eq!((again.damage.len(), again.chunks), (0, found.chunks));
                let world = StoredWorld::open(&file, &StoreOptions::default()).unwrap();
                for at in world.chunk_positions() {
                    assert!(world.chunk(at).unwrap() == chunks[&at]);
                }
                saved_count += 1;
                partly_count += usize::from(found.chunks > 0 && !found.lost.is_empty());
            }
            Err(error) => {
                let line = error.to_string();
                assert!(
                    !line.contains("check and repair"),
                    "advice to repair a file that cannot be repaired: {line}"
                );
            }
        }
        // No other files are left in the folder.
        let left = fs::read_dir(file.parent().unwrap()).unwrap();
        let names = left.map(|it| it.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| !name.ends_with(".new")));
    }
    println!("{saved_count} of 19 saved, {partly_count} of these in part");
    assert!(saved_count > 9 && partly_count > 4);
}

/// The child: repairs a file that claims to be longer than it is.
#[test]
fn child_repairs() {
    let Some((path, _)) = order() else { return };
    println!("repaired: {:?}", StoredWorld::repair(&path).map(|(found, _)| found.chunks));
}

/// A file that claims to be much longer is repaired in a process with a limit on file size.
#[test]
#[cfg(unix)]
fn what_a_repair_writes_is_bounded_by_what_it_reads() {
    const MAX_BYTES: u64 = 16 << 20;
    /// Position of the number of 4 KiB pages in the last region, in the header.
    const PAGES: std::ops::Range<usize> = 28..32;
    let folder = Folder::new();
    let path = folder.file("whole.drystone");
    world_at(&path, &chunks());
    StoredWorld::compact(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    assert!((bytes.len() as u64) < MAX_BYTES / 4, "the repaired file is below the limit");
    let pages = bytes.len() as u32 / 4096 * 900;
    bytes[PAGES].copy_from_slice(&pages.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let reported = StoredWorld::check(&path).unwrap_err().to_string();
    let expected = reported.split(" of ").nth(1).and_then(|rest| rest.split(' ').next());
    let expected: u64 = expected.and_then(|bytes| bytes.parse().ok()).unwrap_or_default();
    assert!(expected > MAX_BYTES, "{reported}");

    let child = command("stored_damage::child_repairs", &path, 0);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &format!("ulimit -f {} && exec \"$@\"", MAX_BYTES / 512), "sh"]);
    limited.arg(child.get_program()).args(child.get_args());
    limited.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("repaired: Ok"), "{} {text}", output.status);
}
