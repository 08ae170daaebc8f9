//! The picture, and the two passes over its bands.

use std::ops::Range;

use bytemuck::Zeroable;

use super::{
    bins::{BAND_ROWS, Bins},
    memory::zeroed,
    occlusion::{PixelKind, SHADED},
    sampled::Sampled,
    shade::{FAR, Shader, center, over, packed},
    threads,
    triangle::Span,
    viewport::Viewport,
};
use crate::{
    error::RenderError,
    frame::{Frame, QuadStyle},
    image::Image,
    mesh_data::Layer,
    samples::Samples,
};

mod triangles;

/// The target: a picture, and the data of the nearest surface for each pixel.
pub(super) struct Target {
    image: Image,
    depths: Vec<f32>,
    /// Words of the nearest quad's kind.
    kinds: Vec<u32>,
    /// Details of the nearest quad, if they are needed.
    details: Vec<Detail>,
    /// Bounds of the nearest quad, if they are needed.
    bounds: Vec<u32>,
    /// Whether the picture being drawn needs details.
    shows_details: bool,
    shows_bounds: bool,
    samples: Samples,
    /// Samples of all pixels; `None` with one sample a pixel. The planes above are empty then.
    sampled: Option<Sampled>,
}

/// Data of a quad that only some pictures need.
#[derive(Clone, Copy, Default, Zeroable)]
struct Detail {
    level: u8,
    shares: [u8; 2],
}

/// Some rows of a target.
struct Band<'a> {
    number: usize,
    width: usize,
    colors: &'a mut [[u8; 4]],
    depths: &'a mut [f32],
    kinds: &'a mut [u32],
    details: &'a mut [Detail],
    bounds: &'a mut [u32],
    shows_details: bool,
    shows_bounds: bool,
}

impl Target {
    pub(super) fn new(width: u32, height: u32, samples: Samples) -> Result<Self, RenderError> {
        let image_pixels = width as usize * height as usize;
        let is_sampled = samples != Samples::One;
        let sampled = is_sampled.then(|| Sampled::new([width, height], samples.count()));
        let pixel_count = if is_sampled { 0 } else { image_pixels };
        Ok(Self {
            sampled: sampled.transpose()?,
            samples,
            image: image(width, height, zeroed("a picture", image_pixels.saturating_mul(4))?)?,
            // Zero is the far plane.
            depths: zeroed("a picture's depths", pixel_count)?,
            kinds: zeroed("a picture's materials", pixel_count)?,
            details: zeroed("a picture's levels", pixel_count)?,
            bounds: zeroed("a picture's edges", pixel_count)?,
            shows_details: false,
            shows_bounds: false,
        })
    }

    pub(super) fn size(&self) -> [u32; 2] {
        [self.image.width(), self.image.height()]
    }

    pub(super) const fn samples(&self) -> Samples {
        self.samples
    }

    /// The finished picture, to be painted over after all other draws.
    pub(super) fn finish(&mut self) -> &mut Image {
        if let Some(sampled) = &mut self.sampled {
            sampled.resolve(&mut self.image);
        }
        &mut self.image
    }

    /// A copy of the picture.
    pub(super) fn read_image(&self) -> Result<Image, RenderError> {
        let mut rgba = zeroed("a copy of the picture", self.image.rgba().len())?;
        rgba.copy_from_slice(self.image.rgba());
        image(self.image.width(), self.image.height(), rgba)
    }

    /// Clears the picture, and prepares it for the options of `frame`.
    pub(super) fn clear(&mut self, frame: &Frame) {
        self.depths.fill(FAR);
        self.sampled.iter_mut().for_each(Sampled::clear);
        self.shows_details = frame.shows_details();
        self.shows_bounds = frame.quad_style() == QuadStyle::Wired;
    }

    /// Stores the nearest of the triangles for each pixel; of equally near ones the last.
    pub(super) fn draw_opaque(&mut self, bins: &[Bins], viewport: &Viewport, shader: &Shader<'_>) {
        if let Some(sampled) = &mut self.sampled {
            return draw_samples(sampled, Layer::Opaque, (bins, viewport), shader);
        }
        threads::for_each(&mut self.bands(), |_, band| {
            band.for_each_span(bins, viewport, |band, span, kind| {
                if shader.has_holes(kind) {
                    band.fill_cut_out(&span, kind, shader);
                } else {
                    band.fill(&span, kind);
                }
            });
        });
    }

    /// Colours every pixel with its stored surface, or with the sky.
    pub(super) fn shade(&mut self, shader: &Shader<'_>) {
        if let Some(sampled) = &mut self.sampled {
            return sampled.draw_sky(shader);
        }
        threads::for_each(&mut self.bands(), |_, band| band.shade(shader));
    }

    /// Blends the triangles over the picture in order, except behind nearer surfaces.
    pub(super) fn draw_blended(&mut self, bins: &[Bins], viewport: &Viewport, shader: &Shader<'_>) {
        if let Some(sampled) = &mut self.sampled {
            return draw_samples(sampled, Layer::Blended, (bins, viewport), shader);
        }
        threads::for_each(&mut self.bands(), |_, band| {
            band.for_each_span(bins, viewport, |band, span, kind| band.blend(&span, kind, shader));
        });
    }

