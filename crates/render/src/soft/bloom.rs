//! Bloom: blurring of emitted light, and its addition to the picture. The arithmetic is that of
//! `wgpu_device/bloom.wgsl`. See `crate::bloom`.

use glam::Vec3A;

use super::{bins::BAND_ROWS, memory::zeroed, target::Target, threads};
use crate::{
    bloom::{SAMPLES, STRENGTH, WIDTHS, sizes},
    error::RenderError,
    image::Image,
};

/// Weights of four texels along an axis when a glow is halved.
const WEIGHTS: [f32; 4] = [0.125, 0.375, 0.375, 0.125];

/// The picture of emitted light, and its glows.
pub(super) struct SoftBloom {
    picture: [u32; 2],
    /// Draw the emitted light here, then call [`add_to`](Self::add_to).
    pub(super) target: Target,
    glows: Glows,
}

/// The glows, each half as large as the one before. The first becomes their sum.
#[derive(Default)]
struct Glows([Light; WIDTHS]);

/// Light without limit, row by row.
#[derive(Default)]
struct Light {
    size: [usize; 2],
    texels: Vec<[f32; 3]>,
}

/// Two neighbouring texels along an axis, and the part of the second.
#[derive(Clone, Copy)]
struct Between {
    texels: [usize; 2],
    part: f32,
}

impl SoftBloom {
    /// Creates bloom for pictures of this size, or keeps it.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn prepare(
        kept: &mut Option<Self>,
        picture: [u32; 2],
    ) -> Result<&mut Self, RenderError> {
        if kept.as_ref().is_some_and(|bloom| bloom.picture != picture) {
            *kept = None;
        }
        match kept {
            Some(bloom) => Ok(bloom),
            none => Ok(none.insert(Self::new(picture)?)),
        }
    }

    fn new(picture: [u32; 2]) -> Result<Self, RenderError> {
        let [[width, height], ..] = sizes(picture);
        let target = Target::new(width, height, SAMPLES)?;
        Ok(Self { picture, target, glows: Glows::new(picture)? })
    }

    /// Adds the glow of the emitted light to the picture.
    pub(super) fn add_to(&mut self, image: &mut Image) {
        self.glows.add(self.target.finish(), image);
    }
}

impl Glows {
    fn new(picture: [u32; 2]) -> Result<Self, RenderError> {
        let [_, sizes @ ..] = sizes(picture);
        let mut glows = Self::default();
        for (glow, size) in glows.0.iter_mut().zip(sizes) {
            *glow = Light::new(size)?;
        }
        Ok(glows)
    }

    /// Adds the glow of emitted light to the picture.
    fn add(&mut self, emitted: &Image, image: &mut Image) {
        let Self(glows) = self;
        let size = [emitted.width(), emitted.height()].map(|side| side as usize);
        let texels: &[[u8; 4]] = bytemuck::cast_slice(emitted.rgba());
        glows[0].halve(size, |at| {
            let [red, green, blue, _] = texels[at];
            Vec3A::from_array([red, green, blue].map(f32::from)) / 255.0
        });
        for number in 1..WIDTHS {
            let (larger, smaller) = glows.split_at_mut(number);
            let from = &larger[number - 1];
            smaller[0].halve(from.size, |at| Vec3A::from_array(from.texels[at]));
        }
        for number in (1..WIDTHS).rev() {
            let (larger, smaller) = glows.split_at_mut(number);
            larger[number - 1].widen(&smaller[0]);
        }
        glows[0].add_to(image);
    }
}

impl Light {
    fn new([width, height]: [u32; 2]) -> Result<Self, RenderError> {
        let size = [width as usize, height as usize];
        Ok(Self { size, texels: zeroed("bloom", size[0] * size[1])? })
    }

