use std::sync::atomic::{AtomicU32, Ordering};

use drystone_alloc::Handle;
use drystone_mesh::{Face, Quad};
use drystone_pool::{MeshHandle, PoolRange, PoolStats};

use crate::{
    Atmosphere, Camera, Cull, DrawData, Frame, Image, Overlay, RenderError, TriangleMesh,
    TrianglesId,
};

/// The pass that a mesh is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Opaque: hides everything behind it.
    Opaque,
    /// Translucent: drawn over everything behind it, farthest mesh first.
    Blended,
}

/// A mesh to be drawn: its quads, sorted by face direction, and its position.
#[derive(Clone, Copy, Debug)]
pub struct MeshData<'a> {
    /// The quads, in the order of [`Face::ALL`].
    pub quads: &'a [Quad],
    /// Number of quads for each face direction. The sum is the number of quads.
    pub counts: [u32; Face::COUNT],
    /// Position and level of detail.
    pub draw_data: DrawData,
    /// The pass.
    pub layer: Layer,
}

impl MeshData<'_> {
    /// Checks that the mesh can be drawn at its origin and level.
    ///
    /// # Cost
    /// O(1), but O(quads) if the origin is off the grid of its level.
    ///
    /// # Errors
    /// `BadTransform`.
    pub(crate) fn check_draw_data(&self) -> Result<(), RenderError> {
        self.draw_data.check()?;
        if self.draw_data.is_on_grid()
            || self.quads.iter().all(|quad| quad.ambient_occlusion() == 0)
        {
            return Ok(());
        }
        let reason = "it has ambient occlusion, but its origin is not a multiple of 2^level";
        Err(RenderError::BadTransform { reason })
    }
}

/// Id of a mesh of one renderer; stale once the mesh is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshId(pub(crate) Owner);

/// The store that a [`MeshId`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Pool(MeshHandle, Layer),
    /// Renderer number and mesh handle.
    Naive(u32, Handle<NaiveMark>),
    /// Renderer number and mesh handle of an instanced renderer.
    Cubes(u32, Handle<CubesMark>),
    /// A mesh of the instanced renderer that is not drawn as cubes.
    Translucent(MeshHandle),
}

/// Returns a new renderer number, which distinguishes the handles of renderers of one kind.
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

/// Camera, atmosphere and drawing options of one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// Sky, sun and haze.
    pub atmosphere: Atmosphere,
    /// Tint each mesh by its level of detail, see [`Frame::TINTS`](crate::Frame::TINTS). Polygon
    /// models keep their colours.
    pub tint_levels: bool,
    /// Draw a wire frame over the picture: the edges of merged quads and of models' triangles, in
    /// lines of one or two pixels.
    pub wire: bool,
    /// Skip face directions that point away from the camera. Ignored by the naive renderer.
    pub mask_facings: bool,
    /// Skip meshes outside the view frustum.
    pub cull_frustum: bool,
    /// Draw near meshes first, so that hidden pixels are not shaded. Ignored by the naive renderer.
    /// Blended meshes are always sorted, farthest first.
    pub order: bool,
}

impl View {
    /// Creates a view with all optimizations on and the default atmosphere.
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

    /// Returns the shader data for this view on `width × height` pixels.
    pub fn frame(&self, width: u32, height: u32) -> Frame {
        let mut frame = Frame::new(&self.camera, &self.atmosphere, width, height);
        frame.ambient[3] = if self.tint_levels { Frame::TINT } else { 0.0 };
        frame.sun_direction[3] = if self.wire { Frame::WIRE_PIXELS } else { 0.0 };
        frame
    }
}

/// Counts of one drawn picture. If the GPU culls, the opaque counts may be those of an earlier
/// picture; see [`Renderer::drawn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawStats {
    /// Draw commands issued.
    pub commands: u32,
    /// Quads drawn.
    pub quads: u64,
    /// Triangles of models drawn.
    pub triangles: u64,
    /// Meshes that passed culling and masking.
    pub meshes: u32,
    /// Whether the picture reached its target; see [`Device::shown`](crate::Device::shown).
    pub shown: bool,
}

/// Meshes and memory that a renderer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldStats {
    /// Number of meshes.
    pub meshes: u32,
    /// Draw commands for all meshes with one command for each face direction: the count without
    /// culling or merging.
    pub commands: u64,
    /// Bytes of quads in meshes, and of models' vertices and indices.
    pub used_bytes: u64,
    /// Bytes of GPU memory reserved for meshes.
    pub reserved_bytes: u64,
}

/// Stores meshes and draws them. Every renderer draws the same picture of the same scene.
pub trait Renderer {
    /// The renderer's name, as in options and settings.
    fn name(&self) -> &'static str;

    /// Description of the backend and its adapter.
    fn backend(&self) -> String;

    /// Sets the colours of materials, indexed by material number.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError>;

