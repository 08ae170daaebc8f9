use drystone_render::{RenderError, Renderer, Samples};

use crate::output;

/// Sets the number of samples in each pixel. If the device draws fewer, prints a note.
pub(crate) fn set_samples(
    renderer: &mut dyn Renderer,
    samples: Samples,
) -> Result<(), RenderError> {
    let device = renderer.output();
    let refused = match device.set_samples(samples) {
        // Pictures keep the number of samples that they had.
        Err(error @ (RenderError::TooLarge { .. } | RenderError::OutOfMemory { .. })) => {
            Some(error)
        }
        done => done.map(|()| None)?,
    };
    let drawn = device.info().samples;
    if drawn < samples {
        let reason = refused.map_or("this backend offers no more".into(), |it| it.to_string());
        output::note(&format!("drawing with --samples {drawn} instead of {samples}: {reason}"));
    }
    Ok(())
}
