use std::sync::atomic::{AtomicU32, Ordering};

use drystone_alloc::Handle;
use drystone_mesh::{Face, Quad};
use drystone_pool::{MeshHandle, PoolRange, PoolStats};

use crate::{
    Atmosphere, Camera, Cull, DrawData, Frame, Image, Overlay, RenderError, TriangleMesh,
    TrianglesId,
};

/// Which of a mesh's two passes it is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Hides what is behind.
    Opaque,
    /// Drawn over what is behind, farthest mesh first.
    Blended,
}

/// A mesh to be drawn: quads facing by facing, and where they lie.
#[derive(Clone, Copy, Debug)]
pub struct MeshData<'a> {
    /// The quads, in the order of [`Face::ALL`].
    pub quads: &'a [Quad],
    /// How many quads each facing has; the sum is the number of quads.
    pub counts: [u32; Face::COUNT],
    /// Where the mesh lies.
    pub draw_data: DrawData,
    /// Its pass.
    pub layer: Layer,
}

impl MeshData<'_> {
    /// Checks that it can be drawn where it is to lie.
    ///
    /// # Cost
    /// O(1), but O(quads) for one that lies where darkened corners may not.
    ///
    /// # Errors
    /// `BadTransform`.
    pub(crate) fn check_place(&self) -> Result<(), RenderError> {
        self.draw_data.check()?;
        if self.draw_data.is_on_grid()
            || self.quads.iter().all(|quad| quad.ambient_occlusion() == 0)
        {
            return Ok(());
        }
        let reason = "its corners are darkened, and its origin is no multiple of 2^level";
        Err(RenderError::BadTransform { reason })
    }
}

/// Names a mesh of one renderer; stale once it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshId(pub(crate) Owner);

/// Whose mesh it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Pool(MeshHandle, Layer),
    /// The renderer's number, and the mesh.
    Naive(u32, Handle<NaiveMark>),
    /// The same of an instanced renderer.
    Cubes(u32, Handle<CubesMark>),
    /// A mesh of the instanced renderer that is no cubes.
    BesideCubes(MeshHandle),
}

/// The number of a renderer that tells its meshes from those of its kind.
pub(crate) fn next_renderer() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Marks the naive renderer's handles.
#[derive(Debug)]
pub(crate) enum NaiveMark {}

/// Marks the instanced renderer's handles.
#[derive(Debug)]
pub(crate) enum CubesMark {}

/// What is seen, and what may be left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The eye.
    pub camera: Camera,
    /// Sky, sun and haze.
    pub atmosphere: Atmosphere,
    /// Tint each mesh by how large its voxels are: another hue a level, see
    /// [`Frame::TINTS`](crate::Frame::TINTS). Polygon models keep their colours.
    pub tint_levels: bool,
    /// Draw the edges of quads, as they were merged, and of models' triangles, in lines of a pixel
    /// or two: a wire frame over the picture.
    pub wire: bool,
    /// Leave out facings that look away from the eye. The naive renderer never does.
    pub mask_facings: bool,
    /// Leave out meshes outside the view.
    pub cull_frustum: bool,
    /// Draw near meshes first, so that hidden pixels are not shaded. The naive renderer
    /// never does. Blended meshes are always ordered, farthest first.
    pub order: bool,
}

impl View {
    /// Everything that saves work, and the sky as it is.
    pub fn new(camera: Camera) -> Self {
        Self {
            camera,
            atmosphere: Atmosphere::default(),
            tint_levels: false,
            wire: false,
            mask_facings: true,
            cull_frustum: true,
            order: true,
        }
    }

    /// What shaders need to draw this on `width × height` pixels.
    pub fn frame(&self, width: u32, height: u32) -> Frame {
        let mut frame = Frame::new(&self.camera, &self.atmosphere, width, height);
        frame.ambient[3] = if self.tint_levels { Frame::TINT } else { 0.0 };
        frame.sun_direction[3] = if self.wire { Frame::WIRE_PIXELS } else { 0.0 };
        frame
    }
}

/// What one picture took. Where the GPU culls, what is said of opaque meshes is of the last
/// picture of which it is known; see [`Renderer::drawn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawStats {
    /// Draw commands issued.
    pub commands: u32,
    /// Quads that they drew.
    pub quads: u64,
    /// Triangles of models that they drew.
    pub triangles: u64,
    /// Meshes that passed culling and masking.
    pub meshes: u32,
    /// Whether the picture reached its target; see [`Device::shown`](crate::Device::shown).
    pub shown: bool,
}

