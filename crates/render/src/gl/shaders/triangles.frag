layout(location = 0) centroid in vec4 color;
layout(location = 1) centroid in vec3 relative;
layout(location = 2) centroid in vec3 normal;
#ifdef WIRED
layout(location = 3) centroid in vec3 edges;
layout(location = 4) flat in float least;
#endif

#ifdef TEXTURED
layout(location = 5) centroid in vec2 uv;
layout(location = 6) in vec2 center_uv;
layout(location = 7) flat in uint material;
#endif

layout(location = 0) out vec4 seen;

// Light on a normal that these shares of the sun and of the sky reach, as in Atmosphere::light.
vec3 light(vec3 at, float share, float of_sky) {
    float sun = max(dot(at, frame.sun_direction), 0.0);
    float open_sky = 0.74 + 0.26 * at.y;
    return frame.ambient * (open_sky * of_sky) + frame.sun * (0.62 * (sun * share));
}

#ifdef WIRED
// Part of a pixel that is covered by the lines along its triangle's edges.
float wire() {
    mat4 m = frame.clip_from_relative;
    float clip_w = (m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3]).w;
    // Voxels that a pixel spans: the seam moves edges by one part in 128.
    float pixel = frame.seam * 128.0 * clip_w;
    float nearest = min(min(edges.x, edges.y), edges.z);
    // Fade lines of triangles of few pixels, which would be covered by them.
    return 0.85 * clamp(frame.wire_pixels - nearest / pixel, 0.0, 1.0)
        * clamp(least / pixel * 0.125, 0.0, 1.0);
}
#endif

void main() {
    // Both sides are lit: the normal is turned to the visible side.
    vec3 turned = gl_FrontFacing ? normal : -normal;
    vec3 outward = turned / max(length(turned), 1e-6);
#if defined(SUN_MAPS) || defined(SKY_MAPS)
    // Maps are read with the normal of the triangle's plane: with the interpolated one, a triangle that
    // is nearly parallel to the light would cast shadows on itself.
    vec3 plane = cross(dFdx(relative), dFdy(relative));
    float size = length(plane);
    vec3 side = dot(plane, outward) >= 0.0 ? plane : -plane;
    vec3 flat_normal = size > 0.0 ? side / size : outward;
#endif
    float share = 1.0;
#ifdef SUN_MAPS
    share = sun_share(relative, flat_normal);
#endif
    float of_sky = 1.0;
#ifdef SKY_MAPS
    of_sky = sky_share(relative, outward, flat_normal);
#endif
    vec3 own_light = light(outward, share, of_sky);
    vec4 own = color;
    vec3 emissive = vec3(0.0);
#ifdef TEXTURED
    vec2 across = dFdx(center_uv);
    vec2 down = dFdy(center_uv);
    if (material != 0u) {
        uint flags = textures[material];
        own *= sampled(material + 4u, uv, across, down);
        if ((flags & MASKED) != 0u && own.a < uintBitsToFloat(textures[material + 1u])) {
            discard;
        }
        own.a = (flags & (HAS_OPACITY | MASKED)) == HAS_OPACITY ? own.a : 1.0;
        own_light = (flags & UNLIT) != 0u ? vec3(frame.unlit_light) : own_light;
        emissive = unpackUnorm4x8(textures[material + 2u]).rgb
            * sampled(material + 12u, uv, across, down).rgb;
    }
#endif
    vec3 lit = min(min(own.rgb * own_light, vec3(1.0)) + emissive, vec3(1.0));
    float opacity = own.a;
#ifdef WIRED
    float line = wire();
    lit *= 1.0 - line;
    opacity += (1.0 - opacity) * line;
#endif
    seen = hazed(vec4(lit, opacity), relative);
}
