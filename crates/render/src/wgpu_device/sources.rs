//! Shader sources, joined for the maps that surfaces read.

use drystone_mesh::QUAD_WGSL;

use crate::{frame::QuadStyle, shadows::MapKinds};

/// Shader source that quads and triangles share; the decoder of quads comes before it.
pub(super) const SHARED: &str = include_str!("shader.wgsl");
/// Shader source for quads: the shared source and lines along their edges.
const QUADS: [&str; 3] = [QUAD_WGSL, SHARED, include_str!("wire.wgsl")];
/// Shader source of the data of maps, and for reading the maps of the sun and of the sky.
const MAPS: &str = include_str!("shadow_frame.wgsl");
const SUN: &str = include_str!("shadow.wgsl");
const SKY: &str = include_str!("sky_light.wgsl");
/// Shader source for quads that read maps, after that for reading them.
const SHADOWED_QUADS: &str = include_str!("shadowed_quads.wgsl");
/// Functions of surfaces that do not read the maps of the sun or of the sky.
const NO_SUN: &str =
    "fn sun_share(relative: vec3<f32>, normal: vec3<f32>) -> f32 { return 1.0; }\n";
const NO_SKY: &str = "
fn sky_share(relative: vec3<f32>, normal: vec3<f32>, plane: vec3<f32>) -> f32 { return 1.0; }
fn sky_emission(material: u32) -> f32 { return 0.0; }
fn under_sky(
    lit: vec3<f32>,
    unlit: vec3<f32>,
    shine: f32,
    relative: vec3<f32>,
    normal: vec3<f32>,
) -> vec3<f32> { return lit; }
";
/// Shader source for textures of quads, and for quads with them, after that for quads that read maps.
const TILES: &str = include_str!("tiles.wgsl");
const TILED_QUADS: &str = include_str!("tiled_quads.wgsl");
const TRIANGLES: &str = include_str!("triangles.wgsl");
/// Shader source for triangles that read no maps.
pub(super) const PLAIN_TRIANGLES: [&str; 5] = [QUAD_WGSL, SHARED, NO_SUN, NO_SKY, TRIANGLES];

/// Shader source for triangles with holes in shadow maps, after that of triangles.
pub(super) const MASKED_CASTERS: [&str; 2] =
    [include_str!("textures.wgsl"), include_str!("masked_casters.wgsl")];
/// Shader source for quads with holes in shadow maps.
pub(super) const CUT_OUT_CASTERS: [&str; 4] =
    [QUAD_WGSL, SHARED, TILES, include_str!("cut_out_casters.wgsl")];

/// Shader source for reading these maps.
const fn map_source(maps: MapKinds) -> [&'static str; 3] {
    let data = if maps.any() { MAPS } else { "" };
    [data, if maps.sun { SUN } else { NO_SUN }, if maps.sky { SKY } else { NO_SKY }]
}

/// Shader source for quads that read these maps, and textures if they are tiled.
pub(super) fn quad_source(maps: MapKinds, is_tiled: bool) -> String {
    let shadowed = if maps.any() || is_tiled { SHADOWED_QUADS } else { "" };
    let tiled = if is_tiled { [TILES, TILED_QUADS] } else { [""; 2] };
    [&QUADS[..], &map_source(maps), &[shadowed], &tiled].concat().concat()
}

/// Shader source for triangles that read these maps, with these sources of lines and textures.
pub(super) fn triangle_source(maps: MapKinds, more: &[&str]) -> String {
    [&[QUAD_WGSL, SHARED], &map_source(maps)[..], &[TRIANGLES], more].concat().concat()
}

/// Entry points of quads: opaque vertices, blended ones, those of cubes, and fragments.
pub(super) const fn entry_points(
    style: QuadStyle,
    maps: MapKinds,
    is_tiled: bool,
) -> [&'static str; 4] {
    match style {
        _ if is_tiled => {
            ["tiled_opaque_vertex", "tiled_blended_vertex", "tiled_cube_vertex", "tiled_fragment"]
        }
        _ if maps.any() => [
            "shadowed_opaque_vertex",
            "shadowed_blended_vertex",
            "shadowed_cube_vertex",
            "shadowed_fragment",
        ],
        QuadStyle::Plain => ["opaque_vertex", "blended_vertex", "cube_vertex", "surface_fragment"],
        QuadStyle::Shaded => {
            ["shaded_opaque_vertex", "shaded_blended_vertex", "", "shaded_fragment"]
        }
        QuadStyle::Wired => {
            ["wired_opaque_vertex", "wired_blended_vertex", "wired_cube_vertex", "wired_fragment"]
        }
    }
}

/// The constant of the shaders that read maps or textures of quads, which selects the style.
pub(super) const STYLE: &str = "quad_style";

/// Shader source for triangles with lines, with textures, and with both.
pub(super) const WIRED_TRIANGLES: &[&str] = &[include_str!("wired_triangles.wgsl")];
pub(super) const TEXTURED: &[&str] = &[include_str!("textures.wgsl")];
pub(super) const WIRED_TEXTURED: &[&str] =
    &[WIRED_TRIANGLES[0], TEXTURED[0], include_str!("wired_textures.wgsl")];
