use drystone_mesh::Face;

use super::changes::toggled;
use super::{LevelTree, NodeSink};
use crate::NodePos;

impl LevelTree {
    /// Shows and hides walls around every node that came or went: a node that is shown has one
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
        // In most places there is no wall, and in the others it often is as it should be.
        let is_shown = shown.walls.contains(face);
        if is_shown != hides || (shown.made.get(face).is_empty() && !is_shown) {
            return Ok(());
        }
        let is_open = node
            .offset(face.normal())
            .is_some_and(|neighbor| !self.is_shown(neighbor) && self.data.is_inside(neighbor));
        let Some(shown) = self.shown.get_mut(&node) else { return Ok(()) };
        let wall = shown.made.get(face);
        let is_wanted = is_open && !wall.is_empty();
        if is_wanted != is_shown {
            sink.set_wall(node, face, is_wanted.then_some(wall))?;
            shown.walls = toggled(shown.walls, face);
            // One that should have been taken away before is replaced.
            if let Some(left) = self.stuck.get_mut(&node).filter(|left| left.walls.contains(face)) {
                left.walls = toggled(left.walls, face);
            }
        }
        Ok(())
    }
}
