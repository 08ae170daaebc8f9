use drystone_mesh::{Cube, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::{Access, DrawCommand};

use crate::{CullCounts, Culled, DrawData, Frame, Image, Overlay, RenderError, TriangleVertex};

/// A backend, which holds quads and draws them. Renderers are generic over this trait.
///
/// Each picture drawn is a *frame*. Frames are numbered from 1 and complete in that order. Writes
/// and copies take effect in the order of the calls, for all frames drawn after them.
/// [`access`](Self::access) states whether frames that are still running can see them too.
pub trait Device {
    /// A buffer of quads and a table of per-draw data, bound together.
    type Geometry;

    /// Returns a description for display: the backend, its adapter and its access mode.
    fn describe(&self) -> String;

    /// Returns how quads are written. [`Staged`](Access::Staged) writes never affect a frame that
    /// is still running; [`Direct`](Access::Direct) writes do. Per-draw data, copies and the
    /// palette are always staged.
    fn access(&self) -> Access;

    /// Returns the number of the last frame submitted, 0 before the first.
    fn submitted(&self) -> u64;

    /// Returns the number of the last frame known to be complete. Never waits.
    fn completed(&mut self) -> u64;

    /// Returns the maximum number of quads in one geometry.
    fn max_quads(&self) -> u32;

    /// Sets the colours of materials, indexed by material number. Materials beyond the list are
    /// drawn in magenta.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError>;

    /// Creates a geometry for `quads` quads and `slots` draws.
    ///
    /// # Errors
    /// `TooLarge` beyond the device's limits, `OutOfMemory`, or `Lost`.
    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<Self::Geometry, RenderError>;

    /// Creates a geometry for cubes. Each cube counts as one quad in the other methods. A command
    /// draws [`QUADS_PER_CUBE`] quads of the index pattern for each cube, with four vertices for
    /// each quad. Cubes store their own slots. They are drawn in the opaque pass only; batches of
    /// cubes in the blended pass are ignored.
    ///
    /// # Errors
    /// The errors of [`create_geometry`](Self::create_geometry), and `Device` when the backend
    /// draws no cubes.
    fn create_cubes(&mut self, cubes: u32, slots: u32) -> Result<Self::Geometry, RenderError> {
        let _ = (cubes, slots);
        let reason = "this backend draws no cubes".into();
        Err(RenderError::Device { during: "creating a buffer of cubes", reason })
    }

    /// Creates a geometry for vertices of triangles, drawn with `slots` draws. Its per-draw data
    /// are [`TriangleTransform`](crate::TriangleTransform)s. A batch over it has its own indices.
    /// Each vertex counts as one quad in the other methods.
    ///
    /// # Errors
    /// The errors of [`create_geometry`](Self::create_geometry), and `Device` when the backend
    /// draws no triangles.
    fn create_vertices(
        &mut self,
        vertices: u32,
        slots: u32,
    ) -> Result<Self::Geometry, RenderError> {
        let _ = (vertices, slots);
        Err(no_triangles())
    }

    /// Creates a geometry for triangle indices, three for each triangle. It has no draws. Each
    /// index counts as one quad in the other methods.
    ///
    /// # Errors
    /// The errors of [`create_vertices`](Self::create_vertices).
    fn create_indices(&mut self, indices: u32) -> Result<Self::Geometry, RenderError> {
        let _ = indices;
        Err(no_triangles())
    }

    /// Creates a geometry for `quads` entries of the kind that `other` holds. Both share the table
    /// of per-draw data: a slot written through one of them changes for both.
    ///
    /// # Errors
    /// The errors of [`create_geometry`](Self::create_geometry).
    fn create_sharing(
        &mut self,
        other: &Self::Geometry,
        quads: u32,
    ) -> Result<Self::Geometry, RenderError>;

    /// Replaces the table shared by the geometries in `sharing` with a new table of `slots` slots.
    /// `sharing` must contain all geometries that share the table. The contents are undefined until
    /// written.
    ///
    /// # Errors
    /// The errors of [`create_geometry`](Self::create_geometry). After an error the old table
    /// remains.
    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut Self::Geometry],
        slots: u32,
    ) -> Result<(), RenderError>;

    /// Copies quads into a geometry, starting at quad `first`. [`access`](Self::access) states what
    /// running frames see. Quads that do not fit are ignored.
    fn write_quads(&mut self, geometry: &mut Self::Geometry, first: u32, quads: &[Quad]);

    /// Copies cubes into a geometry of cubes, starting at cube `first`. Always staged: running
    /// frames are not affected. Cubes that do not fit are ignored.
    fn write_cubes(&mut self, geometry: &mut Self::Geometry, first: u32, cubes: &[Cube]) {
        let _ = (geometry, first, cubes);
    }

    /// Copies vertices into a geometry of vertices, starting at vertex `first`.
    /// [`access`](Self::access) states what running frames see. Vertices that do not fit are
    /// ignored.
    fn write_vertices(
        &mut self,
        geometry: &mut Self::Geometry,
        first: u32,
        vertices: &[TriangleVertex],
    ) {
        let _ = (geometry, first, vertices);
    }

    /// Copies indices into a geometry of indices, starting at index `first`.
    /// [`access`](Self::access) states what running frames see. Indices that do not fit are
    /// ignored.
    fn write_indices(&mut self, geometry: &mut Self::Geometry, first: u32, indices: &[u32]) {
        let _ = (geometry, first, indices);
    }

    /// Copies `count` quads on the device, from quad `from_first` of `from` to quad `to_first` of
    /// `to`. Quads outside either geometry are ignored.
    fn copy_quads(
        &mut self,
        from: &Self::Geometry,
        from_first: u32,
        to: &mut Self::Geometry,
        to_first: u32,
        count: u32,
    );

    /// Copies `count` quads within one geometry, from quad `from_first` to quad `to_first`. The two
    /// ranges must not overlap; otherwise the contents are undefined afterwards.
    fn copy_quads_within(
        &mut self,
        geometry: &mut Self::Geometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    );

    /// Copies per-draw data into the slots from `first` on. Slots that do not exist are ignored.
    fn write_draw_data(&mut self, geometry: &mut Self::Geometry, first: u32, data: &[DrawData]);

    /// Changes the size of the following pictures.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge` beyond the device's limits, `Device`, or `Lost`. After an error
    /// pictures keep their size.
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// Returns the size of a picture in pixels.
    fn size(&self) -> [u32; 2];

    /// Draws one picture: the sky, then the opaque batches, then the blended batches in order.
    /// Returns when the work is submitted, not when it is complete.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses.
    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
    ) -> Result<(), RenderError>;

    /// Checks whether the device can cull meshes on the GPU.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn culls(&self) -> Result<(), &'static str> {
        Err("this backend has no compute shaders for it")
    }

    /// Draws one picture like [`draw`](Self::draw), with the visible meshes of `culled` before all
    /// other batches. The picture is the same as if all meshes were drawn.
    ///
    /// # Errors
    /// The errors of [`draw`](Self::draw). `NoCulling` when there are too many meshes or pixels, or
    /// too little memory; nothing is drawn then. `Device` when the device [cannot
    /// cull](Self::culls).
    fn draw_culled(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
        culled: &Culled<'_, Self::Geometry>,
    ) -> Result<(), RenderError> {
        let _ = (frame, passes, culled);
        let reason = "this backend does not support it; check `culls` first".into();
        Err(RenderError::Device { during: "culling on the GPU", reason })
    }

    /// Returns the counts of culled meshes that were drawn, for the last frame with known counts.
    /// That is an earlier frame than the last until [`finish`](Self::finish) was called. Never
    /// waits.
    fn cull_counts(&mut self) -> Option<CullCounts> {
        None
    }

    /// Draws `overlay` over the following pictures until it is replaced. An empty overlay is free.
    ///
    /// # Cost
    /// O(bytes of the overlay) once, and one draw call for each part in each picture.
    ///
    /// # Errors
    /// `BadOverlay`, `OutOfMemory`, `Lost`, or `Device` when the backend draws no overlays. After
    /// an error the whole overlay must be set again, with all textures.
    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        let _ = overlay;
        let reason = "this backend draws no overlays".into();
        Err(RenderError::Device { during: "setting the overlay", reason })
    }

    /// Selects whether [`read_image`](Self::read_image) can read the following pictures. Readable
    /// pictures are not shown in the window. Has no effect without a window, or if the window's
    /// pictures can be read.
    ///
    /// # Errors
    /// `OutOfMemory`, `Lost`, or `Device`.
    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        let _ = readable;
        Ok(())
    }

    /// Returns whether the last picture reached its target. A window that is hidden or being
    /// resized shows no picture, which is not an error; draw again a little later.
    fn shown(&self) -> bool {
        true
    }

    /// Waits until all submitted work is complete.
    ///
    /// # Errors
    /// `Lost`.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// Returns the last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window and keeps no picture; see
    /// [`set_readable`](Self::set_readable).
    fn read_image(&mut self) -> Result<Image, RenderError>;
}

