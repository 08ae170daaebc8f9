// Textures of quads. Appended to shader.wgsl. The software rasteriser (src/soft/tiles.rs) does the same
// arithmetic in the same order.

// The contents are explained in src/quad_textures.rs.
@group(0) @binding(6) var<storage, read> tiles: array<u32>;

// Flag of a record: pixels with little opacity are holes.
const CUT_OUT: u32 = 1u;

// Face direction of a quad, and the offset of the record of its material's textures.
fn quad_tile(words: vec2<u32>) -> u32 {
    let material = quad_material(words);
    var record = 0u;
    if material < arrayLength(&materials) {
        record = materials[material].record;
    }
    return min(quad_face(words), 5u) | (record << 3u);
}

// Whether the textures of a tile can have holes.
fn has_holes(tile: u32) -> bool {
    let record = tile >> 3u;
    return record != 0u && (tiles[record + 6u] & CUT_OUT) != 0u;
}

fn tile_texel(first: u32, bits: u32, at: vec2<i32>) -> vec4<f32> {
    return unpack4x8unorm(tiles[first + u32((at.y << bits) | at.x)]);
}

// The colour between four texels of the mipmap with sides of 2 to the power of `bits`. `edge` is the
// width of the edges between texels.
fn between_texels(image: u32, bits: u32, at: vec2<f32>, edge: f32) -> vec4<f32> {
    let first = image + 1u + ((4u << (2u * tiles[image])) - (4u << (2u * bits))) / 3u;
    let place = (at - floor(at)) * f32(1u << bits) - 0.5;
    let low = floor(place);
    let part = clamp(((place - low) - 0.5) / edge + 0.5, vec2<f32>(0.0), vec2<f32>(1.0));
    let last = vec2<i32>((1i << bits) - 1i);
    let a = vec2<i32>(low) & last;
    let b = (vec2<i32>(low) + 1) & last;
    let top_left = tile_texel(first, bits, a);
    let top = top_left + (tile_texel(first, bits, vec2<i32>(b.x, a.y)) - top_left) * part.x;
    let bottom_left = tile_texel(first, bits, vec2<i32>(a.x, b.y));
    let bottom = bottom_left + (tile_texel(first, bits, b) - bottom_left) * part.x;
    return top + (bottom - top) * part.y;
}

// The colour of a face direction's texture at a position relative to the camera. Discards holes.
fn tile_color(tile: u32, relative: vec3<f32>) -> vec3<f32> {
    let face = tile & 7u;
    let record = tile >> 3u;
    if record == 0u {
        return vec3<f32>(1.0);
    }
    let image = tiles[record + face];
    if image == 0u {
        return vec3<f32>(1.0);
    }
    let units = relative + frame.camera_fraction;
    var at = vec2<f32>(units.x, -units.y);
    if face == 0u {
        at = vec2<f32>(units.z, -units.y);
    } else if face == 1u {
        at = vec2<f32>(units.x, -units.z);
    } else if face == 2u {
        at = vec2<f32>(-units.x, -units.y);
    } else if face == 3u {
        at = vec2<f32>(-units.z, -units.y);
    } else if face == 4u {
        at = vec2<f32>(units.x, units.z);
    }
    let sight = select(relative, frame.ray_forward, frame.is_parallel > 0.0);
    let along = sight[face % 3u];
    let stretch =
        min(sqrt(dot(sight, sight) / max(along * along, 1e-6)), frame.seam_stretch_max);
    let pixel = pixel_units(relative) * stretch;
    let bits = tiles[image];
    let texels = pixel * f32(1u << bits);
    let level = min(log2(max(texels, 1.0)), f32(bits));
    let lower = min(u32(level), bits);
    let part = level - f32(lower);
    var color = between_texels(image, bits - lower, at, clamp(texels, 0.015625, 1.0));
    if part > 0.0 {
        let far = between_texels(image, bits - min(lower + 1u, bits), at, 1.0);
        color += (far - color) * part;
    }
    // Holes close where a pixel spans two to four texels.
    let least = 0.5 - 0.5 * clamp(level - 1.0, 0.0, 1.0);
    if has_holes(tile) && color.a < least {
        discard;
    }
    return color.rgb;
}
