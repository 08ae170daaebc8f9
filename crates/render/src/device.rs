use drystone_pool::Access;

use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    cull::CullCounts,
    error::RenderError,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    passes::Passes,
    quad_textures::QuadTextures,
    samples::Samples,
    texture_set::TextureSet,
};

/// Marks the devices and renderers of this repository. Implementations elsewhere may stop compiling
/// with any version.
#[doc(hidden)]
pub mod sealed {
    pub trait Sealed {}
}

/// The part of a device that does not depend on its geometries: what it is, and its pictures.
/// [`Renderer::output`](crate::Renderer::output) returns it for a renderer's device.
///
/// The trait is sealed: versions of this crate may add methods.
pub trait Output: sealed::Sealed {
    /// Returns a description for display: the backend, its adapter and its access mode.
    fn describe(&self) -> String;

    /// Returns abilities and limits, and the size of a picture.
    ///
    /// # Cost
    /// A few words, without a call of the driver.
    fn info(&self) -> DeviceInfo;

    /// Sets the appearance of materials, indexed by material number. Materials beyond the list are
    /// drawn in magenta.
    ///
    /// # Cost
    /// 32 bytes for each material, uploaded once. Textures of materials are ignored.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError>;

    /// Sets the appearance of materials, as [`set_materials`](Self::set_materials) does, and the images
    /// of their textures. By default, a device draws no textures.
    ///
    /// # Cost
    /// See [`QuadTextures`]. Without a textured material, pictures cost no more.
    ///
    /// # Errors
    /// `NoTexture` if a material's texture does not exist, `TooLarge`, `OutOfMemory`, `Device`, or
    /// `Lost`. After an error the old materials remain.
    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        let _ = textures;
        self.set_materials(materials)
    }

    /// Sets materials with one colour each, as [`set_materials`](Self::set_materials) does.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        let materials: Vec<_> = colors.iter().copied().map(MaterialLook::new).collect();
        self.set_materials(&materials)
    }

    /// Sets the textures and materials of textured triangles, in place of earlier ones; an empty set
    /// frees their memory. Set before the meshes that use them are drawn. By default, a device draws
    /// no textures.
    ///
    /// # Cost
    /// See [`TextureSet`]; none for a clone of the current set, which devices keep. Pictures without
    /// textured meshes cost no more once the set is empty again.
    ///
    /// # Errors
    /// `TooLarge` if the coarsest mipmaps do not fit into a storage buffer, `OutOfMemory`, `Device`, or
    /// `Lost`. After an error the old textures remain.
    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        let _ = textures;
        Ok(())
    }

    /// Changes the size of the following pictures.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge` beyond the device's limits, `Device`, or `Lost`. After an error
    /// pictures keep their size.
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// Sets the number of samples in each pixel of the following pictures, which is 1 at first. A
    /// device that does not offer as many uses the next lower number that it offers;
    /// [`DeviceInfo::samples`] states which.
    ///
    /// # Errors
    /// `TooLarge`, `OutOfMemory`, `Device`, or `Lost`. After an error pictures keep their number of
    /// samples.
    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError>;

    /// Draws `overlay` over the following pictures until it is replaced. An empty overlay is free.
    ///
    /// # Cost
    /// O(bytes of the overlay) once, and one draw call for each part in each picture.
    ///
    /// # Errors
    /// `BadOverlay`, `OutOfMemory`, `Lost`, or `Device` when the backend draws no overlays. After
    /// an error the whole overlay must be set again, with all textures.
    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError>;

    /// Selects where the following pictures go. Devices without a window keep every picture, and
    /// so do devices whose window's pictures can be read.
    ///
    /// # Errors
    /// `OutOfMemory`, `Lost`, or `Device`.
    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError>;

    /// Waits until all submitted work is complete.
    ///
    /// # Errors
    /// `Lost`.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// Whether all submitted work is complete. Browsers do not allow [`finish`](Self::finish) to wait;
    /// this never waits there. By default, it calls `finish`.
    ///
    /// # Errors
    /// `Lost`.
    fn is_idle(&mut self) -> Result<bool, RenderError> {
        self.finish().map(|()| true)
    }

    /// Returns the last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window and keeps no picture; see
    /// [`Destination::Kept`].
    fn read_image(&mut self) -> Result<Image, RenderError>;
}

