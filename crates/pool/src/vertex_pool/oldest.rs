use bytemuck::Pod;

use super::VertexPool;
use crate::{MeshHandle, PoolError, error::EVICTION_CANDIDATES, mesh::MeshKey};

/// Result of the last search for the least recently drawn meshes.
#[derive(Debug, Default)]
pub(super) struct Oldest {
    found: [Option<MeshHandle>; EVICTION_CANDIDATES],
    /// Frame being built during the search.
    frame: u64,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns the error for `size` elements that do not fit.
    #[cold]
    pub(crate) fn full(&mut self, size: u32) -> PoolError {
        let least_recently_drawn = self.find_oldest();
        let stats = self.buffer_stats();
        PoolError::Full {
            requested: size.into(),
            largest_free: stats.largest_free.into(),
            total_free: stats.free,
            waiting: stats.waiting,
            device_refused: self.buffers.is_out_of_device_memory(),
            least_recently_drawn,
        }
    }

    /// Releases the slot of a mesh that does not fit, and removes it from the eviction candidates.
    #[cold]
    pub(super) fn release_slot(&mut self, key: MeshKey, mut error: PoolError) -> PoolError {
        let own = self.handle(key);
        self.meshes.remove(key);
        if let PoolError::Full { least_recently_drawn, .. } = &mut error {
            *least_recently_drawn = least_recently_drawn.map(|mesh| mesh.filter(|it| *it != own));
            least_recently_drawn.sort_by_key(Option::is_none);
        }
        error
    }

    /// Returns the meshes drawn or inserted least recently. Repeated calls in one frame return the
    /// live meshes of the first call, so that retries stay cheap.
    fn find_oldest(&mut self) -> [Option<MeshHandle>; EVICTION_CANDIDATES] {
        let frame = self.frames.current();
        let live: [Option<MeshHandle>; EVICTION_CANDIDATES] =
            self.oldest.found.map(|handle| handle.filter(|&it| self.mesh(it).is_some()));
        if self.oldest.frame == frame && live.iter().any(Option::is_some) {
            self.oldest.found = live;
            self.oldest.found.sort_by_key(Option::is_none);
            return self.oldest.found;
        }
        // Sorted, oldest first. Most meshes are younger than the last entry.
        let mut oldest: [Option<(u32, MeshHandle)>; EVICTION_CANDIDATES] =
            [None; EVICTION_CANDIDATES];
        for (handle, mesh) in self.meshes.iter().filter(|(_, mesh)| mesh.len() > 0) {
            let age_frames = mesh.frames_since_drawn(frame);
            let is_older = |it: &Option<(u32, _)>| it.is_none_or(|(frames, _)| age_frames > frames);
            if let Some(at) = oldest.iter().position(is_older) {
                oldest[at..].rotate_right(1);
                oldest[at] = Some((age_frames, self.handle(handle)));
            }
        }
        self.oldest = Oldest { found: oldest.map(|it| it.map(|(_, handle)| handle)), frame };
        self.oldest.found
    }
}
