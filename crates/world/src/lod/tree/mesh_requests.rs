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

#[cfg(test)]
mod tests {
    use drystone_voxel::ChunkPos;

    use super::*;

    fn highest_priority_nodes(
        needed: &[MeshRequest],
        merges: &[MeshRequest],
        count: usize,
    ) -> Vec<NodePos> {
        let [needed, merges] = [needed, merges].map(<[MeshRequest]>::to_vec);
        MeshRequests { needed, merges }.highest_priority_nodes(count)
    }

    #[test]
    fn the_highest_priority_nodes_are_the_end_of_the_sorted_requests() {
        let request = |i: u32| {
            let dice = i.wrapping_mul(2_654_435_761) >> 20;
            let node = NodePos::new(1, ChunkPos::new(i as i32, 0, 0));
            MeshRequest { node, missing: 0, priority: f64::from(dice % 700) }
        };
        for len in [0, 1, 7, 100, 2_000] {
            let mut sorted: Vec<MeshRequest> = (0..len).map(request).collect();
            sorted.sort_by(|a, b| a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node)));
            for count in [0, 1, 8, 100, 5_000] {
                let requests: Vec<MeshRequest> = (0..len).map(request).collect();
                let least = sorted.len().saturating_sub(count);
                let expected: Vec<NodePos> = sorted[least..].iter().map(|it| it.node).collect();
                assert_eq!(
                    highest_priority_nodes(&requests, &[], count),
                    expected,
                    "{count} of {len}"
                );
            }
        }
    }

    #[test]
    fn the_meshes_of_a_change_are_requested_together() {
        let request = |x: i32, missing: u8, priority: f64| MeshRequest {
            node: NodePos::new(1, ChunkPos::new(x, 0, 0)),
            missing,
            priority,
        };
        let requests = [request(0, 0, 1.0), request(1, 0b1000_0001, 3.0), request(2, 0b110, 2.0)];
        let node = |x: i32, y: i32, z: i32| NodePos::from(ChunkPos::new(x, y, z));
        let all = [node(4, 1, 0), node(5, 0, 0), node(3, 1, 1), node(2, 0, 0)];
        assert_eq!(highest_priority_nodes(&requests, &[], 4), all);
        assert_eq!(highest_priority_nodes(&requests, &[], 3), all);
        assert_eq!(highest_priority_nodes(&requests, &[], 2), all[2..]);
        assert_eq!(highest_priority_nodes(&requests, &[], 1), all[2..]);
        assert_eq!(
            highest_priority_nodes(&requests, &[], 5)[0],
            NodePos::new(1, ChunkPos::new(0, 0, 0))
        );
    }

    /// Merges keep their share, even if many splits are requested.
    #[test]
    fn merges_are_requested_between_splits() {
        let request = |x: i32, level: u8, missing: u8| MeshRequest {
            node: NodePos::new(level, ChunkPos::new(x, 0, 0)),
            missing,
            priority: f64::from(x),
        };
        let splits: Vec<MeshRequest> = (0..4).map(|x| request(x, 1, 0xff)).collect();
        let merges: Vec<MeshRequest> = (0..7).map(|x| request(x, 2, 0)).collect();
        // The meshes of an edit come first, and no merge comes between them.
        let edit = |x: i32| MeshRequest { priority: MeshRequest::EDIT, ..request(x, 3, 0) };
        let edits: Vec<MeshRequest> = (0..20).map(edit).chain([request(9, 1, 0xff)]).collect();
        let found = highest_priority_nodes(&edits, &merges, 28);
        assert!(found.iter().rev().take(20).all(|node| node.level == 3));
        let found = highest_priority_nodes(&splits, &merges, 25);
        let levels: Vec<u8> = found.iter().rev().map(|node| node.level).collect();
        let part = [[0; 8].as_slice(), &[2; 2]].concat();
        assert_eq!(levels, part.repeat(3));
        let merged: Vec<i32> =
            found.iter().rev().filter(|it| it.level == 2).map(|it| it.chunk.x).collect();
        assert_eq!(merged, [6, 5, 4, 3, 2, 1]);
        assert_eq!(highest_priority_nodes(&[], &merges, 3).len(), 3);
    }
}
