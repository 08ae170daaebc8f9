//! Commands of one frame: batches of commands in two passes.

use drystone_mesh::{INDICES_PER_QUAD, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;

use crate::{
    buffers::PATTERN_QUADS,
    cull::Culled,
    error::RenderError,
    frame::Frame,
    shadows::{MapKinds, MapLayer, Redrawn, ShadowFrame, ShadowPlan},
};

/// The batches of one picture.
pub struct Passes<'a, G> {
    /// Drawn first, in any order, with depth test and depth writes.
    pub opaque: &'a [Batch<'a, G>],
    /// Drawn over the opaque batches in this order, with depth test but without depth writes.
    pub blended: &'a [Batch<'a, G>],
    /// Whether each batch is issued as one indirect call instead of command by command.
    pub indirect: bool,
    /// Meshes whose visible part is drawn before all batches, culled by the GPU. Only devices whose
    /// [`DeviceInfo::culling`](crate::DeviceInfo::culling) is `Ok` accept it.
    pub culled: Option<&'a Culled<'a, G>>,
    /// Maps of shadows and of the sky that the picture reads.
    pub shadows: Option<&'a ShadowPass<'a, G>>,
    /// Whether light spreads around surfaces that emit light.
    pub bloom: bool,
}

impl<G> Default for Passes<'_, G> {
    /// No batches, each to be issued as one indirect call.
    fn default() -> Self {
        Self {
            opaque: &[],
            blended: &[],
            indirect: true,
            culled: None,
            shadows: None,
            bloom: false,
        }
    }
}

impl<'a, G> Passes<'a, G> {
    /// Returns all batches: those of the picture in drawing order, then those of the shadow maps.
    pub fn batches(&self) -> impl Iterator<Item = &'a Batch<'a, G>> + Clone {
        let cascades = self.shadows.into_iter().flat_map(|shadows| &shadows.redrawn);
        self.scene_batches().chain(cascades.flat_map(|cascade| &cascade.batches))
    }

    /// Returns the batches of the picture in drawing order.
    pub fn scene_batches(&self) -> impl Iterator<Item = &'a Batch<'a, G>> + Clone {
        self.opaque.iter().chain(self.blended)
    }
}

/// Maps of shadows and of the sky for one picture. Renderers of this crate create them for views
/// with [shadows](crate::View::shadows) or [sky light](crate::View::sky_light).
pub struct ShadowPass<'a, G> {
    /// Identifies the maps of one renderer.
    pub(crate) token: u64,
    pub(crate) frame: ShadowFrame,
    /// Side of the maps of the sun, in texels.
    pub(crate) side: u32,
    /// Maps to be drawn before the picture. The others are kept from earlier pictures.
    pub(crate) redrawn: Vec<CascadePass<'a, G>>,
}

/// A shadow map to be drawn.
pub(crate) struct CascadePass<'a, G> {
    pub(crate) layer: MapLayer,
    pub(crate) frame: Frame,
    pub(crate) batches: Vec<Batch<'a, G>>,
}

impl<'a, G> ShadowPass<'a, G> {
    /// Creates the pass of a plan. `batches` returns what casts shadows into a map.
    pub(crate) fn new(
        plan: &ShadowPlan,
        mut batches: impl FnMut(&Redrawn) -> Vec<Batch<'a, G>>,
    ) -> Self {
        let cascade =
            |it: &Redrawn| CascadePass { layer: it.layer, frame: it.frame, batches: batches(it) };
        let redrawn = plan.redrawn.iter().map(cascade).collect();
        Self { token: plan.token, frame: plan.frame, side: plan.side, redrawn }
    }

    /// The maps that the picture reads.
    pub(crate) const fn kinds(&self) -> MapKinds {
        self.frame.kinds()
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

/// Number of triangles drawn by commands with their own indices.
pub(crate) fn triangle_count(commands: &[DrawCommand]) -> u64 {
    commands.iter().map(|command| u64::from(command.index_count / 3)).sum()
}

/// Number of quads drawn by the commands.
pub(crate) fn quad_count(commands: &[DrawCommand]) -> u64 {
    let indices: u64 = commands.iter().map(|command| u64::from(command.index_count)).sum();
    indices / u64::from(INDICES_PER_QUAD)
}
