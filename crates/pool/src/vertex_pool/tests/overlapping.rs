//! Replacements that overlap the mesh that they replace.

use super::{scene::Scene, *};
use crate::MoveBudget;

/// First elements of a mesh's ranges in the buffers.
fn offsets(pool: &Pool, mesh: MeshHandle) -> Vec<u32> {
    pool.ranges_of(mesh).map(|range| range.first).collect()
}

/// Whether a pool of ten elements, four of them in another mesh, replaces six elements by `size`.
fn fits(scene: &mut Scene, mesh: MeshHandle, size: usize) -> bool {
    let elements = vec![size as u32; size];
    let replaced = scene.replace(mesh, &[&elements], 7);
    scene.pool.validate().unwrap();
    assert!(matches!(replaced, Ok(()) | Err(PoolError::Full { .. })), "{replaced:?}");
    replaced.is_ok()
}

/// A pool without space for a second copy replaces meshes where they are, while no frame reads them.
#[test]
fn a_full_pool_replaces_a_mesh_that_no_frame_reads() {
    for access in [Access::Direct, Access::Staged] {
        let mut scene = Scene::new(PoolConfig::fixed(10, 64), access, 2);
        scene.insert(&[&[1; 4]], 1).unwrap();
        let mesh = scene.insert(&[&[2; 6]], 2).unwrap();
        assert!([5, 6, 3].into_iter().all(|size| fits(&mut scene, mesh, size)), "{access:?}");
        assert!(!fits(&mut scene, mesh, 7));
        assert_eq!(offsets(&scene.pool, mesh), [4]);
        scene.draw();
        // A frame in flight reads three of the six elements that are not of the other mesh.
        let may_overlap = access == Access::Staged;
        assert_eq!(fits(&mut scene, mesh, 6), may_overlap, "{access:?}");
        assert!(fits(&mut scene, mesh, 3));
        scene.draw();
        scene.finish();
    }
}

/// Whatever fails, the old mesh is drawn from where it was.
#[test]
fn a_failed_replacement_leaves_the_old_mesh() {
    for access in [Access::Direct, Access::Staged] {
        let mut scene = Scene::new(PoolConfig::fixed(30, 64), access, 2);
        let meshes = [1, 2, 3].map(|n| scene.insert(&[&[n; 8]], n).unwrap());
        scene.remove(meshes[0]);
        let before = scene.pool.ranges();
        for size in [1, 7, 8, 9, 14, 16, 17] {
            scene.gpu.set_writes_left(0);
            let elements = vec![9; size];
            let failed = scene.replace(meshes[1], &[&elements], 9).unwrap_err();
            assert_eq!(matches!(failed, PoolError::Full { .. }), size == 17, "{failed:?}");
            scene.gpu.set_writes_left(u64::MAX);
            scene.pool.validate().unwrap();
            assert_eq!(scene.pool.ranges(), before, "{size} elements");
        }
        scene.draw();
        // The allocation can still be moved, replaced and freed.
        scene.defragment(&MoveBudget::default());
        scene.draw();
        assert_eq!(offsets(&scene.pool, meshes[1]).len(), 1);
        scene.finish();
        scene.replace(meshes[1], &[&[4; 14]], 4).unwrap();
        scene.draw();
        scene.remove(meshes[1]);
        scene.draw();
        scene.finish();
        assert_eq!(scene.pool.stats().free + scene.pool.stats().waiting, 22, "{access:?}");
    }
}

/// Buckets, size classes and split meshes need space for both meshes.
#[test]
fn other_allocations_do_not_overlap() {
    let classes = Placement::SizeClasses {
        histogram: [(4, 2)].into(),
        config: drystone_alloc::SizeClassConfig::default(),
    };
    let small = PoolConfig::fixed(8, 64);
    let split = small
        .clone()
        .with_placement(Placement::Buckets { elements: 2 })
        .with_oversize(Oversize::Split);
    for config in [
        small.clone().with_placement(Placement::Buckets { elements: 4 }),
        small.with_placement(classes),
        split,
    ] {
        let mut scene = Scene::new(config, Access::Staged, 2);
        let mesh = scene.insert(&[&[1; 4]], 1).unwrap();
        scene.insert(&[&[2; 4]], 2).unwrap();
        assert!(matches!(scene.replace(mesh, &[&[3; 3]], 3), Err(PoolError::Full { .. })));
        scene.pool.validate().unwrap();
        scene.draw();
        scene.finish();
    }
}
