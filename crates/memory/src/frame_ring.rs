use super::Linear;
use crate::Error;

/// Ring of [`Linear`] allocators, one for each frame in flight.
///
/// ```text
///  frame     7          8          9          10 reuses the arena of 7, if 7 is complete
///        [  Linear  ][  Linear  ][  Linear  ]
/// ```
/// Data written for a frame stays valid while the GPU may still read it. The caller of
/// [`next`](Self::next) passes the last complete frame. An arena that a later frame may still read
/// is not reused.
///
/// # Cost
/// O(1). Metadata: 16 bytes per frame.
///
/// # Examples
/// ```
/// use drystone_memory::{FrameRing, Linear, Region};
///
/// let frame = || Ok::<_, drystone_memory::Error>(Linear::new(Region::heap(4096)?));
/// let mut ring = FrameRing::new([frame()?, frame()?]);
/// ring.next(1, 0)?.alloc(1.0f32)?;
/// ring.next(2, 0)?.alloc(2.0f32)?;
/// assert!(ring.next(3, 0).is_err()); // Frame 1 is not complete,
/// assert_eq!(ring.next(3, 1)?.used(), 0); // and now it is.
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameRing<'m, const N: usize> {
    arenas: [Linear<'m>; N],
    /// Frame that each arena was last assigned to.
    frames: [Option<u64>; N],
    next: usize,
}

impl<'m, const N: usize> FrameRing<'m, N> {
    /// Creates a ring of `arenas`. If it has fewer arenas than there are frames in flight,
    /// [`next`](Self::next) fails until a frame is complete.
    pub const fn new(arenas: [Linear<'m>; N]) -> Self {
        const { assert!(N > 0, "a ring needs an arena") };
        Self { arenas, frames: [None; N], next: 0 }
    }

    /// Resets the least recently used arena and assigns it to `frame`. Its previous frame must be
    /// complete: not later than `completed`. `u64::MAX` accepts any frame.
    ///
    /// # Errors
    /// `InFlight` if that frame is not complete. Nothing changes then.
    pub fn next(&mut self, frame: u64, completed: u64) -> Result<&mut Linear<'m>, Error> {
        // In bounds: `next` is always below N.
        let at = self.next % N;
        if let Some(owner) = self.frames[at]
            && owner > completed
        {
            return Err(Error::InFlight { frame: owner, completed });
        }
        self.frames[at] = Some(frame);
        self.next = (at + 1) % N;
        let arena = &mut self.arenas[at];
        arena.reset();
        Ok(arena)
    }

    /// Returns the arena that is assigned to `frame`, or `None` if it was reused since.
    pub fn frame(&self, frame: u64) -> Option<&Linear<'m>> {
        let at = self.frames.iter().position(|owner| *owner == Some(frame))?;
        self.arenas.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use core::mem::MaybeUninit;

    #[test]
    fn an_arena_is_reused_only_after_its_frame_is_complete() {
        let mut bytes = [[MaybeUninit::uninit(); 64]; 3];
        let mut ring = FrameRing::new(bytes.each_mut().map(|it| Linear::new(Region::new(it))));
        for frame in 10..13 {
            ring.next(frame, 0).unwrap().alloc_str("frame").unwrap();
        }
        let refused = Error::InFlight { frame: 10, completed: 9 };
        assert_eq!(ring.next(13, 9).unwrap_err(), refused);
        assert_eq!(ring.frame(10).map(Linear::used), Some(5));
        assert_eq!(ring.next(13, 11).unwrap().used(), 0);
        assert_eq!(ring.next(14, 11).unwrap().used(), 0);
        assert_eq!(ring.next(15, 11).unwrap_err(), Error::InFlight { frame: 12, completed: 11 });
        assert_eq!(ring.next(15, u64::MAX).unwrap().used(), 0);
        assert!(ring.frame(12).is_none() && ring.frame(13).is_some());
    }
}