    /// Stores light of twice the size. `texel` returns that at an index, row by row.
    fn halve(
        &mut self,
        [from_width, from_height]: [usize; 2],
        texel: impl Fn(usize) -> Vec3A + Sync,
    ) {
        let [width, _] = self.size;
        // The first of the four texels is one before the pair that becomes one.
        let at = |own: usize, n: usize, last: usize| (2 * own + n).saturating_sub(1).min(last);
        let mut rows: Vec<_> = self.texels.chunks_mut(width).collect();
        threads::for_each(&mut rows, |y, row| {
            for (x, own) in row.iter_mut().enumerate() {
                let mut sum = Vec3A::ZERO;
                for (n, weight) in WEIGHTS.into_iter().enumerate() {
                    let first = at(y, n, from_height - 1) * from_width;
                    let of_row = |m: usize| texel(first + at(x, m, from_width - 1)) * WEIGHTS[m];
                    sum += (of_row(0) + of_row(1) + of_row(2) + of_row(3)) * weight;
                }
                *own = sum.to_array();
            }
        });
    }

    /// Adds light of half the size, interpolated.
    fn widen(&mut self, from: &Self) {
        let [width, _] = self.size;
        let [columns, rows] =
            [0, 1].map(|axis| Between::all(self.size[axis], 0.5, from.size[axis]));
        let mut own: Vec<_> = self.texels.chunks_mut(width).collect();
        threads::for_each(&mut own, |y, row| {
            let between = from.row(rows[y]);
            for (own, column) in row.iter_mut().zip(&columns) {
                *own = (Vec3A::from_array(*own) + column.of(&between)).to_array();
            }
        });
    }

    /// Adds the light to a picture of any size.
    fn add_to(&self, image: &mut Image) {
        let size = [image.width(), image.height()].map(|side| side as usize);
        let [columns, rows] = [0, 1].map(|axis| {
            let scale = self.size[axis] as f32 / size[axis] as f32;
            Between::all(size[axis], scale, self.size[axis])
        });
        let pixels: &mut [[u8; 4]] = bytemuck::cast_slice_mut(image.rgba_mut());
        let mut bands: Vec<_> = pixels.chunks_mut(size[0] * BAND_ROWS).collect();
        threads::for_each(&mut bands, |band, pixels| {
            for (y, pixels) in (band * BAND_ROWS..).zip(pixels.chunks_mut(size[0])) {
                let row = self.row(rows[y]);
                if row.iter().all(|light| *light == Vec3A::ZERO) {
                    continue;
                }
                for (pixel, column) in pixels.iter_mut().zip(&columns) {
                    add(pixel, column.of(&row));
                }
            }
        });
    }

    /// The light between two rows.
    fn row(&self, Between { texels, part }: Between) -> Vec<Vec3A> {
        let [width, _] = self.size;
        let [upper, lower] = texels.map(|row| &self.texels[row * width..][..width]);
        let between = |(upper, lower): (&[f32; 3], &[f32; 3])| {
            Vec3A::from_array(*upper).lerp(Vec3A::from_array(*lower), part)
        };
        upper.iter().zip(lower).map(between).collect()
    }
}

impl Between {
    /// For each of `count` texels of a target, the texels of a source of `source` texels. A texel of
    /// the target is `scale` texels of the source long.
    fn all(count: usize, scale: f32, source: usize) -> Vec<Self> {
        let last = source as i32 - 1;
        let between = |own: usize| {
            let at = (own as f32 + 0.5) * scale - 0.5;
            let low = at.floor();
            let texels = [0, 1].map(|n| (low as i32 + n).clamp(0, last) as usize);
            Self { texels, part: at - low }
        };
        (0..count).map(between).collect()
    }

    /// The light between two texels of a row.
    #[inline]
    fn of(self, row: &[Vec3A]) -> Vec3A {
        let [left, right] = self.texels;
        row[left].lerp(row[right], self.part)
    }
}

/// Adds light to a pixel, so that the sum is at most 1.
#[inline]
fn add(pixel: &mut [u8; 4], light: Vec3A) {
    let [red, green, blue, opacity] = *pixel;
    let own = Vec3A::from_array([red, green, blue].map(f32::from)) / 255.0;
    let sum = own + (light * STRENGTH).min(Vec3A::ONE) * (1.0 - own);
    let [red, green, blue] = (sum * 255.0 + 0.5).to_array().map(|channel| channel as u8);
    *pixel = [red, green, blue, opacity];
}

#[cfg(test)]
mod tests;
