use alloc::vec::Vec;

use drystone_alloc::SizeClassConfig;

use crate::{backend::ALIGNMENT_BYTES, error::PoolError, mesh::MAX_SLOTS};

/// Policy for allocations in a pool's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Placement {
    /// Ranges of exactly the size of each mesh. Wastes least, and can be defragmented.
    #[default]
    Ranges,
    /// Buckets of a few sizes, chosen from a histogram. Meshes that fit no class get a range.
    SizeClasses {
        /// Expected mesh sizes: pairs of size in elements and frequency.
        histogram: Vec<(u32, u64)>,
        /// Settings for the choice of bucket sizes.
        config: SizeClassConfig,
    },
    /// Buckets of one size. The bucket that was freed first is reused first.
    Buckets {
        /// Size of a bucket, in elements.
        elements: u32,
    },
}

/// Handling of a mesh that exceeds the largest possible allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Oversize {
    /// Return [`PoolError::MeshTooLarge`](crate::PoolError::MeshTooLarge).
    #[default]
    Refuse,
    /// Split the mesh over several allocations, and draw each with at least one command.
    Split,
}

/// Limits of a pool, and how its elements map to indices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct PoolConfig {
    /// Minimum size of a buffer, in elements; the size of the first. Default 65,536. A further
    /// buffer has at least 1/16 of the total capacity; 1/8 beyond 42 buffers, 1/4 beyond 48. By
    /// growth alone, a pool with default settings reaches 730 million elements.
    pub min_buffer_elements: u32,
    /// Maximum size of a buffer, in elements: the device's binding limit, and the limit of one
    /// allocation. Default 16,777,216 (128 MiB at 8 bytes per element).
    pub max_buffer_elements: u32,
    /// Maximum number of buffers. Default 96.
    pub max_buffers: u16,
    /// Initial capacity of the table of per-draw data, in meshes. The table doubles when full.
    /// Default 1,024.
    pub first_slots: u32,
    /// Maximum number of meshes. Default 1,048,576.
    pub max_slots: u32,
    /// Policy for allocations. Default: [`Placement::Ranges`].
    pub placement: Placement,
    /// Handling of too large meshes. Default: [`Oversize::Refuse`].
    pub oversize: Oversize,
    /// Number of frames for which an empty buffer is retained before it is released. Avoids that a
    /// buffer is created again and again while its content alternates. Default 60.
    pub spare_frames: u32,
    /// Indices per element. Default 6: two triangles per quad. The pool does not depend on the kind
    /// of primitive, which the pipeline selects: 3 for a triangle, 2 for a line, 1 for a point.
    pub indices_per_element: u32,
    /// Vertices per element in the index pattern. Default 4: the corners of a quad. 3 for a
    /// triangle, 2 for a line, 1 for a point.
    pub vertices_per_element: u32,
    /// Elements in the shared index pattern; longer runs need several commands. Default 98,304: the
    /// faces of a 32³ checkerboard.
    pub pattern_elements: u32,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            min_buffer_elements: 1 << 16,
            max_buffer_elements: 1 << 24,
            max_buffers: 96,
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

impl PoolConfig {
    /// Replaces [`min_buffer_elements`](Self::min_buffer_elements).
    #[must_use]
    pub fn with_min_buffer_elements(mut self, min_buffer_elements: u32) -> Self {
        self.min_buffer_elements = min_buffer_elements;
        self
    }

    /// Replaces [`max_buffer_elements`](Self::max_buffer_elements).
    #[must_use]
    pub fn with_max_buffer_elements(mut self, max_buffer_elements: u32) -> Self {
        self.max_buffer_elements = max_buffer_elements;
        self
    }

    /// Replaces [`max_buffers`](Self::max_buffers).
    #[must_use]
    pub fn with_max_buffers(mut self, max_buffers: u16) -> Self {
        self.max_buffers = max_buffers;
        self
    }

    /// Replaces [`first_slots`](Self::first_slots).
    #[must_use]
    pub fn with_first_slots(mut self, first_slots: u32) -> Self {
        self.first_slots = first_slots;
        self
    }

    /// Replaces [`max_slots`](Self::max_slots).
    #[must_use]
    pub fn with_max_slots(mut self, max_slots: u32) -> Self {
        self.max_slots = max_slots;
        self
    }

