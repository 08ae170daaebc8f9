use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use drystone_formats::{Arrivals, Source};
use drystone_testing::Random;
use drystone_voxel::NodePos;
use drystone_world::{GeneratedWorld, GeneratorConfig};
use tempfile::TempDir;

use super::simulated::{Fault, Link, SimulatedServer};
use super::*;
use crate::packed::{PackOptions, PackedWorld, pack};

const LINK: Link = Link { round_trip: Duration::from_millis(50), bytes_per_s: 2_500_000 };
/// Bytes that are there from the start: the longest header.
const FRONT: usize = 64 << 10;
const CACHE_BYTES: usize = 8 << 20;
/// Less than the small packed world.
const LITTLE_BYTES: usize = 256 << 10;

/// A small packed world.
fn packed() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    let config = GeneratorConfig::default().with_seed(3).with_size_chunks([12, 4, 11]);
    let source = GeneratedWorld::new(config).unwrap();
    pack(&source, &path, &PackOptions::default(), &mut |_| {}).unwrap();
    fs::read(path).unwrap()
}

fn nodes_of(world: &PackedWorld) -> Vec<NodePos> {
    let lowest = world.chunk_positions();
    let mut nodes: Vec<NodePos> = lowest.iter().map(|&position| position.into()).collect();
    for level in 1..=3 {
        nodes.extend(lowest.iter().map(|&position| NodePos::from(position).ancestor(level)));
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn chunk_of(world: &PackedWorld, node: NodePos) -> drystone_voxel::Chunk {
    match node.level {
        0 => world.chunk(node.chunk).unwrap(),
        _ => world.coarse_chunk(node).unwrap().unwrap(),
    }
}

fn shuffle(nodes: &mut [NodePos], random: &mut Random) {
    for i in (1..nodes.len()).rev() {
        nodes.swap(i, random.below(i + 1));
    }
}

/// A fault program: what happens to each request. All faults pass after a while, other than a file that was
/// replaced.
fn program(seed: u64) -> impl FnMut(u64) -> Fault {
    let mut random = Random::new(seed);
    let share = random.below(90);
    let is_replaced = seed % 10 == 9;
    let last = 1 + random.below(30);
    move |number| {
        if is_replaced && number >= last / 8 {
            return Fault::Replaced;
        }
        if number > last || random.below(100) >= share {
            return Fault::None;
        }
        match random.below(4) {
            0 => Fault::Refused,
            1 => Fault::Stalled,
            2 => Fault::Cut,
            _ => Fault::WrongByte,
        }
    }
}

/// Whatever happens on the way, each node that counts as here is right, and each is here in the end, or the
/// failure is reported.
#[test]
fn nodes_are_right_or_the_failure_is_reported_in_two_hundred_fault_programs() {
    let bytes = packed();
    let whole = PackedWorld::read(Box::new(bytes.clone()), "a").unwrap();
    let nodes = nodes_of(&whole);
    let expected: HashMap<_, _> =
        nodes.iter().map(|&node| (node, chunk_of(&whole, node))).collect();
    let (mut replaced, mut max_held_bytes) = (0, [0; 2]);
    for seed in 0..200 {
        let mut random = Random::new(seed + 1_000);
        let (mut server, ranges) = SimulatedServer::new(bytes.clone(), FRONT, CACHE_BYTES, LINK);
        let limit_bytes = if seed % 2 == 0 { CACHE_BYTES } else { LITTLE_BYTES };
        ranges.limit_memory(limit_bytes);
        let shared = Arc::clone(&ranges.shared);
        let world = PackedWorld::read(Box::new(ranges), "https://example.org/a").unwrap();
        let mut fault = program(seed);
        let mut open = nodes.clone();
        shuffle(&mut open, &mut random);
        open.truncate(100);
        while !open.is_empty() {
            assert!(server.now() < Duration::from_secs(3_000), "{seed}: {} nodes left", open.len());
            // The camera looks elsewhere from time to time.
            if random.below(10) == 0 {
                shuffle(&mut open, &mut random);
            }
            let mut missing = Vec::new();
            open.iter().take(10).for_each(|&node| world.missing(node, &mut missing));
            if missing.is_empty() {
                for node in open.drain(..open.len().min(10)) {
                    assert!(chunk_of(&world, node) == expected[&node], "{seed}: {node:?}");
                }
            }
            world.request(&missing);
            let failure = Arrivals::state(&world).failure;
            let ms = if failure.is_some() { 2_000 } else { 50 };
            server.pass(Duration::from_millis(ms), &mut fault);
            let held_bytes = shared.lock().blocks.size_bytes();
            assert!(held_bytes <= limit_bytes, "{seed}: {held_bytes} of {limit_bytes} bytes");
            max_held_bytes[seed as usize % 2] = max_held_bytes[seed as usize % 2].max(held_bytes);
            let failure = Arrivals::state(&world).failure;
            if failure.is_some_and(|failure| failure.is_final) {
                replaced += 1;
                break;
            }
        }
        assert_eq!(world.faults(), [""; 0], "{seed}");
    }
    assert!((1..=20).contains(&replaced), "{replaced}");
    assert!(
        max_held_bytes[0] > LITTLE_BYTES,
        "the small limit is never reached: {max_held_bytes:?}"
    );
}

/// Bytes that stay wrong are reported as damage, not requested forever.
#[test]
fn damage_of_the_file_itself_is_reported() {
    let mut bytes = packed();
    let whole = PackedWorld::read(Box::new(bytes.clone()), "a").unwrap();
    let middle = (FRONT + bytes.len()) / 2;
    bytes[middle] ^= 1;
    let (mut server, ranges) = SimulatedServer::new(bytes, FRONT, CACHE_BYTES, LINK);
    let world = PackedWorld::read(Box::new(ranges), "a").unwrap();
    let nodes = nodes_of(&whole);
    for _ in 0..1_000 {
        let mut missing = Vec::new();
        nodes.iter().for_each(|&node| world.missing(node, &mut missing));
        if missing.is_empty() {
            break;
        }
        world.request(&missing);
        server.pass(Duration::from_millis(16), &mut |_| Fault::None);
    }
    let mut missing = Vec::new();
    nodes.iter().for_each(|&node| world.missing(node, &mut missing));
    assert_eq!(missing, []);
    assert!(server.sent_count < 200, "{}", server.sent_count);
}

/// A thread that reads waits for the answer of another thread, and gets an error when it has waited long.
#[test]
fn readers_wait_for_their_bytes() {
    let bytes: Vec<u8> = (0..100_000_u32).map(|it| it as u8).collect();
    let (ranges, requests) = RemoteRanges::new(bytes.len() as u64, &bytes[..70_000], CACHE_BYTES);
    let ranges = Arc::new(ranges);
    assert_eq!(ranges.read(3..50_000).unwrap(), bytes[3..50_000], "without a request");
    let reader = thread::spawn({
        let (ranges, bytes) = (Arc::clone(&ranges), bytes.clone());
        move || assert_eq!(ranges.read(60_000..99_999).unwrap(), bytes[60_000..99_999])
    });
    let send = loop {
        match requests.next() {
            Some(RemoteStep::Send { id, range }) => break (id, range),
            _ => thread::yield_now(),
        }
    };
    requests.received(send.0, &bytes[send.1.start as usize..send.1.end as usize]);
    reader.join().unwrap();
    assert!(ranges.read(99_999..100_001).is_err(), "outside");
    let reader = thread::spawn(move || {
        ranges.discard(0..16_384);
        ranges.read(0..1).unwrap_err().to_string()
    });
    let id = loop {
        match requests.next() {
            Some(RemoteStep::Send { id, .. }) => break id,
            _ => thread::yield_now(),
        }
    };
    requests.failed(id, ArrivalFailure::lasting("the file was replaced"));
    assert_eq!(reader.join().unwrap(), "the file was replaced");
    assert!(requests.is_closed());
}

/// A cache of the client may hold the bytes that were wrong.
#[test]
fn a_block_that_was_wrong_is_not_taken_from_a_cache() {
    let bytes = vec![7; 100_000];
    let (ranges, requests) = RemoteRanges::new(bytes.len() as u64, &[], CACHE_BYTES);
    let range = BLOCK_BYTES + 100..2 * BLOCK_BYTES;
    ranges.request(std::slice::from_ref(&range));
    assert_eq!(requests.wanted_blocks(), [1]);
    requests.cached(1, &bytes[..100]);
    assert_eq!(requests.wanted_blocks(), [1], "not the whole block");
    requests.cached(1, &bytes[..BLOCK_BYTES as usize]);
    assert_eq!(ranges.read_here(&range), Some(bytes[100..BLOCK_BYTES as usize].to_vec()));
    ranges.discard(range.clone());
    ranges.request(std::slice::from_ref(&range));
    assert!(requests.wanted_blocks().is_empty());
    let Some(RemoteStep::Send { id, range: sent }) = requests.next() else { panic!("no request") };
    requests.received(id, &bytes[sent.start as usize..sent.end as usize]);
    assert!(ranges.read_here(&range).is_some());
}

/// Readers that are slower than the line get everything once, however little memory there is.
#[test]
fn little_memory_does_not_repeat_requests() {
    const LIMIT_BYTES: usize = 128 << 10;
    const READ_AT_ONCE: usize = 2;
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at >> 8) as u8).collect();
    let len = bytes.len() as u64;
    let (mut server, ranges) = SimulatedServer::new(bytes, 0, CACHE_BYTES, LINK);
    ranges.limit_memory(LIMIT_BYTES);
    let parts = (0..len).step_by(10_000).map(|start| start..(start + 9_000).min(len));
    let mut open: Vec<Range<u64>> = parts.collect();
    while !open.is_empty() {
        for _ in 0..READ_AT_ONCE {
            let here = open.iter().position(|range| ranges.read_here(range).is_some());
            here.map(|here| open.remove(here));
        }
        ranges.request(&open);
        server.pass(Duration::from_millis(20), &mut |_| Fault::None);
        assert!(server.now() < Duration::from_secs(60), "{} parts are left", open.len());
    }
    let received = ranges.state().received_bytes;
    assert!(received <= len + len / 10, "{received} bytes of {len}");
}
