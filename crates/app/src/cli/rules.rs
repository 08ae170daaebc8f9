//! Which options do not go together.

use drystone::scene::RendererKind;

use super::{Command, LevelsKind, Options, PlacementKind, SceneOptions};

/// What is said to who wants what cubes cannot be.
const NO_SHADED_CUBES: &str = "--ao is not for --renderer instanced: a cube's 8 bytes have no \
    room for the shades of its corners; use --renderer pool or naive";

/// What is said to who wants of polygons what voxels have.
const NO_SHADED_MODELS: &str = "--ao is for voxels: it darkens corners by the voxels around, of \
    which a polygon model has none; leave it out";
const NO_EDITED_MODELS: &str = "--edits is for voxels: a polygon model has none; import it with \
    --voxels and edit that";
const NO_CHANGES_OF_MODELS: &str = "--placement, --edits and --defragment are for voxels: a \
    polygon model is mapped as it was loaded; leave them out";

/// What is said to who wants levels of what has none.
const NO_LEVELS: &str = "--levels on is for voxels without --ao, drawn by --renderer pool or naive";

/// What is said to who wants the tints of what has none.
const NO_TINTED_MODELS: &str = "polygon models have no levels of detail to tint";

impl SceneOptions {
    /// What is wrong with options that do not go together.
    pub(crate) fn misused(&self) -> Option<&'static str> {
        if self.ao && self.source.model_path().is_some() {
            return Some(NO_SHADED_MODELS);
        }
        if self.edits.edits.is_some() && self.source.model_path().is_some() {
            return Some(NO_EDITED_MODELS);
        }
        if self.air.tint.is_some() && self.source.model_path().is_some() {
            return Some(NO_TINTED_MODELS);
        }
        if self.levels == LevelsKind::On && !self.can_have_levels() {
            return Some(NO_LEVELS);
        }
        let is_cubes = matches!(self.renderer, RendererKind::Instanced(_));
        (self.ao && is_cubes).then_some(NO_SHADED_CUBES)
    }

    /// Whether what is far can be shown of larger voxels.
    pub(crate) fn can_have_levels(&self) -> bool {
        !self.ao
            && !matches!(self.renderer, RendererKind::Instanced(_))
            && self.source.model_path().is_none()
    }
}

/// What is wrong with options that do not go together.
pub(super) fn misused(options: &Options) -> Option<&'static str> {
    if let Some(Command::PoolMap(map)) = &options.command {
        let is_changed = map.placement != PlacementKind::Ranges || map.holes > 0 || map.defragment;
        return (is_changed && map.source.model_path().is_some()).then_some(NO_CHANGES_OF_MODELS);
    }
    if let Some(Command::Import(import)) = &options.command {
        let has_both = import.edits.edits.is_some() && import.source.model_path().is_some();
        return has_both.then_some(NO_EDITED_MODELS);
    }
    options.scene_options()?.misused()
}
