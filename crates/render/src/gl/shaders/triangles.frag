layout(location = 0) in vec4 color;
layout(location = 1) in vec3 relative;
layout(location = 2) in vec3 normal;

layout(location = 0) out vec4 seen;

// The light on a normal, as Atmosphere::light has it.
vec3 light(vec3 at) {
    float sun = max(dot(at, frame.sun_direction.xyz), 0.0);
    float open_sky = 0.74 + 0.26 * at.y;
    return frame.ambient.rgb * open_sky + frame.sun.rgb * (0.62 * sun);
}

void main() {
    // Both sides are lit: the normal is turned to the side that is seen.
    vec3 turned = gl_FrontFacing ? normal : -normal;
    vec3 lit = light(turned / max(length(turned), 1e-6));
    seen = hazed(vec4(min(color.rgb * lit, vec3(1.0)), color.a), relative);
}
