use drystone_mesh::Face;

use super::changes::toggled;
use super::{LodTree, NodeSink};
use crate::NodePos;

impl LodTree {
    /// Shows and hides skirts around every node that came or went: a node that is shown has one
    /// towards each neighbour that is not.
    ///
    /// What the sink refuses is tried again the next time; the rest is done.
    pub(super) fn close_borders<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let touched = std::mem::take(&mut self.touched);
        let mut all = Ok(());
        // First what makes room.
        for hides in [true, false] {
            for &node in &touched {
                let mut closed = Ok(());
                for face in Face::ALL {
                    closed = closed.and(self.close_border(node, face, hides, sink));
                    if let Some(neighbor) = node.offset(face.normal()) {
                        let other = self.close_border(neighbor, face.opposite(), hides, sink);
                        closed = closed.and(other);
                    }
                }
                if closed.is_err() {
                    self.touched.push(node);
                }
                all = all.and(closed);
            }
        }
        all
    }

    fn close_border<S: NodeSink>(
        &mut self,
        node: NodePos,
        face: Face,
        hides: bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let Some(shown) = self.shown.get(&node) else { return Ok(()) };
        // In most places there is no skirt, and in the others it often is as it should be.
        let is_shown = shown.skirts.contains(face);
        if is_shown != hides || (shown.made.get(face).is_empty() && !is_shown) {
            return Ok(());
        }
        let is_open = node
            .offset(face.normal())
            .is_some_and(|neighbor| !self.is_shown(neighbor) && self.data.is_inside(neighbor));
        let Some(shown) = self.shown.get_mut(&node) else { return Ok(()) };
        let skirt = shown.made.get(face);
        let is_needed = is_open && !skirt.is_empty();
        if is_needed != is_shown {
            sink.set_skirt(node, face, is_needed.then_some(skirt))?;
            shown.skirts = toggled(shown.skirts, face);
            // One that should have been taken away before is replaced.
            if let Some(left) =
                self.pending_removals.get_mut(&node).filter(|left| left.skirts.contains(face))
            {
                left.skirts = toggled(left.skirts, face);
            }
        }
        Ok(())
    }
}
