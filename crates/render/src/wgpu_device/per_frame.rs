//! Data that every pass of a frame reads: uniforms, the materials, textures, and draw commands.

use std::sync::Arc;

use drystone_wgpu::parts::CommandUpload;

use super::{
    WgpuGeometry,
    adapter::Opened,
    bloom::Bloom,
    pipelines::{Pipelines, TILES_BINDING},
    shadows::{Holes, ShadowMaps},
    target::Target,
};
use crate::{
    error::RenderError,
    frame::Frame,
    material_look::{MaterialEntry, MaterialLook},
    passes::Passes,
    quad_textures::{QuadTextures, TileWords},
    texture_set::TextureSet,
};

/// The data of a frame, bound together.
pub(super) struct PerFrame {
    /// The [`Frame`], which changes with every frame.
    frame: wgpu::Buffer,
    materials: Materials,
    textures: wgpu::Buffer,
    /// The set of these textures.
    set: TextureSet,
    layout: wgpu::BindGroupLayout,
    pub(super) group: wgpu::BindGroup,
    pub(super) commands: CommandUpload,
    /// Created when the first picture that reads maps needs them; freed by one that reads none.
    pub(super) shadows: Option<ShadowMaps>,
    /// Created when the first picture with bloom needs it.
    pub(super) bloom: Option<Bloom>,
    /// Whether the last picture was a lent one, which the caller submits later.
    is_lent: bool,
    /// Cloned by each lent picture until it is complete, or dropped with its encoder.
    lent: Arc<()>,
}

/// Table of materials.
struct Materials {
    entries: wgpu::Buffer,
    /// Textures of materials; `None` without any.
    tiles: Option<wgpu::Buffer>,
    /// Whether these have holes.
    has_holes: bool,
    /// Whether a material emits light.
    emits: bool,
}

impl PerFrame {
    pub(super) fn new(opened: &Opened, pipelines: &Pipelines) -> Result<Self, RenderError> {
        let frame = frame_buffer(opened)?;
        let entries = material_buffer(opened, &[], &[])?;
        let textures = textures(opened, &[])?;
        let layout = pipelines.frame_layout.clone();
        let group = group(opened, &layout, (&[&frame, &entries, &textures], None), &[]);
        let (commands, lent) = (CommandUpload::default(), Arc::default());
        Ok(Self {
            frame,
            materials: Materials { entries, tiles: None, has_holes: false, emits: false },
            textures,
            set: TextureSet::default(),
            layout,
            group,
            commands,
            shadows: None,
            bloom: None,
            is_lent: false,
            lent,
        })
    }

    pub(super) fn set_materials(
        &mut self,
        opened: &Opened,
        materials: &[MaterialLook],
    ) -> Result<(), RenderError> {
        self.set_tiles(opened, materials, &TileWords::default())
    }

    pub(super) fn set_textured_materials(
        &mut self,
        opened: &Opened,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.set_tiles(opened, materials, &textures.words(materials, max_bytes(opened))?)
    }

    fn set_tiles(
        &mut self,
        opened: &Opened,
        materials: &[MaterialLook],
        TileWords { words, records, has_holes }: &TileWords,
    ) -> Result<(), RenderError> {
        let entries = material_buffer(opened, materials, records)?;
        let filled = || textures(opened, words);
        let tiles = (!words.is_empty()).then(filled).transpose()?;
        let emits = materials.iter().any(|material| material.emission != 0);
        let (has_holes, had_holes) = (*has_holes, self.materials.has_holes);
        self.materials = Materials { entries, tiles, has_holes, emits };
        self.forget_maps(has_holes || had_holes);
        self.bind(opened);
        Ok(())
    }

    /// Whether quads have textures.
    pub(super) const fn is_tiled(&self) -> bool {
        self.materials.tiles.is_some()
    }

    /// Replaces the textures.
    pub(super) fn set_textures(
        &mut self,
        opened: &Opened,
        set: &TextureSet,
    ) -> Result<(), RenderError> {
        if self.set.is_same(set) {
            return Ok(());
        }
        self.textures = textures(opened, &set.words(max_bytes(opened))?)?;
        self.forget_maps(self.set.has_masks() || set.has_masks());
        self.set = set.clone();
        self.bind(opened);
        Ok(())
    }

    /// Has renderers draw all maps again, if the holes of casters may have changed.
    fn forget_maps(&mut self, holes_changed: bool) {
        self.shadows.iter_mut().filter(|_| holes_changed).for_each(|maps| maps.token = 0);
    }

    pub(super) fn has_textures(&self) -> bool {
        !self.set.is_empty()
    }

    /// Whether anything may emit light.
    pub(super) fn emits(&self) -> bool {
        self.materials.emits || self.set.emits()
    }

    /// Prepares bloom for a picture whose frame of emitted light this is, or frees its textures.
    /// `is_renewed`: what the last picture reads must not change.
    ///
    /// # Errors
    /// `Device` when the device is out of memory, `Lost`.
    pub(super) fn prepare_bloom(
        &mut self,
        (opened, target): (&Opened, &Target),
        frame: &Frame,
        (has_bloom, is_renewed): (bool, bool),
    ) -> Result<(), RenderError> {
        if let (true, Some(bloom)) = (is_renewed, &mut self.bloom) {
            bloom.renew_frame(opened)?;
        }
        if !has_bloom || !self.emits() {
            self.bloom.iter_mut().for_each(Bloom::free_textures);
            return Ok(());
        }
        let mut bloom = match self.bloom.take() {
            Some(bloom) => bloom,
            None => Bloom::new(opened, target.format, self.is_tiled())?,
        };
        bloom.select(opened, self.is_tiled())?;
        let Materials { entries, tiles, .. } = &self.materials;
        let buffers = [&bloom.frame, entries, &self.textures];
        let group = group(opened, bloom.frame_layout(), (&buffers, tiles.as_ref()), &[]);
        bloom.prepare(opened, (frame, group), (target.size(), self.has_textures()))?;
        self.bloom = Some(bloom);
        Ok(())
    }

