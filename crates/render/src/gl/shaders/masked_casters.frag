// Holes of masked materials in shadow maps. Appended to textures.glsl.

layout(location = 0) centroid in vec4 color;
layout(location = 5) centroid in vec2 uv;
layout(location = 6) in vec2 center_uv;
layout(location = 7) flat in uint material;

void main() {
    vec2 across = dFdx(center_uv);
    vec2 down = dFdy(center_uv);
    if (material == 0u || (textures[material] & MASKED) == 0u) {
        return;
    }
    float opacity = color.a * sampled(material + 4u, uv, across, down).a;
    if (opacity < uintBitsToFloat(textures[material + 1u])) {
        discard;
    }
}
