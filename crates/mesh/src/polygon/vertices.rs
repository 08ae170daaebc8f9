use alloc::vec::Vec;
use core::num::NonZeroU32;

use drystone_alloc::Handle;

use super::corner::{CoordinateHandle, Projected, VertexHandle};
use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// Bit that marks indices of seams, in contrast to whole vertices.
const SEAM: u32 = 1 << 31;
/// Stamp of a coordinate that was never transformed.
pub(super) const NEVER: u32 = 0;

/// Vertices of a store and their coordinates, each counted.
///
/// ```text
///  numbers      0        1        2    …   SEAM + 0    SEAM + 1
///  whole      [uv, at] [uv, at] [–, at]                            vertices with their coordinates
///  seams                          ▲────────[uv]────────[uv]        further vertices there
///  projected  [–]      [x, y]   [x, y]                             written by transforms
/// ```
/// A coordinate is created with its first vertex and stored in one record with it, so creating,
/// finding and freeing both is one step. Projections are stored separately. Each further vertex at
/// the coordinate is a seam. The owners of a whole record are the polygons that use its vertex and
/// the seams that use its coordinate. The record is freed with its last owner; its vertex ends with
/// the last polygon.
pub(super) struct Vertices<T> {
    whole: CountedPool<Whole<T>>,
    seams: CountedPool<Seam<T>>,
    /// Number of whole records whose vertex is unused.
    bare: u32,
    /// Projections of the coordinates, allocated when needed.
    projected: Vec<Projected>,
}

/// Vertex and its coordinate.
#[derive(Clone, Debug)]
struct Whole<T> {
    position: [f32; 3],
    /// Frame in which the coordinate was transformed.
    stamp: u32,
    /// Number of owners that are seams.
    seams: u32,
    surface: Surface<T>,
}

/// Further vertex at the coordinate of another one.
#[derive(Clone, Debug)]
struct Seam<T> {
    at: u32,
    surface: Surface<T>,
}

/// Texture coordinates and data of a vertex.
#[derive(Clone, Debug)]
pub(super) struct Surface<T> {
    pub(super) uv: [f32; 2],
    pub(super) data: T,
}

impl<T> Vertices<T> {
    /// Size of a vertex with its coordinate, and of a further vertex at it, in bytes.
    pub(super) const WHOLE_BYTES: usize =
        CountedPool::<Whole<T>>::RECORD_BYTES + size_of::<Projected>();
    pub(super) const SEAM_BYTES: usize = CountedPool::<Seam<T>>::RECORD_BYTES;

    pub(super) const fn new() -> Self {
        Self {
            whole: CountedPool::new(),
            seams: CountedPool::new(),
            bare: 0,
            projected: Vec::new(),
        }
    }

