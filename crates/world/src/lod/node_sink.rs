use drystone_mesh::{Cube, Face};
use drystone_voxel::{ChunkMesh, NodePos};

/// Destination of node meshes: a renderer, or a test that checks what is shown.
pub trait NodeSink {
    /// Reason why a mesh cannot be shown.
    type Error;

    /// Shows `mesh` as the body of `node` and replaces the node's current body. `None` removes the
    /// body.
    ///
    /// After a refused first body, the tree removes that body too, because the sink may have stored
    /// a part of it.
    ///
    /// # Errors
    /// When the sink is out of memory. The previous body is then still shown.
    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Self::Error>;

    /// Shows `skirt` as the skirt of `node` on the side `face` and replaces the current one. `None`
    /// removes the skirt.
    ///
    /// # Errors
    /// When the sink is out of memory. The previous skirt is then still shown.
    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Self::Error>;

    /// Checks a limit that the sink sets itself, before the tree adds `more_quads` quads
    /// permanently. The tree checks roots, splits and edited meshes, and does not show them if this
    /// fails.
    ///
    /// Merges and skirts are not checked. A merge needs both meshes at once but frees more than it
    /// takes, and a missing skirt is a hole. A sink with memory beyond its limit can therefore
    /// always be made coarser.
    ///
    /// # Errors
    /// When `more_quads` more quads would exceed the limit. The default implementation never fails.
    fn check_limit(&self, more_quads: u64) -> Result<(), Self::Error> {
        let _ = more_quads;
        Ok(())
    }

    /// Returns the sink as one of single cubes, if it draws voxels cube by cube. Small edits in full
    /// detail then change cubes instead of bodies. By default, a sink shows whole meshes only.
    fn cubes(&mut self) -> Option<&mut dyn CubeSink<Error = Self::Error>> {
        None
    }
}

/// Destination of single cubes: a renderer that draws voxels cube by cube.
pub trait CubeSink {
    /// Reason why a cube cannot be shown.
    type Error;

    /// Sets cubes of the body of a shown node, which may have none yet. Each replaces the cube at
    /// its position; one without faces removes it. No position is given twice. Their regions have no
    /// meaning.
    ///
    /// # Errors
    /// When the sink is out of memory. Some of the cubes may be set then; the tree replaces the whole
    /// body.
    fn set_cubes(&mut self, node: NodePos, cubes: &[Cube]) -> Result<(), Self::Error>;
}
