use drystone_mesh::{Cube, Quad};
use drystone_pool::VertexPool;

use crate::{
    cull::Cull,
    device::{Output, sealed::Sealed},
    draw_data::DrawData,
    error::RenderError,
    image::Image,
    material_look::MaterialLook,
    mesh_data::{MeshData, MeshId},
    quad_textures::QuadTextures,
    texture_set::TextureSet,
    triangle_mesh::{TriangleMesh, TrianglesId},
    view::View,
};

/// Counts of one drawn picture. If the GPU culls, the opaque counts may be those of an earlier
/// picture; see [`Renderer::drawn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrawStats {
    /// Draw commands issued.
    pub commands: u32,
    /// Quads drawn.
    pub quads: u64,
    /// Triangles of models drawn.
    pub triangles: u64,
    /// Maps of shadows and of the sky drawn for the picture. Those that did not change are kept.
    pub shadow_maps: u32,
    /// Meshes that passed culling and masking.
    pub meshes: u32,
    /// Whether the picture reached its target; see [`Submitted::shown`](crate::Submitted::shown).
    pub shown: bool,
}

/// Meshes and memory that a renderer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
///
/// The trait is sealed: versions of this crate may add methods.
pub trait Renderer: Sealed {
    /// The renderer's name, as in options and settings.
    fn name(&self) -> &'static str;

    /// Returns the renderer's device without its geometries: description, overlay, destination of
    /// pictures.
    fn output(&mut self) -> &mut dyn Output;

    /// Sets the appearance of materials, indexed by material number.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.output().set_materials(materials)
    }

    /// Sets the appearance of materials and the images of their textures.
    ///
    /// # Errors
    /// The errors of [`Output::set_textured_materials`].
    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.output().set_textured_materials(materials, textures)
    }

    /// Sets materials with one colour each, indexed by material number.
    ///
    /// # Errors
    /// `Device` when the device refuses.
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.output().set_palette(colors)
    }

    /// Sets the textures of triangles.
    ///
    /// # Errors
    /// The errors of [`Output::set_textures`].
    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        self.output().set_textures(textures)
    }

    /// Changes the size of the following pictures.
    ///
    /// # Errors
    /// The errors of [`Output::resize`].
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.output().resize(width, height)
    }

    /// Returns the last picture drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device draws to a window.
    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.output().read_image()
    }

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

    /// Whether opaque meshes are drawn cube by cube, so that [`set_cubes`](Self::set_cubes) changes
    /// single cubes of them. Default: false.
    fn has_cubes(&self) -> bool {
        false
    }

    /// Sets single cubes of an opaque mesh. Each replaces the cube at its position; one without
    /// faces removes it. No position is given twice. Their regions are ignored. By default, a renderer refuses cubes.
    ///
    /// # Errors
    /// `NotCubes` when the mesh is not drawn as cubes, `StaleMesh` when it was already removed,
    /// `Device` when the device is out of memory. After an error, the cubes before the refused one
    /// are set.
    fn set_cubes(&mut self, id: MeshId, cubes: &[Cube]) -> Result<(), RenderError> {
        let _ = (id, cubes);
        Err(RenderError::NotCubes { reason: "the renderer draws quads" })
    }

    /// Maximum size of the vertices, and of the indices, of one triangle mesh, in bytes. Larger
    /// meshes must be split. Default: no limit.
    fn max_triangle_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Inserts triangles of a model, for example the part with one material. By default, a renderer
    /// refuses models.
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

    /// Selects where opaque meshes are culled. The picture does not change. Blended meshes are
    /// always culled by the CPU, because their order is part of the picture. By default, a renderer
    /// culls on the CPU only.
    ///
    /// # Cost
    /// O(meshes) if the value changes.
    ///
    /// # Errors
    /// `NoCulling` when the GPU cannot cull; the CPU culls then.
    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        if cull == Cull::Cpu {
            return Ok(());
        }
        let backend = format!("the {} renderer", self.name());
        let reason = "it has no table of meshes that the GPU reads".into();
        Err(RenderError::NoCulling { backend, reason })
    }

    /// Returns where opaque meshes are culled. The value becomes [`Cull::Cpu`] at the first picture
    /// that the GPU cannot cull.
    fn cull(&self) -> Cull {
        Cull::Cpu
    }

    /// Takes the reason why the GPU stopped culling; `None` if it did not. Reasons are too many
    /// meshes, too large a picture, or too little memory.
    fn take_culling_error(&mut self) -> Option<RenderError> {
        None
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
    fn finish(&mut self) -> Result<(), RenderError> {
        self.output().finish()
    }

    /// Returns the number of meshes and the memory that they use.
    ///
    /// # Cost
    /// O(meshes).
    fn held(&self) -> HeldStats;

    /// Returns the pool of quads, whose statistics and ranges can be read. `None` if the renderer
    /// has no pool.
    fn pool(&self) -> Option<&VertexPool<Quad, DrawData>> {
        None
    }
}

#[cfg(test)]
mod tests;
