use core::cell::Cell;

use super::*;
use crate::{
    ChunkMesh, GreedyMesher, Halo, KeyedMesh, MaterialKind, MaterialTable, MesherOptions,
    PaddedChunk, VoxelArray,
};
use portable::Portable;

/// Limit for the instructions that [`widest`] may use.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    All,
    Portable,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Narrow,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Wide,
}

std::thread_local! {
    /// Limit of this thread.
    pub(super) static MAX: Cell<Limit> = const { Cell::new(Limit::All) };
}

/// Two rows to compare, and squares to transpose.
#[derive(Clone, Copy)]
struct All {
    rows: [[Material; 64]; 2],
    square_16: [u16; 16],
    square_32: [u32; 32],
    square_64: [u64; 64],
}

/// Rows of the transposed squares, three words apart; the last is omitted.
type Results = ([u64; 6], [u16; 45], [u32; 93], [u64; 189]);

impl Work for All {
    type Output = Results;

    fn run<I: Instructions>(self) -> Results {
        let [a, b] = &self.rows;
        let ((a_32, b_32), (a_16, b_16)) = (
            (a.first_chunk().unwrap(), b.first_chunk().unwrap()),
            (a.first_chunk().unwrap(), b.first_chunk().unwrap()),
        );
        let bytes: [u8; 64] = core::array::from_fn(|i| a[i].0 as u8);
        let equal = [
            I::equal_16(a_16, b_16).into(),
            I::equal_32(a_32, b_32).into(),
            I::equal_64(a, b),
            I::equal_bytes_16(bytes.first_chunk().unwrap(), 255).into(),
            I::equal_bytes_32(bytes.first_chunk().unwrap(), 255).into(),
            I::equal_bytes_64(&bytes, 255),
        ];
        let (mut transposed_16, mut transposed_32, mut transposed_64) =
            ([7; 45], [7; 93], [7; 189]);
        I::transpose_16(&self.square_16, &mut transposed_16, 3);
        I::transpose_32(&self.square_32, &mut transposed_32, 3);
        I::transpose_64(&self.square_64, &mut transposed_64, 3);
        (equal, transposed_16, transposed_32, transposed_64)
    }
}

#[test]
fn instructions_equal_their_portable_references() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        seed >> 29 ^ seed
    };
    let materials = [0, 1, 0x7fff, 0x8000, 0xff00, 0xffff];
    for round in 0..500 {
        let mut row = || core::array::from_fn(|_| Material(materials[next() as usize % 6]));
        let [a, b] = [row(), row()];
        // Equal rows too.
        let rows = if round % 10 == 0 { [a; 2] } else { [a, b] };
        let work = All {
            rows,
            square_16: core::array::from_fn(|_| next() as u16),
            square_32: core::array::from_fn(|_| next() as u32),
            square_64: core::array::from_fn(|_| next()),
        };
        let expected = work.run::<Portable>();
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        assert!(work.run::<x86::Narrow>() == expected, "round {round}");
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        assert!(x86::wide(work) == expected, "round {round}");
        assert!(widest(work) == expected, "round {round}");
    }
}

#[test]
fn selected_quads_are_in_front() {
    struct Select([u64; 4], usize);
    impl Work for Select {
        type Output = [Quad; 4];

        fn run<I: Instructions>(self) -> [Quad; 4] {
            let mut to = [Quad::from_bits(9); 4];
            I::select_4(&self.0, self.1, &mut to);
            to
        }
    }
    let quads = [1, 2 << 40 | 7, u64::MAX >> 1, 5 << 32];
    for mask in 0..16 {
        let expected = (0..4).filter(|i| mask >> i & 1 != 0).map(|i| Quad::from_bits(quads[i]));
        let expected: std::vec::Vec<Quad> = expected.collect();
        assert_eq!(Select(quads, mask).run::<Portable>()[..expected.len()], expected, "{mask}");
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        assert_eq!(x86::wide(Select(quads, mask))[..expected.len()], expected, "{mask}");
        assert_eq!(widest(Select(quads, mask))[..expected.len()], expected, "{mask}");
    }
}

#[test]
fn wide_instructions_give_equal_results() {
    struct Mix(u64);
    impl Work for Mix {
        type Output = [u64; 4];

        #[inline(always)]
        fn run<I: Instructions>(self) -> [u64; 4] {
            let Self(x) = self;
            let zeros = [x.leading_zeros(), x.trailing_zeros(), x.count_ones()];
            let mixed = (0..64).map(|shift| x.rotate_left(shift) & x).fold(0, |a, b| a ^ b);
            let [a, b, c] = zeros.map(u64::from);
            [a, b, c, mixed]
        }
    }
    for x in [0, 1, u64::MAX, 0x8000_0000_0000_0000, 0x1234_5678_9abc_def0] {
        assert_eq!(widest(Mix(x)), Mix(x).run::<Portable>());
    }
}

/// Boxes of five materials, in chunk and halo.
fn boxes(side: u32, seed: u64) -> PaddedChunk {
    let mut state = seed;
    let mut below = |bound: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as u32 % bound
    };
    let boxes: [([u32; 3], u32, u16); 24] = core::array::from_fn(|_| {
        let low = [0; 3].map(|_: u32| below(side + 2));
        (low, 1 + below(side.div_ceil(2)), below(6) as u16)
    });
    PaddedChunk::from_fn(side, |at| {
        let inside = |low: &[u32; 3], size: u32| {
            at.iter().zip(low).all(|(at, low)| (*low..low + size).contains(at))
        };
        let found = boxes.iter().rev().find(|(low, size, _)| inside(low, *size));
        Material(found.map_or(0, |(.., material)| *material))
    })
}

