use crate::chunk::Chunk;
use crate::position::{ChunkPos, VoxelPos};

/// Position of a node in the LOD tree. A node is a chunk of voxels with a side of 2^`level` units.
/// At level 0 it is a chunk of the world. Every other node covers eight nodes of the level below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts"))]
pub struct NodePos {
    /// Level of detail, 0 to [`MAX_LEVEL`](Self::MAX_LEVEL). 0 is full detail.
    pub level: u8,
    /// Position in the grid of chunks of that level.
    pub chunk: ChunkPos,
}

/// Fields of a [`NodePos`] whose level may be too high.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Parts {
    level: u8,
    chunk: ChunkPos,
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for NodePos {
    type Error = &'static str;

    fn try_from(Parts { level, chunk }: Parts) -> Result<Self, Self::Error> {
        let is_valid = level <= Self::MAX_LEVEL;
        is_valid.then_some(Self { level, chunk }).ok_or("the level of a node is above 24")
    }
}

impl NodePos {
    /// Highest level. A few nodes of it cover the whole coordinate range.
    pub const MAX_LEVEL: u8 = 24;

    /// Number of children of a node.
    pub const CHILDREN: usize = 8;

    /// Creates a node position. A level above the highest is clamped.
    pub const fn new(level: u8, chunk: ChunkPos) -> Self {
        let level = if level > Self::MAX_LEVEL { Self::MAX_LEVEL } else { level };
        Self { level, chunk }
    }

    /// Returns the node of `level` that contains this one. `level` must not be lower than this
    /// node's.
    #[must_use]
    pub const fn ancestor(self, level: u8) -> Self {
        let level = if level > Self::MAX_LEVEL { Self::MAX_LEVEL } else { level };
        let up = level.saturating_sub(self.level);
        let ChunkPos { x, y, z } = self.chunk;
        Self::new(self.level + up, ChunkPos::new(x >> up, y >> up, z >> up))
    }

    /// Returns the node of the next level that contains this one.
    #[must_use]
    pub const fn parent(self) -> Self {
        self.ancestor(self.level + 1)
    }

    /// Returns the eight nodes of the level below that this one covers, indexed by `x + 2 * y + 4 *
    /// z`. `None` at level 0 and beyond the coordinate range.
    pub fn children(self) -> Option<[Self; 8]> {
        let level = self.level.checked_sub(1)?;
        let double = |c: i32| c.checked_mul(2);
        let ChunkPos { x, y, z } = self.chunk;
        let (x, y, z) = (double(x)?, double(y)?, double(z)?);
        Some(core::array::from_fn(|i| {
            let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as i32);
            Self { level, chunk: ChunkPos::new(x + dx, y + dy, z + dz) }
        }))
    }

    /// Returns the index of this node in its parent's [`children`](Self::children).
    pub const fn index_in_parent(self) -> usize {
        let ChunkPos { x, y, z } = self.chunk;
        (x & 1 | (y & 1) << 1 | (z & 1) << 2) as usize
    }

    /// Returns the node at `offset` on the same level, or `None` beyond the coordinate range.
    pub fn offset(self, offset: [i32; 3]) -> Option<Self> {
        Some(Self { level: self.level, chunk: self.chunk.offset(offset)? })
    }

    /// Returns the side of a voxel of this level, in units.
    pub const fn voxel_units(self) -> u32 {
        1 << self.level
    }

    /// Returns the side of the node, in units.
    pub const fn side_units(self) -> u32 {
        Chunk::SIDE << self.level
    }

    /// Returns the lowest voxel of the world that the node covers, clamped to the coordinate range.
    pub const fn origin(self) -> VoxelPos {
        let side = self.side_units() as i64;
        let ChunkPos { x, y, z } = self.chunk;
        VoxelPos::new(scaled(x, side), scaled(y, side), scaled(z, side))
    }
}

impl From<ChunkPos> for NodePos {
    /// Returns the chunk as a node of level 0.
    fn from(chunk: ChunkPos) -> Self {
        Self { level: 0, chunk }
    }
}

