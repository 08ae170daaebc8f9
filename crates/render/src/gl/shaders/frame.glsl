#version 430 core
// Common part of all shaders. The arithmetic is that of ../../wgpu/shader.wgsl, in the same order.

layout(std140, binding = 0) uniform Frame {
    mat4 clip_from_relative;
    ivec4 camera_voxel;
    vec4 camera_fraction;    // w: light lost per level of ambient occlusion
    vec4 ray_forward;     // w: cosine at the edge of the sun's disc
    vec4 ray_right;       // w: haze start
    vec4 ray_up;          // w: 1 / haze depth
    vec4 zenith;          // w: haze density
    vec4 horizon;         // w: seam, voxels per clip w
    vec4 ground;          // w: 1 for parallel rays
    vec4 sun_direction;   // w: reach of the wire frame's lines, in pixels
    vec4 sun;             // w: maximum stretch of the seam
    vec4 ambient;         // w: tint of levels
    vec4 face_light[6];
} frame;

// Side of the voxels of a mesh in units; 24 is the highest level.
float voxel_scale(uint level) {
    return float(1u << min(level, 24u));
}

// Colour of the sky in a direction of unit length, without the sun's disc. Haze fades to it.
vec3 sky(vec3 direction) {
    float low = 1.0 - clamp(direction.y / 0.6, 0.0, 1.0);
    vec3 above = mix(frame.zenith.rgb, frame.horizon.rgb, low * low);
    float deep = clamp(-direction.y / 0.25, 0.0, 1.0);
    vec3 base = mix(above, frame.ground.rgb, deep * deep * (3.0 - 2.0 * deep));
    float towards = max(dot(direction, frame.sun_direction.xyz), 0.0);
    float towards4 = towards * towards * towards * towards;
    float towards16 = towards4 * towards4 * towards4 * towards4;
    return base + frame.sun.rgb * (0.22 * towards16 * towards16);
}
