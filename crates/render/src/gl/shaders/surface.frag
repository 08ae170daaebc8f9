layout(location = 0) flat in vec4 color;
layout(location = 1) centroid in vec3 relative;
#ifdef SHADOWED
// See surface.vert.
layout(location = 2) flat in uvec4 details;
#define kind details.z
#define bounds details.w
#else
#ifdef SHADED
layout(location = 2) flat in uint kind;
#endif
#ifdef WIRED
layout(location = 3) flat in uint bounds;
#endif
#endif

#ifdef TILED
layout(location = 4) flat in uint tile;
#endif

layout(location = 0) out vec4 seen;

#ifdef SHADED
// Darkness of a pixel, in levels of ambient occlusion, at a position relative to the camera's unit.
float darkness(vec3 units) {
    uint normal_axis = (kind & 7u) % 3u;
    // In voxels of the mesh, relative to the camera's voxel.
    uint level = kind >> 11u & 31u;
    ivec3 camera_within = frame.camera_voxel & ivec3((1 << level) - 1);
    vec3 at = (units + vec3(camera_within)) * uintBitsToFloat((127u - level) << 23u);
    vec2 on_face = vec2(at[(normal_axis + 1u) % 3u], at[(normal_axis + 2u) % 3u]);
    vec2 from_low = on_face - vec2((uvec2(kind) >> uvec2(27u, 28u)) & uvec2(1u));
    // In every other voxel: a position slightly below the quad must not count as its end.
    vec2 within = clamp(from_low - 2.0 * floor(from_low * 0.5 + 0.25), vec2(0.0), vec2(1.0));
    // Far voxels have the mean of their corners.
    if (frame.far_fade != 0.0) {
        within = mix(within, vec2(0.5), far_fade(pixel_units(relative)));
    }
    vec4 levels = vec4((uvec4(kind) >> uvec4(3u, 5u, 7u, 9u)) & uvec4(3u));
    // A negative face swaps the two middle corners. An edge longer than a voxel has the ambient
    // occlusion of its low end.
    vec2 is_unit = vec2((uvec2(~kind) >> uvec2(29u, 30u)) & uvec2(1u));
    vec2 along = ((kind & 7u) >= 3u ? levels.yz : levels.zy) - levels.x;
    float both = (levels.w - levels.x - along.x - along.y) * (is_unit.x * is_unit.y);
    vec2 rise = along * is_unit;
    return levels.x + rise.x * within.x + (rise.y + both * within.x) * within.y;
}
#endif

#ifdef WIRED
// Part of a pixel that is covered by the lines along its quad's edges.
float wire() {
    uint normal_axis = (kind & 7u) % 3u;
    uint u = (normal_axis + 1u) % 3u;
    uint v = (normal_axis + 2u) % 3u;
    // The same parity rule as in `darkness`.
    uint level = kind >> 11u & 31u;
    ivec3 camera_within = frame.camera_voxel & ivec3((1 << level) - 1);
    float per_unit = uintBitsToFloat((127u - level) << 23u);
    vec3 at = (relative + frame.camera_fraction + vec3(camera_within)) * per_unit;
    vec2 low = vec2((uvec2(bounds) >> uvec2(0u, 7u)) & uvec2(127u));
    vec2 size = vec2((uvec2(bounds) >> uvec2(14u, 20u)) & uvec2(63u)) + 1.0;
    vec2 from_low = vec2(at[u], at[v]) - low;
    // A position slightly below the quad must not count as above it.
    vec2 within = from_low - 128.0 * floor(from_low * 0.0078125 + 0.25);
    // Voxels that a pixel spans along width and height; see seam_stretch.
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : relative;
    vec3 squares = sight * sight;
    float off_plane = max(squares[normal_axis], 1e-6);
    vec2 stretch = min(sqrt(1.0 + vec2(squares[u], squares[v]) / off_plane), vec2(frame.seam_stretch_max));
    mat4 m = frame.clip_from_relative;
    float clip_w = (m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3]).w;
    // The seam moves edges by one part in 128.
    vec2 pixel = stretch * (frame.seam * 128.0 * clip_w * per_unit);
    vec2 edges = min(within, size - within) / pixel;
    float line = clamp(frame.wire_pixels - min(edges.x, edges.y), 0.0, 1.0);
    // Fade lines of quads of few pixels, which would be covered by them.
    vec2 sides = size / pixel;
    return 0.85 * line * clamp(min(sides.x, sides.y) * 0.125, 0.0, 1.0);
}
#endif

void main() {
    float opacity = color.a;
    vec3 lit = color.rgb;
#ifdef SHADOWED
    uint face = min(kind & 7u, 5u);
    vec3 axis = vec3(equal(uvec3(face % 3u), uvec3(0u, 1u, 2u)));
    vec3 normal = axis * (face >= 3u ? 1.0 : -1.0);
    vec2 blue_and_shine = unpackUnorm2x16(details.y);
    vec3 unlit = vec3(unpackUnorm2x16(details.x), blue_and_shine.x);
#ifdef SUN_MAPS
    float share = sun_share(relative, normal);
    lit = unlit * (1.0 - share) + lit * share;
#endif
#ifdef SKY_MAPS
    lit = under_sky(lit, unlit, blue_and_shine.y, relative, normal);
#endif
#endif
#ifdef SHADED
    float shaded = 1.0 - float(kind >> 16u & 255u) / 255.0;
    lit *= 1.0 - darkness(relative + frame.camera_fraction) * frame.occlusion_loss * shaded;
#endif
#ifdef TILED
    lit *= tile_color(tile, relative);
#endif
#ifdef WIRED
    float line = wire();
    lit *= 1.0 - line;
    opacity += (1.0 - opacity) * line;
#endif
    seen = hazed(vec4(lit, opacity), relative);
}
