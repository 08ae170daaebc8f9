layout(location = 0) flat in vec4 color;
layout(location = 1) in vec3 relative;

layout(location = 0) out vec4 seen;

void main() {
    float range = length(relative);
    float t = clamp((range - frame.ray_right.w) * frame.ray_up.w, 0.0, 1.0);
    float haze = frame.zenith.w * (t * t * (3.0 - 2.0 * t));
    seen = vec4(mix(color.rgb, sky(relative / max(range, 1e-6)), haze), color.a);
}
