#[cfg(feature = "png")]
mod png_file;

/// A picture in memory: 8 bits each of red, green, blue and opacity for each pixel, rows from top
/// to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

/// Difference of two pictures of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageDifference {
    /// Number of pixels with a channel that differs by more than the tolerance.
    pub pixels: u32,
    /// Number of differing pixels that are not on a silhouette of the expected picture. There, none
    /// of the eight neighbours differs from the pixel by more than the tolerance.
    pub away_from_edges: u32,
    /// The largest difference of a channel away from silhouettes.
    pub largest: u8,
}

impl Image {
    /// Creates a picture of one colour.
    pub fn new(width: u32, height: u32, fill: [u8; 4]) -> Self {
        let pixel_count = width as usize * height as usize;
        Self { width, height, rgba: fill.repeat(pixel_count) }
    }

    /// Creates a picture from bytes; `None` unless there are four bytes for each pixel.
    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Option<Self> {
        let expected = (width as usize).checked_mul(height as usize)?.checked_mul(4)?;
        (rgba.len() == expected).then_some(Self { width, height, rgba })
    }

    /// Width in pixels.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// The bytes, row by row from the top.
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// The bytes, row by row from the top, for modification.
    pub fn rgba_mut(&mut self) -> &mut [u8] {
        &mut self.rgba
    }

    /// The pixel at column `x`, row `y`; transparent black outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        if x >= self.width || y >= self.height {
            return [0; 4];
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2], self.rgba[at + 3]]
    }

    /// Compares `other` with this picture, the expected one; `None` when the sizes differ. A
    /// channel can differ by `tolerance`. Silhouette pixels, where the expected picture itself
    /// changes between neighbours, are counted separately: rasterisers round differently there.
    pub fn difference(&self, other: &Self, tolerance: u8) -> Option<ImageDifference> {
        if (self.width, self.height) != (other.width, other.height) {
            return None;
        }
        let mut difference = ImageDifference::default();
        for y in 0..self.height {
            for x in 0..self.width {
                let apart = distance(self.pixel(x, y), other.pixel(x, y));
                if apart <= tolerance {
                    continue;
                }
                difference.pixels += 1;
                if !self.is_edge(x, y, tolerance) {
                    difference.away_from_edges += 1;
                    difference.largest = difference.largest.max(apart);
                }
            }
        }
        Some(difference)
    }

    fn is_edge(&self, x: u32, y: u32, tolerance: u8) -> bool {
        let here = self.pixel(x, y);
        let xs = x.saturating_sub(1)..=(x + 1).min(self.width - 1);
        xs.flat_map(|nx| {
            let ys = y.saturating_sub(1)..=(y + 1).min(self.height - 1);
            ys.map(move |ny| (nx, ny))
        })
        .any(|(nx, ny)| distance(here, self.pixel(nx, ny)) > tolerance)
    }
}

/// The largest difference of a channel.
fn distance(a: [u8; 4], b: [u8; 4]) -> u8 {
    a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_on_silhouettes_are_counted_separately() {
        let flat = Image::new(8, 8, [10, 10, 10, 255]);
        let mut square = flat.clone();
        for (x, y) in (0..5).flat_map(|x| (0..5).map(move |y| (x, y))) {
            square.rgba_mut()[(y * 8 + x) * 4 + 1] = 90;
        }
        let mut speckled = flat.clone();
        speckled.rgba_mut()[(3 * 8 + 3) * 4] = 200;
        // Wrong pixels on a surface that should be flat always count.
        let seen = flat.difference(&speckled, 2).unwrap();
        assert_eq!((seen.pixels, seen.away_from_edges, seen.largest), (1, 1, 190));
        // On the expected square's border, a pixel can have either value.
        let seen = square.difference(&flat, 2).unwrap();
        assert_eq!((seen.pixels, seen.away_from_edges, seen.largest), (25, 16, 80));
        let a = flat;
        assert_eq!(a.difference(&Image::new(8, 7, [0; 4]), 2), None);
    }
}
