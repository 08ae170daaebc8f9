use drystone_pool::{MoveBudget, NullBackend};
use drystone_testing::Random;

use super::{super::bounds::Pattern, *};

fn table() -> CullTable<u32> {
    CullTable::new(&PoolConfig::default(), |_, number| bounds_of(*number))
}

fn bounds_of(number: u32) -> CullBounds {
    let low = [number as f32, 0.5, -1.0];
    match number % 2 {
        0 => CullBounds::new(low, low.map(|c| c + 2.0)).with_margin(0.125),
        _ => CullBounds::of_voxels([number as i32; 3], [1, 2, 3]),
    }
}

fn pool() -> VertexPool<u64, u32> {
    VertexPool::new(PoolConfig::default()).unwrap()
}

/// All records of a table, each with its buffer.
fn made(table: &CullTable<u32>, pool: &VertexPool<u64, u32>) -> Vec<(u32, CullRecord)> {
    let made = table.read(pool, |source| {
        let buffers = 0..table.buffers();
        let records = |buffer| (0..source.entries.records(buffer)).map(move |at| (buffer, at));
        let record = |(buffer, at)| (buffer as u32, source.record(buffer, at));
        Ok(buffers.flat_map(records).map(record).collect())
    });
    made.unwrap()
}

/// The ranges that a pool reports for a mesh, with its box.
fn expected(pool: &VertexPool<u64, u32>, mesh: MeshHandle) -> Vec<(u32, CullRecord)> {
    let bounds = bounds_of(*pool.data(mesh).unwrap());
    let of = |range: MeshRange| {
        let counts = range.part_counts;
        (range.buffer, CullRecord::new(mesh.slot(), bounds, range.first, counts))
    };
    pool.ranges_of(mesh).map(of).collect()
}

#[test]
fn the_maximum_number_of_commands_is_counted() {
    const PATTERN_QUADS: u32 = 1000;
    let pattern =
        Pattern { elements: PATTERN_QUADS, indices_per_element: 6, vertices_per_element: 4 };
    let bounds = CullBounds::of_voxels([0; 3], [32; 3]);
    let most = |[a, b, c, d, e, f]: [u32; 6]| {
        CullRecord::new(0, bounds, 0, [a, b, c, d, e, f, 0, 0]).max_commands(pattern)
    };
    assert_eq!(most([0; 6]), 0);
    assert_eq!(most([5; 6]), 3);
    assert_eq!(most([5, 0, 0, 0, 0, 1]), 1);
    assert_eq!(most([5, 0, 1, 0, 0, 1]), 2);
    assert_eq!(most([PATTERN_QUADS - 1, 0, 0, 0, 0, 0]), 1);
    assert_eq!(most([PATTERN_QUADS + 1, 0, 0, 0, 0, PATTERN_QUADS]), 3);
}

/// A table that follows a pool's inserts, replacements, removals and moves contains the pool's ranges.
#[test]
fn a_table_follows_its_pool() {
    let config = PoolConfig::default()
        .with_min_buffer_elements(256)
        .with_max_buffer_elements(1024)
        .with_spare_frames(1);
    let mut pool = VertexPool::<u64, u32>::new(config).unwrap();
    let (mut backend, mut random) = (NullBackend::default(), Random::new(3));
    let (mut table, mut meshes, mut moves) = (table(), Vec::new(), 0);
    let mut mirror = CullMirror::default();
    for step in 0..2000 {
        let counts = [(); 6].map(|()| random.below(20));
        let elements = vec![0; counts.iter().sum::<u32>() as usize];
        let at = random.below(meshes.len().max(1) as u32) as usize;
        match random.below(4) {
            0 if !meshes.is_empty() => {
                let mesh = meshes.swap_remove(at);
                pool.remove(mesh).unwrap();
                table.remove(mesh);
                assert!(!table.contains(mesh));
            }
            1 if !meshes.is_empty() => {
                let mesh = meshes[at];
                pool.replace(mesh, &elements, &counts, step, &mut backend).unwrap();
                table.set(&pool, mesh);
            }
            _ => {
                let mesh = pool.insert(&elements, &counts, step, &mut backend).unwrap();
                table.set(&pool, mesh);
                meshes.push(mesh);
            }
        }
        if meshes.len() > 60 {
            for mesh in meshes.drain(..40) {
                pool.remove(mesh).unwrap();
                table.remove(mesh);
            }
        }
        pool.frame_submitted(u64::from(step) + 1);
        pool.frames_completed(u64::from(step) + 1, &mut backend);
        moves += pool.defragment(&MoveBudget::default(), &mut backend).moves;
        table.update_moved(&pool);
        mirror.update(&table, &pool).unwrap();
        let copies = mirror.records().map(|(buffer, _, record)| (buffer as u32, *record));
        let mut held: Vec<_> = copies.collect();
        let mut all: Vec<_> = meshes.iter().flat_map(|mesh| expected(&pool, *mesh)).collect();
        held.sort_by_key(|(buffer, it)| (*buffer, it.first_element));
        all.sort_by_key(|(buffer, it)| (*buffer, it.first_element));
        assert_eq!(held, all, "step {step}");
        mirror.validate(&table, &pool).unwrap();
    }
    assert!(moves > 50, "{moves} moves");
}

