mod bloom;
mod culled;
mod sampled;
mod shadowed;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use drystone_mesh::{Face, Quad};
use drystone_testing::Random;
use glam::DVec3;

use super::*;
use crate::{
    Api, Camera, DrawData, Image, Layer, MeshData, MeshId, Overlay, OverlayCorner, OverlayPart,
    OverlayPatch, Samples,
    device::Device,
    wgpu_device::{pipelines::DEPTH_FORMAT, target::read_texture},
};

const SIZE: [u32; 2] = [96, 64];
const RED: [u8; 4] = [255, 0, 0, 255];

/// Textures of a caller, and a renderer on the caller's device.
struct Caller {
    renderer: PoolRenderer<WgpuDevice>,
    /// Draws the expected pictures.
    own: PoolRenderer<WgpuDevice>,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// Textures to draw to.
struct Textures {
    color: wgpu::Texture,
    views: [wgpu::TextureView; 2],
}

fn square(y: u32, layer: Layer) -> ([Quad; 1], Layer) {
    ([Quad::new([0, y, 0], [8, 8], Face::PosY, 1 + u16::from(layer == Layer::Blended))], layer)
}

fn insert(renderer: &mut PoolRenderer<WgpuDevice>, y: u32, layer: Layer) -> MeshId {
    let (quads, layer) = square(y, layer);
    let draw_data = DrawData { extent: 32, ..DrawData::default() };
    let counts = [0, 0, 0, 0, 1, 0];
    renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap()
}

/// Inserts up to 20 quads at random positions.
fn insert_random(renderer: &mut PoolRenderer<WgpuDevice>, random: &mut Random) -> MeshId {
    let quads: Vec<_> = (0..=random.below(20))
        .map(|_| {
            let position = [(); 3].map(|()| random.below(16));
            Quad::new(position, [1, 1], Face::PosY, 1 + random.below(2) as u16)
        })
        .collect();
    let draw_data = DrawData { extent: 32, ..DrawData::default() };
    let counts = [0, 0, 0, 0, quads.len() as u32, 0];
    let layer = Layer::Opaque;
    renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap()
}

fn view(height: f64) -> View {
    View::new(Camera::look_at(DVec3::new(4.0, height, 12.0), DVec3::new(4.0, 1.0, 4.0)))
}

impl Caller {
    fn open(test: &str) -> Option<Self> {
        let own = WgpuDevice::headless(Api::Any, SIZE[0], SIZE[1]);
        let own = own.inspect_err(|error| println!("skipped: {test}: {error}")).ok()?;
        let (device, queue) = (own.opened.gpu.device.clone(), own.opened.gpu.queue.clone());
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let lent = WgpuDevice::from_parts(&device, &queue, format).unwrap();
        let [renderer, own] = [lent, own].map(|device| {
            let mut renderer = PoolRenderer::new(device, 1000, 16).unwrap();
            renderer.set_palette(&[[0; 4], [20, 200, 40, 255], [40, 60, 250, 120]]).unwrap();
            insert(&mut renderer, 0, Layer::Opaque);
            insert(&mut renderer, 2, Layer::Blended);
            renderer
        });
        Some(Self { renderer, own, device, queue })
    }

    fn textures(&self) -> Textures {
        self.textures_of(SIZE)
    }

    fn textures_of(&self, size: [u32; 2]) -> Textures {
        self.sampled_textures(size, [1, 1])
    }

