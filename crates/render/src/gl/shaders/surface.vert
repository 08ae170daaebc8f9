// Draws quads from a storage buffer: 8 bytes each, four corners; or cubes of 8 bytes, three quads
// each.

layout(std430, binding = 0) readonly buffer Quads { uvec2 quads[]; };

// The fields are explained in ../../material_look.rs.
struct Material {
    uint faces[6];
    float emission;
    uint record;
};

layout(std430, binding = 1) readonly buffer Materials { Material materials[]; };

// The part of per-draw data that drawing reads; see ../../draw_data.rs.
struct DrawData {
    ivec3 origin;
    uint level;
};

#ifdef CUBES
// The table of per-draw data. Cubes contain their slots.
layout(std430, binding = 2) readonly buffer Draws { DrawData draws[]; };
#else
// Per-draw data of the draw's slot, origin and level: one for each instance, selected by base
// instance.
layout(location = 0) in ivec4 origin_and_level;
#endif

// Part of a material's colour that is drawn as it is.
float emission(uint material) {
    return material < uint(materials.length()) ? materials[material].emission : 0.0;
}

// Whether a quad is fine: its cells are sixteenths of a voxel.
bool is_fine(uvec2 words) {
    return words.y >> 31u != 0u;
}

// Side of a quad's cells in voxels.
float cell(uvec2 words) {
    return is_fine(words) ? 0.0625 : 1.0;
}

// Position of a quad's lowest cell.
uvec3 quad_position(uvec2 words) {
    uvec3 low = uvec3(words.x, words.x >> 6u, words.x >> 12u) & uvec3(63u);
    uvec3 blocks = uvec3(words.y >> 3u, words.y >> 7u, words.y >> 27u) & uvec3(15u);
    return low + (is_fine(words) ? blocks << 6u : uvec3(0u));
}

// Width and height of a quad in cells.
uvec2 quad_size(uvec2 words) {
    return ((uvec2(words.x) >> uvec2(18u, 24u)) & uvec2(63u)) + uvec2(1u);
}

// Which part of the edges at the ends of width and height ends the surface; all of it for fine quads.
vec2 quad_steps(uvec2 words) {
    uvec2 steps = (uvec2(words.y) >> uvec2(27u, 29u)) & uvec2(3u);
    return (words.y >> 31u) != 0u ? vec2(1.0) : vec2(steps) / 3.0;
}

layout(location = 0) flat out vec4 color;
layout(location = 1) centroid out vec3 relative;
#ifdef SHADOWED
// The colour where the sun does not reach and the emission, in 16 bits each; then kind and bounds, as
// far as they are needed. Software drivers copy each location of each corner, so there is only one.
layout(location = 2) flat out uvec4 details;
#define kind details.z
#define bounds details.w
#else
#ifdef SHADED
layout(location = 2) flat out uint kind;
#endif
#ifdef WIRED
layout(location = 3) flat out uint bounds;
#endif
#endif

#ifdef TILED
// Face direction, and the offset of the record of the material's textures.
layout(location = 4) flat out uint tile;

uint quad_tile(uvec2 words) {
    uint material = words.y >> 11u & 0xffffu;
    uint record = material < uint(materials.length()) ? materials[material].record : 0u;
    return min(words.y & 7u, 5u) | record << 3u;
}
#endif

#ifdef SHADED
// A quad's second word with the data that a pixel needs to find its position in the quad, except
// for whole voxels. It contains whether the quad lies at an odd position, counted in voxels of the
// mesh from the camera's voxel. It also contains whether the quad is longer than a voxel along its
// width and its height. The mesh's level and the material's emission replace the material.
uint pixel_kind(uvec2 words, DrawData draw) {
    uint level = min(draw.level, 24u);
    ivec3 steps = (draw.origin >> level) - (frame.camera_voxel >> level);
    uvec3 odd = (quad_position(words) ^ uvec3(steps)) & uvec3(1u);
    uint normal_axis = (words.y & 7u) % 3u;
    uint odd_u = odd[(normal_axis + 1u) % 3u];
    uint odd_v = odd[(normal_axis + 2u) % 3u];
    uint long_u = uint((words.x >> 18u & 63u) != 0u);
    uint long_v = uint((words.x >> 24u & 63u) != 0u);
    uint shines = uint(emission(words.y >> 11u & 0xffffu) * 255.0 + 0.5);
    // Fine quads have no ambient occlusion.
    uint face_and_corners = words.y & (is_fine(words) ? 7u : 0x7ffu);
    return face_and_corners | level << 11u | shines << 16u | odd_u << 27u | odd_v << 28u | long_u << 29u | long_v << 30u;
}
#endif