fn no_triangles() -> RenderError {
    let reason = "this backend draws no polygon models".into();
    RenderError::Device { during: "creating a buffer of triangles", reason }
}

/// The batches of one picture.
pub struct Passes<'a, G> {
    /// Drawn first, in any order, with depth test and depth writes.
    pub opaque: &'a [Batch<'a, G>],
    /// Drawn over the opaque batches in this order, with depth test but without depth writes.
    pub blended: &'a [Batch<'a, G>],
    /// Whether each batch is issued as one indirect call instead of command by command.
    pub indirect: bool,
}

impl<'a, G> Passes<'a, G> {
    /// Returns all batches in drawing order.
    pub fn batches(&self) -> impl Iterator<Item = &'a Batch<'a, G>> + Clone {
        self.opaque.iter().chain(self.blended)
    }
}

/// Returns how many of `count` quads can be copied from quad `from_first` of a geometry of
/// `from_quads` quads to quad `to_first` of one of `to_quads` quads.
pub(crate) fn copied_quads(
    (from_quads, from_first): (u32, u32),
    (to_quads, to_first): (u32, u32),
    count: u32,
) -> u32 {
    let from_len = from_quads.saturating_sub(from_first);
    count.min(from_len).min(to_quads.saturating_sub(to_first))
}

