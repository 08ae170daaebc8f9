use drystone::{Walk, scene::Meshing};
use drystone_render::{Atmosphere, RenderError};

use crate::page::Page;

impl Page {
    /// What a key switches; whether it is one of these.
    pub(crate) fn switch(&mut self, code: &str) -> Result<bool, RenderError> {
        match code {
            "KeyM" => self.view.mask_facings = !self.view.mask_facings,
            "KeyC" => self.view.cull_frustum = !self.view.cull_frustum,
            "KeyO" => self.view.order = !self.view.order,
            "KeyX" => self.switch_occlusion()?,
            "KeyT" => self.view.tint_levels = !self.view.tint_levels,
            "KeyN" => self.view.wire = !self.view.wire,
            "KeyG" => {
                self.editing.message = "browsers have no multi-draw to cull for".into();
            }
            "KeyF" => {
                self.walk = if self.walk.is_some() { None } else { Some(Walk::default()) };
            }
            "Home" => self.view.camera = self.start,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Darkens corners of voxels, or stops it.
    fn switch_occlusion(&mut self) -> Result<(), RenderError> {
        let is_on = self.view.atmosphere.ambient_occlusion == 0.0;
        if self.shown.remesh(Meshing { occlusion: is_on })? {
            self.view.atmosphere.ambient_occlusion = if is_on { Atmosphere::OCCLUSION } else { 0.0 };
        } else {
            self.editing.message = "corners are not darkened in a world at levels of detail".into();
        }
        Ok(())
    }
}
