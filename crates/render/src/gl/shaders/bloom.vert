#version 430 core
// One triangle over the whole picture.

// Position in the picture, 0 to 1, y down.
layout(location = 0) out vec2 part;

void main() {
    float x = gl_VertexID == 1 ? 3.0 : -1.0;
    float y = gl_VertexID == 2 ? 3.0 : -1.0;
    gl_Position = vec4(x, y, 0.0, 1.0);
    part = vec2(0.5 + 0.5 * x, 0.5 - 0.5 * y);
}
