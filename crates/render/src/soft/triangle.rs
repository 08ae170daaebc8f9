//! A triangle on the sub-pixel grid, and the pixels whose centres or samples it covers.
//!
//! For each edge an exact integer gives the side of a pixel's centre. A centre on an edge belongs
//! to the triangle whose left or top edge it is. So exactly one of two triangles that share an edge
//! covers it.

use std::ops::Range;

use super::occlusion::PixelKind;
use super::shade::center;
use super::viewport::{MAX_SAMPLES, SUBPIXEL_BITS, SUBPIXELS, Snapped, Viewport};

/// Up to this width, testing each pixel of a row is faster than dividing.
const MAX_WALKED_PIXELS: i64 = 8;

/// A triangle that faces the camera and can cover pixels.
pub(super) struct Triangle {
    /// Corners in sub-pixels, wound so that the inside is positive.
    x: [i32; 3],
    y: [i32; 3],
    /// Depth at the first corner, and its change per sub-pixel across and down.
    depth: f32,
    depth_steps: [f32; 2],
    /// Data of its quad that its pixels store.
    pub(super) kind: PixelKind,
}

/// A horizontal run of pixels.
pub(super) struct Span {
    pub(super) y: usize,
    pub(super) xs: Range<usize>,
    /// Depth at the first pixel, and its change per pixel.
    pub(super) depth: f32,
    pub(super) depth_step: f32,
}

/// A pixel and the samples in it that a triangle covers.
pub(super) struct Fragment<'a> {
    pub(super) x: usize,
    pub(super) y: usize,
    /// Bits of the covered samples.
    mask: u32,
    /// Positions of the pixel's samples, in sub-pixels from its centre.
    samples: &'a [[i32; 2]],
    /// Depth at the pixel's centre, and at its samples relative to it.
    center_depth: f32,
    sample_depths: &'a [f32; MAX_SAMPLES],
}

impl Fragment<'_> {
    /// Indices of the covered samples.
    #[inline]
    pub(super) fn covered(&self) -> impl Iterator<Item = usize> {
        let mask = self.mask;
        (0..self.samples.len()).filter(move |sample| mask >> sample & 1 != 0)
    }

    /// Depth at a sample.
    #[inline]
    pub(super) fn depth(&self, sample: usize) -> f32 {
        self.center_depth + self.sample_depths[sample]
    }

    /// Position in the picture and depth at which the triangle is coloured: the pixel's centre if
    /// all samples are seen, else the first sample that is. `seen` are the bits of the covered
    /// samples that nothing nearer hides.
    #[inline]
    pub(super) fn shaded_at(&self, seen: u32) -> ([f32; 2], f32) {
        let center = center(self.x, self.y);
        let first = seen.trailing_zeros() as usize;
        match self.samples.get(first) {
            Some(offset) if seen != all(self.samples) => {
                let at = [0, 1].map(|axis| center[axis] + offset[axis] as f32 / SUBPIXELS as f32);
                (at, self.depth(first))
            }
            _ => (center, self.center_depth),
        }
    }
}

/// Bits of all samples.
#[inline]
const fn all(samples: &[[i32; 2]]) -> u32 {
    (1 << samples.len()) - 1
}

impl Triangle {
    /// Creates the triangle of three corners, counter-clockwise as seen. Returns `None` if it faces
    /// away or covers no samples.
    #[inline]
    pub(super) fn new(
        [a, b, c]: [Snapped; 3],
        kind: PixelKind,
        viewport: &Viewport,
    ) -> Option<Self> {
        // With y down, counter-clockwise winding has a negative area; swapped corners have a
        // positive one.
        let (b, c) = (c, b);
        let [bx, by] = [i64::from(b.x - a.x), i64::from(b.y - a.y)];
        let [cx, cy] = [i64::from(c.x - a.x), i64::from(c.y - a.y)];
        let area = bx * cy - by * cx;
        if area <= 0 {
            return None;
        }
        let (x, y) = ([a.x, b.x, c.x], [a.y, b.y, c.y]);
        let reach = viewport.reach;
        if pixels(x, viewport.width, reach).is_empty()
            || pixels(y, viewport.height, reach).is_empty()
        {
            return None;
        }
        let (b_rise, c_rise) = (f64::from(b.depth - a.depth), f64::from(c.depth - a.depth));
        let per_area = (area as f64).recip();
        let across = (b_rise * cy as f64 - c_rise * by as f64) * per_area;
        let down = (c_rise * bx as f64 - b_rise * cx as f64) * per_area;
        Some(Self { x, y, depth: a.depth, depth_steps: [across as f32, down as f32], kind })
    }

