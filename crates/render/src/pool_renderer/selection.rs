use super::{
    PoolRenderer,
    opaque::{Opaque, visible_parts},
};
use crate::{Cull, Device, RenderError, View, Visibility};

/// Inputs of masking and sorting other than the meshes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Selection {
    view: View,
    size: [u32; 2],
}

/// Number of opaque meshes that may be inserted before the lists are masked again for the same
/// view. An edit inserts few meshes; they are drawn last, without masking.
const MAX_UNMASKED: u32 = 64;

impl<D: Device> PoolRenderer<D> {
    /// Selects where meshes are culled from the next picture on.
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

    /// Masks and sorts the lists for `view`.
    pub(super) fn select(&mut self, view: &View, visibility: &Visibility) {
        let selection = Selection { view: *view, size: self.device.size() };
        let is_same = self.selected == Some(selection) && self.unmasked <= MAX_UNMASKED;
        if !is_same {
            (self.selected, self.unmasked) = (Some(selection), 0);
            self.opaque.select(&self.pool, view, visibility);
        }
        if !is_same || self.is_blend_stale {
            self.is_blend_stale = false;
            self.blended.mask(&self.pool, |data| visible_parts(data, view, visibility));
            self.blended.sort(&self.pool, |data| visibility.blend_key(data));
        }
    }
}
