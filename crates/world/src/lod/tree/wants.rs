use super::look::some_of;
use super::swap::EDIT_URGENCY;
use super::{LodTree, Ready};
use crate::NodePos;

/// Frames after which a mesh that nobody wants any more is thrown away.
const FRAMES_UNWANTED: u64 = 120;
/// How often it is looked whether there are such.
const FRAMES_KEPT: u64 = 16;
/// Meshes of merges that are made between those of two splits, eight meshes each. Merges are never needed, but what
/// they free is: an eye that goes on and on would leave everything behind it as fine as it was.
const MERGES_BETWEEN: usize = 2;
/// So many nodes the workers are told of at most: more than they make before the next frame.
const MAX_TOLD: usize = 1_024;

/// Meshes that are missing.
pub(super) struct Want {
    pub(super) node: NodePos,
    /// The nodes below `node` that are wanted, a bit each; none: `node` itself is.
    pub(super) missing: u8,
    pub(super) priority: f64,
}

impl Want {
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodePos> + use<> {
        let itself = (self.missing == 0).then_some(self.node);
        itself.into_iter().chain(some_of(self.node.children(), self.missing))
    }
}

impl LodTree {
    /// Tells the workers what is missing.
    pub(super) fn want(&mut self) {
        let is_full = self.ready_bytes > self.config.unshown_bytes();
        // What waits is shown first, before more is made, but for what the next change lacks.
        let has_edits = !self.swaps.is_empty();
        let count = if is_full && !has_edits { NodePos::CHILDREN } else { MAX_TOLD };
        let wanted = most_wanted(&mut self.wanted, &mut self.wanted_merges, count);
        let room_bytes = self.config.unshown_bytes().saturating_sub(self.ready_bytes);
        self.workers.want(wanted, room_bytes);
    }

    pub(super) fn forget_unwanted(&mut self) {
        let is_full = self.ready_bytes > self.config.unshown_bytes();
        if !is_full && !self.frame.is_multiple_of(FRAMES_KEPT) {
            return;
        }
        let patience = if is_full { 0 } else { FRAMES_UNWANTED };
        let is_old =
            |node: &NodePos, ready: &Ready| self.last_wanted(*node, ready) + patience < self.frame;
        let old = self.ready.iter().filter(|(node, ready)| is_old(node, ready));
        let old: Vec<NodePos> = old.map(|(&node, _)| node).collect();
        for node in old {
            self.take_ready(node);
        }
    }
}

/// The nodes that are wanted most, these last: some `count`, and no fewer than one change needs.
fn most_wanted(splits: &mut [Want], merges: &mut [Want], count: usize) -> Vec<NodePos> {
    let mut merges = most(merges, count).iter().rev();
    let (mut nodes, mut since) = (Vec::new(), 0);
    for split in most(splits, count).iter().rev() {
        if nodes.len() >= count {
            break;
        }
        let before = nodes.len();
        nodes.extend(split.nodes());
        // Nothing comes between those of an edit.
        since += if split.priority < EDIT_URGENCY { nodes.len() - before } else { 0 };
        if since >= NodePos::CHILDREN {
            since -= NodePos::CHILDREN;
            nodes.extend(merges.by_ref().take(MERGES_BETWEEN).map(|merge| merge.node));
        }
    }
    nodes.extend(merges.take(count.saturating_sub(nodes.len())).map(|merge| merge.node));
    nodes.reverse();
    nodes
}

/// The `count` that are wanted most, these last.
fn most(wants: &mut [Want], count: usize) -> &[Want] {
    let by_priority =
        |a: &Want, b: &Want| a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node));
    let least = wants.len().saturating_sub(count);
    if (1..wants.len()).contains(&least) {
        wants.select_nth_unstable_by(least, by_priority);
    }
    let most = &mut wants[least..];
    most.sort_unstable_by(by_priority);
    most
}

#[cfg(test)]
mod tests {
    use drystone_voxel::ChunkPos;

    use super::*;

    #[test]
    fn the_most_wanted_are_the_end_of_all_sorted() {
        let want = |i: u32| {
            let dice = i.wrapping_mul(2_654_435_761) >> 20;
            let node = NodePos::new(1, ChunkPos::new(i as i32, 0, 0));
            Want { node, missing: 0, priority: f64::from(dice % 700) }
        };
        for len in [0, 1, 7, 100, 2_000] {
            let mut sorted: Vec<Want> = (0..len).map(want).collect();
            sorted.sort_by(|a, b| a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node)));
            for count in [0, 1, 8, 100, 5_000] {
                let mut wants: Vec<Want> = (0..len).map(want).collect();
                let least = sorted.len().saturating_sub(count);
                let expected: Vec<NodePos> = sorted[least..].iter().map(|it| it.node).collect();
                assert_eq!(most_wanted(&mut wants, &mut [], count), expected, "{count} of {len}");
            }
        }
    }

    #[test]
    fn the_meshes_of_a_change_are_wanted_together() {
        let want = |x: i32, missing: u8, priority: f64| Want {
            node: NodePos::new(1, ChunkPos::new(x, 0, 0)),
            missing,
            priority,
        };
        let mut wants = [want(0, 0, 1.0), want(1, 0b1000_0001, 3.0), want(2, 0b110, 2.0)];
        let node = |x: i32, y: i32, z: i32| NodePos::from(ChunkPos::new(x, y, z));
        let all = [node(4, 1, 0), node(5, 0, 0), node(3, 1, 1), node(2, 0, 0)];
        assert_eq!(most_wanted(&mut wants, &mut [], 4), all);
        assert_eq!(most_wanted(&mut wants, &mut [], 3), all);
        assert_eq!(most_wanted(&mut wants, &mut [], 2), all[2..]);
        assert_eq!(most_wanted(&mut wants, &mut [], 1), all[2..]);
        assert_eq!(most_wanted(&mut wants, &mut [], 5)[0], NodePos::new(1, ChunkPos::new(0, 0, 0)));
    }

    /// Merges get their part, however much is to be split.
    #[test]
    fn merges_come_between_splits() {
        let want = |x: i32, level: u8, missing: u8| Want {
            node: NodePos::new(level, ChunkPos::new(x, 0, 0)),
            missing,
            priority: f64::from(x),
        };
        let mut splits: Vec<Want> = (0..4).map(|x| want(x, 1, 0xff)).collect();
        let mut merges: Vec<Want> = (0..7).map(|x| want(x, 2, 0)).collect();
        // An edit's come first, and nothing between them.
        let edit = |x: i32| Want { priority: EDIT_URGENCY, ..want(x, 3, 0) };
        let mut edits: Vec<Want> = (0..20).map(edit).chain([want(9, 1, 0xff)]).collect();
        let found = most_wanted(&mut edits, &mut merges, 28);
        assert!(found.iter().rev().take(20).all(|node| node.level == 3));
        let found = most_wanted(&mut splits, &mut merges, 25);
        let levels: Vec<u8> = found.iter().rev().map(|node| node.level).collect();
        let part = [[0; 8].as_slice(), &[2; 2]].concat();
        assert_eq!(levels, part.repeat(3));
        let merged: Vec<i32> =
            found.iter().rev().filter(|it| it.level == 2).map(|it| it.chunk.x).collect();
        assert_eq!(merged, [6, 5, 4, 3, 2, 1]);
        assert_eq!(most_wanted(&mut [], &mut merges, 3).len(), 3);
    }
}
