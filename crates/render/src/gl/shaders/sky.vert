// One triangle over the whole picture at the far plane.

layout(location = 0) out vec3 ray;

void main() {
    float x = gl_VertexID == 1 ? 3.0 : -1.0;
    float y = gl_VertexID == 2 ? 3.0 : -1.0;
    gl_Position = vec4(x, y, 0.0, 1.0);
    ray = frame.ray_forward + frame.ray_right * x + frame.ray_up * y;
}
