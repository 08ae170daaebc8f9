//! Textures of the caller with several samples a pixel.

use super::*;

/// The picture has as many samples a pixel as the caller's attachments, whatever the picture before
/// had, and the overlay too.
#[test]
fn the_caller_decides_the_number_of_samples() {
    let Some(mut caller) = Caller::open("the_caller_decides_the_number_of_samples") else { return };
    caller.own.output().set_samples(Samples::Four).unwrap();
    let sampled = caller.sampled_textures(SIZE, [4, 4]);
    let plain = caller.textures();
    for _ in 0..2 {
        for textures in [&sampled, &plain] {
            let mut encoder = caller.device.create_command_encoder(&Default::default());
            caller.renderer.draw_into(&view(9.0), &mut encoder, &textures.target()).unwrap();
            caller.queue.submit([encoder.finish()]);
        }
    }
    let smooth = caller.expected(&view(9.0));
    caller.own.output().set_samples(Samples::One).unwrap();
    let stepped = caller.expected(&view(9.0));
    assert!(smooth != stepped);
    assert!(caller.read(&plain) == stepped);
    let resolved = caller.textures();
    caller.resolve(&sampled, &resolved);
    assert!(caller.read(&resolved) == smooth);
}

/// Attachments with different numbers of samples a pixel are a typed error, and nothing is encoded.
#[test]
fn attachments_with_different_samples_are_errors() {
    let test = "attachments_with_different_samples_are_errors";
    let Some(mut caller) = Caller::open(test) else { return };
    for samples in [[4, 1], [1, 4]] {
        let textures = caller.sampled_textures(SIZE, samples);
        let mut encoder = caller.device.create_command_encoder(&Default::default());
        let drawn = caller.renderer.draw_into(&view(9.0), &mut encoder, &textures.target());
        let is_refused = matches!(drawn, Err(RenderError::Samples { requested, .. })
            if requested == samples[0]);
        assert!(is_refused, "{drawn:?}");
    }
    let textures = caller.textures();
    let mut encoder = caller.device.create_command_encoder(&Default::default());
    caller.renderer.draw_into(&view(9.0), &mut encoder, &textures.target()).unwrap();
}
