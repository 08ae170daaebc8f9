// A colour as seen through haze.
vec4 hazed(vec4 color, vec3 relative) {
    float range = length(relative);
    float t = clamp((range - frame.haze_start) * frame.haze_rate, 0.0, 1.0);
    float haze = frame.haze_density * (t * t * (3.0 - 2.0 * t));
    return vec4(mix(color.rgb, sky(relative / max(range, 1e-6)), haze), color.a);
}
