// Draws triangles of models: vertices of 20 bytes with their own indices.

// Five words each: position, normal, colour.
layout(std430, binding = 0) readonly buffer Vertices { uint vertices[]; };

// Per-draw data of the draw's slot, selected by base instance: the model's origin, and the bits of
// its scale.
layout(location = 0) in ivec4 origin_and_scale;

layout(location = 0) centroid out vec4 color;
layout(location = 1) centroid out vec3 relative;
layout(location = 2) centroid out vec3 normal;

#ifdef WIRED
// Indices are read from a storage buffer instead of the index buffer, so that each corner can read
// the other two.
layout(std430, binding = 3) readonly buffer Indices { uint indices[]; };

// The draw's first index and first vertex.
layout(location = 0) uniform uvec2 own_first;

// Distance to each edge, in voxels across the view direction; and the smallest of the three
// heights.
layout(location = 3) centroid out vec3 edges;
layout(location = 4) flat out float least;
#endif

#ifdef TEXTURED
// Corners, materials, and images with mipmaps; see ../../texture_set.rs.
layout(std430, binding = 4) readonly buffer Textures { uint textures[]; };

layout(location = 5) centroid out vec2 uv;
// The same at the centre of the pixel, from which the mipmap is selected: differences between
// centroids are no derivatives.
layout(location = 6) out vec2 center_uv;
// Offset of the material; 0 without textures.
layout(location = 7) flat out uint material;
#endif

// Per-draw data of a model; see ../../triangle_vertex.rs.
struct TriangleTransform {
    ivec3 origin;
    float scale;
};

TriangleTransform transform() {
    return TriangleTransform(origin_and_scale.xyz, intBitsToFloat(origin_and_scale.w));
}

// Normal from a point of the square that an octahedron unfolds to.
vec3 unfolded(uint word) {
    vec2 square = unpackSnorm2x16(word);
    float z = 1.0 - abs(square.x) - abs(square.y);
    // The lower half is folded over the edges of the upper half.
    float fold = max(-z, 0.0);
    float x = square.x - (square.x >= 0.0 ? fold : -fold);
    float y = square.y - (square.y >= 0.0 ? fold : -fold);
    return normalize(vec3(x, y, z));
}

// Position of a vertex relative to its model's origin, in voxels.
vec3 local_position(uint vertex) {
    uint at = vertex * 5u;
    vec3 own = uintBitsToFloat(uvec3(vertices[at], vertices[at + 1u], vertices[at + 2u]));
    // A negative scale marks textured meshes.
    return own * abs(transform().scale);
}

// Position of a vertex relative to the camera.
vec3 relative_position(vec3 local) {
    return (vec3(transform().origin - frame.camera_voxel) + local) - frame.camera_fraction;
}

#ifdef WIRED
// Distance of a corner from the plane through the camera and the opposite edge. The edge begins at
// `edge_local` and has the direction `along`.
float height(vec3 corner, vec3 along, vec3 edge_local) {
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : relative_position(edge_local);
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
    vec3 a = local_position(corners.x);
    vec3 b = local_position(corners.y);
    vec3 c = local_position(corners.z);
    vec3 heights =
        vec3(height(a - b, c - b, b), height(b - c, a - c, c), height(c - a, b - a, a));
    // A corner lies on both edges except the opposite one.
    edges = heights * vec3(equal(uvec3(own), uvec3(0u, 1u, 2u)));
    least = min(min(heights.x, heights.y), heights.z);
#else
    uint vertex = uint(gl_VertexID);
#endif
    relative = relative_position(local_position(vertex));
    mat4 m = frame.clip_from_relative;
    gl_Position = m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3];
    uint word = vertices[vertex * 5u + 4u];
    color = unpackUnorm4x8(word);
#ifdef TEXTURED
    uv = vec2(0.0);
    material = 0u;
    if (origin_and_scale.w < 0) {
        uint at = textures[1] + min(word, textures[0] - 1u) * 4u;
        uv = uintBitsToFloat(uvec2(textures[at], textures[at + 1u]));
        color = unpackUnorm4x8(textures[at + 2u]);
        material = textures[at + 3u];
    }
    center_uv = uv;
#endif
    normal = unfolded(vertices[vertex * 5u + 3u]);
}
