// Holes of masked materials in shadow maps. Appended to textures.wgsl.

@fragment
fn masked_caster_fragment(in: TexturedCorner) {
    let across = dpdx(in.center_uv);
    let down = dpdy(in.center_uv);
    if in.material == 0u || (textures[in.material] & MASKED) == 0u {
        return;
    }
    let opacity = in.color.a * sampled(in.material + 4u, in.uv, across, down).a;
    if opacity < bitcast<f32>(textures[in.material + 1u]) {
        discard;
    }
}
