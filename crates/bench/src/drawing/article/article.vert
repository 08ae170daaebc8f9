// Draws the article's vertices: 40 bytes each. The picture is the same as surface.vert's.

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 own_color;

layout(location = 0) flat out vec4 color;
layout(location = 1) centroid out vec3 relative;

vec3 seam_stretch(vec3 at, vec3 flat_axis) {
    vec3 sight = frame.is_parallel > 0.0 ? frame.ray_forward : at;
    vec3 squares = sight * sight;
    float off_plane = max(dot(squares, flat_axis), 1e-6);
    return min(sqrt(1.0 + squares / off_plane), vec3(frame.seam_stretch_max));
}

void main() {
    vec3 flat_axis = abs(normal);
    bool positive = normal.x + normal.y + normal.z > 0.0;
    uint corner = uint(gl_VertexID) % 4u;
    uint along_u = positive ? corner & 1u : corner >> 1u;
    uint along_v = positive ? corner >> 1u : corner & 1u;
    vec3 outward = (float(along_u) * 2.0 - 1.0) * flat_axis.zxy
        + (float(along_v) * 2.0 - 1.0) * flat_axis.yzx;
    vec3 at = relative_to_voxel(position) - frame.camera_fraction;
    relative = at + outward * seam_stretch(at, flat_axis) * (frame.seam * to_clip(at).w);
    gl_Position = to_clip(relative);
    uint face = uint(flat_axis.y + 2.0 * flat_axis.z) + (positive ? 3u : 0u);
    color = vec4(min(own_color.rgb * frame.face_light[face], vec3(1.0)), own_color.a);
}
