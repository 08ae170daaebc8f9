#version 430 core
// Draws overlays, with the arithmetic of ../../wgpu_device/overlay.wgsl.

layout(location = 0) in vec2 at;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;

// 2 / width and 2 / height of the picture.
layout(location = 0) uniform vec2 scale;

layout(location = 0) out vec2 texture_position;
layout(location = 1) out vec4 tint;

void main() {
    gl_Position = vec4(at.x * scale.x - 1.0, 1.0 - at.y * scale.y, 0.0, 1.0);
    texture_position = uv;
    tint = color;
}
