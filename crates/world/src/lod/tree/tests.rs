//! Tests of the parts of the tree, and checks for other tests.

use std::time::Duration;

use drystone_voxel::{ChunkPos, NodePos};

use super::LodTree;
use super::mesh_requests::{MeshRequest, MeshRequests};
use super::progress::Progress;
use super::rereads::Rereads;
use crate::lod::config::LodConfig;

impl LodTree {
    /// Waits until no thread is working: nothing is requested, or the limit is reached.
    pub(in crate::lod) fn wait_for_threads(&self) {
        self.workers.wait_until_idle();
    }

    /// Whether damaged nodes are being read again.
    pub(in crate::lod) fn is_rereading(&self) -> bool {
        self.edits.is_rereading()
    }

    /// Whether the next edit of a node rebuilds only layers of its body.
    pub(in crate::lod) fn has_old_body(&self, node: NodePos) -> bool {
        self.mesher.bodies.contains(node)
    }
}

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
            assert_eq!(highest_priority_nodes(&requests, &[], count), expected, "{count} of {len}");
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

#[test]
fn damaged_nodes_are_tried_in_turns() {
    let nodes: Vec<NodePos> = (0..40).map(|x| NodePos::from(ChunkPos::new(x, 0, 0))).collect();
    let mut rereads = Rereads::default();
    let mut due = |seconds: u64| {
        rereads.note_damaged(Duration::ZERO);
        rereads.due(Duration::from_secs(seconds), || nodes.clone())
    };
    assert_eq!(due(3), []);
    assert_eq!(due(4), nodes[..16]);
    assert_eq!(due(7), []);
    assert_eq!(due(8), nodes[16..32]);
    assert_eq!(due(12), [&nodes[32..], &nodes[..8]].concat());
}

#[test]
fn the_next_attempt_follows_a_success_at_once() {
    let node = NodePos::from(ChunkPos::new(0, 0, 0));
    let mut rereads = Rereads::default();
    rereads.note_damaged(Duration::ZERO);
    for (second, is_whole, next) in [(4, false, 9), (9, true, 10), (10, true, 11)] {
        let now = Duration::from_secs(second);
        assert_eq!(rereads.due(now, || vec![node]), [node]);
        rereads.finish(is_whole, now + Duration::from_secs(1));
        assert_eq!(rereads.due(Duration::from_secs(next - 1), || vec![node]), []);
    }
    assert!(rereads.is_recovering());
    rereads.due(Duration::from_secs(20), Vec::new);
    assert!(!rereads.is_broken);
}

#[test]
fn one_change_may_exceed_the_budget() {
    let config = LodConfig {
        frame_bytes: 100,
        frame_time: Duration::from_secs(3600),
        ..LodConfig::default()
    };
    let mut progress = Progress::new();
    progress.begin(true);
    progress.spent_bytes = 80;
    assert!(progress.has_budget(&config, 0.75) && !progress.has_more, "no change yet");
    progress.change_count = 1;
    assert!(progress.has_budget(&config, 1.0) && !progress.has_more);
    assert!(!progress.has_budget(&config, 0.75) && progress.has_more);
}

#[test]
fn splits_are_held_after_a_refused_root_until_every_root_shows_something() {
    let mut progress = Progress::new();
    progress.begin(false);
    progress.refuse_root();
    assert!(!progress.are_splits_held(), "only from the next update on");
    for is_whole in [false, false, true, false] {
        progress.begin(is_whole);
        assert_eq!(progress.are_splits_held(), !is_whole && progress.frame < 4);
    }
}
