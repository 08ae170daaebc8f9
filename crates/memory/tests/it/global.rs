//! Tests of the global small-object allocator with many threads, and of its misuse.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::{Mutex, mpsc};
use std::thread::ScopedJoinHandle;

use drystone_memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

const CLASSES: [SlotClass; 3] =
    [SlotClass::new(16, 2000), SlotClass::new(48, 3000), SlotClass::new(96, 500)];

fn config() -> SmallObjectsConfig<'static> {
    SmallObjectsConfig { classes: &CLASSES }
}

/// An object with a known content, which may change threads.
struct Object {
    start: *mut u8,
    layout: Layout,
    fill: u8,
}

// SAFETY: the object has one owner, like a box.
unsafe impl Send for Object {}

impl Object {
    fn new(allocator: &impl GlobalAlloc, size: usize, fill: u8) -> Self {
        let layout = Layout::from_size_align(size, 8).unwrap();
        // SAFETY: the size is not zero.
        let start = unsafe { allocator.alloc(layout) };
        assert!(!start.is_null());
        // SAFETY: the object has this number of bytes.
        unsafe { start.write_bytes(fill, size) };
        Self { start, layout, fill }
    }

    fn free(self, allocator: &impl GlobalAlloc) {
        // SAFETY: the object has this number of bytes, all written.
        let content = unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) };
        assert!(content.iter().all(|byte| *byte == self.fill), "another wrote to it");
        // SAFETY: it came from this allocator with this layout.
        unsafe { allocator.dealloc(self.start, self.layout) }
    }
}

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Waits until threads and their caches have ended: the end of a scope only waits for their work.
fn join<'a>(threads: impl IntoIterator<Item = ScopedJoinHandle<'a, ()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Threads allocate, keep, free, and hand every third object to another thread; classes run
/// full, threads end and new ones begin.
#[test]
fn no_two_threads_own_the_same_object() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    /// Objects of each thread.
    const OBJECTS: usize = 20_000;
    const THREADS: u64 = 4;
    /// Maximum number of objects that a thread holds at once.
    const KEPT: usize = 1500;
    /// One thread holds about 500 objects of 16 and 48 bytes each, and 250 of 96: classes run full
    /// even if the threads run in sequence.
    const SCARCE: [SlotClass; 3] =
        [SlotClass::new(16, 450), SlotClass::new(48, 450), SlotClass::new(96, 200)];

    // Enabled while the first are at work.
    let worker = |seed: u64, inbox: mpsc::Receiver<Object>, outbox: mpsc::Sender<Object>| {
        let (mut state, mut kept) = (seed, Vec::new());
        for turn in 0..OBJECTS {
            if turn == OBJECTS / 10 {
                let _ = ALLOCATOR.enable(&SmallObjectsConfig { classes: &SCARCE });
            }
            let size = [16, 10, 48, 40, 96, 200][random(&mut state) % 6];
            let object = Object::new(&ALLOCATOR, size, random(&mut state) as u8);
            if turn % 3 == 0 {
                outbox.send(object).unwrap();
            } else {
                kept.push(object);
            }
            inbox.try_iter().for_each(|object| object.free(&ALLOCATOR));
            if kept.len() > KEPT {
                let nth = random(&mut state) % kept.len();
                kept.swap_remove(nth).free(&ALLOCATOR);
            }
        }
        drop(outbox);
        kept.into_iter().chain(inbox).for_each(|object| object.free(&ALLOCATOR));
    };
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for pair in 0..THREADS / 2 {
            let ((to_one, one), (to_two, two)) = (mpsc::channel(), mpsc::channel());
            threads.push(scope.spawn(move || worker(pair, one, to_two)));
            threads.push(scope.spawn(move || worker(pair + 100, two, to_one)));
        }
        join(threads);
    });
    for class in ALLOCATOR.class_stats() {
        assert_eq!(class.live, 0, "{class:?}");
        assert!(class.peak <= class.slots && class.fallbacks > 0, "{class:?}");
    }
    assert!(ALLOCATOR.too_large() > 0);
}

