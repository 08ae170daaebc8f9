#ifdef TEXTURED
// Textures of triangles. The arithmetic is that of ../../wgpu_device/textures.wgsl, in the same order.

layout(std430, binding = 4) readonly buffer Textures { uint textures[]; };

const uint UNLIT = 1u;
const uint MASKED = 2u;
const uint HAS_OPACITY = 4u;

// A coordinate in the first repetition: 0 to 1, or to 2 for mirrored ones.
float folded(float at, uint wrap) {
    if (wrap == 0u) {
        return at - floor(at);
    }
    if (wrap == 1u) {
        return at - 2.0 * floor(at * 0.5);
    }
    return clamp(at, 0.0, 1.0);
}

// A texel's column or row in an image of this size.
int wrapped(int at, int size, uint wrap) {
    int own = at;
    if (wrap == 0u) {
        own = own < 0 ? own + size : own;
        own = own >= size ? own - size : own;
    } else if (wrap == 1u) {
        own = max(own, -1 - own);
        own = min(own, 2 * size - 1 - own);
    }
    return clamp(own, 0, size - 1);
}

vec4 texel(uint first, int width, int column, int row) {
    return unpackUnorm4x8(textures[first + uint(row * width + column)]);
}

// The colour between four texels of a mipmap.
vec4 bilinear(uint image, uint level, vec2 at, uint wrap) {
    uvec2 whole = uvec2(textures[image] & 0xffffu, textures[image] >> 16u);
    ivec2 size = ivec2(max(whole >> level, uvec2(1u)));
    uint first = textures[image + 2u + level];
    uvec2 wraps = uvec2(wrap & 3u, (wrap >> 2u) & 3u);
    float x = folded(at.x, wraps.x) * float(size.x) - 0.5;
    float y = folded(at.y, wraps.y) * float(size.y) - 0.5;
    vec2 low = floor(vec2(x, y));
    vec2 part = vec2(x, y) - low;
    int left = wrapped(int(low.x), size.x, wraps.x);
    int right = wrapped(int(low.x) + 1, size.x, wraps.x);
    int upper = wrapped(int(low.y), size.y, wraps.y);
    int lower = wrapped(int(low.y) + 1, size.y, wraps.y);
    vec4 top_left = texel(first, size.x, left, upper);
    vec4 top = top_left + (texel(first, size.x, right, upper) - top_left) * part.x;
    vec4 bottom_left = texel(first, size.x, left, lower);
    vec4 bottom = bottom_left + (texel(first, size.x, right, lower) - bottom_left) * part.x;
    return top + (bottom - top) * part.y;
}

// A texture's colour; white without an image. `across` and `down` are the changes of the texture
// coordinates by one pixel.
vec4 sampled(uint own, vec2 at_uv, vec2 across, vec2 down) {
    uint image = textures[own];
    if (image == 0u) {
        return vec4(1.0);
    }
    mat2 turn = mat2(
        uintBitsToFloat(textures[own + 2u]), uintBitsToFloat(textures[own + 5u]),
        uintBitsToFloat(textures[own + 3u]), uintBitsToFloat(textures[own + 6u]));
    vec2 offset = uintBitsToFloat(uvec2(textures[own + 4u], textures[own + 7u]));
    vec2 at = turn * at_uv + offset;
    vec2 size = vec2(float(textures[image] & 0xffffu), float(textures[image] >> 16u));
    vec2 texels_across = (turn * across) * size;
    vec2 texels_down = (turn * down) * size;
    float square = max(dot(texels_across, texels_across), dot(texels_down, texels_down));
    uint last = textures[image + 1u] - 1u;
    float level = clamp(0.5 * log2(max(square, 1e-12)), 0.0, float(last));
    uint lower = min(uint(level), last);
    float part = level - float(lower);
    uint wrap = textures[own + 1u];
    vec4 near = bilinear(image, lower, at, wrap);
    if (part <= 0.0) {
        return near;
    }
    return near + (bilinear(image, min(lower + 1u, last), at, wrap) - near) * part;
}
#endif