/// Every voxel has one of five materials or none, at random. Few faces can join others.
fn scattered(side: u32, seed: u64) -> PaddedChunk {
    let mut state = seed;
    PaddedChunk::from_fn(side, |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        Material((state >> 33) as u16 % 9 % 6)
    })
}

/// Older instructions, with which meshes must be equal.
const FEWER: &[Limit] = &[
    Limit::Portable,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Limit::Narrow,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Limit::Wide,
];

/// Tests arrays without a halo, of different extents, with permuted axes and keys of 32 bits.
#[test]
fn meshes_of_arrays_do_not_depend_on_the_instructions() {
    let mut state = 1_u64;
    let cells: std::vec::Vec<u32> = core::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let kind = (state >> 33) as u32 % 7;
        if kind < 4 { kind << 15 } else { 0 }
    })
    .take(64 * 64 * 64)
    .collect();
    let mut quads = 0;
    for extents in [[5, 17, 33], [64, 3, 16], [16, 16, 2], [30, 31, 32], [62, 8, 64]] {
        let [x, y, z] = extents.map(|extent| extent as usize);
        for strides in [[1, x, x * y], [y * z, 1, y], [z, x * z, 1], [2, 2 * x, 2 * x * y]] {
            let Ok(array) = VoxelArray::with_strides(&cells, extents, strides, Halo::None) else {
                continue;
            };
            for ambient_occlusion in [false, true] {
                let options = MesherOptions { ambient_occlusion, ..Default::default() };
                let meshed = |limit| {
                    MAX.set(limit);
                    let mut mesh = KeyedMesh::new();
                    GreedyMesher::with_options(options).mesh_array_keyed(&array, &mut mesh);
                    MAX.set(Limit::All);
                    mesh
                };
                let all = meshed(Limit::All);
                for &limit in FEWER {
                    let message = std::format!("{limit:?}, {extents:?}, {strides:?}");
                    assert!(meshed(limit).opaque() == all.opaque(), "{message}");
                }
                quads += all.opaque().len();
            }
        }
    }
    assert!(quads > 100_000, "only {quads} quads");
}

/// Tests the whole mesher, with and without ambient occlusion, for all row lengths.
#[test]
fn meshes_do_not_depend_on_the_instructions() {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", feature = "std"))]
    if !x86::has_widest() {
        // For the test of large chunks too.
        let test = "meshes_do_not_depend_on_the_instructions";
        std::println!("skipped: {test}: the processor lacks AVX-512");
    }
    let quads = compare_instructions(&[1, 2, 14, 15, 16, 17, 30, 31, 32, 33]);
    assert!(quads > 100_000, "only {quads} quads");
}

/// Tests the whole mesher for chunks of 62 to 64 voxels a side. Slow under a memory checker.
#[test]
fn meshes_of_large_chunks_do_not_depend_on_the_instructions() {
    let quads = compare_instructions(&[62, 63, 64]);
    assert!(quads > 1_000_000, "only {quads} quads");
}

/// Meshes chunks of these sides with all instructions, and asserts that the meshes are equal. Returns the
/// number of their quads.
fn compare_instructions(sides: &[u32]) -> usize {
    let mut table = MaterialTable::new();
    for opacity in [255, 255, 120, 255, 90] {
        table.insert("material", [9, 9, 9, opacity]).unwrap();
    }
    let mut with_holes = MaterialTable::new();
    for opacity in [255, 255, 120, 255, 90] {
        let kind = MaterialKind::new("material", [9, 9, 9, opacity]);
        with_holes.insert_kind(if opacity == 255 { kind.with_cut_out() } else { kind }).unwrap();
    }
    let mut quads = 0;
    for &side in sides {
        for (seed, is_shaded) in [(1, false), (2, true), (3, true), (4, false), (5, true)] {
            let table = if seed == 5 { &with_holes } else { &table };
            let chunk = if seed < 3 { boxes(side, seed) } else { scattered(side, seed) };
            let meshed = |limit| {
                MAX.set(limit);
                let mut mesh = ChunkMesh::new();
                let options = MesherOptions { ambient_occlusion: is_shaded, ..Default::default() };
                let mut mesher = GreedyMesher::with_options(options);
                mesher.mesh(&chunk, table, &mut mesh);
                let array = VoxelArray::new(chunk.voxels(), [side; 3], Halo::One).unwrap();
                let mut of_array = KeyedMesh::new();
                mesher.mesh_array_keyed(&array, &mut of_array);
                MAX.set(Limit::All);
                (mesh, of_array)
            };
            let all = meshed(Limit::All);
            for &limit in FEWER {
                let same = meshed(limit);
                assert!(same.0.iter().eq(all.0.iter()), "{limit:?}, {side}, {seed}");
                assert!(same.1.opaque() == all.1.opaque(), "array: {limit:?}, {side}, {seed}");
            }
            quads += all.0.len();
        }
    }
    quads
}