    /// Inserts a mesh.
    ///
    /// # Errors
    /// `Pool` when the pool is full or the counts are wrong. `BadTransform` when the level is above
    /// [`DrawData::MAX_LEVEL`], or a mesh with ambient occlusion is off its grid. `Lost`, or
    /// `Device` when the device refuses. After an error nothing has changed.
    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError>;

    /// Replaces a mesh. The mesh keeps the layer that it was inserted in.
    ///
    /// # Errors
    /// `StaleMesh`, or the errors of [`insert`](Self::insert). After an error the old mesh remains.
    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError>;

    /// Removes a mesh.
    ///
    /// # Errors
    /// `StaleMesh` when the mesh was already removed.
    fn remove(&mut self, id: MeshId) -> Result<(), RenderError>;

    /// Maximum size of the vertices, and of the indices, of one triangle mesh, in bytes. Larger
    /// meshes must be split.
    fn max_triangle_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Inserts triangles of a model, for example the part with one material.
    ///
    /// # Errors
    /// `NoTriangles` when the renderer draws no models. `BadTriangles`. `Pool` when the pool is
    /// full, the mesh is [too large](Self::max_triangle_bytes) or an index is out of range. `Lost`,
    /// or `Device` when the device refuses. After an error nothing has changed.
    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        let _ = mesh;
        Err(RenderError::NoTriangles { renderer: self.name() })
    }

    /// Replaces triangles. They keep the layer that they were inserted in.
    ///
    /// # Errors
    /// `StaleMesh`, or the errors of [`insert_triangles`](Self::insert_triangles). After an error
    /// the old triangles remain.
    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        let _ = (id, mesh);
        Err(RenderError::StaleMesh)
    }

    /// Removes triangles.
    ///
    /// # Errors
    /// `StaleMesh` when the triangles were already removed.
    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        let _ = id;
        Err(RenderError::StaleMesh)
    }

    /// Changes the size of the following pictures.
    ///
    /// # Errors
    /// The errors of [`Device::resize`](crate::Device::resize).
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError>;

    /// Selects where opaque meshes are culled. The picture does not change. Blended meshes are
    /// always culled by the CPU, because their order is part of the picture.
    ///
    /// # Cost
    /// O(meshes) if the value changes.
    ///
    /// # Errors
    /// `NoCulling` when the GPU cannot cull; the CPU culls then.
    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError>;

    /// Returns where opaque meshes are culled. The value becomes [`Cull::Cpu`] at the first picture
    /// that the GPU cannot cull.
    fn cull(&self) -> Cull;

    /// Takes the reason why the GPU stopped culling; `None` if it did not. Reasons are too many
    /// meshes, too large a picture, or too little memory.
    fn take_culling_error(&mut self) -> Option<RenderError> {
        None
    }

    /// Draws `overlay` over the following pictures until it is replaced; see
    /// [`Device::set_overlay`](crate::Device::set_overlay).
    ///
    /// # Errors
    /// The errors of [`Device::set_overlay`](crate::Device::set_overlay).
    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        let _ = overlay;
        let reason = "this renderer draws no overlays".into();
        Err(RenderError::Device { during: "setting the overlay", reason })
    }

    /// Selects whether [`read_image`](Self::read_image) can read the following pictures. Readable
    /// pictures are not shown in the window; see
    /// [`Device::set_readable`](crate::Device::set_readable).
    ///
    /// # Errors
    /// The errors of [`Device::set_readable`](crate::Device::set_readable).
    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        let _ = readable;
        Ok(())
    }

    /// Draws one picture. Returns when the work is submitted.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses.
    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError>;

    /// Returns the counts of the last picture without waiting. If the GPU culls, its counts arrive
    /// a frame or two late unless [`finish`](Self::finish) was called.
    fn drawn(&mut self) -> DrawStats;

    /// Waits until all pictures are drawn.
    ///
    /// # Errors
    /// `Lost`.
    fn finish(&mut self) -> Result<(), RenderError>;

    /// Returns the last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window.
    fn read_image(&mut self) -> Result<Image, RenderError>;

    /// Returns the number of meshes and the memory that they use.
    ///
    /// # Cost
    /// O(meshes).
    fn held(&self) -> HeldStats;

    /// Returns the statistics of the quad pool, including uploads and moves of the last frame.
    /// `None` if the renderer has no pool.
    ///
    /// # Cost
    /// O(meshes), one word of each.
    fn pool_stats(&self) -> Option<PoolStats> {
        None
    }

    /// Returns the ranges of the quad pool, sorted by buffer and offset. Empty if the renderer has
    /// no pool.
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

    /// Checks all renderers and both layers. After a refused call the previous mesh remains.
    #[test]
    fn meshes_with_bad_transforms_are_refused() {
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
            // At level 0 all origins are on the grid.
            if renderer.name() != "instanced" {
                renderer.replace(mesh, &MeshData { draw_data: at(0), ..off_grid }).unwrap();
            }
        }
    }

    #[test]
    fn cube_regions_above_the_maximum_level_are_refused() {
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