/// Checks that many short threads release their caches.
#[test]
fn threads_that_end_leak_no_slots() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    ALLOCATOR.enable(&config()).unwrap();
    let left = Mutex::new(Vec::new());
    for round in 0..200 {
        std::thread::scope(|scope| {
            let work = || {
                let mut objects: Vec<_> =
                    (0..300).map(|i| Object::new(&ALLOCATOR, 48, i as u8)).collect();
                left.lock().unwrap().push(objects.swap_remove(round));
                objects.into_iter().for_each(|object| object.free(&ALLOCATOR));
            };
            join([scope.spawn(work), scope.spawn(work)]);
        });
    }
    let live = || ALLOCATOR.class_stats().map(|class| class.live).sum::<usize>();
    assert_eq!(live(), 400);
    left.into_inner().unwrap().into_iter().for_each(|object| object.free(&ALLOCATOR));
    assert_eq!(live(), 0);
}

/// Environment variable of a child process that has to abort.
const CHILD: &str = "DRYSTONE_ALLOC_ABORTS";

/// Runs one test of this binary in a process of its own, where it misuses the allocator.
fn assert_aborts(test: &str, message: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("global::{test}"), "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(message), "{}: {text}", output.status);
    assert!(!text.contains("came through"), "{text}");
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn a_double_free_aborts_with_a_message() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    if !is_child() {
        return assert_aborts("a_double_free_aborts_with_a_message", "double free");
    }
    ALLOCATOR.enable(&config()).unwrap();
    let object = Object::new(&ALLOCATOR, 48, 0);
    for _ in 0..2 {
        // SAFETY: once it is; the second time is what the test is about, and nothing uses the
        // allocator afterwards.
        unsafe { ALLOCATOR.dealloc(object.start, object.layout) };
    }
    let live = ALLOCATOR.class_stats().count();
    eprintln!("came through: {live}");
}

#[test]
fn a_double_free_from_another_thread_aborts_with_a_message() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    if !is_child() {
        let test = "a_double_free_from_another_thread_aborts_with_a_message";
        return assert_aborts(test, "double free of an object in a slot of 48 bytes");
    }
    ALLOCATOR.enable(&config()).unwrap();
    let object = Object::new(&ALLOCATOR, 48, 0);
    let copy = Object { ..object };
    std::thread::spawn(|| copy.free(&ALLOCATOR)).join().unwrap();
    // SAFETY: unsound; this misuse is the subject of the test.
    unsafe { ALLOCATOR.dealloc(object.start, object.layout) };
    let live = ALLOCATOR.class_stats().count();
    eprintln!("came through: {live}");
}

#[test]
fn freeing_inside_of_an_object_aborts_with_a_message() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    if !is_child() {
        let test = "freeing_inside_of_an_object_aborts_with_a_message";
        return assert_aborts(test, "is not the start of an object");
    }
    ALLOCATOR.enable(&config()).unwrap();
    let object = Object::new(&ALLOCATOR, 48, 0);
    // SAFETY: unsound; this misuse is the subject of the test.
    unsafe { ALLOCATOR.dealloc(object.start.add(8), Layout::new::<[u64; 5]>()) };
    let live = ALLOCATOR.class_stats().count();
    eprintln!("came through: {live}");
}

#[test]
fn freeing_with_the_layout_of_another_class_aborts_with_a_message() {
    static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    if !is_child() {
        let test = "freeing_with_the_layout_of_another_class_aborts_with_a_message";
        return assert_aborts(test, "the layout is wrong");
    }
    ALLOCATOR.enable(&config()).unwrap();
    let object = Object::new(&ALLOCATOR, 48, 0);
    // SAFETY: unsound; this misuse is the subject of the test.
    unsafe { ALLOCATOR.dealloc(object.start, Layout::new::<[u64; 2]>()) };
    eprintln!("came through");
}
