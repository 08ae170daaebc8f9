layout(location = 0) in vec3 ray;

layout(location = 0) out vec4 seen;

void main() {
    vec3 direction = normalize(ray);
    float towards = dot(direction, frame.sun_direction.xyz);
    float rim = frame.ray_forward.w;
    float disc = smoothstep(rim, mix(rim, 1.0, 0.25), towards);
    seen = vec4(mix(sky(direction), frame.sun.rgb, disc), 1.0);
}
