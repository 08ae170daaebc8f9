use drystone_mesh::{Face, QUAD_WGSL, Quad};
use drystone_testing::Random;
use drystone_wgpu::parts::Gpu;

use super::screen::Screen;

/// Writes all that `QUAD_WGSL` decodes, for each corner of each quad.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read> quads: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 16>>;

@compute @workgroup_size(64)
fn decode(@builtin(global_invocation_id) id: vec3<u32>) {
    let quad = quads[id.x / 4u];
    let corner = quad_corner(quad, id.x % 4u);
    let normal = quad_normal(quad);
    let position = quad_position(quad);
    let size = quad_size(quad);
    let steps = quad_steps(quad);
    out[id.x] = array<f32, 16>(
        corner.position.x, corner.position.y, corner.position.z, corner.uv.x, corner.uv.y,
        normal.x, normal.y, normal.z, f32(position.x), f32(position.y), f32(position.z),
        f32(size.x), f32(size.y), f32(quad_material(quad)), f32(quad_face(quad)),
        f32(quad_occlusion(quad, id.x % 4u) + 4u * steps.x + 16u * steps.y),
    );
}
";

/// Output of the shader for a corner, computed on the CPU.
fn expected(quad: Quad, corner: usize) -> [f32; 16] {
    let face = quad.face().unwrap();
    let [x, y, z] = quad.positions()[corner];
    let [u, v] = quad.uv()[corner];
    let [nx, ny, nz] = face.normal().map(|n| n as f32);
    let [px, py, pz] = quad.position().map(|p| p as f32);
    let [width, height] = quad.size().map(|side| side as f32);
    let shade = u32::from(quad.ambient_occlusion() >> (2 * corner) & 3);
    let [along, across] = quad.steps();
    let shade_and_steps = (shade + 4 * along + 16 * across) as f32;
    let (material, face) = (f32::from(quad.material()), f32::from(face as u8));
    [x, y, z, u, v, nx, ny, nz, px, py, pz, width, height, material, face, shade_and_steps]
}

/// Shaders decode a quad as the CPU does.
#[test]
fn shaders_decode_quads_like_the_cpu() {
    let Some(screen) = Screen::open("shaders_decode_quads_like_the_cpu") else { return };
    let mut random = Random::new(5);
    let quads: Vec<Quad> = (0..1024)
        .map(|number| {
            let position = [(); 3].map(|()| random.below(64));
            let size = [(); 2].map(|()| 1 + random.below(64));
            let quad = Quad::new(position, size, Face::ALL[number % 6], random.bits() as u16);
            let quad = quad.with_ambient_occlusion(random.bits() as u8);
            quad.with_steps([(); 2].map(|()| random.below(4)))
        })
        .collect();
    let decoded = decode(&screen, &quads);
    for (number, decoded) in decoded.iter().enumerate() {
        let quad = quads[number / 4];
        assert_eq!(*decoded, expected(quad, number % 4), "{quad:?}");
    }
    assert_eq!(decoded.len(), 4 * quads.len());
}

fn decode(screen: &Screen, quads: &[Quad]) -> Vec<[f32; 16]> {
    use wgpu::BufferUsages as Usage;
    let (device, gpu) = (&screen.device, Gpu::new(&screen.device, &screen.queue));
    let input = gpu.filled_buffer("quads", bytemuck::cast_slice(quads), Usage::STORAGE).unwrap();
    let size_bytes = quads.len() as u64 * 4 * 64;
    let output = gpu.buffer("output", size_bytes, Usage::STORAGE | Usage::COPY_SRC).unwrap();
    let readable = gpu.buffer("readable", size_bytes, Usage::MAP_READ | Usage::COPY_DST).unwrap();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl([QUAD_WGSL, SHADER].concat().into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("decode"),
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: input.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: output.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(quads.len() as u32 * 4 / 64, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&output, 0, &readable, 0, size_bytes);
    screen.queue.submit([encoder.finish()]);
    bytemuck::cast_slice(&screen.read(&readable)).to_vec()
}
