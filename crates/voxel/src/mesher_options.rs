use drystone_mesh::Face;

use crate::PaddedChunk;

/// Options of a [`GreedyMesher`](crate::GreedyMesher), a [`Remesher`](crate::Remesher) and of
/// [`mesh_skirt`](crate::mesh_skirt).
///
/// # Examples
/// ```
/// use drystone_voxel::{Merging, MesherOptions};
///
/// let options = MesherOptions::DEFAULT.with_merging(Merging::Unit).with_ambient_occlusion();
/// assert!(options.ambient_occlusion);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct MesherOptions {
    /// Rule for merging faces.
    pub merging: Merging,
    /// Whether adjacent opaque voxels darken the corners of faces
    /// ([`Quad::ambient_occlusion`](drystone_mesh::Quad::ambient_occlusion)); cut-out ones do not. Faces are then merged
    /// only if their quad has the same shading: a quad edge longer than one face has a constant
    /// value.
    pub ambient_occlusion: bool,
    /// Whether opaque quads store where their surface ends
    /// ([`Quad::steps`](drystone_mesh::Quad::steps)). The border of a chunk is no such end. Quads of
    /// [`Merging::Unit`] have no steps.
    pub steps: bool,
}

impl MesherOptions {
    /// Greedy merging without ambient occlusion and steps: the default, for constants.
    pub const DEFAULT: Self =
        Self { merging: Merging::Greedy, ambient_occlusion: false, steps: false };

    /// Replaces [`merging`](Self::merging).
    #[must_use]
    pub const fn with_merging(mut self, merging: Merging) -> Self {
        self.merging = merging;
        self
    }

    /// Enables [`ambient_occlusion`](Self::ambient_occlusion).
    #[must_use]
    pub const fn with_ambient_occlusion(mut self) -> Self {
        self.ambient_occlusion = true;
        self
    }

    /// Enables [`steps`](Self::steps).
    #[must_use]
    pub const fn with_steps(mut self) -> Self {
        self.steps = true;
        self
    }

    /// Returns the offsets of the neighbours that a mesh depends on: the six across faces, or all 26
    /// with ambient occlusion.
    pub const fn neighbors(&self) -> &'static [[i32; 3]] {
        let all: &[[i32; 3]] = &PaddedChunk::NEIGHBORS;
        if self.ambient_occlusion { all } else { all.split_at(Face::COUNT).0 }
    }
}

/// Rule for merging faces to quads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Merging {
    /// Merge rectangles of one material. Quads meet in T-junctions.
    #[default]
    Greedy,
    /// Merge rectangles, then cut them until no corner of a quad is inside an edge of another. This
    /// includes opaque and translucent quads of all face directions, but not the corners of
    /// neighbouring chunks.
    Conforming,
    /// No merging: one quad per face, as with [`mesh_unit`](crate::mesh_unit).
    Unit,
}
