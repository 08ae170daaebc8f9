use drystone_mesh::Face;
use drystone_voxel::NodePos;

use super::changes::toggled;
use super::{LodTree, NodeSink};

impl LodTree {
    /// Shows and hides the skirts around every node that was shown or hidden. A shown node has a
    /// skirt towards each neighbour that is not shown.
    ///
    /// The next update retries what the sink refuses.
    pub(super) fn close_borders<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let touched = std::mem::take(&mut self.touched);
        let mut all = Ok(());
        // Skirts that are hidden first free memory for those that are shown.
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
        // Most borders have no skirt, and most skirts are already in the right state.
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
            // The sink has replaced a skirt whose removal was pending.
            if let Some(left) =
                self.pending_removals.get_mut(&node).filter(|left| left.skirts.contains(face))
            {
                left.skirts = toggled(left.skirts, face);
            }
        }
        Ok(())
    }
}