const fn scaled(c: i32, side: i64) -> i32 {
    let wide = c as i64 * side;
    if wide < i32::MIN as i64 {
        i32::MIN
    } else if wide > i32::MAX as i64 {
        i32::MAX
    } else {
        wide as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn values_survive_json() {
        use alloc::{format, vec};

        use drystone_mesh::Face;
        use drystone_testing::{from_json, json_of};

        use crate::{
            ChunkBox, LocalPos, Material, MaterialKind, Merging, MesherOptions, Shape, ShapeBox,
            ShapeKind, VoxelBox,
        };

        let chunk = ChunkPos::new(1, -2, i32::MIN);
        let chunk_text = r#"{"x":1,"y":-2,"z":-2147483648}"#;
        assert_eq!(json_of(&chunk), chunk_text);
        assert_eq!(json_of(&VoxelPos::new(1, -2, i32::MIN)), chunk_text);
        assert_eq!(json_of(&LocalPos::new(31, 0, 63)), r#"{"x":31,"y":0,"z":63}"#);
        assert_eq!(
            json_of(&NodePos::new(24, chunk)),
            format!(r#"{{"level":24,"chunk":{chunk_text}}}"#)
        );
        let chunks = ChunkBox { min: chunk, max: ChunkPos::new(1, 5, 0) };
        let text = json_of(&chunks);
        assert_eq!(text, format!(r#"{{"min":{chunk_text},"max":{{"x":1,"y":5,"z":0}}}}"#));
        json_of(&VoxelBox::of(VoxelPos::new(i32::MAX, 0, 0)));
        assert_eq!(json_of(&Material(7)), "7");
        let glass = MaterialKind::new("glass", [1, 2, 3, 90]);
        let old = r#"{"name":"glass","color":[1,2,3,90],"faces":null,"emission":0,"shape":null"#;
        let new = r#","cut_out":false,"textures":[null,null,null,null,null,null],"fluid":null}"#;
        assert_eq!(json_of(&glass), format!("{old}{new}"));
        assert_eq!(from_json(&format!("{old}}}")), Ok(glass.clone()));
        let slab = ShapeBox { min: [0; 3], max: [16, 8, 16] };
        json_of(&glass.clone().with_shape(Shape::new(vec![slab], ShapeKind::Opaque).unwrap()));
        json_of(&glass.clone().with_faces([[4, 5, 6]; 6]).with_emission(7));
        assert_eq!(from_json(r#"{"name":"glass","color":[1,2,3,90]}"#), Ok(glass));
        Face::ALL.iter().for_each(|face| _ = json_of(face));
        for merging in [Merging::Greedy, Merging::Conforming, Merging::Unit] {
            json_of(&MesherOptions::DEFAULT.with_merging(merging).with_ambient_occlusion());
        }
        assert_eq!(from_json("{}"), Ok(MesherOptions::default()));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_of_a_level_out_of_range_is_refused() {
        use drystone_testing::{from_json, json_of};

        let text = json_of(&NodePos::new(24, ChunkPos::new(1, 2, 3)));
        assert!(from_json::<NodePos>(&text.replace("24", "25")).is_err());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_of_exchanged_corners_is_refused() {
        use alloc::format;

        use drystone_testing::from_json;

        use crate::{ChunkBox, VoxelBox};

        for (min, max, is_valid) in [(0, 0, true), (0, -1, false), (-3, -2, true)] {
            let corner = |y: i32| format!(r#"{{"x":4,"y":{y},"z":0}}"#);
            let text = format!(r#"{{"min":{},"max":{}}}"#, corner(min), corner(max));
            assert_eq!(from_json::<ChunkBox>(&text).is_ok(), is_valid, "{text}");
            assert_eq!(from_json::<VoxelBox>(&text).is_ok(), is_valid, "{text}");
        }
    }

    #[test]
    fn children_have_their_node_as_parent() {
        for chunk in [ChunkPos::new(0, 0, 0), ChunkPos::new(-1, 3, -7), ChunkPos::new(9, -2, 4)] {
            let node = NodePos::new(3, chunk);
            for (i, child) in node.children().unwrap().into_iter().enumerate() {
                assert_eq!((child.parent(), child.index_in_parent()), (node, i));
                let corner = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as i32);
                let (low, own) = (child.origin().to_array(), node.origin().to_array());
                for axis in 0..3 {
                    assert_eq!(low[axis] - own[axis], corner[axis] * child.side_units() as i32);
                }
            }
        }
        assert_eq!(NodePos::default().children(), None);
    }

    #[test]
    fn the_highest_level_covers_the_coordinate_range() {
        let top = NodePos::new(200, ChunkPos::new(-1, 0, 0));
        assert_eq!(top.level, NodePos::MAX_LEVEL);
        assert_eq!(top.side_units(), 1 << 29);
        assert_eq!(NodePos::new(24, ChunkPos::new(-9, 0, 0)).origin().x, i32::MIN);
        let low = NodePos::from(VoxelPos::new(i32::MIN, i32::MAX, -1).split(Chunk::SIDE).0);
        assert_eq!(low.ancestor(top.level).chunk, ChunkPos::new(-4, 3, -1));
        assert!(NodePos::new(5, ChunkPos::new(i32::MAX, 0, 0)).children().is_none());
    }
}