/// A backend, which stores typed buffers and draws them. Renderers are generic over this trait.
///
/// Each picture drawn is a *frame*. Frames are numbered from 1 and complete in that order. Writes
/// and copies take effect in the order of the calls, for all frames drawn after them.
/// [`DeviceInfo::access`] states whether frames that are still running can see them too.
///
/// The trait is sealed: versions of this crate may add methods. Callers that draw themselves
/// implement [`Backend`](drystone_pool::Backend) instead.
pub trait Device: Output {
    /// Entries of one kind and a table of per-draw data, bound together.
    type Geometry;

    /// Creates a geometry for `count` entries of one kind.
    ///
    /// # Errors
    /// `TooLarge` beyond the device's limits, `OutOfMemory`, `Lost`, or `Device` when the backend
    /// does not draw entries of this kind.
    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, Self::Geometry>,
    ) -> Result<Self::Geometry, RenderError>;

    /// Replaces the table shared by the geometries in `sharing` with a new table of `slots` slots.
    /// `sharing` must contain all geometries that share the table. The contents are undefined until
    /// written.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create). After an error the old table remains.
    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut Self::Geometry],
        slots: u32,
    ) -> Result<(), RenderError>;

    /// Copies entries, or per-draw data, into a geometry, starting at entry or slot `first`.
    /// [`DeviceInfo::access`] states what running frames see of entries. What does not fit, and
    /// entries of another kind, are ignored.
    fn write(&mut self, geometry: &mut Self::Geometry, first: u32, data: BufferData<'_>);

    /// Copies entries on the device, from a geometry of the same kind, or within `to` if `from` is
    /// `None`. Entries outside either geometry are ignored. Ranges within one geometry must not
    /// overlap; otherwise the contents are undefined afterwards.
    fn copy(
        &mut self,
        from: Option<&Self::Geometry>,
        to: &mut Self::Geometry,
        copy_range: CopyRange,
    );

    /// Draws one picture: the visible culled meshes, the opaque batches, the sky, then the blended
    /// batches in order. Culling does not change the picture. Returns when the work is submitted,
    /// not when it is complete.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses or [cannot cull](DeviceInfo::culling).
    /// `NoCulling` when there are too many meshes or pixels to cull, or too little memory; nothing
    /// is drawn then.
    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
    ) -> Result<Submitted, RenderError>;

    /// Whether copies within and between geometries leave all pictures unchanged that were encoded
    /// before. They change a picture that the caller encoded and has not submitted yet.
    fn can_move(&self) -> bool {
        true
    }

    /// Returns the token of the shadow maps that the device keeps; 0 if it keeps none. Maps are kept
    /// until a picture is drawn without shadows or with those of another renderer, or fails.
    #[doc(hidden)]
    fn kept_shadows(&self) -> u64 {
        0
    }

    /// Returns which frames are known to be complete. Never waits.
    fn progress(&mut self) -> Progress;
}

/// Abilities and limits of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Size of a picture in pixels.
    pub size: [u32; 2],
    /// Number of samples in each pixel.
    pub samples: Samples,
    /// Kind of access for writes. [`Staged`](Access::Staged) writes never affect a frame that is
    /// still running; [`Direct`](Access::Direct) writes do. Cubes, per-draw data, copies and the
    /// materials are always staged.
    pub access: Access,
    /// Maximum number of quads in one geometry.
    pub max_quads: u32,
    /// Whether the device draws on the CPU: the software rasteriser, or a driver without a GPU.
    pub is_software: bool,
    /// Whether the device can cull meshes on the GPU, or the reason why it cannot.
    pub culling: Result<(), &'static str>,
}

/// Destination of a device's pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// To the window, if there is one.
    #[default]
    Window,
    /// To memory, from which [`Output::read_image`] reads them. They are not shown in the window.
    Kept,
}

/// A frame that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Number of the last frame submitted.
    pub frame: u64,
    /// Whether the picture reached its target. A window that is hidden or being resized shows no
    /// picture, which is not an error; draw again a little later.
    pub shown: bool,
}

/// State of the frames that were submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of the last frame known to be complete.
    pub completed: u64,
    /// Counts of culled meshes that were drawn, for the last frame with known counts. That is an
    /// earlier frame than the last until [`Output::finish`] was called.
    pub culled: Option<CullCounts>,
}

/// Refuses pictures without pixels, and pictures with a side above `limit`.
pub(crate) fn check_size([width, height]: [u32; 2], limit: u32) -> Result<(), RenderError> {
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyPicture { width, height });
    }
    let (limit, requested) = (limit.into(), width.max(height).into());
    if requested > limit {
        return Err(RenderError::TooLarge { what: "a picture's side", requested, limit });
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
