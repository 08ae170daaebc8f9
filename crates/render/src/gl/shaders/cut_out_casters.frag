// Quads and cubes with holes in shadow maps; see ../../wgpu_device/cut_out_casters.wgsl. Appended to
// tiles.glsl.

layout(location = 1) centroid in vec3 relative;
layout(location = 4) flat in uint tile;

void main() {
    if (has_holes(tile)) {
        tile_color(tile, relative);
    }
}