    fn bands(&mut self) -> Vec<Band<'_>> {
        let width = self.image.width() as usize;
        let band_pixels = width * BAND_ROWS;
        let colors: &mut [[u8; 4]] = bytemuck::cast_slice_mut(self.image.rgba_mut());
        let colors = colors.chunks_mut(band_pixels);
        let depths = self.depths.chunks_mut(band_pixels);
        let kinds = self.kinds.chunks_mut(band_pixels);
        let details = self.details.chunks_mut(band_pixels);
        let bounds = self.bounds.chunks_mut(band_pixels);
        let (shows_details, shows_bounds) = (self.shows_details, self.shows_bounds);
        let planes = kinds.zip(details).zip(bounds);
        let bands = colors.zip(depths).zip(planes).enumerate().map(|(number, parts)| {
            let ((colors, depths), ((kinds, details), bounds)) = parts;
            Band {
                number,
                width,
                colors,
                depths,
                kinds,
                details,
                bounds,
                shows_details,
                shows_bounds,
            }
        });
        bands.collect()
    }
}

/// Draws the triangles of quads into samples.
fn draw_samples(
    sampled: &mut Sampled,
    layer: Layer,
    (bins, viewport): (&[Bins], &Viewport),
    shader: &Shader<'_>,
) {
    let of_band = |band: usize| bins.iter().flat_map(move |bins| bins.of_band(band));
    sampled.draw(
        (viewport, layer),
        |band| of_band(band).map(|triangle| (triangle, triangle.kind)),
        |at, depth, kind| shader.surface(at, depth, kind),
    );
}

fn image(width: u32, height: u32, rgba: Vec<u8>) -> Result<Image, RenderError> {
    Image::from_rgba(width, height, rgba).ok_or(RenderError::EmptyPicture { width, height })
}

impl Band<'_> {
    fn first_row(&self) -> usize {
        self.number * BAND_ROWS
    }

    fn rows(&self) -> Range<i32> {
        let first = self.first_row();
        first as i32..(first + self.depths.len() / self.width) as i32
    }

    /// Calls `fill` with the pixels of each triangle that touches the band, in order.
    #[inline]
    fn for_each_span(
        &mut self,
        bins: &[Bins],
        viewport: &Viewport,
        mut fill: impl FnMut(&mut Self, Span, PixelKind),
    ) {
        let rows = self.rows();
        let number = self.number;
        for triangle in bins.iter().flat_map(|bins| bins.of_band(number)) {
            triangle.spans(viewport, &rows, |span| fill(self, span, triangle.kind));
        }
    }

    /// Indices of the span's pixels.
    #[inline]
    fn pixels(&self, span: &Span) -> Range<usize> {
        let row = (span.y - self.first_row()) * self.width;
        row + span.xs.start..row + span.xs.end
    }

    #[inline]
    fn fill(&mut self, span: &Span, kind: PixelKind) {
        let pixels = self.pixels(span);
        let depths = &self.depths[pixels.clone()];
        if self.shows_details {
            let detail = Detail { level: kind.level, shares: kind.shares };
            note(span, depths, &mut self.details[pixels.clone()], detail);
        }
        if self.shows_bounds {
            note(span, depths, &mut self.bounds[pixels.clone()], kind.bounds);
        }
        let kind = kind.word;
        let depths = &mut self.depths[pixels.clone()];
        let kinds = &mut self.kinds[pixels];
        for (i, (depth, there)) in (0i32..).zip(depths.iter_mut().zip(kinds)) {
            // Selected without a branch, so that several pixels are processed at once.
            let own = span.depth + span.depth_step * i as f32;
            let is_nearer = own >= *depth;
            *depth = if is_nearer { own } else { *depth };
            *there = if is_nearer { kind } else { *there };
        }
    }

    /// Fills the pixels that are not in a hole.
    fn fill_cut_out(&mut self, span: &Span, kind: PixelKind, shader: &Shader<'_>) {
        for (i, x) in span.xs.clone().enumerate() {
            let depth = span.depth + span.depth_step * i as f32;
            if shader.texel(center(x, span.y), depth, kind).is_some() {
                self.fill(&Span { y: span.y, xs: x..x + 1, depth, depth_step: 0.0 }, kind);
            }
        }
    }

    fn shade(&mut self, shader: &Shader<'_>) {
        let first_row = self.first_row();
        let rows = self.colors.chunks_mut(self.width);
        let depths = self.depths.chunks(self.width);
        let kinds = self.kinds.chunks(self.width).zip(self.details.chunks(self.width));
        let planes = kinds.zip(self.bounds.chunks(self.width));
        for (y, ((row, depths), planes)) in (first_row..).zip(rows.zip(depths).zip(planes)) {
            let ((kinds, details), bounds) = planes;
            for (x, color) in row.iter_mut().enumerate() {
                if kinds[x] == SHADED && depths[x] != FAR {
                    continue;
                }
                let seen = if depths[x] == FAR {
                    Some(shader.sky(center(x, y)))
                } else {
                    let Detail { level, shares } = details[x];
                    let kind = PixelKind { word: kinds[x], level, shares, bounds: bounds[x] };
                    shader.surface(center(x, y), depths[x], kind)
                };
                // No stored pixel is in a hole.
                *color = seen.map_or(*color, packed);
            }
        }
    }

    fn blend(&mut self, span: &Span, kind: PixelKind, shader: &Shader<'_>) {
        let first = self.pixels(span).start;
        for (i, x) in span.xs.clone().enumerate() {
            let depth = span.depth + span.depth_step * i as f32;
            if depth >= self.depths[first + i] {
                let Some(seen) = shader.surface(center(x, span.y), depth, kind) else { continue };
                let color = &mut self.colors[first + i];
                *color = over(seen, *color);
            }
        }
    }
}

/// Stores `own` for the pixels in which [`Band::fill`] will store the rest.
fn note<T: Copy>(span: &Span, depths: &[f32], there: &mut [T], own: T) {
    for (i, (depth, there)) in (0i32..).zip(depths.iter().zip(there)) {
        let is_nearer = span.depth + span.depth_step * i as f32 >= *depth;
        *there = if is_nearer { own } else { *there };
    }
}
