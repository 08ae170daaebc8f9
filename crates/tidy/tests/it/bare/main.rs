//! A program without the standard library that uses the crates `alloc`, `mesh`, `voxel` and `pool`.
//! It does not build if one of them links the standard library, because there would be two panic
//! handlers. The exit status is 0 if all results are right.
#![no_std]
#![no_main]

extern crate alloc;

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    ffi::c_int,
    panic::PanicInfo,
    sync::atomic::{AtomicUsize, Ordering},
};

use drystone_alloc::{
    AddressSpace, BucketRing, IndexPolicy, RangeSpace, SizeClassConfig, SizeClasses, Slots,
};
use drystone_mesh::{Corner, PolygonStore};
use drystone_pool::{Access, PoolConfig, DrawList, NullBackend, VertexPool};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, PaddedChunk,
};

// SAFETY: the block declares nothing; it only links the C library, for `memcpy` and the entry
// point.
#[link(name = "c")]
unsafe extern "C" {}

const ARENA_BYTES: usize = 1 << 22;

/// Allocates from an array from front to back, and never frees.
struct Arena {
    bytes: UnsafeCell<[u8; ARENA_BYTES]>,
    used: AtomicUsize,
}

// SAFETY: every byte is handed out once, by the atomic counter; the array itself is never
// read or written here.
unsafe impl Sync for Arena {}

// SAFETY: the returned memory is in the array, aligned, and returned only once.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size_bytes = layout.size() + layout.align();
        let start = self.used.fetch_add(size_bytes, Ordering::Relaxed);
        if start > ARENA_BYTES - size_bytes {
            return core::ptr::null_mut();
        }
        let first = self.bytes.get().cast::<u8>().wrapping_add(start);
        first.wrapping_add(first.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ARENA: Arena = Arena { bytes: UnsafeCell::new([0; ARENA_BYTES]), used: AtomicUsize::new(0) };

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Symbol that the compiled `alloc` refers to, even if a panic aborts. It is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Uses each allocator. Returns whether the results are right, or `None` after an error.
fn alloc_works() -> Option<bool> {
    let mut indices = AddressSpace::new(IndexPolicy::Lowest);
    let mut slots = Slots::new();
    for _ in 0..200 {
        slots.insert(indices.allocate().ok()?).ok()?;
    }
    indices.free(77).ok()?;
    let mut ranges = RangeSpace::<u64>::with_size(1 << 40);
    ranges.allocate(1 << 33).ok()?;
    let second = ranges.allocate_aligned(5, 64).ok()?;
    let mut ring = BucketRing::new(2, 10);
    ring.allocate(0).ok()?;
    let mut classes = SizeClasses::new(1000, &[(10, 1)], &SizeClassConfig::default());
    classes.allocate(10).ok()?;
    Some(
        indices.allocate() == Ok(77)
            && slots.iter().map(|(_, index)| index).sum::<u32>() == 199 * 100
            && ranges.range(second)? == (1 << 33..(1 << 33) + 5)
            && ring.len() == 1
            && classes.stats().used == 10,
    )
}

/// Meshes one voxel and inserts its quads into a pool.
fn meshes_work() -> Option<bool> {
    let mut table = MaterialTable::new();
    let stone = table.insert("stone", [120, 120, 120, 255])?;
    let mut chunk = Chunk::new(8, Material::AIR);
    chunk.set(LocalPos::new(3, 4, 5), stone);
    let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
    padded.fill(&chunk, |_| None);
    GreedyMesher::new().mesh(&padded, &table, &mut mesh);

    let mut pool = VertexPool::new(PoolConfig::default()).ok()?;
    let (quads, mut list) = (mesh.opaque.quads(), DrawList::new());
    let mesh =
        pool.insert(quads, &[quads.len() as u32], 7_u32, &mut NullBackend(Access::Direct)).ok()?;
    list.insert(mesh).ok()?;
    Some(quads.len() == 6 && list.commands(&pool).iter().map(|it| it.index_count).eq([36]))
}

fn polygons_work() -> Option<bool> {
    let mut store = PolygonStore::<()>::new();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|position| Corner::New {
        position,
        uv: [0.0; 2],
        data: (),
    });
    let polygon = store.insert(&corners).ok()?;
    store.remove(polygon).ok()?;
    Some(store.is_empty())
}

#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const u8) -> c_int {
    let all = [alloc_works(), meshes_work(), polygons_work()];
    c_int::from(all != [Some(true); 3])
}