#ifdef WIRED
// Position and size of a quad, in voxels of its mesh: its low ends along width and height, counted
// from the camera's voxel, modulo 128, and its lengths minus one. For a fine quad, those of the voxels
// that it touches.
uint quad_bounds(uvec2 words, DrawData draw) {
    uint level = min(draw.level, 24u);
    ivec3 steps = (draw.origin >> level) - (frame.camera_voxel >> level);
    uint shift = is_fine(words) ? 4u : 0u;
    uvec3 position = quad_position(words);
    uvec3 first = position >> shift;
    uvec3 low = (first + uvec3(steps)) & uvec3(127u);
    uint normal_axis = (words.y & 7u) % 3u;
    uint u = (normal_axis + 1u) % 3u;
    uint v = (normal_axis + 2u) % 3u;
    uvec2 ends = uvec2(position[u], position[v]) + quad_size(words) - uvec2(1u);
    uvec2 lengths = (ends >> shift) - uvec2(first[u], first[v]);
    return low[u] | low[v] << 7u | lengths.x << 14u | lengths.y << 20u;
}
#endif

vec3 axis(uint index) {
    return vec3(equal(uvec3(index), uvec3(0u, 1u, 2u)));
}

// Factor of a corner's move along each axis of its face, compared to a face seen straight on, so
// that the edge moves equally far in the picture. It is 1 / sin of the angle between the face and
// the plane through the camera and the edge that moves (see Frame::SEAM_PIXELS).
vec3 seam_stretch(vec3 at, vec3 normal) {
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : at;
    vec3 squares = sight * sight;
    // A face seen edge-on is invisible: any number except zero is correct.
    float off_plane = max(dot(squares, normal), 1e-6);
    return min(sqrt(1.0 + squares / off_plane), vec3(frame.seam_stretch_max));
}

// The hue of a level; see Frame::TINTS.
vec3 level_tint(uint level) {
    uvec3 hues = uvec3(0x7fe302ffu, 0x4f36edc3u, 0x1fefe303u) >> ((level & 7u) * 4u);
    return vec3(hues & uvec3(15u)) / 15.0;
}

// Light on a face direction that the sun does not reach.
vec3 ambient_light(uint face) {
    float rise = float(face == 4u) - float(face == 1u);
    return frame.ambient * (0.74 + 0.26 * rise);
}

// Colours of a surface, in sunlight and without.
struct Colors {
    vec4 lit;
    vec3 unlit;
};

// Colours of a face direction of a quad's material.
Colors face_colors(uvec2 words, uint face, uint level) {
    uint material = words.y >> 11u & 0xffffu;
    // Materials that are not in the table must be visible: magenta.
    vec4 own = vec4(1.0, 0.0, 1.0, 1.0);
    float shine = 0.0;
    if (material < uint(materials.length())) {
        own = unpackUnorm4x8(materials[material].faces[face]);
        shine = materials[material].emission;
    }
    vec3 tinted = mix(own.rgb, level_tint(level), frame.level_tint);
    vec3 lit = tinted * mix(frame.face_light[face], vec3(1.0), shine);
    vec3 unlit = tinted * mix(ambient_light(face), vec3(1.0), shine);
    return Colors(vec4(min(lit, vec3(1.0)), own.a), min(unlit, vec3(1.0)));
}

// A quad's colours.
Colors quad_colors(uvec2 words, DrawData draw) {
    return face_colors(words, min(words.y & 7u, 5u), draw.level);
}

#ifdef SHADED
// Position of a quad's middle relative to the camera.
vec3 quad_middle(uvec2 words, DrawData draw, vec2 size) {
    uint normal_axis = (words.y & 7u) % 3u;
    vec3 across = axis((normal_axis + 1u) % 3u) * size.x + axis((normal_axis + 2u) % 3u) * size.y;
    vec3 rise = axis(normal_axis) * ((words.y & 7u) >= 3u ? 1.0 : 0.0);
    float scale = voxel_scale(draw.level) * cell(words);
    vec3 local = (vec3(quad_position(words)) + 0.5 * across + rise) * scale;
    return (vec3(draw.origin - frame.camera_voxel) + local) - frame.camera_fraction;
}

