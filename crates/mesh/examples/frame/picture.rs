//! A small software rasteriser.

use super::engine::{ScreenVertex, VertexBuffer};
use super::view::SIZE;

/// Picture with colours from 0 to 1.
pub(crate) struct Picture {
    size: [usize; 2],
    /// `None` where nothing was drawn.
    pub(crate) pixels: Vec<Option<[f32; 3]>>,
}

impl Picture {
    /// Draws triangles in their sequence.
    pub(crate) fn draw(buffer: &VertexBuffer) -> Self {
        let size = SIZE.map(|pixels| pixels as usize);
        let mut picture = Self { size, pixels: vec![None; size[0] * size[1]] };
        for triangle in &buffer.triangles {
            picture.draw_triangle(triangle.map(|n| buffer.vertices[n as usize]));
        }
        picture
    }

    /// Draws the pixels whose centre is in a triangle or on its edge. Colours are interpolated in the
    /// picture, without perspective.
    fn draw_triangle(&mut self, corners: [ScreenVertex; 3]) {
        let area = side(corners[0].position, corners[1].position, corners[2].position);
        let range = |axis: usize| {
            let numbers = corners.map(|corner| corner.position[axis]);
            let low = numbers.into_iter().fold(f32::INFINITY, f32::min).max(0.0);
            let high = numbers.into_iter().fold(0.0, f32::max);
            low as usize..(high.ceil() as usize).min(self.size[axis])
        };
        for (y, x) in range(1).flat_map(|y| range(0).map(move |x| (y, x))) {
            let at = [x, y].map(|n| n as f32 + 0.5);
            let weights = [0, 1, 2].map(|n: usize| {
                side(corners[(n + 1) % 3].position, corners[(n + 2) % 3].position, at) / area
            });
            // The tolerance covers rounding of edges between polygons.
            if weights.iter().all(|&weight| weight >= -1e-4) {
                let color = [0, 1, 2].map(|channel| {
                    (0..3).map(|n| corners[n].color[channel] * weights[n]).sum::<f32>()
                });
                self.pixels[y * self.size[0] + x] = Some(color);
            }
        }
    }

    /// Returns the picture as a file in the format PPM.
    pub(crate) fn to_ppm(&self) -> Vec<u8> {
        let mut bytes = format!("P6 {} {} 255\n", self.size[0], self.size[1]).into_bytes();
        for pixel in &self.pixels {
            let color = pixel.unwrap_or([1.0, 0.0, 1.0]);
            bytes.extend(color.map(|channel| (channel * 255.0 + 0.5) as u8));
        }
        bytes
    }
}

/// Returns twice the area of a triangle.
fn side(a: [f32; 2], b: [f32; 2], c: [f32; 2]) -> f32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