/// A stale handle changes no mesh that has its slot now.
#[test]
fn stale_handles_change_nothing() {
    let (mut pool, mut backend, mut table) = (pool(), NullBackend::default(), table());
    let old = pool.insert(&[1], &[1], 0, &mut backend).unwrap();
    pool.remove(old).unwrap();
    let new = pool.insert(&[1, 2], &[2], 2, &mut backend).unwrap();
    assert_eq!(old.slot(), new.slot());
    table.set(&pool, new);
    table.set(&pool, old);
    table.remove(old);
    assert!(table.contains(new) && !table.contains(old));
    assert_eq!(made(&table, &pool), expected(&pool, new));
}

/// A mesh of another pool does not join the meshes of the first one, and records are not made from another
/// pool.
#[test]
fn a_table_has_meshes_of_one_pool() {
    let (mut first, mut second, mut backend) = (pool(), pool(), NullBackend::default());
    let mut table = table();
    assert!(made(&table, &first).is_empty() && made(&table, &second).is_empty());
    let old = [1, 2].map(|n| first.insert(&[n], &[1], n as u32, &mut backend).unwrap());
    for mesh in old {
        table.set(&first, mesh);
    }
    let mesh = second.insert(&[1], &[1], 4, &mut backend).unwrap();
    assert_eq!(mesh.slot(), old[0].slot());
    assert!(!table.contains(mesh));
    table.set(&second, mesh);
    assert_eq!((table.len(), old.map(|mesh| table.contains(mesh))), (1, [false; 2]));
    assert_eq!(made(&table, &second), expected(&second, mesh));
    table.validate(&second).unwrap();
    assert_eq!(table.read(&first, |_| Ok(())), Err(GpuError::OtherPool));
    assert!(table.is_within(&second, 0, 1, 1) && !table.is_within(&first, 0, 1, 1));
    assert!(!table.is_within(&second, 0, 0, 1) && !table.is_within(&second, 0, 1, 0));
}

/// The record of a mesh that has changed in the pool and not in the table is empty when it is made again, if the
/// mesh is removed or needs more commands.
#[test]
fn records_are_empty_if_the_table_was_not_updated() {
    let (mut pool, mut backend, mut table) = (pool(), NullBackend::default(), table());
    let counts = [1, 0, 0, 0, 0, 0];
    let [kept, removed, grown] =
        [1, 3, 5].map(|n| pool.insert(&[1], &counts, n, &mut backend).unwrap());
    for mesh in [kept, removed, grown] {
        table.set(&pool, mesh);
    }
    pool.remove(removed).unwrap();
    pool.replace(grown, &[1, 2, 3], &[1, 0, 1, 0, 1, 0], 5, &mut backend).unwrap();
    let [_, (_, removed_record), (_, grown_record)] = made(&table, &pool)[..] else { panic!() };
    assert_eq!(removed_record, CullRecord::empty(removed.slot()));
    assert_eq!(grown_record, CullRecord::empty(grown.slot()));
    assert_eq!(made(&table, &pool)[0], expected(&pool, kept)[0]);
    assert!(table.validate(&pool).is_err());
    // The table is updated.
    table.remove(removed);
    table.set(&pool, grown);
    table.validate(&pool).unwrap();
    assert_eq!(made(&table, &pool)[1], expected(&pool, grown)[0]);
}