/// What a renderer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldStats {
    /// Meshes.
    pub meshes: u32,
    /// Draw commands that show all of them facing by facing: what there would be if nothing
    /// were left out or merged.
    pub commands: u64,
    /// Bytes of quads in meshes, and of models' vertices and indices.
    pub used_bytes: u64,
    /// Bytes of GPU memory kept for them.
    pub reserved_bytes: u64,
}

/// One way to keep meshes and draw them. Every renderer draws the same picture of the
/// same scene.
pub trait Renderer {
    /// The renderer's name on the command line.
    fn name(&self) -> &'static str;

    /// Backend and adapter in words.
    fn backend(&self) -> String;

    /// Sets the colours of materials, by number.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError>;

    /// Takes a mesh in.
    ///
    /// # Errors
    /// `Pool` when it is full or the counts are wrong, `BadTransform` where its level is above
    /// [`DrawData::MAX_LEVEL`] or darkened corners are off their grid; nothing has changed
    /// then. `Lost`, or `Device` when the device refuses.
    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError>;

    /// Puts another mesh in a mesh's place; the old one stays when this fails. A mesh
    /// keeps the layer that it was inserted in.
    ///
    /// # Errors
    /// `StaleMesh`, or as [`insert`](Self::insert).
    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError>;

    /// Takes a mesh out.
    ///
    /// # Errors
    /// `StaleMesh` when it was taken out before.
    fn remove(&mut self, id: MeshId) -> Result<(), RenderError>;

