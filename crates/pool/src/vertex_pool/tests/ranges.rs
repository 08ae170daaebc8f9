//! Ranges of meshes, as callers that build their own commands see them.

use drystone_testing::Random;

use super::*;
use crate::{backend::NullBackend, stats::MeshRange};

/// Creates a pool of small buffers with some meshes; about every tenth mesh is split.
fn filled(random: &mut Random) -> (Pool, Vec<MeshHandle>) {
    let mut pool = Pool::new(PoolConfig {
        min_buffer_elements: 64,
        max_buffer_elements: 64,
        oversize: Oversize::Split,
        pattern_elements: 7,
        ..PoolConfig::default()
    })
    .unwrap();
    let meshes = (0..100).map(|_| {
        let max = if random.below(10) == 0 { 60_u32 } else { 8 };
        let counts = [0; 4].map(|_| random.below(max).saturating_sub(2));
        let elements = vec![0; counts.iter().sum::<u32>() as usize];
        pool.insert(&elements, &counts, 0, &mut NullBackend(Access::Staged)).unwrap()
    });
    let meshes = meshes.collect();
    (pool, meshes)
}

/// Derives the commands of a mesh's part from its ranges only.
fn commands_of(pool: &Pool, mesh: MeshHandle, part: usize) -> Vec<(u32, u32, u32)> {
    let mut commands = Vec::new();
    for MeshRange { buffer, first, part_counts } in pool.ranges_of(mesh) {
        let mut start = first + part_counts[..part].iter().sum::<u32>();
        let mut left = part_counts[part];
        while left > 0 {
            let count = left.min(pool.config().pattern_elements);
            commands.push((buffer, start, count));
            start += count;
            left -= count;
        }
    }
    commands
}

#[test]
fn ranges_agree_with_emitted_commands() {
    let (pool, meshes) = filled(&mut Random::new(1));
    let (mut max_ranges, mut all, mut table) = (0, 0, RunTable::default());
    for &mesh in &meshes {
        for part in 0..4 {
            let mut emitted = Vec::new();
            pool.emit_commands(mesh, PartSet::EMPTY.with(part), &mut table, |buffer, command| {
                emitted.push((buffer, command.base_vertex as u32 / 4, command.index_count / 6));
            });
            assert_eq!(commands_of(&pool, mesh, part), emitted);
            all += emitted.len() as u64;
        }
        max_ranges = max_ranges.max(pool.ranges_of(mesh).count());
    }
    assert!(max_ranges > 2);
    assert_eq!(pool.command_count(), all);
}

/// A mesh is listed as moved exactly if its ranges have changed.
#[test]
fn moved_lists_the_meshes_with_changed_ranges() {
    let mut random = Random::new(2);
    let (mut pool, mut meshes) = filled(&mut random);
    meshes.retain(|&mesh| random.below(3) == 0 || pool.remove(mesh).is_err());
    let ranges = |pool: &Pool| {
        let of = |&mesh: &MeshHandle| pool.ranges_of(mesh).collect::<Vec<_>>();
        meshes.iter().map(of).collect::<Vec<_>>()
    };
    let mut moves = 0;
    for frame in 1..40 {
        let before = ranges(&pool);
        let budget = MoveBudget { bytes: 1 << 10, moves: 3 };
        let moved = pool.defragment(&budget, &mut NullBackend(Access::Staged));
        assert_eq!(pool.moved().len(), moved.moves as usize);
        for ((mesh, before), after) in meshes.iter().zip(&before).zip(&ranges(&pool)) {
            assert_eq!(pool.moved().contains(mesh), before != after);
        }
        moves += moved.moves;
        pool.frame_submitted(frame);
        pool.frames_completed(frame, &mut NullBackend(Access::Staged));
    }
    assert!(moves > 10);
    pool.clear();
    assert!(meshes.iter().all(|&mesh| pool.ranges_of(mesh).next().is_none()));
}
