use drystone_formats::{ArrivalState, Arrivals};
use drystone_voxel::NodePos;

use super::EditedSource;

/// The arrivals of the source. Edits are local.
impl Arrivals for EditedSource {
    /// An edited node is made from the nodes below it, and from its original if the source makes levels.
    fn missing(&self, node: NodePos, missing: &mut Vec<NodePos>) {
        let Some(arrivals) = self.source.arrivals() else { return };
        let is_made = node.level > 0 && self.is_edited(node);
        if is_made {
            node.children().into_iter().flatten().for_each(|child| self.missing(child, missing));
        }
        if !is_made || self.source.makes_levels() {
            arrivals.missing(node, missing);
        }
    }

    fn request(&self, nodes: &[NodePos]) {
        if let Some(arrivals) = self.source.arrivals() {
            arrivals.request(nodes);
        }
    }

    fn state(&self) -> ArrivalState {
        self.source.arrivals().map(Arrivals::state).unwrap_or_default()
    }
}
