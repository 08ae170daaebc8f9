//! Combinations of options that are refused.

use drystone::scene::RendererKind;
use drystone_formats::ExportFormat;

use crate::allocator::AllocatorKind;

use super::{
    Command, ExportArguments, LevelsKind, OcclusionKind, Options, PlacementKind, SceneOptions, Up,
};

const NO_AO_ON_CUBES: &str = "--ao on does not work with --renderer instanced, which stores no \
    ambient occlusion; use --renderer pool or naive";

const NO_AO_ON_MODELS: &str = "ambient occlusion is not available for polygon models";
const NO_EDITS_OF_MODELS: &str = "polygon models cannot be edited; import the model with --voxels \
    and edit the stored world";
const NO_CHANGES_OF_MODELS: &str =
    "--placement, --holes and --defragment are not available for polygon models; leave them out";

const NO_MESH: &str = "--scale, --up, --join and --bake are not available for .vox files";
const ONLY_GLB: &str = "--join and --bake need a .glb file";
const NO_PART_OF_MODELS: &str = "--level, --box and --bake are not available for polygon models; \
    convert the model with --voxels";

const NO_VOXELS: &str = "--voxels converts polygon models, and the source is not one; leave it out";

const NO_LEVELS: &str = "--levels on needs voxels, and --renderer pool or naive";

const NO_RECORD: &str = "--record-svg needs --allocator record";

const NO_TINT_ON_MODELS: &str = "polygon models have no levels of detail to tint";

impl SceneOptions {
    /// Returns the message for options that do not go together.
    pub(crate) fn conflict(&self) -> Option<&'static str> {
        let needs_ao = self.detail.ao == OcclusionKind::On;
        if needs_ao && self.source.model_path().is_some() {
            return Some(NO_AO_ON_MODELS);
        }
        if self.edits.edits.is_some() && self.source.model_path().is_some() {
            return Some(NO_EDITS_OF_MODELS);
        }
        if self.air.tint.is_some() && self.source.model_path().is_some() {
            return Some(NO_TINT_ON_MODELS);
        }
        if self.detail.levels == LevelsKind::On && !self.can_have_levels() {
            return Some(NO_LEVELS);
        }
        (needs_ao && !self.drawing.renderer.has_occlusion()).then_some(NO_AO_ON_CUBES)
    }

    /// Whether levels of detail are possible with these options.
    pub(crate) fn can_have_levels(&self) -> bool {
        !matches!(self.drawing.renderer, RendererKind::Instanced(_))
            && self.source.model_path().is_none()
    }
}

/// Returns the message for options that do not go together.
pub(super) fn conflict(options: &Options) -> Option<&'static str> {
    let memory = options.memory();
    if memory.record_svg.is_some() && memory.allocator != AllocatorKind::Record {
        return Some(NO_RECORD);
    }
    if let Some(Command::PoolMap(map)) = &options.command {
        let is_changed = map.placement != PlacementKind::Ranges || map.holes > 0 || map.defragment;
        return (is_changed && map.source.model_path().is_some()).then_some(NO_CHANGES_OF_MODELS);
    }
    let copy = match &options.command {
        Some(Command::Import(import)) => Some(&import.copy),
        Some(Command::Pack(pack)) => Some(&pack.copy),
        Some(Command::Publish(publish)) => Some(&publish.copy),
        _ => None,
    };
    if let Some(copy) = copy {
        let is_of_model = copy.source.model_path().is_some();
        if copy.voxels.is_some() && !is_of_model {
            return Some(NO_VOXELS);
        }
        return (copy.edits.edits.is_some() && is_of_model).then_some(NO_EDITS_OF_MODELS);
    }
    if let Some(Command::Export(export)) = &options.command {
        return export_conflict(export);
    }
    options.scene_options()?.conflict()
}

/// Returns the message for options of an export that do not go together.
fn export_conflict(export: &ExportArguments) -> Option<&'static str> {
    let (mesh, part, format) = (&export.mesh, &export.part, export.format());
    if export.voxels.is_some() && export.source.model_path().is_none() {
        return Some(NO_VOXELS);
    }
    let has_nodes = mesh.join || mesh.bake;
    if format == ExportFormat::Vox && (has_nodes || mesh.scale != 1.0 || mesh.up != Up::Y) {
        return Some(NO_MESH);
    }
    if has_nodes && format != ExportFormat::Glb {
        return Some(ONLY_GLB);
    }
    if export.edits.edits.is_some() && export.source.model_path().is_some() {
        return Some(NO_EDITS_OF_MODELS);
    }
    let is_part = part.level > 0 || part.bounds.is_some() || mesh.bake;
    (is_part && export.is_of_polygons()).then_some(NO_PART_OF_MODELS)
}
