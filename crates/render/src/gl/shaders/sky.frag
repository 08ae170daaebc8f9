layout(location = 0) in vec3 ray;

layout(location = 0) out vec4 seen;

void main() {
    vec3 direction = normalize(ray);
    float towards = dot(direction, frame.sun_direction);
    float rim = frame.sun_disc_cos;
    float disc = smoothstep(rim, mix(rim, 1.0, 0.25), towards);
    // A low sun gives little light, but its disc is bright, until it disappears.
    float strength = max(frame.sun.r, max(frame.sun.g, frame.sun.b)) / 0.05;
    vec3 sun = frame.sun / (0.05 * max(strength, 1.0));
    seen = vec4(mix(sky(direction), sun, disc * min(strength, 1.0)), 1.0);
}
