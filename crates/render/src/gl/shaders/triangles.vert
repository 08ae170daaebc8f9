// Draws triangles of models: vertices of 20 bytes, pulled by indices of their own.

// Five words each: position, normal, colour.
layout(std430, binding = 0) readonly buffer Vertices { uint vertices[]; };

// The draw's slot of the table of per-draw data, found by base instance: the model's
// origin, and the bits of its scale.
layout(location = 0) in ivec4 draw_place;

layout(location = 0) out vec4 color;
layout(location = 1) out vec3 relative;
layout(location = 2) out vec3 normal;

#ifdef WIRED
// The indices come by number, not by the index buffer, so that each corner knows the other two.
layout(std430, binding = 3) readonly buffer Indices { uint indices[]; };

// The draw's first index and first vertex.
layout(location = 0) uniform uvec2 own_first;

// How far each edge is, in voxels across the sight; and the least of the three heights.
layout(location = 3) out vec3 edges;
layout(location = 4) flat out float least;
#endif

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

// Where a vertex is, in voxels from its model's origin.
vec3 local_place(uint vertex) {
    uint at = vertex * 5u;
    vec3 own = uintBitsToFloat(uvec3(vertices[at], vertices[at + 1u], vertices[at + 2u]));
    return own * intBitsToFloat(draw_place.w);
}

// The same relative to the eye.
vec3 relative_place(vec3 local) {
    return (vec3(draw_place.xyz - frame.camera_voxel.xyz) + local) - frame.camera_fraction.xyz;
}

#ifdef WIRED
// How far a corner is from the plane through the eye and the edge opposite, from where that
// begins; `along` is the edge.
float height(vec3 corner, vec3 along, vec3 edge_local) {
    vec3 sight = frame.ground.w > 0.0 ? frame.ray_forward.xyz : relative_place(edge_local);
    vec3 across = cross(sight, along);
    return abs(dot(corner, across)) / max(length(across), 1e-9);
}
#endif

void main() {
#ifdef WIRED
    uint own = uint(gl_VertexID) % 3u;
    uint first = own_first.x + (uint(gl_VertexID) - own);
    uvec3 corners = uvec3(indices[first], indices[first + 1u], indices[first + 2u]) + own_first.y;
    uint vertex = corners[own];
    vec3 a = local_place(corners.x);
    vec3 b = local_place(corners.y);
    vec3 c = local_place(corners.z);
    vec3 heights =
        vec3(height(a - b, c - b, b), height(b - c, a - c, c), height(c - a, b - a, a));
    // A corner lies on both edges but the one opposite.
    edges = heights * vec3(equal(uvec3(own), uvec3(0u, 1u, 2u)));
    least = min(min(heights.x, heights.y), heights.z);
#else
    uint vertex = uint(gl_VertexID);
#endif
    relative = relative_place(local_place(vertex));
    mat4 m = frame.clip_from_relative;
    gl_Position = m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3];
    color = unpackUnorm4x8(vertices[vertex * 5u + 4u]);
    normal = unfolded(vertices[vertex * 5u + 3u]);
}
