use drystone_formats::Source;
use drystone_voxel::{ChunkBox, ChunkPos, LocalPos, MaterialTable, NodePos, downsample};
use hashbrown::HashMap;

use super::super::{GeneratedWorld, GeneratorConfig};
use super::*;

fn world(seed: u64, size_chunks: [u32; 3]) -> GeneratedWorld {
    GeneratedWorld::new(GeneratorConfig { seed, size_chunks, ..Default::default() }).unwrap()
}

type Chunks = HashMap<ChunkPos, Chunk>;

/// Makes all chunks of a level independently.
fn coarse(source: &GeneratedWorld, level: u8) -> Chunks {
    let max = source.extent().unwrap().max;
    let last = NodePos::from(max).ancestor(level).chunk;
    positions(ChunkBox { min: ChunkPos::default(), max: last })
        .map(|at| (at, source.coarse_chunk(NodePos::new(level, at)).unwrap().unwrap()))
        .collect()
}

fn positions(chunks: ChunkBox) -> impl Iterator<Item = ChunkPos> {
    let ChunkBox { min, max } = chunks;
    (min.x..=max.x).flat_map(move |x| {
        (min.y..=max.y).flat_map(move |y| (min.z..=max.z).map(move |z| ChunkPos::new(x, y, z)))
    })
}

/// Downsamples chunks to the next level.
fn downsampled(fine: &Chunks, materials: &MaterialTable) -> Chunks {
    let parents = fine.keys().map(|at| NodePos::from(*at).parent().chunk);
    let parents: std::collections::BTreeSet<ChunkPos> = parents.collect();
    let make = |at: ChunkPos| {
        let children = NodePos::new(1, at).children().unwrap().map(|child| fine.get(&child.chunk));
        (at, downsample(Chunk::SIDE, children, materials).unwrap())
    };
    parents.into_iter().map(make).collect()
}

/// View of a column from above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    /// Height of the highest voxel's top, in units.
    height: f64,
    color: [f64; 3],
}