    /// The rows of the picture that it touches.
    #[inline]
    pub(super) fn rows(&self, viewport: &Viewport) -> Range<i32> {
        pixels(self.y, viewport.height, viewport.reach)
    }

    /// Calls `fill` with the covered pixels of each of the `rows` that it touches.
    #[inline]
    pub(super) fn spans(&self, viewport: &Viewport, rows: &Range<i32>, mut fill: impl FnMut(Span)) {
        let columns = pixels(self.x, viewport.width, 0);
        let own = self.rows(viewport);
        let (top, bottom) = (own.start.max(rows.start), own.end.min(rows.end));
        let mut edges = Edges::new(self.x, self.y, [columns.start, top]);
        for y in top..bottom {
            let xs = edges.row(columns.len() as i64);
            if xs.start < xs.end {
                let [from, to] = [xs.start, xs.end].map(|x| columns.start + x as i32);
                fill(self.span(y, from, to));
            }
            edges.step_down();
        }
    }

    /// Calls `fill` with the pixels of each of the `rows` in which it covers samples.
    #[inline]
    pub(super) fn fragments(
        &self,
        viewport: &Viewport,
        rows: &Range<i32>,
        mut fill: impl FnMut(&Fragment<'_>),
    ) {
        let samples = viewport.samples;
        let columns = pixels(self.x, viewport.width, viewport.reach);
        let (own, width) = (self.rows(viewport), columns.len() as i64);
        let (top, bottom) = (own.start.max(rows.start), own.end.min(rows.end));
        let mut edges = Edges::new(self.x, self.y, [columns.start, top]);
        let [step_across, step_down] = self.depth_steps;
        let mut sample_depths = [0.0; MAX_SAMPLES];
        for (depth, [x, y]) in sample_depths.iter_mut().zip(samples) {
            *depth = step_across * *x as f32 + step_down * *y as f32;
        }
        for y in top..bottom {
            let mut runs = Runs::default();
            for (sample, &offset) in samples.iter().enumerate() {
                runs.set(sample, edges.moved(offset).row(width));
            }
            edges.step_down();
            if runs.first >= runs.end {
                continue;
            }
            let [from, to] = [runs.first, runs.end].map(|x| columns.start + x as i32);
            let span = self.span(y, from, to);
            for (i, x) in (runs.first..runs.end).enumerate() {
                let mask = if runs.every.contains(&x) { all(samples) } else { runs.mask(x) };
                if mask != 0 {
                    let center_depth = span.depth + span.depth_step * i as f32;
                    let (x, y) = (span.xs.start + i, span.y);
                    let sample_depths = &sample_depths;
                    fill(&Fragment { x, y, mask, samples, center_depth, sample_depths });
                }
            }
        }
    }

    #[inline]
    fn span(&self, y: i32, from: i32, to: i32) -> Span {
        let across = ((from << SUBPIXEL_BITS) - self.x[0]) as f32;
        let down = ((y << SUBPIXEL_BITS) - self.y[0]) as f32;
        let [step_across, step_down] = self.depth_steps;
        Span {
            y: y as usize,
            xs: from as usize..to as usize,
            depth: self.depth + step_across * across + step_down * down,
            depth_step: step_across * SUBPIXELS as f32,
        }
    }
}

/// The covered pixels of a row, sample by sample.
struct Runs {
    by_sample: [Range<i64>; MAX_SAMPLES],
    /// The first pixel with a covered sample, and the end behind the last one.
    first: i64,
    end: i64,
    /// Pixels with all samples covered.
    every: Range<i64>,
}

impl Default for Runs {
    #[inline]
    fn default() -> Self {
        Self {
            by_sample: std::array::from_fn(|_| 0..0),
            first: i64::MAX,
            end: i64::MIN,
            every: i64::MIN..i64::MAX,
        }
    }
}

impl Runs {
    #[inline]
    fn set(&mut self, sample: usize, run: Range<i64>) {
        if !run.is_empty() {
            self.first = self.first.min(run.start);
            self.end = self.end.max(run.end);
        }
        self.every = self.every.start.max(run.start)..self.every.end.min(run.end);
        self.by_sample[sample] = run;
    }

