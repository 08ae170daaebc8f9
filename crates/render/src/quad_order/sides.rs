use drystone_mesh::{Face, FaceSet};

use super::piece::Piece;

/// Bounds of the quads of each face direction, which decide whether one order of the directions is
/// right for every camera.
///
/// A quad can hide another from some camera that sees the fronts of both if part of it lies in front
/// of the other's plane and part of the other lies behind its own plane. Quads of one direction are
/// right in the order of their planes, and no camera sees the fronts of two opposite directions at
/// one pixel. So only bounds of directions along different axes are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides([Option<Bounds>; Face::COUNT]);

/// Box around quads of one direction, in half cells: along its own axis around their planes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [i16; 3],
    high: [i16; 3],
}

impl Bounds {
    /// Whether part of this box is in front of a plane of `other`, which faces `face`.
    fn is_before(&self, other: &Self, face: Face) -> bool {
        let axis = face.axis();
        match face.is_positive() {
            true => self.high[axis] > other.low[axis],
            false => self.low[axis] < other.high[axis],
        }
    }
}

impl Sides {
    /// Adds a quad.
    pub(super) fn add(&mut self, piece: &Piece) {
        let axis = piece.face.axis();
        let (mut low, mut high) = (piece.low, piece.high);
        (low[axis], high[axis]) = (piece.plane(), piece.plane());
        let side = self.0[piece.face.index()].get_or_insert(Bounds { low, high });
        for axis in 0..3 {
            side.low[axis] = side.low[axis].min(low[axis]);
            side.high[axis] = side.high[axis].max(high[axis]);
        }
    }

    /// Whether a quad of direction `near` may hide one of direction `far`.
    fn may_hide(&self, near: Face, far: Face) -> bool {
        let (Some(a), Some(b)) = (&self.0[near.index()], &self.0[far.index()]) else {
            return false;
        };
        near.axis() != far.axis() && a.is_before(b, far) && b.is_before(a, near.opposite())
    }

    /// Whether the order of [`Face::ALL`] is right for every camera.
    pub(super) fn are_in_order(&self) -> bool {
        let later = |face: Face| Face::ALL[face.index() + 1..].iter();
        Face::ALL.into_iter().all(|face| later(face).all(|&later| !self.may_hide(face, later)))
    }

    /// Returns the rank of each direction in an order that is right for every camera; `None` if
    /// there may be no such order.
    pub(super) fn ranks(&self) -> Option<[u8; Face::COUNT]> {
        let mut ranks = [0; Face::COUNT];
        let mut rest = FaceSet::ALL;
        for rank in 0..Face::COUNT as u8 {
            let remaining = || Face::ALL.into_iter().filter(|&face| rest.contains(face));
            let hides_none =
                |face: &Face| remaining().all(|farther| !self.may_hide(*face, farther));
            let next = remaining().find(hides_none)?;
            ranks[next.index()] = rank;
            rest = rest.without(FaceSet::EMPTY.with(next));
        }
        Some(ranks)
    }
}
