// Draws triangles of models: vertices of 20 bytes, pulled by indices of their own.

// Five words each: position, normal, colour.
layout(std430, binding = 0) readonly buffer Vertices { uint vertices[]; };

// The draw's slot of the table of per-draw data, found by base instance: the model's
// origin, and the bits of its scale.
layout(location = 0) in ivec4 draw_place;

layout(location = 0) out vec4 color;
layout(location = 1) out vec3 relative;
layout(location = 2) out vec3 normal;

// A point of the square that an octahedron unfolds to.
vec3 unfolded(uint word) {
    vec2 flat_place = unpackSnorm2x16(word);
    float z = 1.0 - abs(flat_place.x) - abs(flat_place.y);
    // What lies below is folded over the edges of the upper half.
    float fold = max(-z, 0.0);
    float x = flat_place.x - (flat_place.x >= 0.0 ? fold : -fold);
    float y = flat_place.y - (flat_place.y >= 0.0 ? fold : -fold);
    return normalize(vec3(x, y, z));
}

void main() {
    uint at = uint(gl_VertexID) * 5u;
    vec3 own = uintBitsToFloat(uvec3(vertices[at], vertices[at + 1u], vertices[at + 2u]));
    vec3 local = own * intBitsToFloat(draw_place.w);
    ivec3 origin = draw_place.xyz - frame.eye_voxel.xyz;
    relative = (vec3(origin) + local) - frame.eye_fraction.xyz;
    mat4 m = frame.clip_from_relative;
    gl_Position = m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3];
    color = unpackUnorm4x8(vertices[at + 4u]);
    normal = unfolded(vertices[at + 3u]);
}
