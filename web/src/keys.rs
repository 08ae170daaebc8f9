use drystone::{Walk, scene::Meshing};
use drystone_render::{Atmosphere, RenderError};

use crate::page::Page;

impl Page {
    /// Switches an option by its key. Returns whether the key has a function here.
    pub(crate) fn switch(&mut self, code: &str) -> Result<bool, RenderError> {
        match code {
            "KeyM" => self.view.mask_facings = !self.view.mask_facings,
            "KeyC" => self.view.cull_frustum = !self.view.cull_frustum,
            "KeyO" => self.view.order = !self.view.order,
            "KeyX" => self.switch_occlusion()?,
            "KeyT" => self.view.tint_levels = !self.view.tint_levels,
            "KeyN" => self.view.wire = !self.view.wire,
            "KeyG" => {
                self.editing.message =
                    "GPU culling is not available in browsers: they have no multi-draw".into();
            }
            "KeyF" => {
                self.walk = if self.walk.is_some() { None } else { Some(Walk::default()) };
            }
            "Home" => self.view.camera = self.start,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Switches ambient occlusion on or off.
    fn switch_occlusion(&mut self) -> Result<(), RenderError> {
        let is_on = self.view.atmosphere.ambient_occlusion == 0.0;
        if self.shown.remesh(Meshing { occlusion: is_on })? {
            self.view.atmosphere.ambient_occlusion =
                if is_on { Atmosphere::OCCLUSION } else { 0.0 };
        } else {
            self.editing.message =
                "ambient occlusion is not available in a world with levels of detail".into();
        }
        Ok(())
    }
}
