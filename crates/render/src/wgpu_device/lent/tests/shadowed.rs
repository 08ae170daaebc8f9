//! Shadows in pictures that are drawn into the caller's textures.

use super::*;

/// A view with shadows; the middle of the square lies in the shadow of the squares above.
fn shadowed(height: f64) -> View {
    View { shadows: true, ..view(height) }
}

/// Inserts a square above the others, which shades them.
fn insert_roof(renderer: &mut PoolRenderer<WgpuDevice>, y: u32) -> MeshId {
    let quads = [Quad::new([2, y, 2], [3, 3], Face::PosY, 1)];
    let draw_data = DrawData { extent: 32, ..DrawData::default() };
    let (counts, layer) = ([0, 0, 0, 0, 1, 0], Layer::Opaque);
    renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap()
}

/// Pictures of several views that are encoded before one submission have their own shadows, also
/// after an encoder was dropped with the maps that it would have drawn.
#[test]
fn pictures_in_the_callers_textures_have_shadows() {
    let test = "pictures_in_the_callers_textures_have_shadows";
    let Some(mut caller) = Caller::open(test) else { return };
    let open = caller.expected(&view(9.0));
    let textures = [caller.textures(), caller.textures()];
    for step in 0..4 {
        for renderer in [&mut caller.renderer, &mut caller.own] {
            insert_roof(renderer, 3 + step);
        }
        let encode = |caller: &mut Caller| {
            let mut encoder = caller.device.create_command_encoder(&Default::default());
            for (textures, height) in textures.iter().zip([9.0, 300.0]) {
                let target = textures.target();
                caller.renderer.draw_into(&shadowed(height), &mut encoder, &target).unwrap();
            }
            encoder
        };
        drop(encode(&mut caller));
        let encoder = encode(&mut caller);
        caller.queue.submit([encoder.finish()]);
        for (textures, height) in textures.iter().zip([9.0, 300.0]) {
            let expected = caller.expected(&shadowed(height));
            assert!(caller.read(textures) == expected, "step {step}, height {height}");
        }
        assert!(caller.expected(&shadowed(9.0)) != open);
    }
}
