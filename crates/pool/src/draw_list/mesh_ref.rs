use core::ops::Deref;

use bytemuck::Pod;

use crate::{
    mesh::{Mesh, MeshHandle, MeshKey},
    meshes::Meshes,
    parts::MAX_PARTS,
    stats::MeshRange,
    vertex_pool::VertexPool,
};

/// Mesh of a pool, as masks, sort keys and comparators of a [`DrawList`](crate::DrawList) see it.
/// Dereferences to its per-draw data `D`.
///
/// # Cost
/// A mask reads the data of all meshes in memory order. Counts and location are read from a second
/// table, 56 bytes per mesh, only by the methods that return them.
///
/// # Examples
/// ```
/// use drystone_pool::{Access, DrawList, NullBackend, PartSet, PoolConfig, VertexPool};
///
/// let mut backend = NullBackend(Access::Staged);
/// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default())?;
/// let mut list = DrawList::new();
/// for count in [3_u32, 1, 2] {
///     let elements = vec![0; count as usize];
///     list.insert(pool.insert(&elements, &[count], 10 * count, &mut backend)?)?;
/// }
/// // Only meshes with more than one element, the largest first.
/// list.mask(&pool, |mesh| {
///     if mesh.element_count() > 1 { PartSet::ALL } else { PartSet::EMPTY }
/// });
/// list.sort_by(&pool, |a, b| b.element_count().cmp(&a.element_count()));
/// let drawn: Vec<u32> = list.commands(&pool).iter().map(|it| it.index_count / 6).collect();
/// assert_eq!(drawn, [3, 2]);
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MeshRef<'a, D> {
    data: &'a D,
    meshes: &'a Meshes,
    key: MeshKey,
}

impl<'a, D: Pod> MeshRef<'a, D> {
    /// Creates the view of a mesh; none if its slot has no data.
    #[inline]
    pub(crate) fn new<V: Pod>(pool: &'a VertexPool<V, D>, key: MeshKey) -> Option<Self> {
        Some(Self { data: pool.table.all().get(key.index() as usize)?, meshes: &pool.meshes, key })
    }
}

impl<'a, D> MeshRef<'a, D> {
    /// Returns the per-draw data.
    #[inline]
    pub const fn data(&self) -> &'a D {
        self.data
    }

    /// Returns the handle.
    #[inline]
    pub const fn handle(&self) -> MeshHandle {
        self.meshes.handle(self.key)
    }

    /// Returns the number of elements, in all parts.
    #[inline]
    pub fn element_count(&self) -> u32 {
        self.mesh().map_or(0, Mesh::len)
    }

    /// Returns the buffer, the first element in it and the size of each part. If the mesh is split,
    /// buffer and first element are those of its first piece, and the sizes those of the whole mesh.
    /// All are 0 for a mesh without elements.
    pub fn range(&self) -> MeshRange {
        let Some(mesh) = self.mesh() else {
            return MeshRange { buffer: 0, first: 0, part_counts: [0; MAX_PARTS] };
        };
        MeshRange {
            buffer: mesh.ranges.buffer.into(),
            first: mesh.ranges.first,
            part_counts: mesh.ranges.counts_within(&(0..mesh.len())),
        }
    }

    /// Returns the mesh; none if it was removed since the mask.
    #[inline]
    fn mesh(&self) -> Option<&'a Mesh> {
        self.meshes.get(self.handle())
    }
}

impl<D> Deref for MeshRef<'_, D> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        self.data
    }
}
