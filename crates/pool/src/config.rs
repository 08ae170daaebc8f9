use alloc::vec::Vec;

use drystone_alloc::SizeClassConfig;

/// How a pool hands out places in its buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Exactly as many elements as a mesh has. Wastes least, and can be defragmented.
    #[default]
    Ranges,
    /// Buckets of a few sizes, chosen for a histogram: sizes in elements, each with how
    /// often it occurs. What fits none gets a range.
    SizeClasses {
        /// The sizes that are to be expected.
        histogram: Vec<(u32, u64)>,
        /// How the bucket sizes are chosen.
        config: SizeClassConfig,
    },
    /// Buckets of one size; the one that was freed longest ago comes first.
    Buckets {
        /// Elements of a bucket.
        elements: u32,
    },
}

/// What becomes of a mesh that is larger than any place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oversize {
    /// It is refused, with [`PoolError::MeshTooLarge`](crate::PoolError::MeshTooLarge).
    #[default]
    Refuse,
    /// It is cut into several places, and drawn with a command or more for each.
    Split,
}

/// How large a pool may become and how its elements become indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Elements of the first buffer, and of any other at least. Default 65,536. A further
    /// one has a sixteenth of what all have, an eighth beyond 16 of them, a quarter beyond
    /// 32.
    pub least_buffer_elements: u32,
    /// Elements of any buffer at most: what the device binds. The largest place there can
    /// be. Default 16,777,216, 128 MiB of 8 bytes each.
    pub max_buffer_elements: u32,
    /// Buffers, at most. Default 64.
    pub max_buffers: u16,
    /// Meshes that the table of per-draw data has room for at first; it doubles when it
    /// is full. Default 1,024.
    pub first_slots: u32,
    /// Meshes, at most. Default 1,048,576.
    pub max_slots: u32,
    /// How places are handed out. Default: ranges.
    pub placement: Placement,
    /// What becomes of meshes larger than any place. Default: they are refused.
    pub oversize: Oversize,
    /// Frames for which a buffer stays empty before it is given back, so that one that is
    /// emptied and filled in turns is not made anew each time. Default 60.
    pub spare_frames: u32,
    /// Indices that draw one element. Default 6: two triangles a quad.
    pub indices_per_element: u32,
    /// Vertices that the index pattern counts per element. Default 4: a quad's corners.
    pub vertices_per_element: u32,
    /// Elements that the shared index pattern covers; longer runs become several commands.
    /// Default 98,304, the faces of a checkerboard of 32³.
    pub pattern_elements: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            least_buffer_elements: 1 << 16,
            max_buffer_elements: 1 << 24,
            max_buffers: 64,
            first_slots: 1 << 10,
            max_slots: 1 << 20,
            placement: Placement::Ranges,
            oversize: Oversize::Refuse,
            spare_frames: 60,
            indices_per_element: 6,
            vertices_per_element: 4,
            pattern_elements: 98_304,
        }
    }
}

impl Config {
    /// A pool of one buffer of exactly `elements`, for at most `slots` meshes.
    pub fn fixed(elements: u32, slots: u32) -> Self {
        Self {
            least_buffer_elements: elements,
            max_buffer_elements: elements,
            max_buffers: 1,
            first_slots: slots,
            max_slots: slots,
            ..Self::default()
        }
    }

    /// The most elements that one place can have.
    pub(crate) fn largest_place(&self) -> u32 {
        match self.placement {
            Placement::Buckets { elements } if elements <= self.max_buffer_elements => elements,
            Placement::Buckets { .. } => 0,
            _ => self.max_buffer_elements,
        }
    }
}
