//! The software rasteriser: draws on the CPU the same pictures as the shaders on a GPU.
//!
//! ```text
//! commands ─► quads ─► triangles by band ─► depth + face direction and material ─► colours
//! tasks of 2,048, in parallel           bands of 16 rows, in parallel
//! ```
//! Triangles of models take the same path with one difference. Their pixels are coloured when they
//! are drawn, not at the end, because the eight bytes of a pixel cannot store their light.
//!
//! The arithmetic is that of `wgpu_device/shader.wgsl`, in the same order, and ties are resolved as on
//! GPUs. Corners snap to 1/256 of a pixel, and edge functions are exact integers. A pixel centre on
//! an edge belongs to the triangle whose left or top edge it is. The picture is the same, to the
//! last bit, for any number of threads.

mod bins;
mod bloom;
mod clip;
mod facet;
mod fade;
mod geometry;
mod memory;
mod occlusion;
mod overlay;
mod sampled;
mod shade;
mod shadow;
mod sky;
mod sky_light;
mod sun;
mod target;
mod tasks;
mod textures;
mod threads;
mod tiles;
mod triangle;
mod triangles;
mod vertex;
mod viewport;
mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use drystone_pool::Access;

pub use self::geometry::SoftGeometry;
use self::{
    bins::Bins,
    bloom::SoftBloom,
    facet::Lamp,
    geometry::{DrawTable, MAX_QUADS, runs},
    overlay::SoftOverlay,
    shade::{Hidden, Shader, SoftMaterial},
    shadow::ShadowMaps,
    target::Target,
    tasks::Tasks,
    textures::Textures,
    triangles::{TriangleBins, TriangleStage},
    vertex::VertexStage,
    viewport::{MAX_SIDE, Viewport},
};
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::{
        Destination, Device, DeviceInfo, Output, Progress, Submitted, check_size, sealed::Sealed,
    },
    error::RenderError,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    passes::{Batch, Passes},
    quad_textures::{QuadTextures, TileWords},
    samples::Samples,
    texture_set::TextureSet,
};

/// Why the rasteriser does not cull meshes itself.
const NO_CULLING: &str = "this backend has no compute shaders for it";

/// The reference backend: draws on the CPU and needs no driver. The pictures of all other backends
/// are compared with its pictures.
///
/// It draws synchronously: a frame is complete when it is submitted, and `finish` returns at once.
/// Indirect drawing makes no difference.
///
/// # Cost
/// 13 bytes for each pixel besides the picture, or 8 bytes for each sample with several samples a
/// pixel, 4 bytes for each texel of shadow maps and of maps of the sky, and 10 bytes for each pixel with
/// bloom. With the feature `rayon`, a thread
/// for each core, from rayon's pool.
///
/// # Examples
/// ```
/// use drystone_mesh::{Face, Quad};
/// use drystone_pool::DrawCommand;
/// use drystone_render::{
///     Atmosphere, Batch, BufferData, BufferKind, Camera, Device, DrawData, DrawSlots, Frame, Output,
///     Passes, SoftDevice,
/// };
/// use glam::DVec3;
///
/// let mut device = SoftDevice::new(64, 48)?;
/// device.set_palette(&[[200, 40, 40, 255]])?;
/// let mut geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1))?;
/// let quads = [Quad::new([0, 0, 0], [8, 8], Face::PosZ, 0)];
/// device.write(&mut geometry, 0, BufferData::Quads(&quads));
/// let draw_data = [DrawData { extent: 32, ..DrawData::default() }];
/// device.write(&mut geometry, 0, BufferData::DrawData(&draw_data));
///
/// let camera = Camera::look_at(DVec3::new(4.0, 4.0, 9.0), DVec3::new(4.0, 4.0, 0.0));
/// let frame = Frame::new(&camera, &Atmosphere::default(), 64, 48);
/// let commands = [DrawCommand { index_count: 6, instance_count: 1, ..Default::default() }];
/// let opaque = [Batch::new(&geometry, &commands)];
/// device.draw(&frame, &Passes { opaque: &opaque, ..Passes::default() })?;
///
/// let [red, green, ..] = device.read_image()?.pixel(32, 24);
/// assert!(red > 2 * green);
/// # Ok::<(), drystone_render::RenderError>(())
/// ```
pub struct SoftDevice {
    target: Target,
    materials: Vec<SoftMaterial>,
    /// Textures of materials; empty without any.
    tiles: TileWords,
    textures: Textures,
    /// Kept from frame to frame for their memory.
    bins: Vec<Bins>,
    /// Kept from frame to frame for their memory.
    triangle_bins: Vec<TriangleBins>,
    shadows: ShadowMaps,
    overlay: SoftOverlay,
    /// `None` until a picture has bloom, and after one without.
    bloom: Option<SoftBloom>,
    /// Number of pictures drawn.
    frames: u64,
}

