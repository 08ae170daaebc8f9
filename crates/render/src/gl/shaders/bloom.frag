// Blurs emitted light and adds it to the picture; see ../../bloom.rs. The arithmetic is that of
// ../../wgpu_device/bloom.wgsl.

// See bloom::STRENGTH.
const float STRENGTH = 0.15;

layout(binding = 0) uniform sampler2D source;

layout(location = 0) in vec2 part;

layout(location = 0) out vec4 seen;

// A texel; beyond a side of the source that at the side.
vec3 texel(ivec2 at) {
    return texelFetch(source, clamp(at, ivec2(0), textureSize(source, 0) - 1), 0).rgb;
}

// Light between four texels, at a position in texels.
vec3 between(vec2 at) {
    vec2 low = floor(at - 0.5);
    vec2 share = at - 0.5 - low;
    ivec2 first = ivec2(low);
    vec3 top = mix(texel(first), texel(first + ivec2(1, 0)), share.x);
    vec3 bottom = mix(texel(first + ivec2(0, 1)), texel(first + ivec2(1, 1)), share.x);
    return mix(top, bottom, share.y);
}

#ifdef HALVE
// Weight of one of four texels.
float weight(int number) {
    return number == 1 || number == 2 ? 0.375 : 0.125;
}

void main() {
    ivec2 first = ivec2(gl_FragCoord.xy) * 2 - 1;
    vec3 sum = vec3(0.0);
    for (int y = 0; y < 4; y++) {
        vec3 row = vec3(0.0);
        for (int x = 0; x < 4; x++) {
            row += texel(first + ivec2(x, y)) * weight(x);
        }
        sum += row * weight(y);
    }
    seen = vec4(sum, 1.0);
}
#endif

#ifdef WIDEN
// Light for a target of twice the size.
void main() {
    seen = vec4(between(gl_FragCoord.xy * 0.5), 1.0);
}
#endif

#ifdef ADD
void main() {
    seen = vec4(min(between(part * vec2(textureSize(source, 0))) * STRENGTH, vec3(1.0)), 1.0);
}
#endif