    /// Inserts a vertex at a new coordinate, owned by one polygon. Inlined into its callers' loops,
    /// including its callees: a call would write the result to memory and read it again.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        position: [f32; 3],
        uv: [f32; 2],
        data: T,
    ) -> Result<u32, Error> {
        let surface = Surface { uv, data };
        let whole = Whole { position, stamp: NEVER, seams: 0, surface };
        let number = self.whole.insert_at(whole)?;
        match number & SEAM {
            0 => Ok(number),
            _ => {
                self.whole.release_at(number);
                Err(full(Self::WHOLE_BYTES))
            }
        }
    }

    /// Inserts a vertex at an existing coordinate, owned by one polygon.
    pub(super) fn insert_seam(
        &mut self,
        coordinate: CoordinateHandle,
        uv: [f32; 2],
        data: T,
    ) -> Result<u32, Error> {
        self.whole.get(coordinate.cast()).ok_or(Error::Stale)?;
        let at = coordinate.index();
        let number = self.seams.insert_at(Seam { at, surface: Surface { uv, data } })?;
        let counted = match number & SEAM {
            0 => self.whole.share_at(at),
            _ => Err(full(Self::SEAM_BYTES)),
        };
        if let Err(error) = counted {
            self.seams.release_at(number);
            return Err(error);
        }
        if let Some(whole) = self.whole.at_mut(at) {
            whole.seams += 1;
        }
        Ok(number | SEAM)
    }

    /// Returns the index of a vertex in use.
    #[inline]
    pub(super) fn find(&self, vertex: VertexHandle) -> Result<u32, Error> {
        let number = vertex.index();
        match number & SEAM {
            0 => {
                let (owners, whole) = self.whole.counted(vertex.cast()).ok_or(Error::Stale)?;
                (owners > whole.seams).then_some(number).ok_or(Error::Stale)
            }
            _ => match self.seams.get(seam_handle(vertex)?) {
                Some(_) => Ok(number),
                None => Err(Error::Stale),
            },
        }
    }

    /// Adds one polygon as an owner.
    #[inline]
    pub(super) fn share(&mut self, number: u32) -> Result<(), Error> {
        match number & SEAM {
            0 => self.whole.share_at(number),
            _ => self.seams.share_at(number ^ SEAM),
        }
    }

    /// Removes one polygon as an owner. The last one frees the vertex, and its coordinate unless
    /// another vertex uses it.
    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        if number & SEAM != 0 {
            return self.release_seam(number ^ SEAM);
        }
        let Some((owners, whole)) = self.whole.counted_at_mut(number) else { return };
        match NonZeroU32::new(owners.get() - 1) {
            Some(left) => {
                *owners = left;
                self.bare += u32::from(left.get() == whole.seams);
            }
            None => drop(self.whole.free_at(number)),
        }
    }

    #[cold]
    fn release_seam(&mut self, number: u32) {
        let Some(Seam { at, .. }) = self.seams.release_at(number) else { return };
        if let Some(whole) = self.whole.at_mut(at) {
            whole.seams -= 1;
        }
        // A record with a single owner that is a seam has no vertex.
        if self.whole.release_at(at).is_some() {
            self.bare -= 1;
        }
    }

    /// Returns the index of a vertex's coordinate.
    #[inline]
    pub(super) fn coordinate_of(&self, number: u32) -> Option<u32> {
        match number & SEAM {
            0 => Some(number),
            _ => self.seams.at(number ^ SEAM).map(|seam| seam.at),
        }
    }

    /// Returns the position of a coordinate.
    #[inline]
    pub(super) fn position_at(&self, coordinate: u32) -> Option<[f32; 3]> {
        self.whole.at(coordinate).map(|whole| whole.position)
    }

    /// Returns the position of a vertex.
    #[inline]
    pub(super) fn position(&self, number: u32) -> Option<[f32; 3]> {
        self.position_at(self.coordinate_of(number)?)
    }

    /// Returns position, stamp, texture coordinates and data of a vertex.
    #[inline]
    pub(super) fn corner(&self, number: u32) -> Option<([f32; 3], u32, &Surface<T>)> {
        match number & SEAM {
            0 => self.whole.at(number).map(|whole| (whole.position, whole.stamp, &whole.surface)),
            _ => {
                let seam = self.seams.at(number ^ SEAM)?;
                let whole = self.whole.at(seam.at)?;
                Some((whole.position, whole.stamp, &seam.surface))
            }
        }
    }

    /// Returns texture coordinates and data of a vertex.
    #[inline]
    pub(super) fn surface(&self, number: u32) -> Option<&Surface<T>> {
        match number & SEAM {
            0 => self.whole.at(number).map(|whole| &whole.surface),
            _ => self.seams.at(number ^ SEAM).map(|seam| &seam.surface),
        }
    }

    /// Returns the handle of a vertex in use.
    #[inline]
    pub(super) fn handle(&self, number: u32) -> Option<VertexHandle> {
        match number & SEAM {
            0 => self.whole.handle_at(number).map(Handle::cast),
            _ => {
                let seam = self.seams.handle_at(number ^ SEAM)?;
                Handle::from_bits(seam.to_bits() | u64::from(SEAM))
            }
        }
    }

    /// Returns the handle of a vertex's coordinate.
    pub(super) fn coordinate_handle(&self, number: u32) -> Option<CoordinateHandle> {
        self.whole.handle_at(self.coordinate_of(number)?).map(Handle::cast)
    }

    /// Returns the last projection of a vertex, which may be of an earlier frame.
    #[inline]
    pub(super) fn projected(&self, number: u32) -> Option<Projected> {
        self.projected.get(self.coordinate_of(number)? as usize).copied()
    }

    /// Reserves memory for the projections of all coordinates.
    pub(super) fn reserve_projected(&mut self) -> Result<(), Error> {
        let (count, end) = (self.projected.len(), self.whole.end() as usize);
        if count < end {
            let more = self.whole.capacity() - count;
            let no_memory = |_| full(more * size_of::<Projected>());
            self.projected.try_reserve_exact(more).map_err(no_memory)?;
            self.projected.resize(end, Projected::default());
        }
        Ok(())
    }

    /// Transforms the coordinate of a vertex, unless it already was in this frame.
    #[inline]
    pub(super) fn project(
        &mut self,
        number: u32,
        frame: u32,
        project: &mut impl FnMut([f32; 3]) -> Projected,
    ) {
        let Some(at) = self.coordinate_of(number) else { return };
        let Some(whole) = self.whole.at_mut(at) else { return };
        if whole.stamp != frame
            && let Some(projected) = self.projected.get_mut(at as usize)
        {
            *projected = project(whole.position);
            whole.stamp = frame;
        }
    }

    /// Clears the stamps of all coordinates.
    pub(super) fn clear_stamps(&mut self) {
        for index in 0..self.whole.end() {
            if let Some(whole) = self.whole.at_mut(index) {
                whole.stamp = NEVER;
            }
        }
    }

    /// Reserves memory for `count` vertices with coordinates of their own, in addition to the
    /// existing ones.
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), Error> {
        self.whole.reserve(count)
    }

    /// Frees everything and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.whole.reset();
        self.seams.reset();
        self.bare = 0;
    }

    /// Number of vertices.
    pub(super) const fn len(&self) -> u32 {
        self.whole.len() + self.seams.len() - self.bare
    }

    /// Number of coordinates.
    pub(super) const fn coordinate_count(&self) -> u32 {
        self.whole.len()
    }

    /// Number of seams: further vertices at the coordinates of others.
    pub(super) const fn seam_count(&self) -> u32 {
        self.seams.len()
    }

    /// One past the highest index of a coordinate.
    pub(super) fn end(&self) -> u32 {
        self.whole.end()
    }

    /// Reserved memory, in bytes.
    pub(super) fn reserved_bytes(&self) -> usize {
        let projected = self.projected.capacity() * size_of::<Projected>();
        self.whole.reserved_bytes() + self.seams.reserved_bytes() + projected
    }

    /// Verifies all invariants. `used` returns the number of times that polygons list a vertex.
    pub(super) fn validate(&self, used: impl Fn(u32) -> u32) -> Result<(), &'static str> {
        self.whole.validate()?;
        self.seams.validate()?;
        let mut seams = alloc::vec![0u32; self.whole.end() as usize];
        for (handle, seam) in self.seams.iter() {
            let count = seams.get_mut(seam.at as usize).ok_or("a vertex has no coordinate")?;
            *count += 1;
            let number = handle.index();
            if self.seams.owners_at(number) != used(number | SEAM) {
                return Err("the owners of a vertex differ from the polygons that list it");
            }
        }
        let mut bare = 0;
        for (number, &seams) in (0..).zip(&seams) {
            if self.whole.at(number).map_or(0, |whole| whole.seams) != seams {
                return Err("the seams of a coordinate differ from the vertices that refer to it");
            }
            if self.whole.owners_at(number) != used(number) + seams {
                return Err("the owners of a vertex differ from the polygons that list it");
            }
            bare += u32::from(used(number) == 0 && seams > 0);
        }
        if bare == self.bare { Ok(()) } else { Err("the number of vertices is wrong") }
    }
}

/// Returns the handle of a seam in its pool.
fn seam_handle<T>(vertex: VertexHandle) -> Result<Handle<Seam<T>>, Error> {
    Handle::from_bits(vertex.to_bits() ^ u64::from(SEAM)).ok_or(Error::Stale)
}
