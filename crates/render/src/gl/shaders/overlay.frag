#version 430 core

layout(location = 0) in vec2 texture_position;
layout(location = 1) in vec4 tint;

layout(binding = 0) uniform sampler2D image;

layout(location = 0) out vec4 seen;

void main() {
    seen = tint * texture(image, texture_position);
}
