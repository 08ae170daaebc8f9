use drystone_mesh::Face;

use super::{LevelTree, NodeSink};
use crate::NodePos;

impl LevelTree {
    /// Shows and hides walls around every node that came or went: a node that is shown has one
    /// towards each neighbour that is not.
    ///
    /// When the sink fails, the rest is left for the next time.
    pub(super) fn close_borders<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        while let Some(&node) = self.touched.last() {
            for face in Face::ALL {
                self.close_border(node, face, sink)?;
                if let Some(neighbor) = node.offset(face.normal()) {
                    self.close_border(neighbor, face.opposite(), sink)?;
                }
            }
            self.touched.pop();
        }
        Ok(())
    }

    fn close_border<S: NodeSink>(
        &mut self,
        node: NodePos,
        face: Face,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let is_open = node.offset(face.normal()).is_some_and(|neighbor| {
            !self.shown.contains_key(&neighbor) && self.data.is_inside(neighbor)
        });
        let Some(shown) = self.shown.get_mut(&node) else { return Ok(()) };
        let wall = shown.mesh.wall(face);
        let is_wanted = is_open && !wall.is_empty();
        if is_wanted != shown.walls.contains(face) {
            sink.set_wall(node, face, is_wanted.then_some(wall))?;
            let toggled = shown.walls.bits() ^ drystone_mesh::FaceSet::EMPTY.with(face).bits();
            shown.walls = drystone_mesh::FaceSet::from_bits(toggled);
        }
        Ok(())
    }
}
