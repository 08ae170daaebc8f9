use alloc::vec::Vec;
use core::num::NonZeroU32;

use drystone_alloc::Handle;

use super::{CoordinateHandle, Projected, VertexHandle};
use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// What the numbers of seams have and those of whole vertices have not.
const SEAM: u32 = 1 << 31;
/// The stamp of a coordinate that was never transformed.
pub(super) const NEVER: u32 = 0;

/// The vertices of a store and their coordinates, each counted.
///
/// ```text
///  numbers      0        1        2    …   SEAM + 0    SEAM + 1
///  whole      [uv, at] [uv, at] [–, at]                            a vertex and its coordinate
///  seams                          ▲────────[uv]────────[uv]        further vertices there
///  seen       [–]      [seen]   [seen]                             written when transformed
/// ```
/// A coordinate is made with a vertex and lies in one record with it, so that making,
/// finding and freeing the two is one step; only what is cold lies apart. Whoever else needs
/// the coordinate is a seam. Owners of a whole record are the polygons that use its vertex and
/// the seams that use its coordinate: it is freed with the last of all, and the vertex is
/// gone with the last of the first.
pub(super) struct Vertices<T> {
    whole: CountedPool<Whole<T>>,
    seams: CountedPool<Seam<T>>,
    /// Whole records whose vertex is gone.
    bare: u32,
    /// Where coordinates are seen, for as many as were needed yet.
    seen: Vec<Projected>,
}

/// A vertex and its coordinate.
#[derive(Clone, Debug)]
struct Whole<T> {
    position: [f32; 3],
    /// The frame in which it was transformed.
    stamp: u32,
    /// How many of the owners are seams.
    seams: u32,
    surface: Surface<T>,
}

/// A vertex at the coordinate of another one.
#[derive(Clone, Debug)]
struct Seam<T> {
    at: u32,
    surface: Surface<T>,
}

/// What belongs to the polygons' side of a vertex.
#[derive(Clone, Debug)]
pub(super) struct Surface<T> {
    pub(super) uv: [f32; 2],
    pub(super) data: T,
}

impl<T> Vertices<T> {
    /// Bytes of a coordinate, and of a vertex at it beside the first.
    pub(super) const WHOLE_BYTES: usize =
        CountedPool::<Whole<T>>::RECORD_BYTES + size_of::<Projected>();
    pub(super) const SEAM_BYTES: usize = CountedPool::<Seam<T>>::RECORD_BYTES;

    pub(super) const fn new() -> Self {
        Self { whole: CountedPool::new(), seams: CountedPool::new(), bare: 0, seen: Vec::new() }
    }

    /// A new vertex at a new coordinate, counted for one polygon. In its callers' loops, as
    /// what it calls: a call would write the result to memory and read it there.
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

    /// A new vertex at a coordinate that there is, counted for one polygon.
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

    /// The number of a vertex in use.
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

    /// Counts one polygon more.
    #[inline]
    pub(super) fn share(&mut self, number: u32) -> Result<(), Error> {
        match number & SEAM {
            0 => self.whole.share_at(number),
            _ => self.seams.share_at(number ^ SEAM),
        }
    }

