//! Integration tests of the public interface: files of every format, valid and damaged.
#![allow(clippy::unwrap_used)]

mod export_glb;
mod export_helpers;
mod export_meshes;
mod export_obj;
mod export_parts;
mod export_vox;
mod gltf_bytes;
mod gltf_hostile;
mod height_helpers;
mod height_hostile;
mod height_map;
mod height_tiff;
mod minecraft_bytes;
mod minecraft_formats;
mod minecraft_hostile;
mod minecraft_real;
mod minecraft_world;
mod model_files;
mod model_gltf;
mod model_helpers;
mod model_obj;
mod programs;
mod qb;
mod qb_bytes;
mod real_files;
mod vox_bytes;
mod vox_hostile;
mod vox_packed;
mod vox_rotation;
mod vox_scene;
