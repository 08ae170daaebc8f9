use drystone_render::{Camera, Projection, RenderError};
use drystone_voxel::{Chunk, ChunkPos, MaterialTable, VoxelPos};
use drystone_world::{Edit, VoxelBox, VoxelRay, Voxels};
use glam::{DVec3, Vec3};

use super::{LodScene, Scene};

/// A scene whose voxels can be changed while it is shown.
pub trait EditScene {
    /// The voxels as they are now.
    fn voxels(&self) -> &dyn Voxels;

    /// What the voxels' numbers mean.
    fn materials(&self) -> &MaterialTable;

    /// How far it is worth looking for a voxel, from the eye or from where the way enters
    /// [`bounds`](Self::bounds): farther ones may have to be read first.
    fn reach_voxels(&self) -> f64;

    /// The box outside of which there is nothing but air, if that is known.
    fn bounds(&self) -> Option<VoxelBox> {
        None
    }

    /// Sets what changes, and shows every mesh that it touches anew before this returns.
    ///
    /// # Errors
    /// When there is no room, or the device failed: the voxels are set then, and what could
    /// not be shown is shown as it was.
    fn apply(&mut self, edit: &Edit) -> Result<(), RenderError>;

    /// Sets what a part of an edit changes, to be shown with all others by
    /// [`show_parts`](Self::show_parts). Where nobody says otherwise, each is shown at once.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn apply_part(&mut self, part: &Edit) -> Result<(), RenderError> {
        self.apply(part)
    }

    /// No more parts are to come: does some of what showing them together takes. Whether that
    /// was the last of it, or the rest comes by itself.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn show_parts(&mut self) -> Result<bool, RenderError> {
        Ok(true)
    }
}

impl EditScene for Scene {
    fn voxels(&self) -> &dyn Voxels {
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
        let chunks = chunks_that_see(edit, side);
        if chunks.len() > FEW {
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
        self.parts.extend(chunks_that_see(part, side));
        Ok(())
    }

    fn show_parts(&mut self) -> Result<bool, RenderError> {
        self.show_some_parts()
    }
}

/// Up to so many chunks are meshed by whoever edits; more, on all cores.
const FEW: usize = 8;

/// The chunks whose meshes depend on what an edit changes, in order.
fn chunks_that_see(edit: &Edit, side: u32) -> Vec<ChunkPos> {
    let around = |(_, bounds)| chunks_around(bounds, side);
    let mut chunks: Vec<ChunkPos> = edit.chunks().flat_map(around).collect();
    chunks.sort_unstable();
    chunks.dedup();
    chunks
}

/// The chunks whose meshes depend on voxels in this box.
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
    fn voxels(&self) -> &dyn Voxels {
        self.tree().data()
    }

    fn materials(&self) -> &MaterialTable {
        self.tree().data().materials()
    }

    fn reach_voxels(&self) -> f64 {
        /// Some hundred chunks at the most, each made in less than a millisecond.
        const REACH: f64 = 1_024.0;
        REACH
    }

    fn bounds(&self) -> Option<VoxelBox> {
        let extent = self.tree().data().extent()?;
        let corner = |chunk: ChunkPos, further: i32| {
            let [x, y, z] = [chunk.x, chunk.y, chunk.z]
                .map(|c| c.saturating_add(further).saturating_mul(Chunk::SIDE as i32));
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

/// The ray through a place of the picture, which is `aspect` times as wide as high: −1 is left
/// and bottom, 1 right and top.
pub fn ray_through(camera: &Camera, [x, y]: [f64; 2], aspect: f32) -> VoxelRay {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    let beside = |half: [f64; 2]| right * (x * half[0]) + up * (y * half[1]);
    let (origin, direction): (DVec3, DVec3) = match camera.projection {
        Projection::Perspective { .. } => {
            let half = camera.half_extents(aspect).map(f64::from);
            (camera.position, forward + beside(half))
        }
        Projection::Orthographic { height_voxels } => {
            let half = f64::from(height_voxels) / 2.0;
            (camera.position + beside([half * f64::from(aspect), half]), forward)
        }
    };
    VoxelRay { origin: origin.to_array(), direction: direction.to_array() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_go_through_their_places_of_the_picture() {
        let target = DVec3::new(3.0, -20.0, 8.0);
        let parallel = Projection::Orthographic { height_voxels: 30.0 };
        for projection in [Projection::Perspective { fov_y: 0.8 }, parallel] {
            let camera =
                Camera { projection, ..Camera::look_at(DVec3::new(40.0, 12.0, -9.0), target) };
            for aspect in [0.5, 1.6] {
                for at in [[0.0, 0.0], [-0.9, 0.3], [0.5, -1.0]] {
                    let ray = ray_through(&camera, at, aspect);
                    for length in [5.0, 70.0] {
                        let place = DVec3::from_array(ray.origin)
                            + DVec3::from_array(ray.direction) * length;
                        let relative = (place - camera.position).as_vec3();
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
    fn boxes_are_seen_by_what_they_border_on() {
        let one = |x, y, z| VoxelBox::of(VoxelPos::new(x, y, z));
        assert_eq!(chunks_around(one(5, 5, 5), 32).len(), 1);
        assert_eq!(chunks_around(one(-1, 31, 64), 32).len(), 8);
        assert_eq!(chunks_around(one(0, 5, 5).union(one(31, 5, 5)), 32).len(), 3);
        assert_eq!(chunks_around(one(0, 0, 0), 1).len(), 27);
        for at in [VoxelPos::new(5, 5, 5), VoxelPos::new(-32, 0, 31), VoxelPos::new(0, 31, -1)] {
            let mut expected = super::super::quads::chunks_that_see(at, 32);
            expected.sort_unstable();
            assert_eq!(chunks_around(VoxelBox::of(at), 32), expected);
        }
    }
}
