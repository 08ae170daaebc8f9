use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drystone_voxel::{
    BoxMesher, Chunk, ChunkMesh, GreedyMesher, Halo, KeyedMesh, Material, Merging, MesherOptions,
    PaddedChunk, VoxelArray, mesh_unit,
};

use crate::scenes::{boxes, random, table};

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

#[test]
fn warm_meshers_do_not_allocate() {
    let table = table(0b1000);
    let mut uniform = PaddedChunk::new();
    uniform.fill(&Chunk::new(62, Material(3)), |_| None);
    let chunks = [random(62, 30, 4, 1), random(17, 50, 2, 2), boxes(32, 20, 3, 3), uniform];
    let mergings = [Merging::Greedy, Merging::Conforming, Merging::Unit];
    for (merging, is_shaded) in mergings.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let mut options = MesherOptions::default().with_merging(merging);
        options.ambient_occlusion = is_shaded;
        let mut mesher = GreedyMesher::with_options(options);
        let mut mesh = ChunkMesh::new();
        let mut mesh_all = || {
            for chunk in &chunks {
                mesher.mesh(chunk, &table, &mut mesh);
            }
        };
        assert!(allocations_in(&mut mesh_all) > 0, "the first round must allocate memory");
        assert_eq!(allocations_in(&mut mesh_all), 0, "{merging:?}, shaded: {is_shaded}");
    }

    let mut mesh = ChunkMesh::new();
    mesh_unit(&chunks[0], &table, &mut mesh);
    assert_eq!(allocations_in(|| mesh_unit(&chunks[0], &table, &mut mesh)), 0);
}

#[test]
fn warm_meshers_of_arrays_do_not_allocate() {
    let cells: Vec<u32> = (0..34 * 34 * 34_u32).map(|i| i * i % 11 / 5 * 0x2_0001).collect();
    let array = VoxelArray::new(&cells, [32; 3], Halo::One).unwrap();
    let (mut mesher, mut mesh) = (GreedyMesher::new(), KeyedMesh::new());
    let (mut box_mesher, mut found) = (BoxMesher::new(), Vec::new());
    let mut mesh_all = || {
        mesher.mesh_array_keyed(&array, &mut mesh);
        box_mesher.mesh_array(&array, |cell| cell != 0, &mut found);
    };
    assert!(allocations_in(&mut mesh_all) > 0, "the first round must allocate memory");
    assert_eq!(allocations_in(&mut mesh_all), 0);
    assert!(mesh.opaque().iter().all(|quad| quad.key == 0x2_0001));
}

#[test]
fn a_warm_padded_chunk_does_not_allocate() {
    let center = Chunk::new(32, Material(1));
    let mut padded = PaddedChunk::new();
    padded.fill(&center, |_| Some(&center));
    assert_eq!(allocations_in(|| padded.fill(&center, |_| Some(&center))), 0);
}
