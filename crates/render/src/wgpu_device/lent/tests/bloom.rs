//! Bloom in pictures that are drawn into the caller's textures.

use super::*;
use crate::MaterialLook;

/// Pictures of several views that are encoded before one submission have their own bloom, with one
/// and with several samples a pixel; so have pictures of an own size between them.
#[test]
fn pictures_in_the_callers_textures_have_bloom() {
    let test = "pictures_in_the_callers_textures_have_bloom";
    let Some(mut caller) = Caller::open(test) else { return };
    let lamp = MaterialLook::new([20, 200, 40, 255]).with_emission(255);
    let glass = MaterialLook::new([40, 60, 250, 120]);
    for renderer in [&mut caller.renderer, &mut caller.own] {
        renderer.set_materials(&[glass, lamp, glass]).unwrap();
    }
    let glowing = |height| View { bloom: true, ..view(height) };
    let textures = [caller.textures(), caller.textures(), caller.sampled_textures(SIZE, [4, 4])];
    let heights = [9.0, 30.0, 12.0];
    for _ in 0..3 {
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        for (textures, height) in textures.iter().zip(heights) {
            let target = textures.target();
            caller.renderer.draw_into(&glowing(height), &mut encoder, &target).unwrap();
            // Its textures are freed while the caller's pictures still need theirs.
            caller.renderer.draw(&view(5.0)).unwrap();
        }
        caller.queue.submit([encoder.finish()]);
        for (textures, height) in textures[..2].iter().zip(heights) {
            let (plain, expected) =
                (caller.expected(&view(height)), caller.expected(&glowing(height)));
            assert!(plain.difference(&expected, 2).unwrap().pixels > 200, "height {height}");
            assert!(caller.read(textures) == expected, "height {height}");
        }
        // The glow is added to each sample, so that rounding differs from that of the mean.
        let resolved = caller.textures();
        caller.resolve(&textures[2], &resolved);
        caller.own.output().set_samples(Samples::Four).unwrap();
        let expected = caller.expected(&glowing(heights[2]));
        caller.own.output().set_samples(Samples::One).unwrap();
        let seen = expected.difference(&caller.read(&resolved), 2).unwrap();
        assert_eq!(seen.pixels, 0, "{seen:?}");
    }
}