    /// Bits of the covered samples of a pixel.
    #[inline]
    fn mask(&self, x: i64) -> u32 {
        let bits = self.by_sample.iter().enumerate();
        bits.fold(0, |mask, (sample, run)| mask | u32::from(run.contains(&x)) << sample)
    }
}

/// For each edge, the side of a pixel's centre (not negative: inside), and its change per pixel
/// across and down.
pub(super) struct Edges {
    at: [i64; 3],
    pub(super) across: [i64; 3],
    down: [i64; 3],
}

impl Edges {
    /// The edge functions at a pixel's centre. Edge `i` runs from corner `i` to the next one;
    /// `x` and `y` are sub-pixels from the centre of the first pixel, clockwise with y down.
    #[inline]
    pub(super) fn new(x: [i32; 3], y: [i32; 3], pixel: [i32; 2]) -> Self {
        let [px, py] = pixel.map(|at| i64::from(at << SUBPIXEL_BITS));
        let mut edges = Self { at: [0; 3], across: [0; 3], down: [0; 3] };
        for i in 0..3 {
            let next = (i + 1) % 3;
            let [ax, ay] = [i64::from(x[i]), i64::from(y[i])];
            let [dx, dy] = [i64::from(x[next]) - ax, i64::from(y[next]) - ay];
            // Centres on left edges (which rise) and top edges (which run right) are inside; on
            // others outside.
            let owns_ties = dy < 0 || dy == 0 && dx > 0;
            edges.at[i] = dx * (py - ay) - dy * (px - ax) - i64::from(!owns_ties);
            edges.across[i] = -dy << SUBPIXEL_BITS;
            edges.down[i] = dx << SUBPIXEL_BITS;
        }
        edges
    }

    /// The edge functions at an offset in sub-pixels.
    #[inline]
    fn moved(&self, [x, y]: [i32; 2]) -> Self {
        let [x, y] = [x, y].map(i64::from);
        // The changes per pixel are those per sub-pixel, shifted.
        let at = [0, 1, 2].map(|i| {
            let (across, down) = (self.across[i] >> SUBPIXEL_BITS, self.down[i] >> SUBPIXEL_BITS);
            self.at[i] + across * x + down * y
        });
        Self { at, ..*self }
    }

    #[inline]
    pub(super) fn step_down(&mut self) {
        for i in 0..3 {
            self.at[i] += self.down[i];
        }
    }

    /// The covered pixels of a row of `width`.
    #[inline]
    pub(super) fn row(&self, width: i64) -> Range<i64> {
        if width <= MAX_WALKED_PIXELS { self.walk(width) } else { self.divide(width) }
    }

    /// The covered pixels of a row of `width`, by testing each pixel.
    #[inline]
    fn walk(&self, width: i64) -> Range<i64> {
        let [mut a, mut b, mut c] = self.at;
        let mut inside = || {
            let is_inside = (a | b | c) >= 0;
            a += self.across[0];
            b += self.across[1];
            c += self.across[2];
            is_inside
        };
        let mut start = 0;
        while start < width && !inside() {
            start += 1;
        }
        let mut end = (start + 1).min(width);
        while end < width && inside() {
            end += 1;
        }
        start..end
    }

    /// The covered pixels of a row of `width`, by solving where each edge crosses zero.
    #[inline]
    fn divide(&self, width: i64) -> Range<i64> {
        let (mut start, mut end) = (0, width);
        for i in 0..3 {
            let (at, step) = (self.at[i], self.across[i]);
            if step > 0 {
                // The first x with at + step · x ≥ 0.
                start = start.max((step - 1 - at).div_euclid(step));
            } else if step < 0 {
                // The last x with at + step · x ≥ 0, plus one.
                end = end.min(at.div_euclid(-step) + 1);
            } else if at < 0 {
                end = 0;
            }
        }
        start..end
    }
}

/// The pixels whose centres lie in the picture and at most `reach` sub-pixels outside the
/// coordinates, ends included.
#[inline]
fn pixels(coordinates: [i32; 3], side: i32, reach: i32) -> Range<i32> {
    let [a, b, c] = coordinates;
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let first = (low - reach + SUBPIXELS - 1) >> SUBPIXEL_BITS;
    let last = (high + reach) >> SUBPIXEL_BITS;
    first.max(0)..(last + 1).min(side)
}

#[cfg(test)]
mod tests;