    /// Colours and depth with these numbers of samples a pixel.
    fn sampled_textures(&self, [width, height]: [u32; 2], samples: [u32; 2]) -> Textures {
        let texture = |format, usage, sample_count| {
            self.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let usage = match samples[0] {
            1 => wgpu::TextureUsages::COPY_SRC,
            _ => wgpu::TextureUsages::empty(),
        };
        let color = texture(wgpu::TextureFormat::Rgba8Unorm, usage, samples[0]);
        let depth = texture(DEPTH_FORMAT, wgpu::TextureUsages::TEXTURE_BINDING, samples[1]);
        let views = [&color, &depth].map(|texture| texture.create_view(&Default::default()));
        Textures { color, views }
    }

    /// Clears the textures to red and to this depth in a pass of the caller, then draws over them.
    fn over_red(&mut self, textures: &Textures, depth: f32) -> Image {
        let [red, green, blue, alpha] = RED.map(|channel| f64::from(channel) / 255.0);
        let clear = wgpu::Color { r: red, g: green, b: blue, a: alpha };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &textures.views[0],
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(clear),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &textures.views[1],
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(depth),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        drop(pass);
        let target = DrawTarget {
            color_load: wgpu::LoadOp::Load,
            depth_load: wgpu::LoadOp::Load,
            has_sky: false,
            ..textures.target()
        };
        self.renderer.draw_into(&view(9.0), &mut encoder, &target).unwrap();
        self.queue.submit([encoder.finish()]);
        self.read(textures)
    }

    fn read(&mut self, textures: &Textures) -> Image {
        read_texture(&self.renderer.device_mut().opened, &textures.color, SIZE).unwrap()
    }

    /// Resolves colours with several samples a pixel.
    fn resolve(&self, from: &Textures, to: &Textures) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &from.views[0],
                depth_slice: None,
                resolve_target: Some(&to.views[0]),
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    fn expected(&mut self, view: &View) -> Image {
        self.own.draw(view).unwrap();
        self.own.read_image().unwrap()
    }
}

impl Textures {
    fn target(&self) -> DrawTarget<'_> {
        DrawTarget {
            color: &self.views[0],
            color_load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
            depth: &self.views[1],
            depth_load: wgpu::LoadOp::Clear(0.0),
            size: SIZE,
            has_sky: true,
        }
    }
}

/// Several pictures that are encoded before one submission equal those of an own device.
#[test]
fn pictures_in_the_callers_textures_equal_those_of_an_own_device() {
    let test = "pictures_in_the_callers_textures_equal_those_of_an_own_device";
    let Some(mut caller) = Caller::open(test) else { return };
    let textures = [caller.textures(), caller.textures()];
    for frame in 0..4 {
        let heights = [6.0 + f64::from(frame), 14.0];
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        for (textures, height) in textures.iter().zip(heights) {
            let target = textures.target();
            let drawn = caller.renderer.draw_into(&view(height), &mut encoder, &target).unwrap();
            assert_eq!(drawn.meshes, 2 + frame);
        }
        caller.queue.submit([encoder.finish()]);
        for (textures, height) in textures.iter().zip(heights) {
            let expected = caller.expected(&view(height));
            assert!(caller.read(textures) == expected, "frame {frame}, height {height}");
        }
        // Meshes change between submissions.
        for renderer in [&mut caller.renderer, &mut caller.own] {
            insert(renderer, 3 + frame, Layer::Opaque);
        }
    }
}

/// Colours and depth of the caller are loaded: what is nearer hides meshes, and the rest stays.
#[test]
fn pictures_are_drawn_over_what_the_caller_has_drawn() {
    let test = "pictures_are_drawn_over_what_the_caller_has_drawn";
    let Some(mut caller) = Caller::open(test) else { return };
    let textures = caller.textures();
    let hidden = caller.over_red(&textures, 1.0);
    assert!(hidden.rgba().chunks_exact(4).all(|pixel| pixel == RED));
    // The blended mesh lies over the opaque one only where it covers no sky.
    let shown = caller.over_red(&textures, 0.0);
    let expected = caller.expected(&view(9.0));
    let pixels = || shown.rgba().chunks_exact(4).zip(expected.rgba().chunks_exact(4));
    let is_red = pixels().filter(|(shown, _)| **shown == RED).count();
    let is_equal = pixels().filter(|(shown, expected)| shown == expected).count();
    assert!(is_red > 1000 && is_equal > 500, "{is_red} red, {is_equal} equal");
}

/// Pictures keep what they read until the caller submits them, for any pictures after them in the same
/// encoder: the pool does not move meshes meanwhile.
#[test]
fn pictures_before_a_submission_keep_their_meshes() {
    let Some(mut caller) = Caller::open("pictures_before_a_submission_keep_their_meshes") else {
        return;
    };
    for renderer in [&mut caller.renderer, &mut caller.own] {
        let mut random = Random::new(9);
        let meshes: Vec<_> = (0..500).map(|_| insert_random(renderer, &mut random)).collect();
        for mesh in meshes.into_iter().step_by(2) {
            renderer.remove(mesh).unwrap();
        }
    }
    let textures = caller.textures();
    let other = caller.textures();
    let mut moves = 0;
    for frame in 0..12 {
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        let Caller { renderer, .. } = &mut caller;
        renderer.draw_into(&view(30.0), &mut encoder, &textures.target()).unwrap();
        moves += renderer.pool().unwrap().moved().len();
        for _ in 0..8 {
            renderer.draw_into(&view(20.0), &mut encoder, &other.target()).unwrap();
            // A picture of its own leaves the caller's pictures unchanged too.
            renderer.draw(&view(10.0)).unwrap();
        }
        caller.queue.submit([encoder.finish()]);
        let expected = caller.expected(&view(30.0));
        assert!(caller.read(&textures) == expected, "frame {frame}");
    }
    assert!(moves > 0, "nothing was moved between submissions");
}

/// The overlay is drawn over each picture in its own size.
#[test]
fn overlays_are_drawn_over_pictures_of_several_sizes() {
    let test = "overlays_are_drawn_over_pictures_of_several_sizes";
    let Some(mut caller) = Caller::open(test) else { return };
    let white = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
    let corner = |x, y| OverlayCorner { at: [x, y], uv: [0.0; 2], color: RED };
    let overlay = Overlay {
        patches: vec![white],
        corners: vec![corner(0.0, 0.0), corner(8.0, 0.0), corner(8.0, 8.0), corner(0.0, 8.0)],
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: vec![OverlayPart { texture: 0, clip: [0, 0, 64, 64], indices: 0..6 }],
        ..Overlay::default()
    };
    for renderer in [&mut caller.renderer, &mut caller.own] {
        renderer.output().set_overlay(&overlay).unwrap();
    }
    let half = SIZE.map(|side| side / 2);
    let (textures, small) = (caller.textures(), caller.textures_of(half));
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    let Caller { renderer, .. } = &mut caller;
    renderer.draw_into(&view(9.0), &mut encoder, &textures.target()).unwrap();
    let target = DrawTarget { size: half, ..small.target() };
    renderer.draw_into(&view(9.0), &mut encoder, &target).unwrap();
    renderer.draw(&view(9.0)).unwrap();
    caller.queue.submit([encoder.finish()]);
    let expected = caller.expected(&view(9.0));
    assert_eq!(expected.pixel(7, 7), RED);
    assert!(caller.read(&textures) == expected);
}

/// Formats that would change or refuse the colours of shaders are errors.
#[test]
fn formats_that_cannot_be_drawn_are_errors() {
    let Some(mut caller) = Caller::open("formats_that_cannot_be_drawn_are_errors") else { return };
    use wgpu::TextureFormat as Format;
    for format in [Format::Rgba8UnormSrgb, Format::Rgba8Uint, Format::Depth32Float] {
        let opened = WgpuDevice::from_parts(&caller.device, &caller.queue, format).map(|_| ());
        assert!(matches!(opened, Err(RenderError::Device { .. })), "{format:?}: {opened:?}");
    }
    // No handler of the device has received an error.
    caller.own.device_mut().opened.fault.check("a test").unwrap();
}

/// A picture without pixels, or beyond the limits of the device, is an error.
#[test]
fn sizes_that_cannot_be_drawn_are_errors() {
    let Some(mut caller) = Caller::open("sizes_that_cannot_be_drawn_are_errors") else { return };
    let textures = caller.textures();
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    let mut draw = |size| {
        let target = DrawTarget { size, ..textures.target() };
        caller.renderer.draw_into(&view(9.0), &mut encoder, &target)
    };
    let empty = draw([0, 64]);
    assert!(matches!(empty, Err(RenderError::EmptyPicture { .. })), "{empty:?}");
    let large = draw([96, u32::MAX]);
    assert!(matches!(large, Err(RenderError::TooLarge { .. })), "{large:?}");
    draw(SIZE).unwrap();
}

/// A frame completes after the caller has submitted it, not earlier.
#[test]
fn frames_complete_after_their_submission() {
    let Some(mut caller) = Caller::open("frames_complete_after_their_submission") else { return };
    let textures = caller.textures();
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    let Caller { renderer, queue, .. } = &mut caller;
    for _ in 0..2 {
        renderer.draw_into(&view(9.0), &mut encoder, &textures.target()).unwrap();
    }
    renderer.finish().unwrap();
    assert_eq!(renderer.device_mut().progress().completed, 0);
    assert!(!renderer.device_mut().can_move());
    queue.submit([encoder.finish()]);
    renderer.finish().unwrap();
    assert_eq!(renderer.device_mut().progress().completed, 2);
    assert!(renderer.device_mut().can_move());
}

/// Loss of the caller's device is an error, and the caller gets the encoder back.
#[test]
fn a_lost_device_of_the_caller_is_an_error() {
    let Some(mut caller) = Caller::open("a_lost_device_of_the_caller_is_an_error") else { return };
    let textures = caller.textures();
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    let hash = BuildHasherDefault::<DefaultHasher>::default();
    let lent = hash.hash_one(&encoder);
    caller.device.destroy();
    for _ in 0..2 {
        let drawn = caller.renderer.draw_into(&view(9.0), &mut encoder, &textures.target());
        assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
        assert_eq!(hash.hash_one(&encoder), lent);
    }
}
