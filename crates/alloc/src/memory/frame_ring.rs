use super::Linear;
use crate::Error;

/// One [`Linear`] for each frame in flight, used in turn.
///
/// ```text
///  frame     7          8          9          10 takes the one of 7, if 7 is done
///        [  Linear  ][  Linear  ][  Linear  ]
/// ```
/// What was written for a frame stays where it is while the GPU may still read it: who asks
/// for the next frame's memory says which frame is complete, as with
/// [`BucketRing`](crate::BucketRing), and gets none that a later frame still reads.
///
/// # Cost
/// O(1); a number for each frame.
///
/// # Examples
/// ```
/// use drystone_alloc::memory::{FrameRing, Linear, Region};
///
/// let frame = || Ok::<_, drystone_alloc::Error>(Linear::new(Region::heap(4096)?));
/// let mut ring = FrameRing::new([frame()?, frame()?]);
/// ring.next(1, 0)?.alloc(1.0f32)?;
/// ring.next(2, 0)?.alloc(2.0f32)?;
/// assert!(ring.next(3, 0).is_err()); // Frame 1 is not done,
/// assert_eq!(ring.next(3, 1)?.used(), 0); // and now it is.
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameRing<'m, const N: usize> {
    arenas: [Linear<'m>; N],
    /// Which frame each arena was last given to.
    frames: [Option<u64>; N],
    next: usize,
}

impl<'m, const N: usize> FrameRing<'m, N> {
    /// A ring of these. With one fewer than there are frames in flight, `next` is refused
    /// until a frame is done.
    pub const fn new(arenas: [Linear<'m>; N]) -> Self {
        const { assert!(N > 0, "a ring needs an arena") };
        Self { arenas, frames: [None; N], next: 0 }
    }

    /// Empties the arena that was used longest ago and gives it to `frame`, if the frame it
    /// belonged to is `completed` or an earlier one. `u64::MAX` takes any.
    ///
    /// # Errors
    /// `InFlight` when it is not; nothing changes.
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

    /// The arena that was last given to `frame`, as long as it has it.
    pub fn frame(&self, frame: u64) -> Option<&Linear<'m>> {
        let at = self.frames.iter().position(|owner| *owner == Some(frame))?;
        self.arenas.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Region;
    use core::mem::MaybeUninit;

    #[test]
    fn an_arena_waits_for_its_frame() {
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