impl SoftDevice {
    /// Creates a rasteriser for pictures of this size.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge` beyond 16,384 pixels a side, or `OutOfMemory`.
    pub fn new(width: u32, height: u32) -> Result<Self, RenderError> {
        check_size([width, height], MAX_SIDE)?;
        let target = Target::new(width, height, Samples::One)?;
        Ok(Self {
            target,
            materials: Vec::new(),
            tiles: TileWords::default(),
            textures: Textures::default(),
            bins: Vec::new(),
            triangle_bins: Vec::new(),
            shadows: ShadowMaps::default(),
            overlay: SoftOverlay::default(),
            bloom: None,
            frames: 0,
        })
    }

    fn set_tiles(&mut self, materials: &[MaterialLook], tiles: TileWords) {
        let records = tiles.records.iter().copied().chain(std::iter::repeat(0));
        let textured = materials.iter().zip(records);
        self.materials = textured.map(|(look, record)| SoftMaterial::new(look, record)).collect();
        self.forget_maps(self.tiles.has_holes || tiles.has_holes);
        self.tiles = tiles;
    }

    /// Has renderers draw all maps again, if the holes of casters may have changed.
    fn forget_maps(&mut self, holes_changed: bool) {
        if holes_changed {
            self.shadows.token = 0;
        }
    }
}

impl Sealed for SoftDevice {}

impl Output for SoftDevice {
    fn describe(&self) -> String {
        let threads = threads::count();
        let plural = if threads == 1 { "" } else { "s" };
        format!("soft: reference rasteriser, {threads} thread{plural}")
    }

    fn info(&self) -> DeviceInfo {
        let (size, samples) = (self.target.size(), self.target.samples());
        let culling = Err(NO_CULLING);
        let (access, max_quads) = (Access::Staged, MAX_QUADS);
        DeviceInfo { size, samples, access, max_quads, is_software: true, culling }
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.set_tiles(materials, TileWords::default());
        Ok(())
    }

    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.set_tiles(materials, textures.words(materials, u64::MAX)?);
        Ok(())
    }

    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        if !self.textures.set.is_same(textures) {
            let had_masks = self.textures.set.has_masks();
            self.textures = Textures::new(textures)?;
            self.forget_maps(had_masks || textures.has_masks());
        }
        Ok(())
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        check_size([width, height], MAX_SIDE)?;
        if self.target.size() != [width, height] {
            // The old target remains until the new one exists.
            self.target = Target::new(width, height, self.target.samples())?;
        }
        Ok(())
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        if self.target.samples() != samples {
            let [width, height] = self.target.size();
            self.target = Target::new(width, height, samples)?;
        }
        Ok(())
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.overlay.set(overlay)
    }

    fn set_destination(&mut self, _: Destination) -> Result<(), RenderError> {
        // Every picture is kept.
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        // Frames are complete when they are submitted.
        Ok(())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.target.read_image()
    }
}

