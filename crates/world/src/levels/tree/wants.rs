use super::{LevelTree, Want};
use crate::NodePos;

/// Frames after which a mesh that nobody wants any more is thrown away.
const FRAMES_UNWANTED: u64 = 120;
/// So many nodes the workers are told of at most: more than they make before the next frame.
const MOST_TOLD: usize = 1_024;

impl LevelTree {
    /// Tells the workers what is missing.
    pub(super) fn want(&mut self) {
        let is_full = self.ready_bytes > self.config.waiting_bytes;
        // What waits is shown first, before more is made, but for what the next change lacks.
        let count = if is_full { NodePos::CHILDREN } else { MOST_TOLD };
        let wanted = most_wanted(&mut self.wanted, count);
        let room_bytes = self.config.waiting_bytes.saturating_sub(self.ready_bytes);
        self.workers.want(wanted, room_bytes);
    }

    pub(super) fn forget_unwanted(&mut self) {
        let (frame, bytes) = (self.frame, &mut self.ready_bytes);
        let patience = if *bytes > self.config.waiting_bytes { 0 } else { FRAMES_UNWANTED };
        self.ready.retain(|_, ready| {
            let stays = ready.wanted_frame + patience >= frame;
            *bytes -= if stays { 0 } else { ready.bytes };
            stays
        });
    }
}

/// The `count` nodes that are wanted most, these last.
fn most_wanted(wants: &mut [Want], count: usize) -> Vec<NodePos> {
    let by_priority =
        |a: &Want, b: &Want| a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node));
    let least = wants.len().saturating_sub(count);
    if (1..wants.len()).contains(&least) {
        wants.select_nth_unstable_by(least, by_priority);
    }
    let most = &mut wants[least..];
    most.sort_unstable_by(by_priority);
    most.iter().map(|want| want.node).collect()
}

#[cfg(test)]
mod tests {
    use drystone_voxel::ChunkPos;

    use super::*;

    #[test]
    fn the_most_wanted_are_the_end_of_all_sorted() {
        let want = |i: u32| {
            let dice = i.wrapping_mul(2_654_435_761) >> 20;
            let node = NodePos::from(ChunkPos::new(i as i32, 0, 0));
            Want { node, priority: f64::from(dice % 700) }
        };
        for len in [0, 1, 7, 100, 2_000] {
            let mut sorted: Vec<Want> = (0..len).map(want).collect();
            sorted.sort_by(|a, b| a.priority.total_cmp(&b.priority).then(a.node.cmp(&b.node)));
            for count in [0, 1, 8, 100, 5_000] {
                let mut wants: Vec<Want> = (0..len).map(want).collect();
                let least = sorted.len().saturating_sub(count);
                let expected: Vec<NodePos> = sorted[least..].iter().map(|it| it.node).collect();
                assert_eq!(most_wanted(&mut wants, count), expected, "{count} of {len}");
            }
        }
    }
}