/// Number of quads in the shared index pattern of every device: the maximum that one command draws.
/// Equal to the faces of a checkerboard of 32³ voxels, the largest mesh of such a chunk.
pub const PATTERN_QUADS: u32 = 98_304;

/// Number of quads that a cube is drawn as. At most one of two opposite faces points towards the
/// camera, and the vertex shader selects it.
pub const QUADS_PER_CUBE: u32 = 3;

const _: () = assert!(PATTERN_QUADS.is_multiple_of(QUADS_PER_CUBE));

/// Kind of the entries of a geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    Quads,
    Cubes,
    /// Vertices of triangles, drawn with their own indices.
    Vertices,
    /// Indices of triangles.
    Indices,
}

impl Entries {
    /// Number of quads of the index pattern that draw `count` entries.
    pub(crate) const fn pattern_quads(self, count: u32) -> u32 {
        match self {
            Self::Quads => count,
            Self::Cubes => count.saturating_mul(QUADS_PER_CUBE),
            Self::Vertices | Self::Indices => 0,
        }
    }

    /// Size of one entry in bytes.
    pub(crate) const fn bytes(self) -> u64 {
        let bytes = match self {
            Self::Quads | Self::Cubes => size_of::<Quad>(),
            Self::Vertices => size_of::<TriangleVertex>(),
            Self::Indices => size_of::<u32>(),
        };
        bytes as u64
    }

    /// Whether commands over these entries can be drawn with these indices, or without indices.
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
/// Devices refuse a batch with a command that reaches outside its geometry. Batches of the
/// renderers of this crate are checked in debug builds only, because their ranges come from their
/// own pools and geometries.
///
/// # Cost
/// A check takes about 1 ns a command. Batches of the renderers cost nothing.
pub struct Batch<'a, G> {
    /// Geometry with the quads and per-draw data.
    pub geometry: &'a G,
    /// Geometry with the indices; `None` selects the index pattern of quads.
    pub indices: Option<&'a G>,
    /// The commands, in order. `first_instance` is the slot of the draw. `base_vertex` is four
    /// times the first quad; for cubes, quads of the index pattern are counted. With indices,
    /// `base_vertex` is the first vertex and `first_index` the first index.
    pub commands: &'a [DrawCommand],
    /// Whether a renderer of this crate made the batch, with ranges inside its geometry.
    #[cfg_attr(not(any(feature = "wgpu", feature = "gl")), expect(dead_code))]
    is_trusted: bool,
}

impl<'a, G> Batch<'a, G> {
    /// Creates a batch over quads or cubes.
    pub const fn new(geometry: &'a G, commands: &'a [DrawCommand]) -> Self {
        Self { geometry, indices: None, commands, is_trusted: false }
    }

    /// Creates a batch over vertices with their own indices.
    pub const fn indexed(geometry: &'a G, indices: &'a G, commands: &'a [DrawCommand]) -> Self {
        Self { indices: Some(indices), ..Self::new(geometry, commands) }
    }

    /// Disables the checks in release builds. Only for commands whose ranges were allocated in the
    /// geometry: code outside of this crate cannot make such a batch.
    pub(crate) const fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    /// Whether a device must check the commands before it draws them.
    #[cfg(any(feature = "wgpu", feature = "gl"))]
    pub(crate) const fn needs_check(&self) -> bool {
        cfg!(debug_assertions) || !self.is_trusted
    }

    /// Checks that every command stays within a geometry of `quads` quads and `slots` slots and
    /// within the index pattern. GPU drivers do not check this.
    ///
    /// # Errors
    /// `Device` with the first command that does not.
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

    /// Checks that every command stays within `vertices`, `indices` and `slots`. The values of the
    /// indices are not checked.
    ///
    /// # Errors
    /// `Device` with the first command that does not.
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
