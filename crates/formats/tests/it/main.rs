//! Integration tests of the public interface: files of every format, valid and damaged.
#![allow(clippy::unwrap_used)]
#![cfg_attr(
    not(all(
        feature = "export",
        feature = "gltf",
        feature = "minecraft",
        feature = "obj",
        feature = "png",
        feature = "qb",
        feature = "textures",
        feature = "tiff",
        feature = "vox"
    )),
    allow(dead_code, reason = "tests of formats share helpers, and no format uses all")
)]

#[cfg(all(feature = "export", feature = "gltf", feature = "obj"))]
mod export_glb;
#[cfg(feature = "export")]
mod export_helpers;
#[cfg(all(feature = "export", feature = "gltf", feature = "obj"))]
mod export_meshes;
#[cfg(all(feature = "export", feature = "obj"))]
mod export_obj;
#[cfg(all(feature = "export", feature = "gltf", feature = "obj"))]
mod export_parts;
#[cfg(all(feature = "export", feature = "vox"))]
mod export_vox;
#[cfg(feature = "gltf")]
mod gltf_bytes;
#[cfg(feature = "gltf")]
mod gltf_hostile;
#[cfg(feature = "height-map")]
mod height_folder;
#[cfg(feature = "height-map")]
mod height_helpers;
#[cfg(all(feature = "png", feature = "tiff"))]
mod height_hostile;
#[cfg(feature = "png")]
mod height_map;
#[cfg(feature = "tiff")]
mod height_tiff;
#[cfg(feature = "minecraft")]
mod minecraft_biomes;
#[cfg(feature = "minecraft")]
mod minecraft_bytes;
#[cfg(feature = "minecraft")]
mod minecraft_formats;
#[cfg(feature = "minecraft")]
mod minecraft_hostile;
#[cfg(feature = "minecraft")]
mod minecraft_real;
#[cfg(feature = "minecraft")]
mod minecraft_world;
#[cfg(all(feature = "gltf", feature = "obj"))]
mod model_files;
#[cfg(feature = "gltf")]
mod model_gltf;
#[cfg(feature = "model")]
mod model_helpers;
#[cfg(feature = "obj")]
mod model_obj;
#[cfg(all(feature = "gltf", feature = "obj", feature = "textures"))]
mod model_textures;
mod programs;
#[cfg(feature = "qb")]
mod qb;
#[cfg(feature = "qb")]
mod qb_bytes;
#[cfg(feature = "vox")]
mod real_files;
#[cfg(feature = "vox")]
mod vox_bytes;
#[cfg(feature = "vox")]
mod vox_frames;
#[cfg(feature = "vox")]
mod vox_hostile;
#[cfg(feature = "vox")]
mod vox_packed;
#[cfg(feature = "vox")]
mod vox_rotation;
#[cfg(feature = "vox")]
mod vox_scene;
mod world;

use std::path::PathBuf;

/// Returns the folder of real files. Prints a line and returns `None` if it is not set.
fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DRYSTONE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: DRYSTONE_DATA is not set");
    }
    folder
}
