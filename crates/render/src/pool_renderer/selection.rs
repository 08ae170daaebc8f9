use super::{
    PoolRenderer,
    opaque::{Opaque, visible_parts},
};
use crate::{Cull, Device, RenderError, View, Visibility};

/// What masking and ordering depend on besides the meshes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Selection {
    view: View,
    size: [u32; 2],
}

/// So many opaque meshes may come before the lists are masked anew for the same view: an edit
/// brings few, and these are drawn last, with all their facings, in view or not.
const MAX_UNMASKED: u32 = 64;

impl<D: Device> PoolRenderer<D> {
    /// Has the CPU or the GPU cull from the next picture on.
    pub(super) fn cull_by(&mut self, cull: Cull) -> Result<(), RenderError> {
        if cull == self.opaque.cull() {
            return Ok(());
        }
        let mut opaque = Opaque::new(cull, self.hidden);
        for (mesh, _) in self.pool.iter().filter(|(mesh, _)| !self.blended.contains(*mesh)) {
            opaque.insert(&self.pool, mesh)?;
        }
        self.opaque = opaque;
        self.selected = None;
        Ok(())
    }

    /// Masks and orders the lists for what `view` sees on a picture of this size.
    pub(super) fn select(&mut self, view: &View, visibility: &Visibility) {
        let selection = Selection { view: *view, size: self.device.size() };
        let is_same = self.selected == Some(selection) && self.unmasked <= MAX_UNMASKED;
        if !is_same {
            (self.selected, self.unmasked) = (Some(selection), 0);
            self.opaque.select(&self.pool, view, visibility);
        }
        if !is_same || self.is_blend_stale {
            self.is_blend_stale = false;
            self.blended.mask(&self.pool, |place| visible_parts(place, view, visibility));
            self.blended.sort(&self.pool, |place| visibility.blend_key(place));
        }
    }
}
