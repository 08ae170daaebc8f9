use drystone_mesh::{INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;

use crate::{DrawData, Frame, Image, RenderError};

/// A backend: something that holds quads and draws them. The renderers are written once,
/// against this.
pub trait Device {
    /// A buffer of quads with a table of per-draw data, bound together.
    type Geometry;

    /// The backend and its adapter in words, to be shown.
    fn describe(&self) -> String;

    /// The most quads one geometry can hold.
    fn max_quads(&self) -> u32;

    /// Sets the colours that materials are drawn in, by number; a material beyond the
    /// list is drawn in magenta.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError>;

    /// Makes room for `quads` quads and `slots` draws.
    ///
    /// # Errors
    /// `TooLarge` beyond the device's limits, `Device` when it is out of memory.
    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<Self::Geometry, RenderError>;

    /// Copies quads into a geometry from quad `first` on, before the next frame and after
    /// those submitted. What does not fit is cut off.
    fn write_quads(&mut self, geometry: &mut Self::Geometry, first: u32, quads: &[Quad]);

    /// Copies one draw's data into its slot, likewise.
    fn write_draw_data(&mut self, geometry: &mut Self::Geometry, slot: u32, data: &DrawData);

    /// Changes the size of the pictures that follow.
    ///
    /// # Errors
    /// `EmptyPicture`, or `TooLarge` beyond the device's limits.
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// The size of a picture, in pixels.
    fn size(&self) -> [u32; 2];

    /// Draws one picture: sky, then opaque, then blended batches in order. Returns when
    /// the work is submitted, not when it is done.
    ///
    /// # Errors
    /// `Device` when the device is lost or refuses.
    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
    ) -> Result<(), RenderError>;

    /// Whether the last picture reached its target: a window that is hidden or changing
    /// shows none, which is no error. It should be drawn again a little later.
    fn shown(&self) -> bool {
        true
    }

    /// Waits until all that was submitted is done.
    ///
    /// # Errors
    /// `Device` when the device is lost.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// The last picture drawn.
    ///
    /// # Errors
    /// `Device` when the device is lost, or draws to a window and keeps no picture.
    fn read_image(&mut self) -> Result<Image, RenderError>;
}

/// What one picture draws.
pub struct Passes<'a, G> {
    /// Drawn first, depth tested and written, in any order.
    pub opaque: &'a [Batch<'a, G>],
    /// Drawn over it in this order, depth tested, not written.
    pub blended: &'a [Batch<'a, G>],
    /// Whether the device should hand each batch to the GPU as one indirect call rather
    /// than command by command.
    pub indirect: bool,
}

impl<'a, G> Passes<'a, G> {
    /// All batches in the order they are drawn.
    pub fn batches(&self) -> impl Iterator<Item = &'a Batch<'a, G>> {
        self.opaque.iter().chain(self.blended)
    }
}

/// Quads that the shared index pattern of every device covers: the most that one command
/// draws. The faces of a checkerboard of 32³, the largest mesh a chunk of that side has.
pub const PATTERN_QUADS: u32 = 98_304;

/// Commands over one geometry.
pub struct Batch<'a, G> {
    /// Where their quads and per-draw data lie.
    pub geometry: &'a G,
    /// The commands, in order. `first_instance` is the draw's slot, `base_vertex` four
    /// times its first quad.
    pub commands: &'a [DrawCommand],
}

impl<G> Batch<'_, G> {
    /// Checks that every command stays within a geometry of `quads` quads and `slots`
    /// slots and within the index pattern, as a GPU's driver would not.
    ///
    /// # Errors
    /// `Device` naming the first command that does not.
    pub fn check(&self, quads: u32, slots: u32) -> Result<(), RenderError> {
        let wrong = self.commands.iter().position(|command| {
            let first = u64::from(command.base_vertex as u32) / u64::from(VERTICES_PER_QUAD);
            let end_index = u64::from(command.first_index) + u64::from(command.index_count);
            let per_quad = u64::from(INDICES_PER_QUAD);
            command.base_vertex < 0
                || end_index > u64::from(PATTERN_QUADS) * per_quad
                || first + end_index.div_ceil(per_quad) > u64::from(quads)
                || u64::from(command.first_instance) + u64::from(command.instance_count)
                    > u64::from(slots)
        });
        match wrong {
            Some(index) => Err(RenderError::Device {
                during: "checking draw commands",
                reason: format!(
                    "command {index} reaches outside its geometry: {:?}",
                    self.commands[index]
                ),
            }),
            None => Ok(()),
        }
    }
}
