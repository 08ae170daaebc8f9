use bytemuck::Pod;

use super::VertexPool;
use crate::{MeshHandle, PoolError, error::CANDIDATES, mesh::MeshKey};

/// The meshes that were drawn longest ago, as last looked for.
#[derive(Debug, Default)]
pub(super) struct Oldest {
    found: [Option<MeshHandle>; CANDIDATES],
    /// The frame being built then.
    frame: u64,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Why `size` elements found no place.
    #[cold]
    pub(crate) fn full(&mut self, size: u32) -> PoolError {
        let least_recently_drawn = self.find_oldest();
        let stats = self.room();
        PoolError::Full {
            requested: size.into(),
            largest_free: stats.largest_free.into(),
            total_free: stats.free,
            waiting: stats.waiting,
            device_refused: self.buffers.was_refused(),
            least_recently_drawn,
        }
    }

    /// Takes back the slot of a mesh that found no place: it is none of those to remove.
    #[cold]
    pub(super) fn refused(&mut self, key: MeshKey, mut error: PoolError) -> PoolError {
        let own = self.handle(key);
        self.meshes.remove(key);
        if let PoolError::Full { least_recently_drawn, .. } = &mut error {
            *least_recently_drawn = least_recently_drawn.map(|mesh| mesh.filter(|it| *it != own));
            least_recently_drawn.sort_by_key(Option::is_none);
        }
        error
    }

    /// The meshes drawn or inserted longest ago. Whoever tries again and again within a
    /// frame gets those of the first time that still live, so that trying stays cheap.
    fn find_oldest(&mut self) -> [Option<MeshHandle>; CANDIDATES] {
        let frame = self.frames.current();
        let still_there: [Option<MeshHandle>; CANDIDATES] =
            self.oldest.found.map(|handle| handle.filter(|&it| self.mesh(it).is_some()));
        if self.oldest.frame == frame && still_there.iter().any(Option::is_some) {
            self.oldest.found = still_there;
            self.oldest.found.sort_by_key(Option::is_none);
            return self.oldest.found;
        }
        // Sorted, oldest first; most meshes are younger than the last.
        let mut oldest: [Option<(u32, MeshHandle)>; CANDIDATES] = [None; CANDIDATES];
        for (handle, mesh) in self.meshes.iter().filter(|(_, mesh)| mesh.len() > 0) {
            let unseen = mesh.frames_unseen(frame);
            let is_older = |it: &Option<(u32, _)>| it.is_none_or(|(frames, _)| unseen > frames);
            if let Some(at) = oldest.iter().position(is_older) {
                oldest[at..].rotate_right(1);
                oldest[at] = Some((unseen, self.handle(handle)));
            }
        }
        self.oldest = Oldest { found: oldest.map(|it| it.map(|(_, handle)| handle)), frame };
        self.oldest.found
    }
}
