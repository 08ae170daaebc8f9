//! Culling of pictures in the caller's textures.

use super::*;

/// Switches culling to the GPU. Without a device that can cull, the test is skipped.
fn cull(caller: &mut Caller, test: &str) -> bool {
    let culls = caller.renderer.set_cull(crate::Cull::Gpu);
    culls.inspect_err(|error| println!("skipped: {test}: {error}")).is_ok()
}

/// The GPU culls by the caller's depth. Several pictures of several views that are encoded before one
/// submission equal those without culling, while meshes change between submissions.
#[test]
fn the_gpu_culls_pictures_in_the_callers_textures() {
    let test = "the_gpu_culls_pictures_in_the_callers_textures";
    let Some(mut caller) = Caller::open(test) else { return };
    if !cull(&mut caller, test) {
        return;
    }
    let mut randoms = [Random::new(5), Random::new(5)];
    let textures = [caller.textures(), caller.textures()];
    let mut culled = 0;
    for frame in 0..12 {
        for (renderer, random) in
            [&mut caller.renderer, &mut caller.own].into_iter().zip(&mut randoms)
        {
            let meshes: Vec<_> = (0..9).map(|_| insert_random(renderer, random)).collect();
            renderer.remove(meshes[frame % 9]).unwrap();
        }
        let heights = [6.0 + frame as f64, 14.0];
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        for (textures, height) in textures.iter().zip(heights) {
            let target = textures.target();
            caller.renderer.draw_into(&view(height), &mut encoder, &target).unwrap();
            // A picture of its own leaves the caller's pictures unchanged too.
            caller.renderer.draw(&view(height + 20.0)).unwrap();
        }
        caller.queue.submit([encoder.finish()]);
        for (textures, height) in textures.iter().zip(heights) {
            let expected = caller.expected(&view(height));
            assert!(caller.read(textures) == expected, "frame {frame}, height {height}");
        }
        assert_eq!(caller.renderer.cull(), crate::Cull::Gpu);
        assert!(caller.renderer.take_culling_error().is_none());
        caller.renderer.finish().unwrap();
        culled += caller.renderer.device_mut().progress().culled.unwrap().meshes;
    }
    assert!(culled > 100, "{culled} meshes");
}

/// Two pictures before one submission are each culled by their own view, although each sees meshes that
/// the other does not.
#[test]
fn each_picture_before_a_submission_is_culled_by_its_own_view() {
    let test = "each_picture_before_a_submission_is_culled_by_its_own_view";
    let Some(mut caller) = Caller::open(test) else { return };
    if !cull(&mut caller, test) {
        return;
    }
    const APART: i32 = 2048;
    for renderer in [&mut caller.renderer, &mut caller.own] {
        for x in [0, APART] {
            let (quads, layer) = square(1, Layer::Opaque);
            let draw_data = DrawData { origin: [x, 0, 0], extent: 32, ..DrawData::default() };
            let counts = [0, 0, 0, 0, 1, 0];
            renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap();
        }
    }
    let at = |x: i32| {
        let middle = f64::from(x) + 4.0;
        View::new(Camera::look_at(DVec3::new(middle, 9.0, 12.0), DVec3::new(middle, 1.0, 4.0)))
    };
    let views = [at(0), at(APART)];
    let textures = [caller.textures(), caller.textures()];
    for frame in 0..4 {
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        for (view, textures) in views.iter().zip(&textures) {
            caller.renderer.draw_into(view, &mut encoder, &textures.target()).unwrap();
        }
        caller.queue.submit([encoder.finish()]);
        for (view, textures) in views.iter().zip(&textures) {
            let expected = caller.expected(view);
            assert!(caller.read(textures) == expected, "frame {frame}");
        }
        assert_eq!(caller.renderer.cull(), crate::Cull::Gpu);
    }
}

/// Colours that the caller has drawn stay, and their depth hides meshes, also when the GPU culls.
#[test]
fn the_gpu_culls_by_what_the_caller_has_drawn() {
    let test = "the_gpu_culls_by_what_the_caller_has_drawn";
    let Some(mut caller) = Caller::open(test) else { return };
    let textures = caller.textures();
    let expected = [1.0, 0.0].map(|depth| caller.over_red(&textures, depth));
    if !cull(&mut caller, test) {
        return;
    }
    for _ in 0..3 {
        let shown = [1.0, 0.0].map(|depth| caller.over_red(&textures, depth));
        assert!(shown == expected);
    }
    assert_eq!(caller.renderer.cull(), crate::Cull::Gpu);
    // Above the boxes of the meshes, everything lies behind the caller's depth.
    caller.over_red(&textures, 1.0);
    for _ in 0..2 {
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        let target = DrawTarget { depth_load: wgpu::LoadOp::Load, ..textures.target() };
        caller.renderer.draw_into(&view(60.0), &mut encoder, &target).unwrap();
        caller.queue.submit([encoder.finish()]);
    }
    caller.renderer.finish().unwrap();
    let culled = caller.renderer.device_mut().progress().culled.unwrap();
    assert_eq!(culled.meshes, 0, "{culled:?}");
}

/// A depth texture that shaders cannot read is drawn with culling on the CPU, with one message.
#[test]
fn the_cpu_culls_if_the_callers_depth_cannot_be_read() {
    let test = "the_cpu_culls_if_the_callers_depth_cannot_be_read";
    let Some(mut caller) = Caller::open(test) else { return };
    if !cull(&mut caller, test) {
        return;
    }
    let textures = caller.textures();
    let depth = caller.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: DEPTH_FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let depth = depth.create_view(&Default::default());
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    let target = DrawTarget { depth: &depth, ..textures.target() };
    caller.renderer.draw_into(&view(9.0), &mut encoder, &target).unwrap();
    caller.queue.submit([encoder.finish()]);
    let expected = caller.expected(&view(9.0));
    assert!(caller.read(&textures) == expected);
    assert_eq!(caller.renderer.cull(), crate::Cull::Cpu);
    let error = caller.renderer.take_culling_error().unwrap().to_string();
    assert!(error.contains("created without TEXTURE_BINDING"), "{error}");
    assert!(caller.renderer.take_culling_error().is_none());
}
