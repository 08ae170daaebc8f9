use drystone_mesh::{Cube, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::{Access, DrawCommand};

use crate::{CullCounts, Culled, DrawData, Frame, Image, Overlay, RenderError, TriangleVertex};

/// A backend: something that holds quads and draws them. The renderers are written once,
/// against this.
///
/// Every picture drawn is a *frame*; frames are numbered from 1 on and complete in that
/// order. What is written or copied takes effect in the order of the calls, for all frames
/// drawn after it. Whether frames that were submitted before and still run may see it too
/// is what [`access`](Self::access) says.
pub trait Device {
    /// A buffer of quads with a table of per-draw data, bound together.
    type Geometry;

    /// The backend, its adapter and how it takes writes, in words, to be shown.
    fn describe(&self) -> String;

    /// How quads are written: [`Staged`](Access::Staged) writes never harm a frame that
    /// still runs, [`Direct`](Access::Direct) ones do. Per-draw data, copies and the
    /// palette are staged always.
    fn access(&self) -> Access;

    /// The number of the last frame submitted, 0 before the first.
    fn submitted(&self) -> u64;

    /// The number of the last frame that is known to be done. Asks, never waits.
    fn completed(&mut self) -> u64;

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
    /// `TooLarge` beyond the device's limits, `OutOfMemory`, or `Lost`.
    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<Self::Geometry, RenderError>;

    /// Makes room for cubes instead of quads. In what is said of quads elsewhere they stand
    /// for as many; a command draws [`QUADS_PER_CUBE`] of the pattern's quads for each, from
    /// four times as many vertices as that. Cubes find their own slots, and they are drawn
    /// in the opaque pass only: batches of them in the other are left out.
    ///
    /// # Errors
    /// As [`create_geometry`](Self::create_geometry), and `Device` where there are no cubes.
    fn create_cubes(&mut self, cubes: u32, slots: u32) -> Result<Self::Geometry, RenderError> {
        let _ = (cubes, slots);
        let reason = "this backend draws quads only".into();
        Err(RenderError::Device { during: "making room for cubes", reason })
    }

    /// Makes room for vertices of triangles instead of quads, drawn with `slots` draws, whose
    /// data are [`TriangleTransform`](crate::TriangleTransform)s. A batch of them names indices of
    /// its own. In what is said of quads elsewhere they stand for as many.
    ///
    /// # Errors
    /// As [`create_geometry`](Self::create_geometry), and `Device` where there are no
    /// triangles.
    fn create_vertices(
        &mut self,
        vertices: u32,
        slots: u32,
    ) -> Result<Self::Geometry, RenderError> {
        let _ = (vertices, slots);
        Err(no_triangles())
    }

    /// Makes room for the indices that triangles are drawn by, three each. They have no
    /// draws; in what is said of quads elsewhere they stand for as many.
    ///
    /// # Errors
    /// As [`create_vertices`](Self::create_vertices).
    fn create_indices(&mut self, indices: u32) -> Result<Self::Geometry, RenderError> {
        let _ = indices;
        Err(no_triangles())
    }

    /// Makes room for `quads` more quads (or whatever `other` has), drawn with the table of per-draw data that
    /// `other` has: what is written to a slot through one of them is there for both.
    ///
    /// # Errors
    /// As [`create_geometry`](Self::create_geometry).
    fn create_sharing(
        &mut self,
        other: &Self::Geometry,
        quads: u32,
    ) -> Result<Self::Geometry, RenderError>;

    /// Gives the geometries in `sharing`, which must be all that share one table, a new
    /// table of `slots` slots. What it holds is undefined until it is written.
    ///
    /// # Errors
    /// As [`create_geometry`](Self::create_geometry); the old table then stays.
    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut Self::Geometry],
        slots: u32,
    ) -> Result<(), RenderError>;

    /// Copies quads into a geometry from quad `first` on; see [`access`](Self::access) for
    /// what frames that still run see of it. What does not fit is cut off.
    fn write_quads(&mut self, geometry: &mut Self::Geometry, first: u32, quads: &[Quad]);

    /// Copies cubes into a geometry of cubes from cube `first` on. Always staged: frames that
    /// still run see none of it. What does not fit is cut off.
    fn write_cubes(&mut self, geometry: &mut Self::Geometry, first: u32, cubes: &[Cube]) {
        let _ = (geometry, first, cubes);
    }

    /// Copies vertices into a geometry of them from vertex `first` on, as quads are written:
    /// see [`access`](Self::access). What does not fit is cut off.
    fn write_vertices(
        &mut self,
        geometry: &mut Self::Geometry,
        first: u32,
        vertices: &[TriangleVertex],
    ) {
        let _ = (geometry, first, vertices);
    }

    /// The same of indices.
    fn write_indices(&mut self, geometry: &mut Self::Geometry, first: u32, indices: &[u32]) {
        let _ = (geometry, first, indices);
    }

    /// Has the device copy `count` quads of `from`, from quad `from_first` on, into `to`
    /// from quad `to_first` on. What lies outside either is left out.
    fn copy_quads(
        &mut self,
        from: &Self::Geometry,
        from_first: u32,
        to: &mut Self::Geometry,
        to_first: u32,
        count: u32,
    );

    /// As [`copy_quads`](Self::copy_quads), within one geometry. The two ranges must not
    /// overlap: what is there afterwards would be undefined.
    fn copy_quads_within(
        &mut self,
        geometry: &mut Self::Geometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    );

    /// Copies the data of draws into slot `first` and those that follow. Slots that are not
    /// there are left out.
    fn write_draw_data(&mut self, geometry: &mut Self::Geometry, first: u32, data: &[DrawData]);

    /// Changes the size of the pictures that follow.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge` beyond the device's limits, `Device`, or `Lost`. Pictures then
    /// keep their size.
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// The size of a picture, in pixels.
    fn size(&self) -> [u32; 2];

    /// Draws one picture: sky, then opaque, then blended batches in order. Returns when
    /// the work is submitted, not when it is done.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses.
    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
    ) -> Result<(), RenderError>;

    /// Whether the device can decide by itself which meshes are drawn.
    ///
    /// # Errors
    /// Why not, in words.
    fn culls(&self) -> Result<(), &'static str> {
        Err("this backend has none of its own")
    }

    /// Draws one picture as [`draw`](Self::draw) does, and in it, before all other batches,
    /// those meshes of `culled` that can be seen. It is the picture that drawing all of
    /// them gives.
    ///
    /// # Errors
    /// As [`draw`](Self::draw). `NoCulling` where there are too many meshes or pixels for it, or
    /// too little memory: nothing is drawn then. `Device` where it [never](Self::culls) can.
    fn draw_culled(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
        culled: &Culled<'_, Self::Geometry>,
    ) -> Result<(), RenderError> {
        let _ = (frame, passes, culled);
        let reason = "the device cannot; ask `culls` before".into();
        Err(RenderError::Device { during: "culling on the GPU", reason })
    }

    /// What was drawn of culled meshes in the last frame of which it is known: an earlier
    /// one than the last until the device is [done](Self::finish). Asks, never waits.
    fn cull_counts(&mut self) -> Option<CullCounts> {
        None
    }

    /// Draws `overlay` over every picture from now on, until there is another; an empty one
    /// takes nothing.
    ///
    /// # Cost
    /// O(its bytes), once; a draw call for each of its parts a picture.
    ///
    /// # Errors
    /// `BadOverlay`, `OutOfMemory`, `Lost`, or `Device` where there are none; all of it, with
    /// its textures, should be given anew then.
    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        let _ = overlay;
        let reason = "this backend draws nothing over pictures".into();
        Err(RenderError::Device { during: "taking an overlay", reason })
    }

    /// Whether pictures go from now on where [`read_image`](Self::read_image) finds them, instead
    /// of to a window that keeps none; such pictures are not shown. Without a window, and where
    /// a window's can be read, nothing changes.
    ///
    /// # Errors
    /// `OutOfMemory`, `Lost`, or `Device`.
    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        let _ = readable;
        Ok(())
    }

    /// Whether the last picture reached its target: a window that is hidden or changing
    /// shows none, which is no error. It should be drawn again a little later.
    fn shown(&self) -> bool {
        true
    }

    /// Waits until all that was submitted is done.
    ///
    /// # Errors
    /// `Lost`.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// The last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window and keeps no picture; see
    /// [`set_readable`](Self::set_readable).
    fn read_image(&mut self) -> Result<Image, RenderError>;
}

