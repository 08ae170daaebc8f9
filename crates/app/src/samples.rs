use drystone::scene;
use drystone_render::{RenderError, Renderer, Samples};

use crate::output;

/// Sets the number of samples in each pixel. If the device draws fewer, prints a note.
pub(crate) fn set_samples(
    renderer: &mut dyn Renderer,
    samples: Samples,
) -> Result<(), RenderError> {
    let refused = scene::set_samples(renderer.output(), samples)?;
    refused.iter().for_each(|line| output::note(line));
    Ok(())
}
