#ifdef TILED
// Textures of quads. The arithmetic is that of ../../wgpu_device/tiles.wgsl, in the same order.

layout(std430, binding = 5) readonly buffer Tiles { uint tiles[]; };

// Flag of a record: pixels with little opacity are holes.
const uint CUT_OUT = 1u;

// Whether the textures of a tile can have holes. `tile` is the face direction and the offset of the
// material's record.
bool has_holes(uint tile) {
    uint record = tile >> 3u;
    return record != 0u && (tiles[record + 6u] & CUT_OUT) != 0u;
}

vec4 tile_texel(uint first, uint bits, ivec2 at) {
    return unpackUnorm4x8(tiles[first + uint(at.y << bits | at.x)]);
}

// The colour between four texels of the mipmap with sides of 2 to the power of `bits`. `edge` is the
// width of the edges between texels.
vec4 between_texels(uint image, uint bits, vec2 at, float edge) {
    uint first = image + 1u + ((4u << (2u * tiles[image])) - (4u << (2u * bits))) / 3u;
    vec2 place = (at - floor(at)) * float(1u << bits) - 0.5;
    vec2 low = floor(place);
    vec2 part = clamp(((place - low) - 0.5) / edge + 0.5, vec2(0.0), vec2(1.0));
    ivec2 last = ivec2((1 << bits) - 1);
    ivec2 a = ivec2(low) & last;
    ivec2 b = (ivec2(low) + 1) & last;
    vec4 top_left = tile_texel(first, bits, a);
    vec4 top = top_left + (tile_texel(first, bits, ivec2(b.x, a.y)) - top_left) * part.x;
    vec4 bottom_left = tile_texel(first, bits, ivec2(a.x, b.y));
    vec4 bottom = bottom_left + (tile_texel(first, bits, b) - bottom_left) * part.x;
    return top + (bottom - top) * part.y;
}

// The colour of a face direction's texture at a position relative to the camera. Discards holes.
vec3 tile_color(uint tile, vec3 relative) {
    uint face = tile & 7u;
    uint record = tile >> 3u;
    uint image = record == 0u ? 0u : tiles[record + face];
    if (image == 0u) {
        return vec3(1.0);
    }
    vec3 units = relative + frame.camera_fraction;
    vec2 at = vec2(units.x, -units.y);
    if (face == 0u) {
        at = vec2(units.z, -units.y);
    } else if (face == 1u) {
        at = vec2(units.x, -units.z);
    } else if (face == 2u) {
        at = vec2(-units.x, -units.y);
    } else if (face == 3u) {
        at = vec2(-units.z, -units.y);
    } else if (face == 4u) {
        at = vec2(units.x, units.z);
    }
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : relative;
    float along = sight[face % 3u];
    float stretch = min(sqrt(dot(sight, sight) / max(along * along, 1e-6)), frame.seam_stretch_max);
    float pixel = pixel_units(relative) * stretch;
    uint bits = tiles[image];
    float texels = pixel * float(1u << bits);
    float level = min(log2(max(texels, 1.0)), float(bits));
    uint lower = min(uint(level), bits);
    float part = level - float(lower);
    vec4 color = between_texels(image, bits - lower, at, clamp(texels, 0.015625, 1.0));
    if (part > 0.0) {
        vec4 far = between_texels(image, bits - min(lower + 1u, bits), at, 1.0);
        color += (far - color) * part;
    }
    // Holes close where a pixel spans two to four texels.
    float least = 0.5 - 0.5 * clamp(level - 1.0, 0.0, 1.0);
    if (has_holes(tile) && color.a < least) {
        discard;
    }
    return color.rgb;
}
#endif
