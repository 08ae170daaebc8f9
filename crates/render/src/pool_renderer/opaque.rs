use drystone_mesh::{Face, Quad};
use drystone_pool::{
    DrawList, Grouping, Hidden, ListConfig, MeshHandle, MeshRange, PartSet, PoolError, VertexPool,
    sort_key,
};

use crate::{Cull, CullRecord, CullTable, DrawData, View, Visibility};

/// A pool of quads.
pub(super) type Pool = VertexPool<Quad, DrawData>;

/// The opaque meshes of a pool, as whoever decides about them wants to have them.
pub(super) enum Opaque {
    /// The CPU masks and orders a list, of which commands are made.
    Listed(Box<DrawList>),
    /// The device decides about a table, which has to follow every mesh.
    Culled(CullTable),
}

impl Opaque {
    /// Nothing yet. `hidden` is what becomes of the commands of what a list hides.
    pub(super) fn new(cull: Cull, hidden: Hidden) -> Self {
        match cull {
            Cull::Cpu => {
                let config = ListConfig { grouping: Grouping::ByBuffer, hidden };
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

    /// Takes in a mesh of the pool.
    pub(super) fn insert(&mut self, pool: &Pool, mesh: MeshHandle) -> Result<(), PoolError> {
        match self {
            Self::Listed(list) => list.insert(mesh),
            Self::Culled(table) => {
                set(table, pool, mesh);
                Ok(())
            }
        }
    }

    /// To be called when a mesh was replaced.
    pub(super) fn replaced(&mut self, pool: &Pool, mesh: MeshHandle) {
        // A list asks the pool where its meshes are.
        if let Self::Culled(table) = self {
            set(table, pool, mesh);
        }
    }

    /// To be called when a mesh was removed.
    pub(super) fn removed(&mut self, mesh: MeshHandle) {
        // A list drops what is stale by itself.
        if let Self::Culled(table) = self {
            table.remove(mesh.slot());
        }
    }

    /// To be called when the pool was defragmented.
    pub(super) fn moved(&mut self, pool: &Pool) {
        let Self::Culled(table) = self else { return };
        for &mesh in pool.moved() {
            // Others are blended.
            if table.contains(mesh.slot()) {
                set(table, pool, mesh);
            }
        }
    }

    /// Meshes that the last commands draw, if it is the CPU that decides.
    pub(super) fn drawn(&self) -> usize {
        match self {
            Self::Listed(list) => list.drawn(),
            Self::Culled(_) => 0,
        }
    }

    /// Masks and orders what the CPU decides about.
    pub(super) fn select(&mut self, pool: &Pool, view: &View, visibility: &Visibility) {
        let Self::Listed(list) = self else { return };
        let parts = |place: &DrawData| visible_parts(place, view, visibility);
        if view.order {
            list.mask_and_sort(pool, |place| {
                (parts(place), sort_key(visibility.distance(place), 0))
            });
        } else {
            list.mask(pool, parts);
        }
    }
}

/// The parts of a mesh that may be seen: its facings.
pub(crate) fn visible_parts(place: &DrawData, view: &View, visibility: &Visibility) -> PartSet {
    if view.cull_frustum && !visibility.in_view(place) {
        PartSet::EMPTY
    } else if view.mask_facings {
        PartSet::from_bits(visibility.facings(place).bits())
    } else {
        PartSet::ALL
    }
}

/// Puts a mesh into the table as it lies in the pool.
fn set(table: &mut CullTable, pool: &Pool, mesh: MeshHandle) {
    table.set(mesh.slot(), records(pool, mesh));
}

/// The records of a mesh, each with its buffer.
fn records(pool: &Pool, mesh: MeshHandle) -> impl Iterator<Item = (u32, CullRecord)> + '_ {
    pool.data(mesh).into_iter().flat_map(move |&data| {
        pool.ranges_of(mesh).map(move |MeshRange { buffer, first, part_counts }| {
            let counts = Face::ALL.map(|face| part_counts[face.index()]);
            (buffer, CullRecord::new(mesh.slot(), data, first, counts))
        })
    })
}
