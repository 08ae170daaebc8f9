use alloc::vec::Vec;

use super::store::{expect_different, expect_finite};
use super::{PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// No vertex has this number.
const NONE: u32 = u32::MAX;

/// A vertex of a mesh that is inserted as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshVertex<T> {
    /// Where, in the caller's units.
    pub position: [f32; 3],
    /// Texture coordinates.
    pub uv: [f32; 2],
    /// The caller's data.
    pub data: T,
}

/// Meshes of vertices with indices, as files have them.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Makes a polygon of each face, for one owner, and calls `visit` with it. A face lists
    /// its corners by number, below `vertex_count`; `vertex` is asked once for each number
    /// that is listed, and the faces share what it gives. What no face lists is not made.
    ///
    /// # Cost
    /// O(corners): less than [`insert`](Self::insert) with handles, which are looked up and
    /// checked. Asks for four bytes for each number while it goes on. Memory for what is made
    /// may be [reserved](Self::reserve) before.
    ///
    /// # Errors
    /// `NoCorner` for a number that is not below `vertex_count`; else as for
    /// [`insert`](Self::insert). The faces before stay: as many as were visited.
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
                    Err(error) => return Err(self.give_up(error)),
                }
            }
            if let Err(error) = expect_different(&self.cutter.positions, &mut self.order) {
                return Err(self.give_up(error));
            }
            visit(self.insert_listed()?);
        }
        Ok(())
    }

    /// A new vertex, if its numbers are finite.
    #[inline]
    fn insert_checked(&mut self, corner: usize, made: MeshVertex<T>) -> Result<u32, Error> {
        let MeshVertex { position, uv, data } = made;
        expect_finite(corner, &position)?;
        expect_finite(corner, &uv)?;
        self.vertices.insert(position, uv, data)
    }

    /// Lists a vertex that is counted for the polygon in the making.
    #[inline]
    fn list_corner(&mut self, vertex: u32) {
        self.listed.push(vertex);
        self.cutter.positions.extend(self.vertices.position(vertex));
    }
}
