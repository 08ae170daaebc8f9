// Lines along the edges of triangles. Appended to triangles.wgsl. The software rasteriser
// (src/soft/wire.rs) does the same arithmetic in the same order.

// Data of a draw. Indices are read from a storage buffer instead of the index buffer, so that each
// corner can read the other two.
struct WiredDraw {
    first_index: u32,
    first_vertex: u32,
    slot: u32,
    unused: u32,
}

@group(2) @binding(0) var<storage, read> indices: array<u32>;
@group(3) @binding(0) var<storage, read> wired_draws: array<WiredDraw>;

// Number of seam moves in a pixel; see Frame::SEAM_PIXELS.
const SEAM_PARTS: f32 = 128.0;

struct WiredTriangleCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(perspective, centroid) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) normal: vec3<f32>,
    // Distance to each edge, in voxels across the view direction; and the smallest of the three
    // heights.
    @location(3) @interpolate(perspective, centroid) edges: vec3<f32>,
    @location(4) @interpolate(flat) least: f32,
}

// Distance of a corner from the plane through the camera and the opposite edge. The edge begins at
// `edge_relative` and has the direction `along`.
fn height(corner: vec3<f32>, along: vec3<f32>, edge_relative: vec3<f32>) -> f32 {
    let sight = select(edge_relative, frame.ray_forward, frame.is_parallel > 0.0);
    let across = cross(sight, along);
    return abs(dot(corner, across)) / max(length(across), 1e-9);
}

// A corner, its vertex, and its distances to the edges.
struct WiredCorner {
    corner: TriangleCorner,
    vertex: u32,
    edges: vec3<f32>,
    least: f32,
}

fn wired_corner(number: u32, draw: WiredDraw) -> WiredCorner {
    let model = draws[draw.slot];
    let own = number % 3u;
    let first = draw.first_index + (number - own);
    let a = indices[first] + draw.first_vertex;
    let b = indices[first + 1u] + draw.first_vertex;
    let c = indices[first + 2u] + draw.first_vertex;
    let local_a = local_position(a, model);
    let local_b = local_position(b, model);
    let local_c = local_position(c, model);
    let heights = vec3<f32>(
        height(local_a - local_b, local_c - local_b, relative_position(local_b, model)),
        height(local_b - local_c, local_a - local_c, relative_position(local_c, model)),
        height(local_c - local_a, local_b - local_a, relative_position(local_a, model)),
    );
    let vertex = select(select(c, b, own == 1u), a, own == 0u);
    // A corner lies on both edges except the opposite one.
    let edges = select(vec3<f32>(0.0), heights, vec3<u32>(own) == vec3<u32>(0u, 1u, 2u));
    let least = min(min(heights.x, heights.y), heights.z);
    return WiredCorner(triangle_corner(vertex, model), vertex, edges, least);
}

@vertex
fn wired_triangle_vertex(
    @builtin(vertex_index) number: u32,
    @builtin(instance_index) instance: u32,
) -> WiredTriangleCorner {
    let plain = wired_corner(number, wired_draws[instance]);
    var out: WiredTriangleCorner;
    out.position = plain.corner.position;
    out.color = plain.corner.color;
    out.relative = plain.corner.relative;
    out.normal = plain.corner.normal;
    out.edges = plain.edges;
    out.least = plain.least;
    return out;
}

// A lit colour under the lines along its triangle's edges.
fn under_line(lit: vec4<f32>, edges: vec3<f32>, least: f32, relative: vec3<f32>) -> vec4<f32> {
    // Voxels that a pixel spans.
    let pixel = frame.seam * SEAM_PARTS * to_clip(relative).w;
    let nearest = min(min(edges.x, edges.y), edges.z);
    // Fade lines of triangles of few pixels, which would be covered by them.
    let line = 0.85 * clamp(frame.wire_pixels - nearest / pixel, 0.0, 1.0)
        * clamp(least / pixel * 0.125, 0.0, 1.0);
    let opacity = lit.a + (1.0 - lit.a) * line;
    return vec4<f32>(lit.rgb * (1.0 - line), opacity);
}

@fragment
fn wired_triangle_fragment(
    in: WiredTriangleCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    let plane = plane_vector(in.relative);
    let lit = lit_triangle(in.color, in.relative, in.normal, is_front, plane);
    return hazed(under_line(lit, in.edges, in.least, in.relative), in.relative);
}
