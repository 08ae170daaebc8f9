use drystone_render::{Camera, Projection, RenderError};
use drystone_voxel::{Chunk, ChunkPos, MaterialTable, VoxelBox, VoxelPos};
use drystone_world::{Edit, VoxelAccess, VoxelRay};
use glam::{DVec3, Vec3};

use super::{LodScene, Scene};

/// Scene whose voxels can be edited while it is shown.
pub trait EditScene {
    /// Returns the current voxels.
    fn voxels(&self) -> &dyn VoxelAccess;

    /// Returns the materials of the voxels.
    fn materials(&self) -> &MaterialTable;

    /// Returns the maximum distance for finding a voxel, from the camera or from the point where
    /// the ray enters [`bounds`](Self::bounds). Farther voxels may have to be read first.
    fn reach_voxels(&self) -> f64;

    /// Returns the box that contains all voxels except air, if known.
    fn bounds(&self) -> Option<VoxelBox> {
        None
    }

    /// Applies an edit and updates every affected mesh before returning.
    ///
    /// # Errors
    /// If the renderer is full or the device failed. The voxels are set then; meshes that could not
    /// be updated stay as they were.
    fn apply(&mut self, edit: &Edit) -> Result<(), RenderError>;

    /// Applies a part of an edit; [`show_parts`](Self::show_parts) shows all parts together. The
    /// default implementation shows each part at once.
    ///
    /// # Errors
    /// Errors of [`apply`](Self::apply).
    fn apply_part(&mut self, part: &Edit) -> Result<(), RenderError> {
        self.apply(part)
    }

    /// Does some of the work for showing all applied parts together. Returns whether it is finished
    /// or continues without further calls.
    ///
    /// # Errors
    /// Errors of [`apply`](Self::apply).
    fn show_parts(&mut self) -> Result<bool, RenderError> {
        Ok(true)
    }
}

impl EditScene for Scene {
    fn voxels(&self) -> &dyn VoxelAccess {
        self.world()
    }

    fn materials(&self) -> &MaterialTable {
        self.world().materials()
    }

    fn reach_voxels(&self) -> f64 {
        VoxelRay::MAX_REACH
    }

    fn apply(&mut self, edit: &Edit) -> Result<(), RenderError> {
        let side = self.world().side();
        self.world_mut().apply(edit);
        let chunks = dependent_chunks(edit, side);
        if chunks.len() > MAX_CHUNKS_ON_ONE_THREAD {
            return self.remesh_many(&chunks);
        }
        let mut shown = Ok(());
        for chunk in chunks {
            shown = shown.and(self.remesh(chunk));
        }
        shown
    }

    fn apply_part(&mut self, part: &Edit) -> Result<(), RenderError> {
        let side = self.world().side();
        self.world_mut().apply(part);
        self.parts.extend(dependent_chunks(part, side));
        Ok(())
    }

    fn show_parts(&mut self) -> Result<bool, RenderError> {
        self.show_some_parts()
    }
}

/// Up to this many chunks are meshed on the calling thread; more, on all cores.
const MAX_CHUNKS_ON_ONE_THREAD: usize = 8;

/// Returns the sorted chunks whose meshes depend on an edit.
fn dependent_chunks(edit: &Edit, side: u32) -> Vec<ChunkPos> {
    let around = |(_, bounds)| chunks_around(bounds, side);
    let mut chunks: Vec<ChunkPos> = edit.chunks().flat_map(around).collect();
    chunks.sort_unstable();
    chunks.dedup();
    chunks
}

/// Returns the chunks whose meshes depend on voxels in this box.
fn chunks_around(VoxelBox { min, max }: VoxelBox, side: u32) -> Vec<ChunkPos> {
    let below = |c: i32| c.saturating_sub(1);
    let low = VoxelPos::new(below(min.x), below(min.y), below(min.z)).split(side).0;
    let high = max.split(side).0;
    let mut chunks = Vec::new();
    for x in low.x..=high.x {
        for y in low.y..=high.y {
            chunks.extend((low.z..=high.z).map(|z| ChunkPos::new(x, y, z)));
        }
    }
    chunks
}