// A quad's colours as shaded surfaces show them. Far from the camera, the mean with the faces that
// meet the quad across its width and its height; see Frame::FADE_UNITS. All corners compute the same
// colours.
Colors faded_colors(uvec2 words, DrawData draw) {
    Colors own = quad_colors(words, draw);
    if (frame.far_fade == 0.0 || own.lit.a < 1.0) {
        return own;
    }
    vec2 cells = vec2(quad_size(words));
    vec3 middle = quad_middle(words, draw, cells);
    vec2 size = cells * cell(words);
    float pixel = pixel_units(middle);
    float fade = far_fade(pixel);
    if (fade == 0.0) {
        return own;
    }
    vec2 part_long = clamp((size * voxel_scale(draw.level) / pixel - 3.0) / 5.0, vec2(0.0), vec2(1.0));
    vec2 strength = fade * (1.0 - part_long * part_long * (3.0 - 2.0 * part_long));
    uint normal_axis = (words.y & 7u) % 3u;
    uint u = (normal_axis + 1u) % 3u;
    uint v = (normal_axis + 2u) % 3u;
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : middle;
    vec3 areas = abs(sight);
    vec2 steps = normal_axis == 1u ? vec2(0.75) : vec2(u == 1u ? 1.25 : 1.0, v == 1u ? 1.25 : 1.0);
    vec2 weights = strength * steps * quad_steps(words) * vec2(areas[u], areas[v]) / size;
    vec2 shares = weights / max(areas[normal_axis] + weights.x + weights.y, 1e-6);
    Colors beside_u = face_colors(words, u + (sight[u] < 0.0 ? 3u : 0u), draw.level);
    Colors beside_v = face_colors(words, v + (sight[v] < 0.0 ? 3u : 0u), draw.level);
    float own_share = 1.0 - shares.x - shares.y;
    vec4 lit = own.lit * own_share + beside_u.lit * shares.x + beside_v.lit * shares.y;
    vec3 unlit = own.unlit * own_share + beside_u.unlit * shares.x + beside_v.unlit * shares.y;
    return Colors(vec4(lit.rgb, own.lit.a), unlit);
}
#endif

#ifdef CUBES
// For the axis of the vertex, the face of the cube that can point towards the camera, as a quad.
// Returns whether that face is visible.
bool cube_face(uvec2 entry, DrawData draw, out uvec2 words) {
    uint normal_axis = uint(gl_VertexID) / 4u % 3u;
    vec3 low = vec3(uvec3(entry.x, entry.x >> 6u, entry.x >> 12u) & uvec3(63u));
    vec3 local = (low + vec3(0.5)) * voxel_scale(draw.level);
    vec3 middle = (vec3(draw.origin - frame.camera_voxel) + local) - frame.camera_fraction;
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : middle;
    uint face = normal_axis + (sight[normal_axis] < 0.0 ? 3u : 0u);
    words = uvec2(entry.x & 0x3ffffu, face | (entry.y & 0xffffu) << 11u);
    return (entry.x >> (18u + face) & 1u) != 0u;
}
#endif

void main() {
#ifdef CUBES
    uvec2 entry = quads[uint(gl_VertexID) / 12u];
    DrawData draw = draws[entry.x >> 24u | entry.y >> 16u << 8u];
    uvec2 words;
    if (!cube_face(entry, draw, words)) {
        // Nearer than the near plane: no part of it is in the picture.
        gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
        color = vec4(0.0);
        relative = vec3(0.0);
#ifdef SHADOWED
        details = uvec4(0u);
#else
#ifdef SHADED
        kind = 0u;
#endif
#ifdef WIRED
        bounds = 0u;
#endif
#endif
        return;
    }
#else
    uvec2 words = quads[uint(gl_VertexID) / 4u];
    DrawData draw = DrawData(origin_and_level.xyz, uint(origin_and_level.w));
#endif
    uint corner = uint(gl_VertexID) % 4u;
    uint face = words.y & 7u;
    bool positive = face >= 3u;
    uint normal_axis = face % 3u;
    vec3 u = axis((normal_axis + 1u) % 3u);
    vec3 v = axis((normal_axis + 2u) % 3u);
    vec3 normal = axis(normal_axis);
    // A negative face swaps its corners, so that one index pattern winds both outwards.
    uint along_u = positive ? corner & 1u : corner >> 1u;
    uint along_v = positive ? corner >> 1u : corner & 1u;
    vec2 size = vec2(quad_size(words));
    vec3 low = vec3(quad_position(words));
    vec3 cells = low + float(along_u) * size.x * u + float(along_v) * size.y * v
        + float(positive) * normal;
    vec3 local = cells * (voxel_scale(draw.level) * cell(words));
    vec3 at = (vec3(draw.origin - frame.camera_voxel) + local) - frame.camera_fraction;
    vec3 outward = (float(along_u) * 2.0 - 1.0) * u + (float(along_v) * 2.0 - 1.0) * v;
    relative = at + outward * seam_stretch(at, normal) * (SEAM * to_clip(at).w);
    gl_Position = to_clip(relative);
#if defined(SHADED) && !defined(CUBES)
    Colors colors = faded_colors(words, draw);
#else
    // Cubes are not merged, so the length of a step is unknown: they do not fade.
    Colors colors = quad_colors(words, draw);
#endif
    color = colors.lit;
#ifdef SHADOWED
    float shine = 0.0;
#ifdef SKY_MAPS
    shine = emission(words.y >> 11u & 0xffffu);
#endif
    vec2 blue_and_shine = vec2(colors.unlit.b, shine);
    uvec2 unlit = uvec2(packUnorm2x16(colors.unlit.rg), packUnorm2x16(blue_and_shine));
    details = uvec4(unlit, words.y & 7u, 0u);
#endif
#ifdef SHADED
    kind = pixel_kind(words, draw);
#endif
#ifdef WIRED
    bounds = quad_bounds(words, draw);
#endif
#ifdef TILED
    tile = quad_tile(words);
#endif
}
