use super::{
    PoolRenderer,
    opaque::{Opaque, visible_parts},
};
use crate::{cull::Cull, device::Device, error::RenderError, view::View, visibility::Visibility};

/// What the lists were last masked and sorted for. They are reused while little changes.
#[derive(Default)]
pub(super) struct Selection {
    /// The view and the size of its picture, if the lists may be reused.
    pub(super) of: Option<(View, [u32; 2])>,
    /// Whether a blended mesh was inserted since, so that the list must be sorted again.
    pub(super) is_blend_stale: bool,
    /// Number of meshes inserted since, which are drawn last with all face directions.
    pub(super) unmasked: u32,
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
        self.selection.of = None;
        Ok(())
    }

    /// Masks and sorts the lists for `view`.
    pub(super) fn select(&mut self, view: &View, visibility: &Visibility) {
        let of = Some((*view, self.device.info().size));
        let selection = &mut self.selection;
        let is_same = selection.of == of && selection.unmasked <= MAX_UNMASKED;
        if !is_same {
            (selection.of, selection.unmasked) = (of, 0);
            self.opaque.select(&self.pool, view, visibility);
        }
        if !is_same || selection.is_blend_stale {
            selection.is_blend_stale = false;
            self.blended.mask(&self.pool, |data| visible_parts(data, view, visibility));
            self.blended.sort(&self.pool, |data| visibility.blend_key(data));
        }
    }
}
