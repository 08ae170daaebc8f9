use core::ops::Range;

use super::packing::{PLANE_WORDS, numbers_len, planes_of};
use super::{BRICK, Bricks, LAYER, MIXED};
use crate::Material;

/// Voxels of a brick: layers along Z, each with rows along X.
pub(super) type Unpacked = [[Material; LAYER]; BRICK];
/// A brick of air.
pub(super) const NOTHING: Unpacked = [[Material::AIR; LAYER]; BRICK];

impl Bricks {
    /// Writes the voxels of a brick in some layers to `unpacked`.
    ///
    /// Up to four materials are selected by masks, 8 to 32 voxels per instruction.
    #[inline]
    pub(super) fn unpack(&self, brick: usize, layers: &Range<usize>, unpacked: &mut Unpacked) {
        let head = usize::from(self.words[brick]);
        if head < MIXED {
            unpacked[layers.clone()].fill([self.materials[head]; LAYER]);
            return;
        }
        let words = self.mixed(head);
        let count = usize::from(words[0] & 0xff);
        let planes = words[numbers_len(count)..].as_chunks::<PLANE_WORDS>().0;
        let material = |index: usize| self.material(words, index.min(count - 1));
        let to = unpacked.iter_mut().enumerate().take(layers.end).skip(layers.start);
        match &planes[..planes_of(count)] {
            [plane] => {
                let pair = [0, 1].map(material);
                to.for_each(|(layer, to)| select(plane[layer], pair, to));
            }
            [low, high] => {
                let [first, second] = [[0, 1], [2, 3]].map(|pair| pair.map(material));
                to.for_each(|(layer, to)| {
                    select_of_four([low, high].map(|it| it[layer]), [first, second], to);
                });
            }
            planes => {
                let mut materials = [Material::AIR; 64];
                for (index, to) in materials.iter_mut().enumerate().take(count) {
                    *to = material(index);
                }
                for (layer, to) in to {
                    let words = planes.iter().map(|plane| plane[layer]);
                    let indices = words.enumerate().fold([0; LAYER], |indices, (plane, bits)| {
                        with_plane(indices, plane, bits)
                    });
                    for (to, index) in to.iter_mut().zip(indices) {
                        *to = materials[usize::from(index) % 64];
                    }
                }
            }
        }
    }
}

/// Bit of each voxel of a layer.
const BITS: [u16; LAYER] = {
    let mut bits = [0; LAYER];
    let mut n = 0;
    while n < LAYER {
        bits[n] = 1 << n;
        n += 1;
    }
    bits
};

/// Mask of all ones if a voxel's bit is set.
#[inline(always)]
const fn mask(bits: u16, bit: u16) -> u16 {
    if bits & bit == bit { u16::MAX } else { 0 }
}

#[inline(always)]
const fn blend([zero, one]: [u16; 2], mask: u16) -> u16 {
    zero ^ (zero ^ one) & mask
}

/// Selects the first or the second material of a pair by the bit of each voxel.
#[inline(always)]
fn select(bits: u16, pair: [Material; 2], to: &mut [Material; LAYER]) {
    let pair = pair.map(|material| material.0);
    for (to, bit) in to.iter_mut().zip(BITS) {
        to.0 = blend(pair, mask(bits, bit));
    }
}

/// Selects one of two pairs by the second bit of each voxel, and a material of it by the first.
#[inline(always)]
fn select_of_four([low, high]: [u16; 2], pairs: [[Material; 2]; 2], to: &mut [Material; LAYER]) {
    let pairs = pairs.map(|pair| pair.map(|material| material.0));
    for (to, bit) in to.iter_mut().zip(BITS) {
        let [low, high] = [low, high].map(|bits| mask(bits, bit));
        to.0 = blend(pairs.map(|pair| blend(pair, low)), high);
    }
}

/// Adds the bits of a plane to the indices of a layer's voxels.
#[inline(always)]
fn with_plane(mut indices: [u8; LAYER], plane: usize, bits: u16) -> [u8; LAYER] {
    for (index, bit) in indices.iter_mut().zip(BITS) {
        *index |= u8::from(bits & bit != 0) << plane;
    }
    indices
}
