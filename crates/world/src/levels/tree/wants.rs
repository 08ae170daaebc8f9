use super::LevelTree;
use crate::NodePos;

/// Frames after which a mesh that nobody wants any more is thrown away.
const FRAMES_UNWANTED: u64 = 120;

impl LevelTree {
    /// Tells the workers what is missing.
    pub(super) fn want(&mut self) {
        self.wanted.sort_by(|a, b| a.priority.total_cmp(&b.priority));
        let is_full = self.ready_bytes > self.config.waiting_bytes;
        // What waits is shown first, before more is made, but for what the next change lacks.
        let least = if is_full { self.wanted.len().saturating_sub(NodePos::CHILDREN) } else { 0 };
        let wanted = self.wanted[least..].iter().map(|want| want.node).collect();
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
