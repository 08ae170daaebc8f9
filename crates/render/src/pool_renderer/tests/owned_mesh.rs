//! Meshes that own their quads, for tests that insert them into several renderers.

use super::*;
use crate::quad_order::tests::Voxels;

/// Side of a box in voxels.
const BOX: u32 = 15;
/// Number of quads for each face direction of a cluttered box.
const CLUTTER: u32 = 400;
/// Translucent; the materials before it are not.
const GLASS: u16 = 3;
pub(super) const PALETTE: [[u8; 4]; 4] =
    [[250, 90, 60, 255], [60, 160, 90, 255], [70, 90, 220, 255], [200, 220, 255, 110]];

/// Quads sorted by face direction, and their position.
pub(super) struct OwnedMesh {
    quads: Vec<Quad>,
    counts: [u32; Face::COUNT],
    draw_data: DrawData,
    pub(super) layer: Layer,
}

impl OwnedMesh {
    pub(super) fn data(&self) -> MeshData<'_> {
        let &Self { ref quads, counts, draw_data, layer } = self;
        MeshData { quads, counts, draw_data, layer }
    }

    /// A closed box, which hides what is behind it, or one full of small quads, or glass.
    pub(super) fn random(random: &mut Random, origin: [i32; 3]) -> Self {
        let kind = random.below(8);
        let layer = if kind == 0 { Layer::Blended } else { Layer::Opaque };
        let mut quads = Vec::new();
        let counts = Face::ALL.map(|face| {
            let before = quads.len();
            let material = if kind == 0 { GLASS } else { random.below(GLASS) };
            if kind < 4 {
                let mut corner = [0; 3];
                corner[face.axis()] = if face.is_positive() { BOX - 1 } else { 0 };
                quads.push(Quad::new(corner, [BOX; 2], face, material));
            } else {
                for _ in 0..random.below(CLUTTER) {
                    // At even positions, so that a face to the top, east or south lies on an odd
                    // plane.
                    let corner = [0; 3].map(|_| 2 * random.below(6));
                    let size = [0; 2].map(|_| 1 + random.below(4));
                    quads.push(Quad::new(corner, size, face, material));
                }
            }
            (quads.len() - before) as u32
        });
        Self {
            quads,
            counts,
            draw_data: DrawData { origin, level: 0, extent: BOX, sort_rank: 0 },
            layer,
        }
    }

    /// Translucent voxels, whose order depends on the camera.
    pub(super) fn panes(random: &mut Random, origin: [i32; 3]) -> Self {
        let (quads, counts) = Voxels::random(8, 30, GLASS, random).mesh(true);
        let draw_data = DrawData { origin, level: 0, extent: BOX, sort_rank: 0 };
        Self { quads, counts, draw_data, layer: Layer::Blended }
    }

    /// A wall that faces south, on an even plane.
    #[cfg(feature = "wgpu")]
    pub(super) fn wall([x, y, z]: [i32; 3]) -> Self {
        let face = Face::PosZ;
        let counts = Face::ALL.map(|other| u32::from(other == face));
        let draw_data = DrawData { origin: [x, y, z | 1], level: 0, extent: 64, sort_rank: 0 };
        let quads = vec![Quad::new([0; 3], [64; 2], face, 1)];
        Self { quads, counts, draw_data, layer: Layer::Opaque }
    }
}
