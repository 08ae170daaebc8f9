#version 430 core
// Common part of all shaders. The arithmetic is that of ../../wgpu_device/shader.wgsl, in the same order.

// The fields are explained in ../../frame.rs.
layout(std140, binding = 0) uniform Frame {
    mat4 clip_from_relative;
    ivec3 camera_voxel;
    float far_fade;
    vec3 camera_fraction;
    float occlusion_loss;
    vec3 ray_forward;
    float sun_disc_cos;
    vec3 ray_right;
    float haze_start;
    vec3 ray_up;
    float haze_rate;
    vec3 zenith;
    float haze_density;
    vec3 horizon;
    float seam;
    vec3 ground;
    float is_parallel;
    vec3 sun_direction;
    float wire_pixels;
    vec3 sun;
    float seam_stretch_max;
    vec3 ambient;
    float level_tint;
    vec3 face_light[6];
    vec3 glow;
    float unlit_light;
} frame;

// Side of the voxels of a mesh in units; 24 is the highest level.
float voxel_scale(uint level) {
    return float(1u << min(level, 24u));
}

vec4 to_clip(vec3 relative) {
    mat4 m = frame.clip_from_relative;
    return m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3];
}

// Units that a pixel spans at a position relative to the camera, on a face seen straight on. The
// seam moves edges by one part in 128.
float pixel_units(vec3 relative) {
    return frame.seam * 128.0 * to_clip(relative).w;
}

// How far the contrast of faces has faded where a pixel spans so many units: 0 to 1; see
// Frame::FADE_UNITS.
float far_fade(float pixel) {
    float t = clamp((pixel - 0.25) / 0.75, 0.0, 1.0);
    return frame.far_fade * (t * t * (3.0 - 2.0 * t));
}

// Colour of the sky in a direction of unit length, without the sun's disc. Haze fades to it.
vec3 sky(vec3 direction) {
    float low = 1.0 - clamp(direction.y / 0.6, 0.0, 1.0);
    float low2 = low * low;
    float towards = max(dot(direction, frame.sun_direction), 0.0);
    float towards2 = towards * towards;
    float towards4 = towards2 * towards2;
    float towards16 = towards4 * towards4 * towards4 * towards4;
    vec3 above = mix(frame.zenith, frame.horizon, low2) + frame.glow * (low2 * low2 * towards2);
    float deep = clamp(-direction.y / 0.25, 0.0, 1.0);
    vec3 base = mix(above, frame.ground, deep * deep * (3.0 - 2.0 * deep));
    return base + frame.sun * (0.22 * towards16 * towards16);
}