fn no_triangles() -> RenderError {
    let reason = "this backend draws no polygon models".into();
    RenderError::Device { during: "making room for triangles", reason }
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
    pub fn batches(&self) -> impl Iterator<Item = &'a Batch<'a, G>> + Clone {
        self.opaque.iter().chain(self.blended)
    }
}

/// How many of `count` quads can be copied from quad `from_first` of a geometry of
/// `from_quads` quads to quad `to_first` of one of `to_quads`.
pub(crate) fn copied_quads(
    (from_quads, from_first): (u32, u32),
    (to_quads, to_first): (u32, u32),
    count: u32,
) -> u32 {
    let from_room = from_quads.saturating_sub(from_first);
    count.min(from_room).min(to_quads.saturating_sub(to_first))
}

/// Quads that the shared index pattern of every device covers: the most that one command
/// draws. The faces of a checkerboard of 32³, the largest mesh a chunk of that side has.
pub const PATTERN_QUADS: u32 = 98_304;

/// Quads that a cube is drawn as: of two facings across one axis at most one looks towards
/// the eye, and the vertex shader chooses which.
pub const QUADS_PER_CUBE: u32 = 3;

const _: () = assert!(PATTERN_QUADS.is_multiple_of(QUADS_PER_CUBE));

/// What a geometry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    Quads,
    Cubes,
    /// Of triangles, drawn by indices of their own.
    Vertices,
    /// What vertices are drawn by.
    Indices,
}

