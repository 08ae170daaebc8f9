use drystone_voxel::NodePos;

/// Number of merge meshes after the eight meshes of each split. Merges are not urgent, but they
/// free memory. Without a share for them, a camera that keeps moving would leave all nodes behind
/// it fine.
const MERGES_PER_SPLIT: usize = 2;

/// A request for missing meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeshRequest {
    pub(super) node: NodePos,
    /// Bits of the children of `node` that are missing. If 0, the mesh of `node` itself is missing.
    pub(super) missing: u8,
    pub(super) priority: f64,
}

impl MeshRequest {
    /// Priority of an edit's meshes: they are made before all others.
    pub(super) const EDIT: f64 = 1e30;
    /// Priority of damaged nodes: they are read again after all others.
    pub(super) const REREAD: f64 = 0.0;

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodePos> + use<> {
        let Self { node, missing, .. } = *self;
        let itself = (missing == 0).then_some(node);
        let children = node.children().into_iter().flatten().enumerate();
        itself
            .into_iter()
            .chain(children.filter_map(move |(i, child)| (missing >> i & 1 == 1).then_some(child)))
    }
}

/// The meshes that an update needs and does not have.
#[derive(Debug, Default)]
pub(super) struct MeshRequests {
    /// Requests of edits, roots and splits.
    pub(super) needed: Vec<MeshRequest>,
    /// Requests of merges, which only free memory.
    pub(super) merges: Vec<MeshRequest>,
}

impl MeshRequests {
    pub(super) fn clear(&mut self) {
        self.needed.clear();
        self.merges.clear();
    }

    /// Returns about `count` nodes with the highest priority, in ascending order. The result holds
    /// at least the nodes of one change.
    pub(super) fn highest_priority_nodes(&mut self, count: usize) -> Vec<NodePos> {
        let mut merges = highest_priority(&mut self.merges, count).iter().rev();
        let (mut nodes, mut since) = (Vec::new(), 0);
        for split in highest_priority(&mut self.needed, count).iter().rev() {
            if nodes.len() >= count {
                break;
            }
            let before = nodes.len();
            nodes.extend(split.nodes());
            // Merges do not delay the meshes of an edit.
            since += if split.priority < MeshRequest::EDIT { nodes.len() - before } else { 0 };
            if since >= NodePos::CHILDREN {
                since -= NodePos::CHILDREN;
                nodes.extend(merges.by_ref().take(MERGES_PER_SPLIT).map(|merge| merge.node));
            }
        }
        nodes.extend(merges.take(count.saturating_sub(nodes.len())).map(|merge| merge.node));
        nodes.reverse();
        nodes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.needed.is_empty() && self.merges.is_empty()
    }

    /// Whether nothing is requested, except data that could not be read before.
    pub(super) fn is_settled(&self) -> bool {
        self.merges.is_empty() && self.needed.iter().all(|request| request.priority <= 0.0)
    }
}

/// Returns the `count` requests with the highest priority, in ascending order.
fn highest_priority(requests: &mut [MeshRequest], count: usize) -> &[MeshRequest] {
    let by_priority = |a: &MeshRequest, b: &MeshRequest| {
        a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node))
    };
    let least = requests.len().saturating_sub(count);
    if (1..requests.len()).contains(&least) {
        requests.select_nth_unstable_by(least, by_priority);
    }
    let most = &mut requests[least..];
    most.sort_unstable_by(by_priority);
    most
}