    /// Replaces [`placement`](Self::placement).
    #[must_use]
    pub fn with_placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Replaces [`oversize`](Self::oversize).
    #[must_use]
    pub fn with_oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Replaces [`spare_frames`](Self::spare_frames).
    #[must_use]
    pub fn with_spare_frames(mut self, spare_frames: u32) -> Self {
        self.spare_frames = spare_frames;
        self
    }

    /// Replaces [`indices_per_element`](Self::indices_per_element).
    #[must_use]
    pub fn with_indices_per_element(mut self, indices_per_element: u32) -> Self {
        self.indices_per_element = indices_per_element;
        self
    }

    /// Replaces [`vertices_per_element`](Self::vertices_per_element).
    #[must_use]
    pub fn with_vertices_per_element(mut self, vertices_per_element: u32) -> Self {
        self.vertices_per_element = vertices_per_element;
        self
    }

    /// Replaces [`pattern_elements`](Self::pattern_elements).
    #[must_use]
    pub fn with_pattern_elements(mut self, pattern_elements: u32) -> Self {
        self.pattern_elements = pattern_elements;
        self
    }
}

impl PoolConfig {
    /// Creates a configuration for one buffer of exactly `elements` elements and at most `slots`
    /// meshes.
    pub fn fixed(elements: u32, slots: u32) -> Self {
        Self {
            min_buffer_elements: elements,
            max_buffer_elements: elements,
            max_buffers: 1,
            first_slots: slots,
            max_slots: slots,
            ..Self::default()
        }
    }

    /// Returns the configuration, if it is valid for elements and per-draw data of these sizes, in
    /// bytes.
    pub(crate) fn checked(self, sizes: [usize; 2]) -> Result<Self, PoolError> {
        if let Some(size_bytes) = sizes.into_iter().find(|it| !it.is_multiple_of(ALIGNMENT_BYTES)) {
            return Err(PoolError::Unaligned { size_bytes });
        }
        let max_indices = u32::MAX / self.indices_per_element.max(1);
        let elements = self.pattern_elements.min(self.max_buffer_elements);
        if elements > max_indices {
            return Err(PoolError::TooManyIndices { elements, limit: max_indices });
        }
        let limit = i32::MAX as u32 / self.vertices_per_element.max(1);
        if self.max_buffer_elements > limit {
            return Err(PoolError::TooLarge { capacity: self.max_buffer_elements, limit });
        }
        if self.max_slots > MAX_SLOTS {
            return Err(PoolError::TooLarge { capacity: self.max_slots, limit: MAX_SLOTS });
        }
        Ok(PoolConfig { pattern_elements: self.pattern_elements.max(1), ..self })
    }

    /// Returns the maximum elements of one allocation.
    pub(crate) fn max_allocation(&self) -> u32 {
        match self.placement {
            Placement::Buckets { elements } if elements <= self.max_buffer_elements => elements,
            Placement::Buckets { .. } => 0,
            _ => self.max_buffer_elements,
        }
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use alloc::vec;

    use drystone_testing::{from_json, json_of};

    use super::*;
    use crate::{Access, MoveBudget};

    #[test]
    fn configurations_survive_json() {
        let histogram = vec![(100, 7), (u32::MAX, u64::MAX)];
        let placements = [
            (Placement::Ranges, r#""Ranges""#),
            (Placement::Buckets { elements: 64 }, r#"{"Buckets":{"elements":64}}"#),
            (
                Placement::SizeClasses { histogram, config: SizeClassConfig::default() },
                r#"{"SizeClasses":{"histogram":[[100,7],[4294967295,18446744073709551615]],"config":{"classes":16,"max_waste_percent":25}}}"#,
            ),
        ];
        for (placement, text) in placements {
            assert_eq!(json_of(&placement), text);
            let config = PoolConfig::default().with_placement(placement).with_max_slots(9);
            json_of(&config.with_oversize(Oversize::Split));
        }
        assert_eq!(json_of(&Oversize::Refuse), r#""Refuse""#);
        assert_eq!(json_of(&Access::Direct), r#""Direct""#);
        let budget = MoveBudget::DEFAULT.with_moves(3);
        assert_eq!(json_of(&budget), r#"{"bytes":1048576,"moves":3}"#);
        assert_eq!(from_json("{}"), Ok(PoolConfig::default()));
        assert_eq!(from_json("{}"), Ok(MoveBudget::default()));
        assert!(from_json::<Access>(r#""Mapped""#).is_err());
    }
}
