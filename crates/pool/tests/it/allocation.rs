use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drystone_pool::{
    Access, DrawList, MeshHandle, NullBackend, PartSet, Placement, PoolConfig, VertexPool,
};

/// System allocator that counts the allocations of the thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to `System` unchanged, which upholds the contract; counting neither
// allocates (the thread's cell is a constant without a destructor) nor panics.
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
        // SAFETY: `pointer` came from `System` with this `layout`, as the caller promises, and the
        // caller's promise about `new_size` is passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts the allocations of this thread during `work`.
fn allocations_in(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// Pool in its steady state.
struct Steady {
    pool: VertexPool<u64, u32>,
    backend: NullBackend,
    list: DrawList,
    meshes: Vec<MeshHandle>,
    elements: Vec<u64>,
    frame: u64,
}

impl Steady {
    fn new(placement: Placement, access: Access) -> Self {
        let config = PoolConfig::fixed(60_000, 1_000).with_placement(placement);
        let mut steady = Self {
            pool: VertexPool::new(config).unwrap(),
            backend: NullBackend(access),
            list: DrawList::new(),
            meshes: Vec::new(),
            elements: vec![1; 100],
            frame: 0,
        };
        for n in 0..400 {
            steady.insert(n);
        }
        steady
    }

    fn insert(&mut self, n: usize) {
        let count = 1 + n * 7 % 100;
        let elements = &self.elements[..count];
        let parts = [count as u32 / 2, count as u32 - count as u32 / 2];
        let mesh = self.pool.insert(elements, &parts, n as u32, &mut self.backend).unwrap();
        self.list.insert(mesh).unwrap();
        self.meshes.push(mesh);
    }

    /// Inserts and removes a few hundred meshes, and draws frames.
    fn run(&mut self) {
        for n in 0..2_000 {
            let at = n * 13 % self.meshes.len();
            self.pool.remove(self.meshes.swap_remove(at)).unwrap();
            self.insert(n);
            let mesh = self.meshes[n * 5 % self.meshes.len()];
            let count = 1 + n * 3 % 100;
            let elements = &self.elements[..count];
            self.pool.replace(mesh, elements, &[count as u32], 5, &mut self.backend).unwrap();
            let mut writer = self.pool.replacing_writer(mesh, 80, &mut self.backend).unwrap();
            writer.extend(&self.elements[..count.min(80)]).unwrap();
            writer.finish(9).unwrap();
            if n % 20 == 0 {
                self.draw();
            }
        }
    }

    fn draw(&mut self) {
        self.list.mask(&self.pool, |mesh| PartSet::from_bits(*mesh.data() as u8));
        self.list.sort(&self.pool, |mesh| u64::from(*mesh.data()));
        assert!(!self.list.commands(&self.pool).is_empty());
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        self.pool.frames_completed(self.frame.saturating_sub(2), &mut self.backend);
    }
}

#[test]
fn the_steady_state_allocates_no_heap_memory() {
    let classes =
        Placement::SizeClasses { histogram: vec![(50, 1), (100, 1)], config: Default::default() };
    for placement in [Placement::Ranges, Placement::Buckets { elements: 100 }, classes] {
        for access in [Access::Staged, Access::Direct] {
            let mut steady = Steady::new(placement.clone(), access);
            let mut run = || steady.run();
            assert!(allocations_in(&mut run) > 0, "the first rounds must allocate the tables");
            (0..3).for_each(|_| run());
            assert_eq!(allocations_in(&mut run), 0, "{placement:?} {access:?}");
        }
    }
}