    fn bind(&mut self, opened: &Opened) {
        let buffers = [&self.frame, &self.materials.entries, &self.textures];
        self.group = group(opened, &self.layout, (&buffers, None), &[]);
    }

    /// Begins a picture. Replaces the buffers after a lent picture, which keeps its own. Returns
    /// whether they were replaced.
    pub(super) fn begin(&mut self, opened: &Opened, is_lent: bool) -> Result<bool, RenderError> {
        let was_lent = self.is_lent;
        if was_lent {
            self.frame = frame_buffer(opened)?;
            self.bind(opened);
            self.commands = CommandUpload::default();
        }
        self.is_lent = is_lent;
        Ok(was_lent)
    }

    /// Uploads the data of maps, or frees their memory. Returns the group of the picture, whose
    /// pipelines have this layout. `is_renewed`: what the last picture reads must not change.
    pub(super) fn prepare(
        &mut self,
        (opened, layout): (&Opened, &wgpu::BindGroupLayout),
        passes: &Passes<'_, WgpuGeometry>,
        is_renewed: bool,
    ) -> Result<wgpu::BindGroup, RenderError> {
        let tiles = self.materials.tiles.as_ref();
        let Some(pass) = passes.shadows else {
            self.shadows = None;
            if tiles.is_none() {
                return Ok(self.group.clone());
            }
            let buffers = [&self.frame, &self.materials.entries, &self.textures];
            return Ok(group(opened, layout, (&buffers, tiles), &[]));
        };
        let maps = match &mut self.shadows {
            Some(maps) => maps,
            none => none.insert(ShadowMaps::new(opened)?),
        };
        let holes = Holes {
            materials: &self.materials.entries,
            textures: (&self.textures, self.set.has_masks()),
            tiles: tiles.filter(|_| self.materials.has_holes),
        };
        maps.prepare(opened, pass, holes, is_renewed)?;
        let buffers = [&self.frame, &self.materials.entries, &self.textures, maps.data()];
        Ok(group(opened, layout, (&buffers, tiles), &maps.bindings()))
    }

    /// Whether the last picture was a lent one. What it reads must not change.
    pub(super) const fn was_lent(&self) -> bool {
        self.is_lent
    }

    /// Registers a lent picture as incomplete until the GPU has executed this encoder's commands.
    pub(super) fn lend(&self, encoder: &wgpu::CommandEncoder) {
        let lent = Arc::clone(&self.lent);
        encoder.on_submitted_work_done(move || drop(lent));
    }

    /// Whether a lent picture is incomplete.
    pub(super) fn is_read_by_lent(&self) -> bool {
        Arc::strong_count(&self.lent) > 1
    }

    /// Uploads the uniforms, in queue order.
    pub(super) fn write(&self, opened: &Opened, frame: &Frame) -> Result<(), RenderError> {
        let bytes = std::iter::once(bytemuck::bytes_of(frame));
        Ok(opened.gpu.write("the frame", &self.frame, 0, bytes)?)
    }
}

fn frame_buffer(opened: &Opened) -> Result<wgpu::Buffer, RenderError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    opened.buffer("frame", size_of::<Frame>() as u64, usage)
}

fn material_buffer(
    opened: &Opened,
    materials: &[MaterialLook],
    records: &[u32],
) -> Result<wgpu::Buffer, RenderError> {
    let table = MaterialEntry::table(materials, records);
    let usage = wgpu::BufferUsages::STORAGE;
    Ok(opened.gpu.filled_buffer("materials", bytemuck::cast_slice(&table), usage)?)
}

/// A buffer has at least one entry: one word without textures.
fn textures(opened: &Opened, words: &[u32]) -> Result<wgpu::Buffer, RenderError> {
    let words = if words.is_empty() { &[0] } else { words };
    let usage = wgpu::BufferUsages::STORAGE;
    Ok(opened.gpu.filled_buffer("textures", bytemuck::cast_slice(words), usage)?)
}

/// Maximum size of a storage buffer.
fn max_bytes(opened: &Opened) -> u64 {
    let limits = opened.gpu.device.limits();
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}

/// Creates a group of these buffers, in the order of their bindings, of the textures of quads, and of maps
/// with their bindings.
fn group(
    opened: &Opened,
    layout: &wgpu::BindGroupLayout,
    (buffers, tiles): (&[&wgpu::Buffer], Option<&wgpu::Buffer>),
    maps: &[(u32, &wgpu::TextureView)],
) -> wgpu::BindGroup {
    let buffers = (0..).zip(buffers).map(|(at, buffer)| (at, buffer.as_entire_binding()));
    let tiles = tiles.map(|buffer| (TILES_BINDING, buffer.as_entire_binding()));
    let maps = maps.iter().map(|&(at, view)| (at, wgpu::BindingResource::TextureView(view)));
    let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
    let entries: Vec<_> = buffers.chain(maps).chain(tiles).map(entry).collect();
    opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout,
        entries: &entries,
    })
}
