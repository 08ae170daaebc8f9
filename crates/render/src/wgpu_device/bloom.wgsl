// Blurs emitted light and adds it to the picture; see ../bloom.rs.

// See bloom::STRENGTH.
const STRENGTH: f32 = 0.15;

@group(0) @binding(0) var source: texture_2d<f32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    // Position in the picture, 0 to 1, y down.
    @location(0) part: vec2<f32>,
}

// One triangle over the whole picture.
@vertex
fn whole_picture(@builtin(vertex_index) vertex: u32) -> Corner {
    let x = select(-1.0, 3.0, vertex == 1u);
    let y = select(-1.0, 3.0, vertex == 2u);
    return Corner(vec4<f32>(x, y, 0.0, 1.0), vec2<f32>(0.5 + 0.5 * x, 0.5 - 0.5 * y));
}

// A texel; beyond a side of the source that at the side.
fn texel(at: vec2<i32>) -> vec3<f32> {
    let last = vec2<i32>(textureDimensions(source)) - 1;
    return textureLoad(source, clamp(at, vec2<i32>(0), last), 0).rgb;
}

// Light between four texels, at a position in texels.
fn between(at: vec2<f32>) -> vec3<f32> {
    let low = floor(at - 0.5);
    let part = at - 0.5 - low;
    let first = vec2<i32>(low);
    let top = mix(texel(first), texel(first + vec2<i32>(1, 0)), part.x);
    let bottom = mix(texel(first + vec2<i32>(0, 1)), texel(first + vec2<i32>(1, 1)), part.x);
    return mix(top, bottom, part.y);
}

// Weight of one of four texels.
fn weight(number: i32) -> f32 {
    return select(0.125, 0.375, number == 1 || number == 2);
}

@fragment
fn halve(in: Corner) -> @location(0) vec4<f32> {
    let first = vec2<i32>(in.position.xy) * 2 - 1;
    var sum = vec3<f32>(0.0);
    for (var y = 0; y < 4; y++) {
        var row = vec3<f32>(0.0);
        for (var x = 0; x < 4; x++) {
            row += texel(first + vec2<i32>(x, y)) * weight(x);
        }
        sum += row * weight(y);
    }
    return vec4<f32>(sum, 1.0);
}

// Light for a target of twice the size.
@fragment
fn widen(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(between(in.position.xy * 0.5), 1.0);
}

@fragment
fn add(in: Corner) -> @location(0) vec4<f32> {
    let glow = between(in.part * vec2<f32>(textureDimensions(source)));
    return vec4<f32>(min(glow * STRENGTH, vec3<f32>(1.0)), 1.0);
}
