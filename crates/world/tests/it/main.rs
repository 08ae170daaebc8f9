//! Integration tests of the public interface: files of every format, valid and damaged.
#![allow(clippy::unwrap_used)]

mod edited_kill;
mod edits_of_files;
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
mod stored_child;
mod stored_counts;
mod stored_damage;
mod stored_hostile;
mod stored_kill;
mod stored_later;
mod stored_memory;
mod vox_bytes;
mod vox_hostile;
mod vox_packed;
mod vox_rotation;
mod vox_scene;
