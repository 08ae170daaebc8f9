use std::fs;
use std::time::{Duration, Instant};

use drystone_formats::{Arrivals, Source, SourceError};
use drystone_store::{PackOptions, PackedWorld, RemoteOptions, open_remote, pack};
use drystone_testing::http::{Answer, FileServer};
use drystone_voxel::{Chunk, NodePos};
use drystone_world::{GeneratedWorld, GeneratorConfig};
use tempfile::TempDir;

/// A packed world of some hundred kilobytes.
fn packed(seed: u64) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    let config = GeneratorConfig::default().with_seed(seed).with_size_chunks([16, 4, 16]);
    let source = GeneratedWorld::new(config).unwrap();
    pack(&source, &path, &PackOptions::default(), &mut |_| {}).unwrap();
    fs::read(path).unwrap()
}

fn open(server: &FileServer) -> Result<PackedWorld, SourceError> {
    open_remote(&server.address("worlds/a%20b.dsw"), &RemoteOptions::default())
}

/// Requests all nodes until they are here, or `until` returns true. Returns the nodes.
fn receive(world: &PackedWorld, nodes: &[NodePos], until: &dyn Fn(&PackedWorld) -> bool) {
    let start = Instant::now();
    loop {
        let mut missing = Vec::new();
        nodes.iter().for_each(|&node| world.missing(node, &mut missing));
        if missing.is_empty() || until(world) {
            return;
        }
        world.request(&missing);
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", Arrivals::state(world));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_equal(world: &PackedWorld, whole: &PackedWorld) {
    assert_eq!(world.checksum(), whole.checksum());
    for position in whole.chunk_positions() {
        assert!(world.chunk(position).unwrap() == whole.chunk(position).unwrap(), "{position:?}");
    }
}

fn local(bytes: &[u8]) -> PackedWorld {
    PackedWorld::read(Box::new(bytes.to_vec()), "a.dsw").unwrap()
}

fn nodes_of(world: &PackedWorld) -> Vec<NodePos> {
    world.chunk_positions().into_iter().map(NodePos::from).collect()
}

#[test]
fn a_world_at_an_address_equals_the_file() {
    let bytes = packed(1);
    let server = FileServer::start(bytes.clone(), None).unwrap();
    let (world, whole) = (open(&server).unwrap(), local(&bytes));
    assert_equal(&world, &whole);
    assert_eq!(world.verify().unwrap(), whole.verify().unwrap());
    assert!(server.sent_bytes() < bytes.len() as u64 * 3 / 2, "{}", server.sent_bytes());
}

/// Each problem is said in words, with the address, soon.
#[test]
fn what_cannot_be_opened_is_said() {
    let server = FileServer::start(packed(1), None).unwrap();
    let other = FileServer::start(packed(1), None).unwrap();
    let dead = FileServer::start(packed(1), None).unwrap().address("a.dsw");
    // Opening is tried again for a while, here beside the rest.
    let refused = std::thread::spawn(move || open_remote(&dead, &RemoteOptions::default()));
    let problem = |answer: Answer| {
        server.set_answer(answer);
        let (begun, before) = (Instant::now(), server.request_count());
        let error = open(&server).unwrap_err().to_string();
        assert!(error.contains("http://127.0.0.1:"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{error}");
        // Only what may pass is tried again.
        let requests = server.request_count() - before;
        assert!(
            if error.contains("500") { requests > 1 } else { requests == 1 },
            "{requests}: {error}"
        );
        error
    };
    let has = |error: String, words: &str| assert!(error.contains(words), "{error}");
    has(problem(Answer::Status(404)), "no such file (404)");
    has(problem(Answer::Status(403)), "denies access");
    has(problem(Answer::Whole), "cannot send parts of files");
    has(problem(Answer::Status(500)), "status 500");
    has(problem(Answer::Redirect(other.address("a.dsw"))), "redirects elsewhere");
    assert_eq!(other.request_count(), 0, "no request leaves for another server");
    server.set_answer(Answer::Range);
    server.replace(b"<html>Not found</html>".repeat(9_000), "\"2\"");
    has(open(&server).unwrap_err().to_string(), "not a packed world");
    for (address, words) in [("https://a.dsw?key=1", "?"), ("http://", "no address")] {
        has(open_remote(address, &RemoteOptions::default()).unwrap_err().to_string(), words);
    }
    has(refused.join().unwrap().unwrap_err().to_string(), "refused");
}

#[test]
fn faults_that_pass_need_no_restart() {
    let bytes = packed(2);
    let server = FileServer::start(bytes.clone(), None).unwrap();
    let (world, whole) = (open(&server).unwrap(), local(&bytes));
    let nodes = nodes_of(&whole);
    let answers = [
        (Answer::Status(500), "status 500"),
        (Answer::Status(404), "no such file"),
        (Answer::Whole, "parts of files"),
        (Answer::Cut, ""),
    ];
    let mut seen = 0;
    for (part, (answer, words)) in nodes.chunks(nodes.len().div_ceil(4)).zip(answers) {
        let is_failing = |world: &PackedWorld| Arrivals::state(world).failure.is_some();
        server.set_answer(answer.clone());
        receive(&world, part, &is_failing);
        let Some(failure) = Arrivals::state(&world).failure else { continue };
        assert!(!failure.is_final && failure.problem.contains(words), "{answer:?}: {failure:?}");
        seen += 1;
        server.set_answer(Answer::Range);
        receive(&world, part, &|_| false);
        assert_eq!(Arrivals::state(&world).failure, None);
    }
    assert!(seen >= 2, "{seen} faults were seen");
    assert_equal(&world, &whole);
}

#[test]
fn a_file_that_is_replaced_is_not_read_further() {
    let server = FileServer::start(packed(3), None).unwrap();
    let world = open(&server).unwrap();
    let nodes = nodes_of(&local(&packed(3)));
    server.replace(packed(4), "\"2\"");
    let is_lost = |world: &PackedWorld| {
        Arrivals::state(world).failure.is_some_and(|failure| failure.is_final)
    };
    receive(&world, &nodes, &is_lost);
    assert!(is_lost(&world));
    // A reader that waits gets the reason.
    let unread = nodes.iter().find_map(|node| world.chunk(node.chunk).err()).unwrap();
    assert!(unread.to_string().contains("was replaced"), "{unread}");
    // Requests that were sent before may still be on their way.
    let mut count = server.request_count();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        match server.request_count() {
            same if same == count => break,
            more => count = more,
        }
    }
    world.request(&nodes);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(server.request_count(), count);
}

/// Received parts are read from the disk from then on, by later processes too.
#[test]
fn what_was_received_is_cached_on_the_disk() {
    let folder = TempDir::new().unwrap();
    let bytes = packed(5);
    let whole = local(&bytes);
    let options = RemoteOptions::default().with_cache_folder(Some(folder.path().into()));
    let mut sent = Vec::new();
    for _ in 0..2 {
        let server = FileServer::start(bytes.clone(), None).unwrap();
        let world = open_remote(&server.address("a.dsw"), &options).unwrap();
        assert_equal(&world, &whole);
        sent.push(server.sent_bytes());
    }
    // The start is always received, and at most a block that was only read ahead.
    assert!(sent[1] <= 96 << 10 && sent[0] > 4 * sent[1], "{sent:?}");
    let other = packed(6);
    let server = FileServer::start(other.clone(), None).unwrap();
    assert_equal(&open_remote(&server.address("a.dsw"), &options).unwrap(), &local(&other));
}

/// A chunk of a world at an address that cannot be reached is an error, not air.
#[test]
fn chunks_that_cannot_be_received_are_errors() {
    let bytes = packed(7);
    let server = FileServer::start(bytes.clone(), None).unwrap();
    let world = open(&server).unwrap();
    drop(server);
    let nodes = nodes_of(&local(&bytes));
    let last = nodes.last().unwrap().chunk;
    match world.chunk(last) {
        Ok(chunk) => assert_ne!(chunk, Chunk::new(Chunk::SIDE, drystone_voxel::Material::AIR)),
        Err(error) => assert!(error.to_string().contains("http://"), "{error}"),
    }
}
