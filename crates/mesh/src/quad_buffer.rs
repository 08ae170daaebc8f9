use alloc::vec::Vec;

use crate::{Face, Quad};

/// Whatever a mesher can write quads into.
///
/// Quads come in bulk: the mesher asks for room, writes as much of it as it likes and says
/// how many quads to keep. So a quad costs one store, and nothing is counted or checked
/// quad by quad.
///
/// # Examples
/// ```
/// use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};
///
/// let mut buffer = QuadBuffer::new();
/// let room = buffer.room(8);
/// room[0] = Quad::new([0, 0, 0], [1, 1], Face::PosY, 7);
/// buffer.keep(Face::PosY, 1);
/// assert_eq!(buffer.len(), 1);
/// ```
pub trait QuadSink {
    /// Room for at least `count` quads after those kept. What is in it has no meaning.
    fn room(&mut self, count: usize) -> &mut [Quad];

    /// Keeps the first `count` quads of the room last given, all of which are of `face`.
    /// Meshers go facing by facing, in the order of [`Face::ALL`].
    fn keep(&mut self, face: Face, count: usize);

    /// Takes one quad.
    #[inline]
    fn push(&mut self, quad: Quad) {
        if let Some(place) = self.room(1).first_mut() {
            *place = quad;
            self.keep(quad.face().unwrap_or(Face::NegX), 1);
        }
    }
}

/// A growing list of quads, facings side by side, that keeps its memory when cleared.
///
/// # Cost
/// 8 bytes a quad of the largest mesh so far and of the room that its mesher asked for;
/// memory is asked for only beyond that.
#[derive(Debug, Default)]
pub struct QuadBuffer {
    /// The quads kept, then room.
    quads: Vec<Quad>,
    len: usize,
    counts: [u32; Face::COUNT],
}

impl QuadBuffer {
    /// An empty buffer.
    pub const fn new() -> Self {
        Self { quads: Vec::new(), len: 0, counts: [0; Face::COUNT] }
    }

    /// Forgets the quads and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.counts = [0; Face::COUNT];
    }

    /// The quads, facing by facing in the order of [`Face::ALL`].
    pub fn quads(&self) -> &[Quad] {
        &self.quads[..self.len]
    }

    /// How many quads each facing has.
    pub const fn counts(&self) -> [u32; Face::COUNT] {
        self.counts
    }

    /// How many quads `face` has.
    pub const fn count(&self, face: Face) -> u32 {
        self.counts[face.index()]
    }

    /// How many quads there are in all.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no quad.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes room for at least `count` more quads, and for as many again as there are.
    #[cold]
    fn grow(&mut self, count: usize) {
        let nothing = Quad::from_bits(0);
        self.quads.resize(self.len + count.max(self.len), nothing);
    }
}

/// The copy takes what the quads need, without room.
impl Clone for QuadBuffer {
    fn clone(&self) -> Self {
        Self { quads: self.quads().to_vec(), len: self.len, counts: self.counts }
    }
}

impl QuadSink for QuadBuffer {
    #[inline]
    fn room(&mut self, count: usize) -> &mut [Quad] {
        if self.quads.len() - self.len < count {
            self.grow(count);
        }
        &mut self.quads[self.len..]
    }

    #[inline]
    fn keep(&mut self, face: Face, count: usize) {
        debug_assert!(
            self.counts[face.index() + 1..].iter().all(|&later| later == 0),
            "facings must be pushed in order"
        );
        let count = count.min(self.quads.len() - self.len);
        debug_assert!(
            self.quads[self.len..][..count].iter().all(|quad| quad.face() == Some(face)),
            "all quads kept must be of the facing"
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
    fn what_is_kept_stays_and_the_rest_of_the_room_does_not() {
        let mut buffer = QuadBuffer::new();
        for (step, face) in Face::ALL.into_iter().enumerate() {
            let room = buffer.room(5 * step);
            assert!(room.len() >= 5 * step);
            room.fill(quad(63, face));
            for (x, place) in room.iter_mut().enumerate().take(2 * step) {
                *place = quad(x as u32, face);
            }
            buffer.keep(face, 2 * step);
            buffer.push(quad(50, face));
            assert_eq!(buffer.count(face), 2 * step as u32 + 1);
        }
        let expected = Face::ALL
            .into_iter()
            .enumerate()
            .flat_map(|(step, face)| (0..2 * step as u32).chain([50]).map(move |x| quad(x, face)));
        assert!(expected.eq(buffer.quads().iter().copied()));
        let copy = buffer.clone();
        assert_eq!((copy.quads(), copy.counts()), (buffer.quads(), buffer.counts()));
        buffer.clear();
        assert!(buffer.is_empty() && buffer.quads().is_empty() && buffer.counts() == [0; 6]);
    }
}
