// Draws triangles with textures. Appended to triangles.wgsl. The software rasteriser
// (src/soft/textures.rs) does the same arithmetic in the same order.

// Corners, materials, and images with mipmaps; see src/texture_set.rs.
@group(0) @binding(2) var<storage, read> textures: array<u32>;

const UNLIT: u32 = 1u;
const MASKED: u32 = 2u;
const HAS_OPACITY: u32 = 4u;

struct TexturedCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(perspective, centroid) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) normal: vec3<f32>,
    @location(3) @interpolate(perspective, centroid) uv: vec2<f32>,
    // The same at the centre of the pixel, from which the mipmap is selected: differences between
    // centroids are no derivatives.
    @location(4) @interpolate(perspective, center) center_uv: vec2<f32>,
    // Offset of the material; 0 without textures.
    @location(5) @interpolate(flat) material: u32,
}

// Position of a vertex in its textures.
struct Texel {
    color: vec4<f32>,
    uv: vec2<f32>,
    material: u32,
}

fn corner_of(vertex: u32, model: DrawData) -> Texel {
    let word = vertices[vertex * 5u + 4u];
    // A negative scale marks textured meshes.
    if bitcast<i32>(model.level) >= 0 {
        return Texel(unpack4x8unorm(word), vec2<f32>(0.0), 0u);
    }
    let at = textures[1] + min(word, textures[0] - 1u) * 4u;
    let uv = vec2<f32>(bitcast<f32>(textures[at]), bitcast<f32>(textures[at + 1u]));
    return Texel(unpack4x8unorm(textures[at + 2u]), uv, textures[at + 3u]);
}

@vertex
fn textured_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> TexturedCorner {
    let plain = triangle_corner(vertex, draws[slot]);
    let own = corner_of(vertex, draws[slot]);
    var out: TexturedCorner;
    out.position = plain.position;
    out.color = own.color;
    out.relative = plain.relative;
    out.normal = plain.normal;
    out.uv = own.uv;
    out.center_uv = own.uv;
    out.material = own.material;
    return out;
}

// A coordinate in the first repetition: 0 to 1, or to 2 for mirrored ones.
fn folded(at: f32, wrap: u32) -> f32 {
    if wrap == 0u {
        return at - floor(at);
    }
    if wrap == 1u {
        return at - 2.0 * floor(at * 0.5);
    }
    return clamp(at, 0.0, 1.0);
}

// A texel's column or row in an image of this size.
fn wrapped(at: i32, size: i32, wrap: u32) -> i32 {
    var own = at;
    if wrap == 0u {
        own = select(own, own + size, own < 0);
        own = select(own, own - size, own >= size);
    } else if wrap == 1u {
        own = max(own, -1 - own);
        own = min(own, 2 * size - 1 - own);
    }
    return clamp(own, 0, size - 1);
}

fn texel(first: u32, width: i32, column: i32, row: i32) -> vec4<f32> {
    return unpack4x8unorm(textures[first + u32(row * width + column)]);
}

// The colour between four texels of a mipmap.
fn bilinear(image: u32, level: u32, at: vec2<f32>, wrap: u32) -> vec4<f32> {
    let size = vec2<i32>(max(
        vec2<u32>(textures[image] & 0xffffu, textures[image] >> 16u) >> vec2<u32>(level),
        vec2<u32>(1u),
    ));
    let first = textures[image + 2u + level];
    let wraps = vec2<u32>(wrap & 3u, (wrap >> 2u) & 3u);
    let x = folded(at.x, wraps.x) * f32(size.x) - 0.5;
    let y = folded(at.y, wraps.y) * f32(size.y) - 0.5;
    let low = floor(vec2<f32>(x, y));
    let part = vec2<f32>(x, y) - low;
    let left = wrapped(i32(low.x), size.x, wraps.x);
    let right = wrapped(i32(low.x) + 1, size.x, wraps.x);
    let upper = wrapped(i32(low.y), size.y, wraps.y);
    let lower = wrapped(i32(low.y) + 1, size.y, wraps.y);
    let top_left = texel(first, size.x, left, upper);
    let top = top_left + (texel(first, size.x, right, upper) - top_left) * part.x;
    let bottom_left = texel(first, size.x, left, lower);
    let bottom = bottom_left + (texel(first, size.x, right, lower) - bottom_left) * part.x;
    return top + (bottom - top) * part.y;
}

// A texture's colour; white without an image. `across` and `down` are the changes of the texture
// coordinates by one pixel.
fn sampled(own: u32, uv: vec2<f32>, across: vec2<f32>, down: vec2<f32>) -> vec4<f32> {
    let image = textures[own];
    if image == 0u {
        return vec4<f32>(1.0);
    }
    let turn = mat2x2<f32>(
        bitcast<f32>(textures[own + 2u]),
        bitcast<f32>(textures[own + 5u]),
        bitcast<f32>(textures[own + 3u]),
        bitcast<f32>(textures[own + 6u]),
    );
    let offset = vec2<f32>(bitcast<f32>(textures[own + 4u]), bitcast<f32>(textures[own + 7u]));
    let at = turn * uv + offset;
    let size = vec2<f32>(f32(textures[image] & 0xffffu), f32(textures[image] >> 16u));
    let texels_across = (turn * across) * size;
    let texels_down = (turn * down) * size;
    let square = max(dot(texels_across, texels_across), dot(texels_down, texels_down));
    let last = textures[image + 1u] - 1u;
    let level = clamp(0.5 * log2(max(square, 1e-12)), 0.0, f32(last));
    let lower = min(u32(level), last);
    let part = level - f32(lower);
    let wrap = textures[own + 1u];
    let near = bilinear(image, lower, at, wrap);
    if part <= 0.0 {
        return near;
    }
    return near + (bilinear(image, min(lower + 1u, last), at, wrap) - near) * part;
}

// A textured triangle's lit colour. Discards holes. Every pixel must call it, because it takes differences
// between pixels.
fn lit_surface(
    material: u32,
    color: vec4<f32>,
    relative: vec3<f32>,
    own_normal: vec3<f32>,
    is_front: bool,
    uv: vec2<f32>,
    center_uv: vec2<f32>,
) -> vec4<f32> {
    let across = dpdx(center_uv);
    let down = dpdy(center_uv);
    let plane = plane_vector(relative);
    if material == 0u {
        return lit_triangle(color, relative, own_normal, is_front, plane);
    }
    let flags = textures[material];
    var own = color * sampled(material + 4u, uv, across, down);
    if (flags & MASKED) != 0u && own.a < bitcast<f32>(textures[material + 1u]) {
        discard;
    }
    if (flags & (HAS_OPACITY | MASKED)) != HAS_OPACITY {
        own.a = 1.0;
    }
    var lit = vec4<f32>(own.rgb * frame.unlit_light, own.a);
    if (flags & UNLIT) == 0u {
        lit = lit_triangle(own, relative, own_normal, is_front, plane);
    }
    let emissive = unpack4x8unorm(textures[material + 2u])
        * sampled(material + 12u, uv, across, down);
    return vec4<f32>(min(lit.rgb + emissive.rgb, vec3<f32>(1.0)), own.a);
}

@fragment
fn textured_fragment(
    in: TexturedCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    let lit =
        lit_surface(in.material, in.color, in.relative, in.normal, is_front, in.uv, in.center_uv);
    return hazed(lit, in.relative);
}
