//! The program as users see it: pictures, the command line, the window.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod allocators;
mod bad_input;
mod command_line;
mod cover;
#[cfg(unix)]
mod drag;
mod editing;
mod editing_memory;
mod editing_parts;
mod editing_selection;
mod edits_kept;
mod export;
mod far_land;
mod fly;
mod gallery;
mod height_map_example;
mod height_maps;
mod lakes;
mod level_faults;
mod level_pictures;
mod levels;
mod light;
mod memory;
mod merging;
mod minecraft;
mod model_cases;
mod model_pictures;
mod model_programs;
mod model_shot;
mod model_textures;
mod models;
mod moving;
#[cfg(feature = "remote")]
mod object_store;
mod picture_cases;
mod pictures;
mod pool_map;
mod program;
mod publish;
mod remeshed;
#[cfg(feature = "remote")]
mod remote;
mod sampled_pictures;
mod stored;
mod surroundings;
mod window;
#[cfg(unix)]
mod window_backends;
mod window_drop;
mod window_edits;
mod window_levels;
mod window_messages;
mod window_models;
#[cfg(target_os = "linux")]
mod window_monitors;
mod window_panels;
mod window_session;
