use drystone_mesh::Quad;
use drystone_pool::{
    DrawList, Grouping, HiddenCommands, ListConfig, MeshHandle, PartSet, PoolError, VertexPool,
};
#[cfg(feature = "wgpu")]
use drystone_wgpu::CullTable;

#[cfg(feature = "wgpu")]
use crate::cull::cull_table;
use crate::{cull::Cull, draw_data::DrawData, view::View, visibility::Visibility};

/// A pool of quads.
pub(super) type Pool = VertexPool<Quad, DrawData>;

/// The opaque meshes of a pool, in the form that culling needs.
pub(super) enum Opaque {
    /// The CPU masks and sorts a list and makes commands from it.
    Listed(Box<DrawList>),
    /// The GPU culls a table, which is updated with every mesh.
    #[cfg(feature = "wgpu")]
    Culled(CullTable<DrawData>),
}

#[cfg_attr(
    not(feature = "wgpu"),
    allow(unused_variables, reason = "only a table for the GPU follows the pool")
)]
impl Opaque {
    /// Creates an empty value for the meshes of a pool. `hidden` is the treatment of hidden commands
    /// in a list.
    pub(super) fn new(cull: Cull, hidden: HiddenCommands, pool: &Pool) -> Self {
        match cull {
            #[cfg(feature = "wgpu")]
            Cull::Gpu => Self::Culled(cull_table(pool.config())),
            _ => {
                let config =
                    ListConfig::default().with_grouping(Grouping::ByBuffer).with_hidden(hidden);
                Self::Listed(Box::new(DrawList::with_config(config)))
            }
        }
    }

    pub(super) const fn cull(&self) -> Cull {
        match self {
            Self::Listed(_) => Cull::Cpu,
            #[cfg(feature = "wgpu")]
            Self::Culled(_) => Cull::Gpu,
        }
    }

    /// The list of the meshes; `None` if the GPU culls.
    pub(super) fn listed(&self) -> Option<&DrawList> {
        match self {
            Self::Listed(list) => Some(list),
            #[cfg(feature = "wgpu")]
            Self::Culled(_) => None,
        }
    }

    /// Inserts a mesh of the pool.
    pub(super) fn insert(&mut self, pool: &Pool, mesh: MeshHandle) -> Result<(), PoolError> {
        match self {
            Self::Listed(list) => list.insert(mesh),
            #[cfg(feature = "wgpu")]
            Self::Culled(table) => {
                table.set(pool, mesh);
                Ok(())
            }
        }
    }

    /// Begins to load what [`replaced`](Self::replaced) will change. Of many meshes none is in a cache, and the
    /// processor can work on while it waits for this one.
    pub(super) fn preload(&self, mesh: MeshHandle) {
        #[cfg(feature = "wgpu")]
        if let Self::Culled(table) = self {
            std::hint::black_box(table.contains(mesh));
        }
    }

    /// Updates a mesh that was replaced.
    pub(super) fn replaced(&mut self, pool: &Pool, mesh: MeshHandle) {
        // A list reads the current ranges from the pool.
        #[cfg(feature = "wgpu")]
        if let Self::Culled(table) = self {
            table.set(pool, mesh);
        }
    }

    /// Removes a mesh that was removed from the pool.
    pub(super) fn removed(&mut self, mesh: MeshHandle) {
        // A list drops stale meshes itself.
        #[cfg(feature = "wgpu")]
        if let Self::Culled(table) = self {
            table.remove(mesh);
        }
    }

    /// Updates the meshes that the pool has moved.
    pub(super) fn moved(&mut self, pool: &Pool) {
        #[cfg(feature = "wgpu")]
        if let Self::Culled(table) = self {
            table.update_moved(pool);
        }
    }

    /// Number of meshes that the last commands draw; 0 if the GPU culls.
    pub(super) fn drawn(&self) -> usize {
        match self {
            Self::Listed(list) => list.drawn(),
            #[cfg(feature = "wgpu")]
            Self::Culled(_) => 0,
        }
    }

    /// Masks and sorts the list; does nothing if the GPU culls.
    pub(super) fn select(&mut self, pool: &Pool, view: &View, visibility: &Visibility) {
        let list = match self {
            Self::Listed(list) => list,
            #[cfg(feature = "wgpu")]
            Self::Culled(_) => return,
        };
        let parts = |data: &DrawData| visible_parts(data, view, visibility);
        if view.sort_opaque {
            list.mask_and_sort(pool, |data| {
                let parts = parts(data);
                // A key costs as much as the mask, and hidden meshes need none.
                (parts, if parts.is_empty() { 0 } else { visibility.opaque_key(data) })
            });
        } else {
            list.mask(pool, |mesh| parts(mesh));
        }
    }
}

/// Face directions of a mesh that may be visible.
pub(crate) fn visible_parts(data: &DrawData, view: &View, visibility: &Visibility) -> PartSet {
    if view.cull_frustum && !visibility.in_view(data) {
        PartSet::EMPTY
    } else if view.mask_back_faces {
        PartSet::from_bits(visibility.visible_faces(data).bits())
    } else {
        PartSet::ALL
    }
}