    /// Counts one polygon less. With the last the vertex goes, and its coordinate unless
    /// another vertex is at it.
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
        // Only a record without its vertex can have had this one owner alone.
        if self.whole.release_at(at).is_some() {
            self.bare -= 1;
        }
    }

    /// The number of a vertex's coordinate.
    #[inline]
    pub(super) fn coordinate_of(&self, number: u32) -> Option<u32> {
        match number & SEAM {
            0 => Some(number),
            _ => self.seams.at(number ^ SEAM).map(|seam| seam.at),
        }
    }

    /// Where a coordinate is.
    #[inline]
    pub(super) fn position_at(&self, coordinate: u32) -> Option<[f32; 3]> {
        self.whole.at(coordinate).map(|whole| whole.position)
    }

    /// Where a vertex is.
    #[inline]
    pub(super) fn position(&self, number: u32) -> Option<[f32; 3]> {
        self.position_at(self.coordinate_of(number)?)
    }

    /// Where a vertex is, and what belongs to it.
    #[inline]
    pub(super) fn corner(&self, number: u32) -> Option<([f32; 3], &Surface<T>)> {
        match number & SEAM {
            0 => self.whole.at(number).map(|whole| (whole.position, &whole.surface)),
            _ => {
                let seam = self.seams.at(number ^ SEAM)?;
                Some((self.position_at(seam.at)?, &seam.surface))
            }
        }
    }

    /// Texture coordinates and data of a vertex.
    #[inline]
    pub(super) fn surface(&self, number: u32) -> Option<&Surface<T>> {
        match number & SEAM {
            0 => self.whole.at(number).map(|whole| &whole.surface),
            _ => self.seams.at(number ^ SEAM).map(|seam| &seam.surface),
        }
    }

    /// The handle of a vertex in use.
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

    /// The handle of a vertex's coordinate.
    pub(super) fn coordinate_handle(&self, number: u32) -> Option<CoordinateHandle> {
        self.whole.handle_at(self.coordinate_of(number)?).map(Handle::cast)
    }

    /// Where a vertex was seen in a frame.
    pub(super) fn projected(&self, number: u32, frame: u32) -> Option<Projected> {
        let at = self.coordinate_of(number)?;
        let is_seen = self.whole.at(at).is_some_and(|whole| whole.stamp == frame);
        if is_seen { self.seen.get(at as usize).copied() } else { None }
    }

    /// Memory for what is seen of all coordinates.
    pub(super) fn reserve_seen(&mut self) -> Result<(), Error> {
        let (count, end) = (self.seen.len(), self.whole.end() as usize);
        if count < end {
            let more = self.whole.capacity() - count;
            let no_memory = |_| full(more * size_of::<Projected>());
            self.seen.try_reserve_exact(more).map_err(no_memory)?;
            self.seen.resize(end, Projected::default());
        }
        Ok(())
    }

    /// Transforms the coordinate of a vertex, unless it was in this frame.
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
            && let Some(seen) = self.seen.get_mut(at as usize)
        {
            *seen = project(whole.position);
            whole.stamp = frame;
        }
    }

    /// Takes the stamps off all coordinates.
    pub(super) fn forget_stamps(&mut self) {
        for index in 0..self.whole.end() {
            if let Some(whole) = self.whole.at_mut(index) {
                whole.stamp = NEVER;
            }
        }
    }

    /// Memory for so many vertices at coordinates of their own, beyond those that there are.
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), Error> {
        self.whole.reserve(count)
    }

    /// Frees everything and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.whole.reset();
        self.seams.reset();
        self.bare = 0;
    }

    /// How many vertices there are.
    pub(super) const fn len(&self) -> u32 {
        self.whole.len() + self.seams.len() - self.bare
    }

    /// How many coordinates there are.
    pub(super) const fn coordinate_count(&self) -> u32 {
        self.whole.len()
    }

    /// How many vertices are at coordinates that others made.
    pub(super) const fn seam_count(&self) -> u32 {
        self.seams.len()
    }

    /// One past the last number of a coordinate.
    pub(super) fn end(&self) -> u32 {
        self.whole.end()
    }

    /// Bytes of memory that there is.
    pub(super) fn reserved_bytes(&self) -> usize {
        let seen = self.seen.capacity() * size_of::<Projected>();
        self.whole.reserved_bytes() + self.seams.reserved_bytes() + seen
    }

    /// Compares owners with `used`, which says how often polygons list a vertex.
    pub(super) fn check(&self, used: impl Fn(u32) -> u32) -> Result<(), &'static str> {
        self.whole.check()?;
        self.seams.check()?;
        let mut seams = alloc::vec![0u32; self.whole.end() as usize];
        for (handle, seam) in self.seams.iter() {
            let count = seams.get_mut(seam.at as usize).ok_or("a vertex is at no coordinate")?;
            *count += 1;
            let number = handle.index();
            if self.seams.owners_at(number) != used(number | SEAM) {
                return Err("a vertex is not counted as often as polygons list it");
            }
        }
        let mut bare = 0;
        for (number, &seams) in (0..).zip(&seams) {
            if self.whole.at(number).map_or(0, |whole| whole.seams) != seams {
                return Err("a coordinate is not counted as often as vertices are at it");
            }
            if self.whole.owners_at(number) != used(number) + seams {
                return Err("a vertex is not counted as often as polygons list it");
            }
            bare += u32::from(used(number) == 0 && seams > 0);
        }
        if bare == self.bare { Ok(()) } else { Err("the number of vertices is wrong") }
    }
}

/// The handle of a seam in its pool.
fn seam_handle<T>(vertex: VertexHandle) -> Result<Handle<Seam<T>>, Error> {
    Handle::from_bits(vertex.to_bits() ^ u64::from(SEAM)).ok_or(Error::Stale)
}
