use bytemuck::Pod;

use super::VertexPool;
use crate::{
    backend::ALIGNMENT_BYTES, config::PoolConfig, defragmenter::Defragmenter, error::PoolError,
};

/// Maximum of [`PoolConfig::max_slots`], far below [`NO_OWNER`](crate::allocation::NO_OWNER).
const MAX_SLOTS: u32 = i32::MAX as u32;

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Changes the configuration of an empty pool, for example to another size of bucket. Buffers
    /// that fit the new limits are divided again. Others are released when no frame in flight reads
    /// them; until then they count as buffers, and their elements as waiting.
    ///
    /// # Errors
    /// `NotEmpty` if the pool contains meshes; the errors of [`new`](Self::new). Nothing has changed
    /// then.
    ///
    /// # Examples
    /// ```
    /// use drystone_pool::{Access, NullBackend, Placement, PoolConfig, VertexPool};
    ///
    /// let mut backend = NullBackend(Access::Staged);
    /// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::fixed(1000, 10))?;
    /// pool.insert(&[1, 2, 3], &[3], 7, &mut backend)?;
    /// pool.clear();
    /// let placement = Placement::Buckets { elements: 250 };
    /// pool.set_config(PoolConfig { placement, ..pool.config().clone() })?;
    /// pool.insert(&[4, 5], &[2], 8, &mut backend)?;
    /// assert_eq!((pool.stats().buffers, pool.stats().wasted), (1, 248));
    /// # Ok::<(), drystone_pool::PoolError>(())
    /// ```
    pub fn set_config(&mut self, config: PoolConfig) -> Result<(), PoolError> {
        let config = checked::<V, D>(config)?;
        if !self.is_empty() {
            return Err(PoolError::NotEmpty { meshes: self.len() });
        }
        self.storage.set_config(config);
        self.defragmenter = Defragmenter::default();
        Ok(())
    }
}

/// Returns the configuration of a pool of elements `V` with data `D`, if it is valid.
pub(super) fn checked<V, D>(config: PoolConfig) -> Result<PoolConfig, PoolError> {
    let sizes = [size_of::<V>(), size_of::<D>()];
    if let Some(size_bytes) = sizes.into_iter().find(|it| !it.is_multiple_of(ALIGNMENT_BYTES)) {
        return Err(PoolError::Unaligned { size_bytes });
    }
    let max_indices = u32::MAX / config.indices_per_element.max(1);
    let elements = config.pattern_elements.min(config.max_buffer_elements);
    if elements > max_indices {
        return Err(PoolError::TooManyIndices { elements, limit: max_indices });
    }
    let limit = i32::MAX as u32 / config.vertices_per_element.max(1);
    if config.max_buffer_elements > limit {
        return Err(PoolError::TooLarge { capacity: config.max_buffer_elements, limit });
    }
    if config.max_slots > MAX_SLOTS {
        return Err(PoolError::TooLarge { capacity: config.max_slots, limit: MAX_SLOTS });
    }
    Ok(PoolConfig { pattern_elements: config.pattern_elements.max(1), ..config })
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use crate::{
        backend::Access,
        config::{Oversize, Placement, PoolConfig},
        error::PoolError,
        simulated::SimulatedGpu,
        vertex_pool::{VertexPool, tests::scene::Scene},
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
            }
            scene.finish();
        }
    }

    #[test]
    fn an_invalid_configuration_changes_nothing() {
        let mut gpu = SimulatedGpu::new(Access::Staged, 1);
        let mut pool = VertexPool::<u32, u32>::new(PoolConfig::fixed(10, 2)).unwrap();
        let too_large = PoolConfig { max_buffer_elements: u32::MAX, ..pool.config().clone() };
        assert!(matches!(pool.set_config(too_large), Err(PoolError::TooLarge { .. })));
        assert_eq!(pool.config(), &PoolConfig::fixed(10, 2));
        pool.insert(&[1; 10], &[10], 1, &mut gpu).unwrap();
    }
}