/// Returns the view of each column from above, with water above the ground, row by row along Z.
fn seen(chunks: &Chunks, level: u8, side_chunks: i32, materials: &MaterialTable) -> Vec<Seen> {
    let nodes = (side_chunks + (1 << level) - 1) >> level;
    let wide = ((side_chunks * 32) as u32).div_ceil(1 << level) as i32;
    let up = chunks.keys().map(|at| at.y).max().unwrap_or(0) + 1;
    let get = |x: i32, y: i32, z: i32| {
        let local = LocalPos::new((x % 32) as u8, (y % 32) as u8, (z % 32) as u8);
        chunks[&ChunkPos::new(x / 32, y / 32, z / 32)].get(local)
    };
    assert!(wide <= nodes * 32);
    let column = |i: i32| {
        let (mut seen, mut light) = (Seen::default(), 1.0);
        for y in (0..up * 32).rev() {
            let material = get(i % wide, y, i / wide);
            let is_hidden =
                material.is_air() || (light < 1.0 && materials.is_translucent(material));
            if is_hidden {
                continue;
            }
            seen.height = seen.height.max(f64::from(y + 1) * f64::from(1 << level));
            let [r, g, b, alpha] = materials.get(material).unwrap().color.map(f64::from);
            let part = light * alpha / 255.0;
            seen.color = std::array::from_fn(|i| seen.color[i] + part * [r, g, b][i]);
            light -= part;
            if alpha == 255.0 {
                break;
            }
        }
        seen
    };
    (0..wide * wide).map(column).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// LOD chunks are almost the same as downsampled ones: solid where these are, at the same height,
/// and without a hole.
#[test]
fn lod_chunks_equal_downsampled_ones() {
    for seed in [3, 8] {
        let source = world(seed, [8, 4, 8]);
        let materials = source.materials();
        let mut truth: Chunks = source
            .chunk_positions()
            .into_iter()
            .map(|at| (at, source.chunk(at).unwrap()))
            .collect();
        for level in 1..=3 {
            truth = downsampled(&truth, materials);
            let found = coarse(&source, level);
            assert_eq!(found.len(), truth.len());
            let is_opaque = |m: Material| !m.is_air() && !materials.is_translucent(m);
            let alike = truth.iter().flat_map(|(at, chunk)| {
                let pairs = chunk.iter().zip(found[at].iter());
                pairs.map(|((_, a), (_, b))| f64::from(u8::from(is_opaque(a) == is_opaque(b))))
            });
            let alike = mean(alike);
            let (a, b) = (seen(&truth, level, 8, materials), seen(&found, level, 8, materials));
            let higher = mean(a.iter().zip(&b).map(|(a, b)| b.height - a.height));
            let lower =
                mean(a.iter().zip(&b).map(|(a, b)| f64::from(u8::from(b.height < a.height))));
            println!(
                "level {level}: {alike:.4} alike, {higher:+.2} units higher, {lower:.3} lower"
            );
            assert!(alike >= 0.97, "seed {seed}: {alike} of level {level} are alike");
            assert!(
                higher.abs() <= 0.5 * f64::from(1 << level),
                "seed {seed}: {higher} of level {level}"
            );
            assert!(b.iter().all(|seen| seen.height > 0.0), "a hole");
        }
    }
}

/// From far away, the land has the same colours and height as from near.
#[test]
fn colours_are_similar_at_all_levels() {
    let side = 24;
    let source = world(3, [side, 4, side]);
    let materials = source.materials();
    let view = |level: u8| {
        let seen = seen(&coarse(&source, level), level, side as i32, materials);
        let color: [f64; 3] = std::array::from_fn(|i| mean(seen.iter().map(|seen| seen.color[i])));
        (color, mean(seen.iter().map(|seen| seen.height)))
    };
    let (near, low) = view(0);
    for level in 1..=6 {
        let (far, high) = view(level);
        let apart = (0..3).map(|i| (near[i] - far[i]).abs()).fold(0.0, f64::max);
        println!("level {level}: {far:.0?}, {apart:.1} apart, {:+.1} units higher", high - low);
        assert!(apart <= 8.0, "{near:.0?} becomes {far:.0?} at level {level}");
        let units = f64::from(1 << level);
        assert!((-2.0..=units).contains(&(high - low)), "{low} becomes {high} at level {level}");
    }
}

/// Chunks of a level depend only on the seed and the position. The land continues across borders as
/// it does inside chunks.
#[test]
fn neighbouring_chunks_continue_the_land() {
    for (level, side) in [(1, 8), (2, 24), (4, 48), (6, 160)] {
        let source = world(5, [side, 4, side]);
        let chunks = coarse(&source, level);
        let larger = world(5, [side + 64, 4, side * 2]);
        let mut order: Vec<&ChunkPos> = chunks.keys().collect();
        order.sort_by_key(|at| (at.z, -at.x, at.y));
        for at in order
            .into_iter()
            .filter(|at| (at.x + 1) << level <= side as i32 && (at.z + 1) << level <= side as i32)
        {
            let alone = larger.coarse_chunk(NodePos::new(level, *at)).unwrap().unwrap();
            assert!(alone == chunks[at], "{at:?} of level {level}");
        }
        let seen = seen(&chunks, level, side as i32, source.materials());
        let wide = (side as usize * 32) >> level;
        let steps = |is_border: bool| {
            let pairs = (0..wide * wide - wide).filter(move |i| (i / wide % 32 == 31) == is_border);
            let pairs = pairs.map(|i| (seen[i].height - seen[i + wide].height).abs());
            mean(pairs)
        };
        let (border, within) = (steps(true), steps(false));
        println!("level {level}: steps of {border:.2} at borders, {within:.2} within");
        assert!(border <= 1.5 * within, "{border} at borders, {within} within, of level {level}");
    }
}

/// A voxel exists exactly if any part of it lies in the world.
#[test]
fn the_world_ends_where_it_ends() {
    let source = world(3, [5, 2, 3]);
    for level in 1..=9 {
        let units = 32_u32 << level;
        for x in -1..=(5 * 32 / units) as i32 + 1 {
            for z in -1..=(3 * 32 / units) as i32 + 1 {
                let node = NodePos::new(level, ChunkPos::new(x, 0, z));
                let chunk = source.coarse_chunk(node).unwrap().unwrap();
                for (at, material) in &chunk {
                    let low = |c: i32, local: u8| {
                        i64::from(c) * i64::from(units) + (i64::from(local) << level)
                    };
                    let [x, y, z] = [low(x, at.x), low(0, at.y), low(z, at.z)];
                    let inside = (0..160).contains(&x) && y < 64 && (0..96).contains(&z);
                    assert!(inside || material.is_air(), "{at:?} of {node:?}");
                    assert!(!inside || y > 0 || !material.is_air(), "{at:?} of {node:?} is air");
                }
            }
        }
        for [x, y, z] in [[0, -1, 0], [-1, 0, 0], [0, 2, 0], [i32::MIN; 3], [i32::MAX; 3]] {
            let node = NodePos::new(level, ChunkPos::new(x, y, z));
            assert!(source.coarse_chunk(node).unwrap().unwrap().is_empty());
        }
    }
    let vast = GeneratorConfig { size_chunks: [GeneratedWorld::MAX_SIDE; 3], ..Default::default() };
    let vast = GeneratedWorld::new(vast).unwrap();
    for level in 1..=NodePos::MAX_LEVEL {
        let last = (GeneratedWorld::MAX_SIDE as i32 - 1) >> level;
        for position in [ChunkPos::new(0, 0, 0), ChunkPos::new(last, 0, last)] {
            let chunk = vast.coarse_chunk(NodePos::new(level, position)).unwrap().unwrap();
            assert!((0..32).all(|i| !chunk.get(LocalPos::new(i, 0, 31 - i)).is_air()));
        }
    }
}

#[test]
fn nodes_far_above_are_air() {
    let size_chunks = [64, 64, 64];
    let config = GeneratorConfig { relief_voxels: 1024, size_chunks, ..Default::default() };
    let source = GeneratedWorld::new(config).unwrap();
    for (level, y) in [(1, 17), (2, 9), (3, 5), (5, 1)] {
        let is_air = |y: i32| {
            let node = NodePos::new(level, ChunkPos::new(1, y, 1));
            source.coarse_chunk(node).unwrap().unwrap().is_empty()
        };
        assert!(is_air(y) && !is_air(0), "level {level}");
    }
}

/// At levels 1 and 2, hardly more of the exposed side faces of trees are bark than at level 0,
/// although a trunk is at least one voxel wide.
#[test]
fn trunks_are_not_visible_through_crowns() {
    let (source, side) = (world(3, [8, 4, 8]), 8);
    let named = |part: &str| {
        let all = source.materials().iter().filter(|(_, kind)| kind.name.contains(part));
        all.map(|(material, _)| material).collect::<Vec<_>>()
    };
    let (bark, leaves) = (named("bark"), [named("leaves"), named("needles")].concat());
    assert!(bark.len() >= 3 && leaves.len() >= 6);
    let share = |level: u8| {
        let chunks = coarse(&source, level);
        let wide = (side * 32) >> level;
        let get = |[x, y, z]: [i32; 3]| {
            let local = LocalPos::new((x % 32) as u8, (y % 32) as u8, (z % 32) as u8);
            chunks[&ChunkPos::new(x / 32, y / 32, z / 32)].get(local)
        };
        let mut counts = [0u32; 2];
        for (x, z) in (1..wide - 1).flat_map(|x| (1..wide - 1).map(move |z| (x, z))) {
            for y in 0..(4 * 32) >> level {
                let here = get([x, y, z]);
                let kind = [&bark, &leaves].iter().position(|kind| kind.contains(&here));
                let around = [[x - 1, y, z], [x + 1, y, z], [x, y, z - 1], [x, y, z + 1]];
                let open = around.into_iter().filter(|&at| get(at).is_air()).count();
                kind.into_iter().for_each(|kind| counts[kind] += open as u32);
            }
        }
        f64::from(counts[0]) / f64::from(counts[0] + counts[1])
    };
    let near = share(0);
    for (level, far) in [1, 2].map(|level| (level, share(level))) {
        println!("{far:.3} of trees' sides are bark at level {level}, {near:.3} at level 0");
        assert!(far <= 1.25 * near, "{far} of level {level}, {near} of level 0");
    }
}