    /// Bytes that vertices and indices of one mesh of triangles may take, each of the two:
    /// what is larger has to come as several meshes.
    fn max_triangle_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Takes in triangles of a model: a part of one material, say.
    ///
    /// # Errors
    /// `NoTriangles` where the renderer draws none; `BadTriangles`; `Pool` when it is full,
    /// the mesh is [too large](Self::max_triangle_bytes) or an index names no vertex; `Lost`, or `Device` when the device refuses. Nothing has
    /// changed then.
    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        let _ = mesh;
        Err(RenderError::NoTriangles { renderer: self.name() })
    }

    /// Puts other triangles in the place of some; the old ones stay when this fails. They
    /// keep the layer that they were inserted in.
    ///
    /// # Errors
    /// `StaleMesh`, or as [`insert_triangles`](Self::insert_triangles).
    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        let _ = (id, mesh);
        Err(RenderError::StaleMesh)
    }

    /// Takes triangles out.
    ///
    /// # Errors
    /// `StaleMesh` when they were taken out before.
    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        let _ = id;
        Err(RenderError::StaleMesh)
    }

    /// Changes the size of the pictures that follow.
    ///
    /// # Errors
    /// As [`Device::resize`](crate::Device::resize).
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// Chooses who decides which opaque meshes are drawn. The picture does not change.
    /// Blended meshes are the CPU's: their order is part of the picture.
    ///
    /// # Cost
    /// O(meshes), when it changes.
    ///
    /// # Errors
    /// `NoCulling` where the GPU cannot; then the CPU does.
    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError>;

    /// Who decides which opaque meshes are drawn. From a picture on for which the GPU cannot, the
    /// CPU does.
    fn cull(&self) -> Cull;

    /// Returns why the GPU stopped culling, once after the picture in which it did: meshes or
    /// picture have become too large for it, or its memory is full.
    fn take_culling_error(&mut self) -> Option<RenderError> {
        None
    }

    /// Draws `overlay` over every picture from now on, until there is another; see
    /// [`Device::set_overlay`](crate::Device::set_overlay).
    ///
    /// # Errors
    /// As there.
    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        let _ = overlay;
        let reason = "this renderer draws nothing over pictures".into();
        Err(RenderError::Device { during: "taking an overlay", reason })
    }

    /// Whether pictures go from now on where [`read_image`](Self::read_image) finds them, instead
    /// of to a window; see [`Device::set_readable`](crate::Device::set_readable).
    ///
    /// # Errors
    /// As there.
    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        let _ = readable;
        Ok(())
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses.
    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError>;

    /// What the last picture took, as far as it is known: where the GPU culls, it says so
    /// a frame or two late, unless it is [waited for](Self::finish). Asks, never waits.
    fn drawn(&mut self) -> DrawStats;

    /// Waits until all pictures are drawn.
    ///
    /// # Errors
    /// `Lost`.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// The last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window.
    fn read_image(&mut self) -> Result<Image, RenderError>;

    /// What is held.
    ///
    /// # Cost
    /// O(meshes).
    fn held(&self) -> HeldStats;

    /// What the pool of quads holds, and what the last frame had uploaded and moved; `None`
    /// where there is no pool.
    ///
    /// # Cost
    /// O(meshes), a word of each.
    fn pool_stats(&self) -> Option<PoolStats> {
        None
    }

    /// What lies where in the pool of quads, by buffer and address; nothing where there is no
    /// pool.
    ///
    /// # Cost
    /// O(meshes · log meshes).
    fn pool_ranges(&self) -> Vec<PoolRange> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InstancedRenderer, NaiveRenderer, PoolRenderer, SlotPolicy, SoftDevice};

    fn renderers() -> [Box<dyn Renderer>; 3] {
        let soft = || SoftDevice::new(40, 30).unwrap();
        [
            Box::new(PoolRenderer::new(soft(), 10, 2).unwrap()),
            Box::new(NaiveRenderer::new(soft())),
            Box::new(InstancedRenderer::new(soft(), SlotPolicy::Lowest).unwrap()),
        ]
    }

    /// In all renderers and both layers; what was there before stays.
    #[test]
    fn places_that_there_are_not_are_refused() {
        let quads = [Quad::new([0; 3], [4, 4], Face::PosZ, 0)];
        let shaded = quads.map(|quad| quad.with_ambient_occlusion(1));
        let counts = [0, 0, 0, 0, 0, 1];
        for (mut renderer, layer) in [Layer::Opaque, Layer::Blended]
            .into_iter()
            .flat_map(|layer| renderers().map(|renderer| (renderer, layer)))
        {
            renderer.set_palette(&[[90, 160, 60, 255]]).unwrap();
            let at = |level| DrawData { origin: [-1, -2, -20], level, extent: 4 << level };
            let good = MeshData { quads: &quads, counts, draw_data: at(1), layer };
            let too_large = MeshData { draw_data: at(DrawData::MAX_LEVEL + 1), ..good };
            let off_grid = MeshData { quads: &shaded, ..good };
            let view = View::new(Camera::default());
            let picture = |renderer: &mut Box<dyn Renderer>| {
                renderer.draw(&view).unwrap();
                renderer.read_image().unwrap()
            };
            let sky = picture(&mut renderer);
            let mesh = renderer.insert(&good).unwrap();
            let before = picture(&mut renderer);
            assert!(before != sky, "{}", renderer.name());
            for bad in [too_large, off_grid] {
                for refused in [renderer.insert(&bad).map(|_| ()), renderer.replace(mesh, &bad)] {
                    let is_refused = matches!(refused, Err(RenderError::BadTransform { .. }));
                    assert!(is_refused, "{} {bad:?}", renderer.name());
                }
            }
            assert!(picture(&mut renderer) == before, "{}", renderer.name());
            assert_eq!(renderer.held().meshes, 1);
            // At level 0 all places are on the grid.
            if renderer.name() != "instanced" {
                renderer.replace(mesh, &MeshData { draw_data: at(0), ..off_grid }).unwrap();
            }
        }
    }

    #[test]
    fn regions_of_cubes_have_levels_that_there_are() {
        let device = SoftDevice::new(8, 8).unwrap();
        let mut renderer = InstancedRenderer::new(device, SlotPolicy::Lowest).unwrap();
        let at = |level| DrawData { origin: [0; 3], level, extent: 1 };
        let region = renderer.insert_region(at(DrawData::MAX_LEVEL)).unwrap();
        let refused = [
            renderer.insert_region(at(DrawData::MAX_LEVEL + 1)).map(|_| ()),
            renderer.set_region(region, at(u32::MAX)),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(RenderError::BadTransform { .. })), "{refused:?}");
        }
        renderer.set_region(region, at(0)).unwrap();
    }
}
