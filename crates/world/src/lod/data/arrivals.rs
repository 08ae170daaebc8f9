use std::time::Duration;

use drystone_formats::{ArrivalState, Arrivals};
use drystone_voxel::NodePos;
use hashbrown::HashMap;

use super::{LodData, lock};

/// Maximum number of nodes whose data is requested at once.
const MAX_AWAITED: usize = 256;
/// Maximum number of nodes that are requested for others than meshes.
const MAX_WISHED: usize = 64;
/// Time between two looks at what has come, while a thread waits.
const FETCH_INTERVAL: Duration = Duration::from_millis(2);

/// Data of sources that comes over a network.
impl LodData {
    /// Returns the state of the connection, if the source comes over a network.
    pub fn arrival_state(&self) -> Option<ArrivalState> {
        self.source.arrivals().map(Arrivals::state)
    }

    /// Waits until the data of nodes that come over a network is here, or a request fails. All of it is
    /// requested at once, so that it comes sooner than chunk by chunk. Of more data than the source keeps in memory,
    /// the first is gone at the end. Does nothing in browsers, which cannot wait.
    pub fn fetch(&self, nodes: &[NodePos]) {
        let arrivals = self.source.arrivals().filter(|_| !cfg!(target_arch = "wasm32"));
        let Some(arrivals) = arrivals else { return };
        let mut open = nodes.to_vec();
        loop {
            let mut missing = Vec::new();
            open.retain(|&node| {
                let before = missing.len();
                self.add_missing(arrivals, node, &mut missing);
                missing.len() > before
            });
            if missing.is_empty() || arrivals.state().failure.is_some() {
                return;
            }
            arrivals.request(&missing);
            std::thread::sleep(FETCH_INTERVAL);
        }
    }

    /// Returns those of `nodes`, in order, whose meshes can be made without waiting, and requests the data of
    /// the others. The last ones are the most urgent. `neighbors` are the offsets of the nodes that a
    /// mesh also needs.
    ///
    /// # Cost
    /// Nothing, unless the source comes over a network. Then some lookups for each node.
    pub(in crate::lod) fn arrived(
        &self,
        mut nodes: Vec<NodePos>,
        neighbors: &[[i32; 3]],
    ) -> Vec<NodePos> {
        let Some(arrivals) = self.source.arrivals() else { return nodes };
        let mut seen = HashMap::new();
        let mut missing = Vec::new();
        lock(&self.wished).retain(|&node| {
            let before = missing.len();
            self.add_missing(arrivals, node, &mut missing);
            missing.len() > before
        });
        let mut is_here = |node: NodePos| {
            *seen.entry(node).or_insert_with(|| {
                let before = missing.len();
                self.add_missing(arrivals, node, &mut missing);
                missing.len() == before
            })
        };
        nodes.drain(..nodes.len().saturating_sub(MAX_AWAITED));
        let mut here: Vec<NodePos> = Vec::with_capacity(nodes.len());
        for &node in nodes.iter().rev() {
            let mut is_complete = is_here(node);
            // The mesh of an empty node is empty, whatever its neighbours are.
            if !(is_complete && self.is_source_air(node)) {
                for &offset in neighbors {
                    is_complete &= node.offset(offset).is_none_or(&mut is_here);
                }
            }
            if is_complete {
                here.push(node);
            }
        }
        arrivals.request(&missing);
        here.reverse();
        here
    }

    /// Whether data has to arrive before the mesh of a node can be made without waiting. The arguments are
    /// those of [`arrived`](Self::arrived).
    pub(in crate::lod) fn is_any_absent(&self, node: NodePos, neighbors: &[[i32; 3]]) -> bool {
        if self.source.arrivals().is_none() {
            return false;
        }
        let mut around = neighbors.iter().filter_map(|&offset| node.offset(offset));
        self.is_absent(node)
            || (!self.is_source_air(node) && around.any(|neighbor| self.is_absent(neighbor)))
    }

    /// Whether data has to arrive before a node can be read without waiting. It is requested with the next
    /// meshes then, before theirs.
    pub(super) fn is_absent(&self, node: NodePos) -> bool {
        let Some(arrivals) = self.source.arrivals() else { return false };
        let mut missing = Vec::new();
        self.add_missing(arrivals, node, &mut missing);
        if missing.is_empty() {
            return false;
        }
        let mut wished = lock(&self.wished);
        if wished.len() < MAX_WISHED && !wished.contains(&node) {
            wished.push(node);
        }
        true
    }

    fn add_missing(&self, arrivals: &dyn Arrivals, node: NodePos, missing: &mut Vec<NodePos>) {
        let is_known = || {
            let mut cache = lock(&self.cache);
            cache.get(node).is_some() || cache.broken(node, self.clock.now()).is_some()
        };
        if !self.is_inside(node) || self.read_edits().get(node).is_some() || is_known() {
            return;
        }
        // Made from the nodes below; see `make`.
        let is_made =
            node.level > 0 && !self.source.makes_levels() && self.read_edits().is_above_any(node);
        if is_made {
            let children = node.children().into_iter().flatten();
            children.for_each(|child| self.add_missing(arrivals, child, missing));
        } else {
            arrivals.missing(node, missing);
        }
    }
}
