layout(location = 0) flat in vec4 color;
layout(location = 1) in vec3 relative;
#ifdef SHADED
layout(location = 2) flat in uint kind;
#endif

layout(location = 0) out vec4 seen;

#ifdef SHADED
// How dark a pixel is at a place that is relative to the eye's unit, in levels.
float darkness(vec3 units) {
    uint normal_axis = (kind & 7u) % 3u;
    // In voxels of the mesh, relative to the one that the eye is in.
    uint level = kind >> 11u & 31u;
    ivec3 eye_within = frame.eye_voxel.xyz & ivec3((1 << level) - 1);
    vec3 at = (units + vec3(eye_within)) * uintBitsToFloat((127u - level) << 23u);
    vec2 place = vec2(at[(normal_axis + 1u) % 3u], at[(normal_axis + 2u) % 3u]);
    vec2 from_low = place - vec2((uvec2(kind) >> uvec2(27u, 28u)) & uvec2(1u));
    // Every other voxel: what lies a hair below the quad must not count as its end.
    vec2 within = clamp(from_low - 2.0 * floor(from_low * 0.5 + 0.25), vec2(0.0), vec2(1.0));
    vec4 levels = vec4((uvec4(kind) >> uvec4(3u, 5u, 7u, 9u)) & uvec4(3u));
    // A negative facing swaps the two corners between. An edge longer than a voxel has the
    // shade of its low end.
    vec2 is_unit = vec2((uvec2(~kind) >> uvec2(29u, 30u)) & uvec2(1u));
    vec2 along = ((kind & 7u) >= 3u ? levels.yz : levels.zy) - levels.x;
    float both = (levels.w - levels.x - along.x - along.y) * (is_unit.x * is_unit.y);
    vec2 rise = along * is_unit;
    return levels.x + rise.x * within.x + (rise.y + both * within.x) * within.y;
}
#endif

void main() {
    vec3 lit = color.rgb;
#ifdef SHADED
    lit *= 1.0 - darkness(relative + frame.eye_fraction.xyz) * frame.eye_fraction.w;
#endif
    seen = hazed(vec4(lit, color.a), relative);
}
