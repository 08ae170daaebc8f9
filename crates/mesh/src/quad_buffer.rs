use alloc::vec::Vec;

use crate::{Face, Quad};

/// Destination of the quads of a mesher.
///
/// Quads are written in bulk: the mesher requests space, writes quads to its start and then commits
/// their number. A quad costs one store, without a counter or check per quad.
///
/// # Examples
/// ```
/// use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};
///
/// let mut buffer = QuadBuffer::new();
/// let space = buffer.reserve(8);
/// space[0] = Quad::new([0, 0, 0], [1, 1], Face::PosY, 7);
/// buffer.commit(Face::PosY, 1);
/// assert_eq!(buffer.len(), 1);
/// ```
pub trait QuadSink {
    /// Returns space for at least `count` quads behind the committed ones. Its content is
    /// unspecified.
    fn reserve(&mut self, count: usize) -> &mut [Quad];

    /// Commits the first `count` quads of the space returned last. All of them have the direction
    /// `face`. Meshers write face directions in the order of [`Face::ALL`].
    fn commit(&mut self, face: Face, count: usize);

    /// Appends quads of one face direction.
    fn append(&mut self, face: Face, quads: &[Quad]) {
        if let Some(target) = self.reserve(quads.len()).get_mut(..quads.len()) {
            target.copy_from_slice(quads);
            self.commit(face, quads.len());
        }
    }

    /// Appends one quad.
    #[inline]
    fn push(&mut self, quad: Quad) {
        if let Some(target) = self.reserve(1).first_mut() {
            *target = quad;
            self.commit(quad.face().unwrap_or(Face::NegX), 1);
        }
    }
}

/// Growing list of quads, sorted by face direction, that retains its memory when cleared.
///
/// # Cost
/// 8 bytes per quad of the largest mesh so far and of the space that its mesher reserved. The heap
/// is used only beyond that.
#[derive(Debug, Default)]
pub struct QuadBuffer {
    /// The committed quads, then reserved space.
    quads: Vec<Quad>,
    len: usize,
    counts: [u32; Face::COUNT],
}

impl QuadBuffer {
    /// Creates an empty buffer.
    pub const fn new() -> Self {
        Self { quads: Vec::new(), len: 0, counts: [0; Face::COUNT] }
    }

    /// Removes all quads and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.counts = [0; Face::COUNT];
    }

    /// Appends all quads to another sink.
    pub fn copy_to(&self, sink: &mut dyn QuadSink) {
        let mut rest = self.quads();
        for face in Face::ALL {
            let (quads, others) = rest.split_at(self.count(face) as usize);
            sink.append(face, quads);
            rest = others;
        }
    }

    /// Returns the quads, sorted by face direction in the order of [`Face::ALL`].
    pub fn quads(&self) -> &[Quad] {
        &self.quads[..self.len]
    }

    /// Number of quads of each face direction.
    pub const fn counts(&self) -> [u32; Face::COUNT] {
        self.counts
    }

    /// Number of quads of a face direction.
    pub const fn count(&self, face: Face) -> u32 {
        self.counts[face.index()]
    }

    /// Number of quads.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no quads.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reserves space for at least `count` more quads, or doubles the length.
    #[cold]
    fn grow(&mut self, count: usize) {
        let zero = Quad::from_bits(0);
        self.quads.resize(self.len + count.max(self.len), zero);
    }
}

/// The copy has memory for its quads only, without reserved space.
impl Clone for QuadBuffer {
    fn clone(&self) -> Self {
        Self { quads: self.quads().to_vec(), len: self.len, counts: self.counts }
    }
}

impl QuadSink for QuadBuffer {
    #[inline]
    fn reserve(&mut self, count: usize) -> &mut [Quad] {
        if self.quads.len() - self.len < count {
            self.grow(count);
        }
        &mut self.quads[self.len..]
    }

    #[inline]
    fn commit(&mut self, face: Face, count: usize) {
        debug_assert!(
            self.counts[face.index() + 1..].iter().all(|&later| later == 0),
            "face directions must be written in the order of Face::ALL"
        );
        let count = count.min(self.quads.len() - self.len);
        debug_assert!(
            self.quads[self.len..][..count].iter().all(|quad| quad.face() == Some(face)),
            "all committed quads must have the face direction"
        );
        self.counts[face.index()] += count as u32;
        self.len += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(x: u32, face: Face) -> Quad {
        Quad::new([x, 0, 0], [1, 1], face, 1)
    }

    #[test]
    fn committed_quads_stay_and_other_reserved_ones_are_dropped() {
        let mut buffer = QuadBuffer::new();
        for (step, face) in Face::ALL.into_iter().enumerate() {
            let space = buffer.reserve(5 * step);
            assert!(space.len() >= 5 * step);
            space.fill(quad(63, face));
            for (x, target) in space.iter_mut().enumerate().take(2 * step) {
                *target = quad(x as u32, face);
            }
            buffer.commit(face, 2 * step);
            buffer.push(quad(50, face));
            assert_eq!(buffer.count(face), 2 * step as u32 + 1);
        }
        let expected = Face::ALL
            .into_iter()
            .enumerate()
            .flat_map(|(step, face)| (0..2 * step as u32).chain([50]).map(move |x| quad(x, face)));
        assert!(expected.eq(buffer.quads().iter().copied()));
        let mut copy = QuadBuffer::new();
        buffer.copy_to(&mut copy);
        for copy in [copy, buffer.clone()] {
            assert_eq!((copy.quads(), copy.counts()), (buffer.quads(), buffer.counts()));
        }
        buffer.clear();
        assert!(buffer.is_empty() && buffer.quads().is_empty() && buffer.counts() == [0; 6]);
    }
}
