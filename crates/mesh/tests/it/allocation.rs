use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drystone_mesh::{
    Clipped, IndexRunOptions, IndexRuns, Lifetime, PartCorner, Plane, PolygonHandle, PolygonStore,
    Projected, Triangulator, VertexLists,
};

use crate::lists::{ByLength, RangeRuns};
use crate::shapes::Mesh;

/// The system's allocator, with a counter of the thread's requests.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to `System` unchanged, which keeps the contract; counting
// neither allocates (the thread's cell is a constant without a destructor) nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` with this `layout`, as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as for `dealloc`, and the caller's promise about `new_size` is passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of requests for memory of this thread while `work` runs.
pub(crate) fn allocations_in(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// A store in its steady state: a field lit by a lamp that circles.
struct Steady<L: VertexLists> {
    store: PolygonStore<[f32; 3], L>,
    polygons: Vec<PolygonHandle>,
    /// Lit portions that stay for some frames.
    kept: Vec<PolygonHandle>,
    /// Polygons that are cut in a frame.
    cut: Vec<PolygonHandle>,
    planes: Vec<Plane>,
    triangulator: Triangulator,
    triangles: Vec<[u32; 3]>,
    parts: u64,
}

impl<L: VertexLists> Steady<L> {
    fn new() -> Self {
        let mut store = PolygonStore::new();
        let polygons = Mesh::field(16).insert_into(&mut store);
        Self {
            store,
            polygons,
            kept: Vec::new(),
            cut: Vec::new(),
            planes: Vec::new(),
            triangulator: Triangulator::new(),
            triangles: Vec::new(),
            parts: 0,
        }
    }

    /// Moves the lamp around once, in the given number of frames.
    fn run(&mut self, frames: u32) {
        for frame in 0..frames {
            let angle = frame as f32 * std::f32::consts::TAU / frames as f32;
            self.shine_at(8.0 + 5.0 * angle.cos(), 8.0 + 5.0 * angle.sin());
            let lifetime = if frame % 10 == 0 { Lifetime::Kept } else { Lifetime::Frame };
            if lifetime == Lifetime::Kept {
                for lit in self.kept.drain(..) {
                    self.store.remove(lit).unwrap();
                }
            }
            self.light(lifetime);
            self.shadow();
            self.store.end_frame();
        }
    }

    /// Clips all polygons at once, and makes a part of each that is cut.
    fn shadow(&mut self) {
        let mut cut = core::mem::take(&mut self.cut);
        let visit = |polygon, clipped| match clipped {
            Clipped::Part(_) => cut.push(polygon),
            Clipped::Inside | Clipped::Outside => {}
        };
        self.store.clip_all(&self.polygons, &self.planes, Lifetime::Frame, visit).unwrap();
        let tip = PartCorner::New { position: [0.5; 3], uv: [0.0; 2], data: [1.0; 3] };
        for polygon in cut.drain(..) {
            let corners = [PartCorner::Kept(0), tip, PartCorner::Kept(2)];
            self.store.insert_part(polygon, &corners, Lifetime::Frame).unwrap();
        }
        self.cut = cut;
    }

    fn shine_at(&mut self, x: f32, y: f32) {
        self.planes.clear();
        let base = [[-1.0, -1.0], [2.0, -1.0], [1.5, 2.0], [-1.0, 1.0], [-1.5, 0.0]];
        let base = base.map(|[dx, dy]| [x + dx, y + dy, 1.0]);
        drystone_mesh::pyramid([x, y, 2.5], &base, &mut self.planes).unwrap();
    }

    fn light(&mut self, lifetime: Lifetime) {
        self.triangles.clear();
        for &polygon in &self.polygons {
            let clipped = self.store.clip(polygon, &self.planes, lifetime).unwrap();
            let Some(lit) = clipped.remaining(polygon) else { continue };
            self.parts += u64::from(lit != polygon);
            if lifetime == Lifetime::Kept {
                self.kept.push(lit);
            }
            self.store.transform(lit, |position| Projected { position, screen: [0.0; 2] }).unwrap();
            self.triangulator.triangulate(&self.store, lit, &[], &mut self.triangles).unwrap();
        }
    }
}

fn expect_steady<L: VertexLists>(name: &str) {
    let mut steady = Steady::<L>::new();
    (0..3).for_each(|_| steady.run(100));
    let (bytes, parts) = (steady.store.stats().reserved_bytes, steady.parts);
    assert!(parts > 1000, "the lamp must cut something");
    assert_eq!(allocations_in(|| steady.run(100)), 0, "{name}");
    assert_eq!(steady.store.stats().reserved_bytes, bytes, "{name}");
}

#[test]
fn a_steady_frame_does_not_use_the_heap() {
    let first = allocations_in(|| Steady::<IndexRuns>::new().run(10));
    assert!(first > 0, "the first frames must make the tables");
    expect_steady::<IndexRuns>("index runs");
    expect_steady::<ByLength>("lists by length");
    expect_steady::<RangeRuns>("ranges");
}

/// A polygon that is longer than the lists of the store uses the heap in every frame.
#[test]
fn a_larger_limit_of_lists_keeps_long_polygons_off_the_heap() {
    let corner = |n: u8| {
        let (sin, cos) = (f32::from(n) * std::f32::consts::TAU / 40.0).sin_cos();
        crate::shapes::new([cos, sin, 0.0])
    };
    let corners: Vec<_> = (0..40).map(corner).collect();
    let plane = Plane::new([1.0, 0.0, 0.0], 0.9).unwrap();
    let run_with = |max_len| {
        let lists = IndexRuns::with_options(IndexRunOptions::default().with_max_len(max_len));
        let mut store = PolygonStore::<()>::with_lists(lists);
        let disc = store.insert(&corners).unwrap();
        let mut run = |frames| {
            for _ in 0..frames {
                let clipped = store.clip(disc, &[plane], Lifetime::Frame).unwrap();
                assert!(matches!(clipped, Clipped::Part(_)));
                store.end_frame();
            }
        };
        run(2);
        let allocations = allocations_in(|| run(100));
        (allocations, store.list_stats().recommended_max_len)
    };
    let (allocations, recommended) = run_with(20);
    assert_eq!((allocations, recommended), (100, 64));
    assert_eq!(run_with(recommended), (0, 64));
}

#[test]
fn memory_does_not_grow_between_100_and_10_000_frames() {
    let mut steady = Steady::<IndexRuns>::new();
    steady.run(100);
    let bytes = steady.store.stats().reserved_bytes;
    let more = allocations_in(|| (0..100).for_each(|_| steady.run(100)));
    assert_eq!((more, steady.store.stats().reserved_bytes), (0, bytes));
    steady.store.validate().unwrap();
}