impl EditScene for LodScene {
    fn voxels(&self) -> &dyn VoxelAccess {
        self.tree().data()
    }

    fn materials(&self) -> &MaterialTable {
        self.tree().data().materials()
    }

    fn reach_voxels(&self) -> f64 {
        /// A ray of this length crosses some hundred chunks; each takes less than a millisecond.
        const REACH: f64 = 1_024.0;
        REACH
    }

    fn bounds(&self) -> Option<VoxelBox> {
        let extent = self.tree().data().extent()?;
        let corner = |chunk: ChunkPos, offset: i32| {
            let [x, y, z] = [chunk.x, chunk.y, chunk.z]
                .map(|c| c.saturating_add(offset).saturating_mul(Chunk::SIDE as i32));
            VoxelPos::new(x, y, z)
        };
        Some(VoxelBox { min: corner(extent.min, 0), max: corner(extent.max, 1) })
    }

    fn apply(&mut self, edit: &Edit) -> Result<(), RenderError> {
        self.apply_edit(edit).map(drop)
    }

    fn apply_part(&mut self, part: &Edit) -> Result<(), RenderError> {
        self.apply_part(part);
        Ok(())
    }

    fn show_parts(&mut self) -> Result<bool, RenderError> {
        self.show_parts();
        Ok(true)
    }
}

/// Returns the ray through a point of the picture, with coordinates from −1 (left, bottom) to 1
/// (right, top). `aspect` is width to height.
pub fn ray_through(camera: &Camera, [x, y]: [f64; 2], aspect: f32) -> VoxelRay {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    let offset = |half: [f64; 2]| right * (x * half[0]) + up * (y * half[1]);
    let (origin, direction): (DVec3, DVec3) = match camera.projection {
        Projection::Perspective { .. } => {
            let half = camera.half_extents(aspect).map(f64::from);
            (camera.position, forward + offset(half))
        }
        Projection::Orthographic { height_voxels } => {
            let half = f64::from(height_voxels) / 2.0;
            (camera.position + offset([half * f64::from(aspect), half]), forward)
        }
    };
    VoxelRay { origin: origin.to_array(), direction: direction.to_array() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_go_through_their_points_of_the_picture() {
        let target = DVec3::new(3.0, -20.0, 8.0);
        let parallel = Projection::Orthographic { height_voxels: 30.0 };
        for projection in [Projection::Perspective { fov_y: 0.8 }, parallel] {
            let camera =
                Camera { projection, ..Camera::look_at(DVec3::new(40.0, 12.0, -9.0), target) };
            for aspect in [0.5, 1.6] {
                for at in [[0.0, 0.0], [-0.9, 0.3], [0.5, -1.0]] {
                    let ray = ray_through(&camera, at, aspect);
                    for length in [5.0, 70.0] {
                        let point = DVec3::from_array(ray.origin)
                            + DVec3::from_array(ray.direction) * length;
                        let relative = (point - camera.position).as_vec3();
                        let clip = camera.clip_from_relative(aspect) * relative.extend(1.0);
                        let [x, y] = [clip.x / clip.w, clip.y / clip.w].map(f64::from);
                        let error = (x - at[0]).abs().max((y - at[1]).abs());
                        assert!(error < 1e-4, "{projection:?} {aspect} {at:?}: {x} {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn meshes_of_neighbouring_chunks_depend_on_a_box() {
        let one = |x, y, z| VoxelBox::of(VoxelPos::new(x, y, z));
        assert_eq!(chunks_around(one(5, 5, 5), 32).len(), 1);
        assert_eq!(chunks_around(one(-1, 31, 64), 32).len(), 8);
        assert_eq!(chunks_around(one(0, 5, 5).union(one(31, 5, 5)), 32).len(), 3);
        assert_eq!(chunks_around(one(0, 0, 0), 1).len(), 27);
        for at in [VoxelPos::new(5, 5, 5), VoxelPos::new(-32, 0, 31), VoxelPos::new(0, 31, -1)] {
            let mut expected = super::super::quads::dependent_chunks(at, 32);
            expected.sort_unstable();
            assert_eq!(chunks_around(VoxelBox::of(at), 32), expected);
        }
    }
}