impl Device for SoftDevice {
    type Geometry = SoftGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, SoftGeometry>,
    ) -> Result<SoftGeometry, RenderError> {
        SoftGeometry::new(kind, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut SoftGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        let table = Arc::new(DrawTable::new(slots)?);
        sharing.iter_mut().for_each(|geometry| geometry.set_draws(&table));
        Ok(())
    }

    fn write(&mut self, geometry: &mut SoftGeometry, first: u32, data: BufferData<'_>) {
        geometry.write(first, data);
    }

    fn copy(&mut self, from: Option<&SoftGeometry>, to: &mut SoftGeometry, copy_range: CopyRange) {
        to.copy(from, copy_range);
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, SoftGeometry>,
    ) -> Result<Submitted, RenderError> {
        if passes.culled.is_some() {
            return Err(RenderError::cannot_cull(NO_CULLING));
        }
        let Self { target, materials, tiles, textures, bins, triangle_bins, shadows, .. } = self;
        let scene = Scene { passes, materials, tiles, textures };
        match passes.shadows {
            Some(pass) => shadows.draw(pass, (bins, triangle_bins), &scene)?,
            None => *shadows = ShadowMaps::default(),
        }
        let light = passes.shadows.map(|pass| shadows.light(&pass.frame, frame));
        let mut bloom = match passes.bloom && scene.emits() {
            true => Some(SoftBloom::prepare(&mut self.bloom, target.size())?),
            false => None,
        };
        scene.draw(target, (frame, light), (bins, triangle_bins));
        if let Some(bloom) = &mut bloom {
            scene.draw(&mut bloom.target, (&frame.emitted(), None), (bins, triangle_bins));
        }
        let picture = target.finish();
        match bloom {
            Some(bloom) => bloom.add_to(picture),
            None => self.bloom = None,
        }
        self.overlay.paint(picture);
        self.frames += 1;
        Ok(Submitted { frame: self.frames, shown: true })
    }

    fn kept_shadows(&self) -> u64 {
        self.shadows.token
    }

    fn progress(&mut self) -> Progress {
        Progress { completed: self.frames, culled: None }
    }
}

/// Contents of a picture.
struct Scene<'a> {
    passes: &'a Passes<'a, SoftGeometry>,
    materials: &'a [SoftMaterial],
    tiles: &'a TileWords,
    textures: &'a Textures,
}

impl Scene<'_> {
    /// Whether anything may emit light.
    fn emits(&self) -> bool {
        self.textures.set.emits() || self.materials.iter().any(SoftMaterial::emits)
    }

    /// Draws the scene, without the light that meshes hide.
    fn draw(
        &self,
        target: &mut Target,
        (frame, hidden): (&Frame, Option<Hidden<'_>>),
        (bins, triangle_bins): (&mut Vec<Bins>, &mut Vec<TriangleBins>),
    ) {
        let Self { passes, materials, tiles, textures } = *self;
        let [width, height] = target.size();
        let viewport = Viewport::new(width, height).with_samples(target.samples());
        let shader =
            Shader::new(frame, (materials, &tiles.words), [width, height]).with_shadows(hidden);
        target.clear(frame);
        let stage = VertexStage::new(frame, true);
        rasterise(passes.opaque.iter(), bins, &stage, &viewport, |bins| {
            target.draw_opaque(bins, &viewport, &shader);
        });
        let triangles = TriangleStage::new(frame, &viewport, textures);
        let lamp = Lamp::new(frame);
        let light = (&shader, &lamp, textures);
        triangles.rasterise(passes.opaque, triangle_bins, |bins| {
            target.draw_triangles(bins, &viewport, light);
        });
        target.shade(&shader);
        let stage = VertexStage::new(frame, false);
        // Blended batches are drawn in order. Consecutive batches of one kind are set up together.
        for blended in passes.blended.chunk_by(|a, b| a.indices.is_some() == b.indices.is_some()) {
            let quads = blended.iter().filter(|it| it.geometry.kind() == BufferKind::Quads);
            rasterise(quads, bins, &stage, &viewport, |bins| {
                target.draw_blended(bins, &viewport, &shader);
            });
            triangles.rasterise(blended, triangle_bins, |bins| {
                target.blend_triangles(bins, &viewport, light);
            });
        }
    }
}

/// Sets up the batches' quads in groups of limited size, and draws their triangles.
fn rasterise<'a>(
    batches: impl Iterator<Item = &'a Batch<'a, SoftGeometry>>,
    bins: &mut Vec<Bins>,
    stage: &VertexStage,
    viewport: &Viewport,
    mut draw: impl FnMut(&[Bins]),
) {
    let mut runs = runs(batches);
    let mut tasks = Tasks::default();
    while tasks.refill(&mut runs) {
        if bins.len() < tasks.len() {
            bins.resize_with(tasks.len(), Bins::default);
        }
        let used = &mut bins[..tasks.len()];
        threads::for_each(used, |task, bins| bins.fill(tasks.runs(task), stage, viewport));
        draw(used);
    }
}
