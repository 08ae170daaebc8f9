//! Texture of leaves, made by this program. No texture of the game is read.

use drystone_voxel::MaterialTexture;

/// Number of texels along a side.
const SIDE: u32 = 16;
/// Texels with a lower density are holes, of 255.
const MIN_DENSITY: u32 = 104;
/// Shades of the block's colour, of 255.
const SHADES: [u8; 4] = [176, 208, 232, 255];

/// Whether a block has leaves with holes.
pub(super) fn has_holes(name: &str) -> bool {
    name.ends_with("_leaves")
}

/// Returns the texture of leaves: clusters of shades with holes between them, which repeat without a seam.
/// `None` never occurs.
pub(super) fn texture() -> Option<MaterialTexture> {
    let texels = (0..SIDE * SIDE).map(|at| texel(at % SIDE, at / SIDE));
    MaterialTexture::new(SIDE, texels.flatten().collect::<Vec<u8>>()).ok()
}

/// Returns a texel: its shade, and its opacity, 0 or 255.
fn texel(x: u32, y: u32) -> [u8; 4] {
    let near = [(0, 1), (1, 0), (SIDE - 1, 0), (0, SIDE - 1)];
    let around: u32 = near.iter().map(|(dx, dy)| noise(x + dx, y + dy)).sum();
    let density = (2 * noise(x, y) + around) / 6;
    let shade = SHADES[(noise(x + 5, y + 9) / 64) as usize % SHADES.len()];
    let opacity = if density < MIN_DENSITY { 0 } else { u8::MAX };
    [shade, shade, shade, opacity]
}

/// Returns a number from 0 to 255 that looks random, equal in every repetition of the texture.
fn noise(x: u32, y: u32) -> u32 {
    let mixed = (x % SIDE + SIDE * (y % SIDE)).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
    (mixed ^ mixed >> 13).wrapping_mul(0x297a_2d39) >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fifth of the texture is holes, and more than half of each quarter is leaves, so that leaves do
    /// not vanish in the distance.
    #[test]
    fn a_fifth_of_the_leaves_is_holes() {
        let texture = texture().unwrap();
        let is_hole = |x: u32, y: u32| texture.rgba()[(4 * (x + SIDE * y) + 3) as usize] == 0;
        let holes = |from: [u32; 2], side: u32| {
            let all = (0..side * side).map(|at| [from[0] + at % side, from[1] + at / side]);
            all.filter(|&[x, y]| is_hole(x, y)).count()
        };
        let all = holes([0, 0], SIDE);
        assert!((50..90).contains(&all), "{all}");
        for from in [[0, 0], [8, 0], [0, 8], [8, 8]] {
            let some = holes(from, SIDE / 2);
            assert!((6..32).contains(&some), "{from:?}: {some}");
        }
    }
}
