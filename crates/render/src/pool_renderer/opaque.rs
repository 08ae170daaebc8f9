use drystone_mesh::{Face, Quad};
use drystone_pool::{
    DrawList, Grouping, HiddenCommands, ListConfig, MeshHandle, MeshRange, PartSet, PoolError,
    VertexPool, sort_key,
};

use crate::{
    cull::{Cull, CullRecord, CullTable},
    draw_data::DrawData,
    view::View,
    visibility::Visibility,
};

/// A pool of quads.
pub(super) type Pool = VertexPool<Quad, DrawData>;

/// The opaque meshes of a pool, in the form that culling needs.
pub(super) enum Opaque {
    /// The CPU masks and sorts a list and makes commands from it.
    Listed(Box<DrawList>),
    /// The GPU culls a table, which is updated with every mesh.
    Culled(CullTable),
}

impl Opaque {
    /// Creates an empty value. `hidden` is the treatment of hidden commands in a list.
    pub(super) fn new(cull: Cull, hidden: HiddenCommands) -> Self {
        match cull {
            Cull::Cpu => {
                let config =
                    ListConfig::default().with_grouping(Grouping::ByBuffer).with_hidden(hidden);
                Self::Listed(Box::new(DrawList::with_config(config)))
            }
            Cull::Gpu => Self::Culled(CullTable::new()),
        }
    }

    pub(super) const fn cull(&self) -> Cull {
        match self {
            Self::Listed(_) => Cull::Cpu,
            Self::Culled(_) => Cull::Gpu,
        }
    }

    /// Inserts a mesh of the pool.
    pub(super) fn insert(&mut self, pool: &Pool, mesh: MeshHandle) -> Result<(), PoolError> {
        match self {
            Self::Listed(list) => list.insert(mesh),
            Self::Culled(table) => {
                set(table, pool, mesh);
                Ok(())
            }
        }
    }

    /// Updates a mesh that was replaced.
    pub(super) fn replaced(&mut self, pool: &Pool, mesh: MeshHandle) {
        // A list reads the current ranges from the pool.
        if let Self::Culled(table) = self {
            set(table, pool, mesh);
        }
    }

    /// Removes a mesh that was removed from the pool.
    pub(super) fn removed(&mut self, mesh: MeshHandle) {
        // A list drops stale meshes itself.
        if let Self::Culled(table) = self {
            table.remove(mesh.slot());
        }
    }

    /// Updates the meshes that the pool has moved.
    pub(super) fn moved(&mut self, pool: &Pool) {
        let Self::Culled(table) = self else { return };
        for &mesh in pool.moved() {
            // Others are blended.
            if table.contains(mesh.slot()) {
                set(table, pool, mesh);
            }
        }
    }

    /// Number of meshes that the last commands draw; 0 if the GPU culls.
    pub(super) fn drawn(&self) -> usize {
        match self {
            Self::Listed(list) => list.drawn(),
            Self::Culled(_) => 0,
        }
    }

    /// Masks and sorts the list; does nothing if the GPU culls.
    pub(super) fn select(&mut self, pool: &Pool, view: &View, visibility: &Visibility) {
        let Self::Listed(list) = self else { return };
        let parts = |data: &DrawData| visible_parts(data, view, visibility);
        if view.sort_opaque {
            list.mask_and_sort(pool, |data| (parts(data), sort_key(visibility.distance(data), 0)));
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

/// Writes the current ranges of a mesh into the table.
fn set(table: &mut CullTable, pool: &Pool, mesh: MeshHandle) {
    table.set(mesh.slot(), records(pool, mesh));
}

/// Records of a mesh, each with its buffer.
fn records(pool: &Pool, mesh: MeshHandle) -> impl Iterator<Item = (u32, CullRecord)> + '_ {
    pool.data(mesh).into_iter().flat_map(move |&data| {
        pool.ranges_of(mesh).map(move |MeshRange { buffer, first, part_counts, .. }| {
            let counts = Face::ALL.map(|face| part_counts[face.index()]);
            (buffer, CullRecord::new(mesh.slot(), data, first, counts))
        })
    })
}