impl Entries {
    /// Quads of the pattern that draw `count` of them.
    pub(crate) const fn pattern_quads(self, count: u32) -> u32 {
        match self {
            Self::Quads => count,
            Self::Cubes => count.saturating_mul(QUADS_PER_CUBE),
            Self::Vertices | Self::Indices => 0,
        }
    }

    /// The size of each.
    pub(crate) const fn bytes(self) -> u64 {
        let bytes = match self {
            Self::Quads | Self::Cubes => size_of::<Quad>(),
            Self::Vertices => size_of::<TriangleVertex>(),
            Self::Indices => size_of::<u32>(),
        };
        bytes as u64
    }

    /// Whether commands over these, with indices of their own or without, mean anything.
    pub(crate) const fn are_drawn_by(self, indices: Option<Self>) -> bool {
        match self {
            Self::Quads | Self::Cubes => indices.is_none(),
            Self::Vertices => matches!(indices, Some(Self::Indices)),
            Self::Indices => false,
        }
    }
}

/// Commands over one geometry.
///
/// Devices refuse a batch whose commands reach outside its geometry. The renderers of this crate
/// make batches whose ranges come from their own pools and geometries. These are checked in debug
/// builds only.
///
/// # Cost
/// A check takes about 1 ns a command. Batches of the renderers cost nothing.
pub struct Batch<'a, G> {
    /// Where their quads and per-draw data lie.
    pub geometry: &'a G,
    /// Where the indices lie that they draw by; `None` is the pattern of quads.
    pub indices: Option<&'a G>,
    /// The commands, in order. `first_instance` is the draw's slot, `base_vertex` four
    /// times its first quad (of the quads that cubes are drawn as, where these are cubes).
    /// With indices, `base_vertex` is the first vertex and `first_index` counts in them.
    pub commands: &'a [DrawCommand],
    /// Whether a renderer of this crate made it, of ranges that lie in its geometry.
    is_trusted: bool,
}

impl<'a, G> Batch<'a, G> {
    /// Commands over quads or cubes.
    pub const fn new(geometry: &'a G, commands: &'a [DrawCommand]) -> Self {
        Self { geometry, indices: None, commands, is_trusted: false }
    }

    /// Commands over vertices, with indices of their own.
    pub const fn indexed(geometry: &'a G, indices: &'a G, commands: &'a [DrawCommand]) -> Self {
        Self { indices: Some(indices), ..Self::new(geometry, commands) }
    }

    /// The batch, without checks in release builds. Only for commands whose ranges were allocated
    /// in the geometry: code outside of this crate cannot make such a batch.
    pub(crate) const fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    /// Whether a device has to check the commands before it draws them.
    pub(crate) const fn is_to_check(&self) -> bool {
        cfg!(debug_assertions) || !self.is_trusted
    }

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
        self.refuse(wrong)
    }

    /// The same of commands with indices of their own, over a geometry of `vertices`. What
    /// the indices name is for whoever wrote them to check.
    ///
    /// # Errors
    /// `Device` naming the first command that does not.
    pub fn check_indexed(
        &self,
        vertices: u32,
        indices: u32,
        slots: u32,
    ) -> Result<(), RenderError> {
        let sum = |a: u32, b: u32| u64::from(a) + u64::from(b);
        let wrong = self.commands.iter().position(|command| {
            command.base_vertex < 0
                || command.base_vertex as u32 > vertices
                || sum(command.first_index, command.index_count) > indices.into()
                || sum(command.first_instance, command.instance_count) > slots.into()
        });
        self.refuse(wrong)
    }

    fn refuse(&self, wrong: Option<usize>) -> Result<(), RenderError> {
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

#[cfg(test)]
pub(crate) mod late;
#[cfg(test)]
mod tests;
