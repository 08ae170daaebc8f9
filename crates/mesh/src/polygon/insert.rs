use alloc::vec::Vec;

use super::corner::{Corner, PolygonHandle};
use super::lists::{PolygonRecord, VertexLists};
use super::store::PolygonStore;
use crate::error::{Error, full};

/// Number of corners up to which each pair is compared. More are sorted to find equal ones.
const MAX_COMPARED_CORNERS: usize = 32;

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

/// Insertion of polygons and of indexed meshes, as files store them.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Inserts a polygon of `corners`, in sequence, with one owner.
    ///
    /// # Errors
    /// `TooFewCorners` for less than three. `NotFinite` and `RepeatedCorner` for invalid positions.
    /// `Stale` if a shared vertex or coordinate no longer exists, `TooManyOwners` if it has 2³² − 1
    /// owners. `Full` if the heap is out of memory.
    #[inline]
    pub fn insert(&mut self, corners: &[Corner<T>]) -> Result<PolygonHandle, Error>
    where
        T: Clone,
    {
        self.start_polygon(corners.len())?;
        for (number, corner) in corners.iter().enumerate() {
            match self.take_corner(number, corner) {
                Ok((vertex, position)) => {
                    self.listed.push(vertex);
                    self.cutter.positions.push(position);
                }
                Err(error) => return Err(self.release_listed(error)),
            }
        }
        if let Err(error) = expect_different(&self.cutter.positions, &mut self.sorted) {
            return Err(self.release_listed(error));
        }
        self.insert_listed()
    }

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

    /// Reserves memory for a polygon of `count` corners, and starts its list.
    #[inline]
    pub(super) fn start_polygon(&mut self, count: usize) -> Result<(), Error> {
        if count < 3 {
            return Err(Error::TooFewCorners { count });
        }
        self.cutter.start(count)?;
        self.listed.clear();
        self.listed.try_reserve(count).map_err(|_| full(count * size_of::<u32>()))
    }

    /// Inserts a polygon of the listed vertices, which already count it as an owner.
    #[inline]
    pub(super) fn insert_listed(&mut self) -> Result<PolygonHandle, Error> {
        let list = self.polygons.reserve_one().and_then(|()| self.lists.insert(&self.listed));
        let list = match list {
            Ok(list) => list,
            Err(error) => return Err(self.release_listed(error)),
        };
        self.corner_count += self.listed.len() as u64;
        let polygon = self.polygons.insert(PolygonRecord { list })?;
        self.blocks.touch(polygon.index());
        Ok(polygon.cast())
    }

    /// Releases the listed vertices.
    #[cold]
    pub(super) fn release_listed(&mut self, error: Error) -> Error {
        for &vertex in &self.listed {
            self.vertices.release(vertex);
        }
        error
    }

    /// Returns the vertex of a corner and its position. Adds one owner to the vertex.
    #[inline]
    fn take_corner(&mut self, number: usize, it: &Corner<T>) -> Result<(u32, [f32; 3]), Error>
    where
        T: Clone,
    {
        match it {
            Corner::Shared(vertex) => {
                let vertex = self.vertices.find(*vertex)?;
                let position = self.vertices.position(vertex).ok_or(Error::Stale)?;
                self.vertices.share(vertex)?;
                Ok((vertex, position))
            }
            Corner::At { coordinate, uv, data } => {
                expect_finite(number, uv)?;
                let vertex = self.vertices.insert_seam(*coordinate, *uv, data.clone())?;
                let position = self.vertices.position(vertex).ok_or(Error::Stale)?;
                Ok((vertex, position))
            }
            Corner::New { position, uv, data } => {
                expect_finite(number, position)?;
                expect_finite(number, uv)?;
                Ok((self.vertices.insert(*position, *uv, data.clone())?, *position))
            }
        }
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

/// Checks that the numbers of a corner are finite.
#[inline]
pub(super) fn expect_finite(corner: usize, numbers: &[f32]) -> Result<(), Error> {
    match are_finite(numbers) {
        true => Ok(()),
        false => Err(Error::NotFinite { corner }),
    }
}

/// Whether all numbers are finite. Has no branch per number.
#[inline]
pub(super) fn are_finite(numbers: &[f32]) -> bool {
    numbers.iter().fold(true, |all, number| all & number.is_finite())
}

/// Checks that no two positions are equal.
pub(super) fn expect_different(positions: &[[f32; 3]], sorted: &mut Vec<u32>) -> Result<(), Error> {
    let repeated =
        |a: usize, b: usize| Err(Error::RepeatedCorner { first: a.min(b), second: a.max(b) });
    if positions.len() <= MAX_COMPARED_CORNERS {
        for (second, position) in positions.iter().enumerate() {
            if let Some(first) = positions[..second].iter().position(|other| other == position) {
                return repeated(first, second);
            }
        }
        return Ok(());
    }
    u32::try_from(positions.len()).map_err(|_| full(positions.len()))?;
    sorted.clear();
    sorted.try_reserve(positions.len()).map_err(|_| full(positions.len() * size_of::<u32>()))?;
    sorted.extend(0..positions.len() as u32);
    // Adding zero maps −0 to 0.
    let key = |n: u32| positions[n as usize].map(|number| number + 0.0);
    sorted.sort_unstable_by(|&a, &b| {
        let pairs = key(a).into_iter().zip(key(b));
        pairs.fold(core::cmp::Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
    });
    let equal = sorted.windows(2).find(|pair| key(pair[0]) == key(pair[1]));
    equal.map_or(Ok(()), |pair| repeated(pair[0] as usize, pair[1] as usize))
}
