use drystone_testing::Random;

use super::{Pool, scene::Scene};
use crate::{
    backend::Access,
    config::{Oversize, Placement, PoolConfig},
    error::PoolError,
    simulated::SimulatedGpu,
    stats::RangeState,
};

fn configs() -> [PoolConfig; 5] {
    let ranges = PoolConfig { spare_frames: 2, max_buffers: 9, ..PoolConfig::fixed(40, 60) };
    let histogram = [(3, 5), (9, 2)].into();
    let classes = Placement::SizeClasses { histogram, config: Default::default() };
    [
        PoolConfig { placement: Placement::Buckets { elements: 10 }, ..ranges.clone() },
        PoolConfig { placement: Placement::Buckets { elements: 20 }, ..ranges.clone() },
        PoolConfig { placement: classes, ..ranges.clone() },
        // Smaller buffers, so that all are replaced.
        PoolConfig {
            max_buffer_elements: 7,
            max_buffers: 30,
            oversize: Oversize::Split,
            ..ranges.clone()
        },
        ranges,
    ]
}

/// Frames in flight still read the meshes of earlier configurations.
#[test]
fn an_empty_pool_is_divided_again_and_frames_in_flight_read_what_they_drew() {
    for (seed, access) in [(1, Access::Staged), (2, Access::Direct)] {
        let mut random = Random::new(seed);
        let [first, ..] = configs();
        let mut scene = Scene::new(first, access, 3);
        for step in 0..300 {
            for n in 0..1 + random.below(9) {
                let elements = alloc::vec![step * 10 + n; 1 + random.below(10) as usize];
                // A full pool draws what it has.
                let _ = scene.insert(&[&elements], n);
            }
            assert_divided_as_configured(&scene.pool);
            (0..random.below(3)).for_each(|_| scene.draw());
            let config = configs()[random.below(5) as usize].clone();
            if scene.len() > 0 {
                let meshes = scene.pool.len();
                let refused = scene.pool.set_config(config.clone());
                assert_eq!(refused, Err(PoolError::NotEmpty { meshes }));
            }
            scene.clear();
            scene.pool.set_config(config.clone()).unwrap();
            assert_eq!(scene.pool.config(), &config);
            scene.pool.validate().unwrap();
            let stats = scene.pool.stats();
            let parts = stats.used + stats.waiting + stats.wasted + stats.free;
            assert_eq!(parts, stats.capacity, "{stats:?}");
            let ranges = scene.pool.ranges().into_iter();
            let waiting = ranges.filter(|range| range.state == RangeState::Waiting);
            let waiting: u64 = waiting.map(|range| range.elements.len() as u64).sum();
            assert_eq!(waiting, stats.waiting, "{stats:?}");
        }
        scene.finish();
    }
}

/// Checks that every mesh is in a buffer of the pool's configuration.
fn assert_divided_as_configured(pool: &Pool) {
    let config = pool.config();
    for range in pool.ranges() {
        if let (RangeState::Live(_), start) = (range.state, range.elements.start) {
            assert!(range.elements.end <= config.max_buffer_elements, "{range:?}");
            if let Placement::Buckets { elements } = config.placement {
                assert!(start.is_multiple_of(elements), "{range:?} {elements}");
            }
        }
    }
}

#[test]
fn an_invalid_configuration_changes_nothing() {
    let mut gpu = SimulatedGpu::new(Access::Staged, 1);
    let mut pool = Pool::new(PoolConfig::fixed(10, 2)).unwrap();
    let too_large = PoolConfig { max_buffer_elements: u32::MAX, ..pool.config().clone() };
    assert!(matches!(pool.set_config(too_large), Err(PoolError::TooLarge { .. })));
    assert_eq!(pool.config(), &PoolConfig::fixed(10, 2));
    pool.insert(&[1; 10], &[10], 1, &mut gpu).unwrap();
}
