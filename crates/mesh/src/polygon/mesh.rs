use alloc::vec::Vec;

use super::store::{expect_different, expect_finite};
use super::{PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// Marks an index without a vertex yet.
const NONE: u32 = u32::MAX;

/// Vertex of a mesh for [`PolygonStore::insert_mesh`](super::PolygonStore::insert_mesh).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshVertex<T> {
    /// Position, in the caller's units.
    pub position: [f32; 3],
    /// Texture coordinates.
    pub uv: [f32; 2],
    /// The caller's data.
    pub data: T,
}

/// Insertion of indexed meshes, as files store them.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Inserts a polygon for each face, with one owner, and calls `visit` with its handle. A face
    /// lists its corners as indices below `vertex_count`. `vertex` is called once for each listed
    /// index, and the faces share the result. Indices that no face lists are skipped.
    ///
    /// # Cost
    /// O(corners), and cheaper than [`insert`](Self::insert) with handles, which are looked up and
    /// checked. Allocates four bytes per index during the call. Memory for the result can be
    /// [reserved](Self::reserve) before.
    ///
    /// # Errors
    /// `NoCorner` for an index that is not below `vertex_count`. All errors of
    /// [`insert`](Self::insert). The faces before the failing one, which were visited, stay in the
    /// store.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{MeshVertex, PolygonStore};
    ///
    /// // A pyramid.
    /// let positions =
    ///     [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 1.0]];
    /// let faces: [&[u32]; 5] = [&[3, 2, 1, 0], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]];
    /// let mut store = PolygonStore::<()>::new();
    /// let mut made = Vec::new();
    /// let vertex = |n: usize| MeshVertex { position: positions[n], uv: [0.0; 2], data: () };
    /// store.insert_mesh(positions.len(), vertex, faces, |polygon| made.push(polygon))?;
    /// assert_eq!((made.len(), store.stats().vertices, store.stats().corners), (5, 5, 16));
    /// # Ok::<(), drystone_mesh::Error>(())
    /// ```
    pub fn insert_mesh<'m>(
        &mut self,
        vertex_count: usize,
        mut vertex: impl FnMut(usize) -> MeshVertex<T>,
        faces: impl IntoIterator<Item = &'m [u32]>,
        mut visit: impl FnMut(PolygonHandle),
    ) -> Result<(), Error> {
        let mut numbers = Vec::new();
        let no_memory = |_| full(vertex_count.saturating_mul(size_of::<u32>()));
        numbers.try_reserve_exact(vertex_count).map_err(no_memory)?;
        numbers.resize(vertex_count, NONE);
        for face in faces {
            self.start_polygon(face.len())?;
            for (corner, &n) in face.iter().enumerate() {
                let taken = match numbers.get_mut(n as usize) {
                    Some(number) if *number != NONE => {
                        self.vertices.share(*number).map(|()| *number)
                    }
                    Some(number) => {
                        let made = self.insert_checked(corner, vertex(n as usize));
                        made.inspect(|made| *number = *made)
                    }
                    None => Err(Error::NoCorner { corner, count: vertex_count }),
                };
                match taken {
                    Ok(vertex) => self.list_corner(vertex),
                    Err(error) => return Err(self.release_listed(error)),
                }
            }
            if let Err(error) = expect_different(&self.cutter.positions, &mut self.sorted) {
                return Err(self.release_listed(error));
            }
            visit(self.insert_listed()?);
        }
        Ok(())
    }

    /// Inserts a new vertex if its numbers are finite.
    #[inline]
    fn insert_checked(&mut self, corner: usize, made: MeshVertex<T>) -> Result<u32, Error> {
        let MeshVertex { position, uv, data } = made;
        expect_finite(corner, &position)?;
        expect_finite(corner, &uv)?;
        self.vertices.insert(position, uv, data)
    }

    /// Adds a vertex to the list of the polygon that is being built. The vertex already counts it
    /// as an owner.
    #[inline]
    fn list_corner(&mut self, vertex: u32) {
        self.listed.push(vertex);
        self.cutter.positions.extend(self.vertices.position(vertex));
    }
}
