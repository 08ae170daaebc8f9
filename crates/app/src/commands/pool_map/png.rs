//! Maps as a PNG, drawn by the software rasteriser as an overlay.

use drystone_pool::MeshHandle;
use drystone_render::{
    Camera, Image, NaiveRenderer, Overlay, RenderError, Renderer, SoftDevice, View,
};
use egui::emath::GuiRounding;
use egui::{
    Align2, Color32, Context, FontId, LayerId, Painter, RawInput, Rect, Stroke, Vec2, pos2, vec2,
};

use super::picture::{self, Canvas, Fill, Map, TextStyle, WIDTH};
use crate::output::mesh_color;
use crate::{output, viewer::OverlayTextures};

const PAPER: Color32 = Color32::WHITE;
const INK: Color32 = Color32::from_rgb(60, 64, 67);
const DARK_INK: Color32 = Color32::from_rgb(20, 21, 24);
const PALE_INK: Color32 = Color32::from_rgb(128, 134, 139);
const FREE: Color32 = Color32::from_rgb(236, 239, 241);
const WAITING: Color32 = Color32::from_rgb(55, 71, 79);
const EDGE: Color32 = Color32::from_rgb(176, 190, 197);
/// Distance in pixels between the slanted lines of waiting ranges, and their width.
const HATCH: f32 = 6.0;
const HATCH_WIDTH: f32 = 2.0;

/// Painter, and the offset of the current map in pixels.
struct Paper {
    painter: Painter,
    top: f32,
}

/// Draws the maps, one below the other.
///
/// # Errors
/// If they are higher than a picture can be.
pub(super) fn image(
    maps: &[Map<'_>],
    describe: impl Fn(MeshHandle) -> String,
) -> Result<Image, RenderError> {
    let size = vec2(WIDTH as f32, picture::height(maps).ceil() as f32);
    let overlay = overlay(size, |painter| {
        painter.rect_filled(Rect::EVERYTHING, 0.0, PAPER);
        picture::paint(&mut Paper { painter, top: 0.0 }, maps, &describe);
    });
    let mut renderer = NaiveRenderer::new(SoftDevice::new(size.x as u32, size.y as u32)?);
    renderer.output().set_overlay(&overlay)?;
    renderer.draw(&View::new(Camera::default()))?;
    renderer.read_image()
}

/// Returns the overlay that `paint` paints on a picture of this size.
fn overlay(size: Vec2, paint: impl Fn(Painter)) -> Overlay {
    let context = Context::default();
    // Adjacent stripes need sharp edges.
    context.tessellation_options_mut(|options| options.feathering = false);
    let screen = Rect::from_min_size(pos2(0.0, 0.0), size);
    let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
    let output = context.run_pass(input, |context| {
        paint(context.layer_painter(LayerId::background()));
    });
    let mut textures = OverlayTextures::default();
    textures.take(output.textures_delta);
    let primitives = context.tessellate(output.shapes, output.pixels_per_point);
    textures.overlay(&primitives, output.pixels_per_point)
}

impl Canvas for Paper {
    fn begin(&mut self, top: f64) {
        self.top = top as f32;
    }

    fn text(&mut self, [x, y]: [f64; 2], words: &[(TextStyle, &str)]) {
        let (mut x, y) = (x as f32, y as f32 + self.top);
        for &(hand, words) in words {
            let (size, color, corner) = match hand {
                TextStyle::Title => (18.0, DARK_INK, Align2::LEFT_BOTTOM),
                TextStyle::Plain => (13.0, INK, Align2::LEFT_BOTTOM),
                TextStyle::Bold => (13.0, DARK_INK, Align2::LEFT_BOTTOM),
                TextStyle::Address => (10.5, PALE_INK, Align2::RIGHT_BOTTOM),
            };
            // Text is aligned to its baseline; descenders hang below.
            let at = pos2(x, y + size * 0.25);
            let words = output::plain(words);
            x = self.painter.text(at, corner, words, FontId::proportional(size), color).right();
        }
    }

    fn area(&mut self, [x, y]: [f64; 2], size: [f64; 2], fill: Fill, title: Option<&str>) {
        let (at, [width, height]) = (pos2(x as f32, y as f32 + self.top), size.map(|it| it as f32));
        let area = Rect::from_min_size(at, vec2(width, height));
        match fill {
            Fill::Live(slot) => {
                let [red, green, blue] = mesh_color(slot);
                self.painter.rect_filled(area, 0.0, Color32::from_rgb(red, green, blue));
            }
            Fill::Free => drop(self.painter.rect_filled(area, 0.0, FREE)),
            Fill::Waiting => self.hatch(area),
        }
        // Legend entries have an edge, so that free ranges are not white on white.
        if title.is_none() && !matches!(fill, Fill::Live(_)) {
            let edge = Stroke::new(1.0, EDGE);
            self.painter.rect_stroke(area, 0.0, edge, egui::StrokeKind::Inside);
        }
    }
}

impl Paper {
    /// Fills with slanted lines that align across the whole picture.
    fn hatch(&self, area: Rect) {
        let painter = self.painter.with_clip_rect(area.round_to_pixels(1.0));
        let first = ((area.left() + area.top()) / HATCH).floor() as i32;
        let last = ((area.right() + area.bottom()) / HATCH).ceil() as i32;
        for line in first..=last {
            let sum = line as f32 * HATCH;
            let ends = [area.top(), area.bottom()].map(|y| pos2(sum - y, y));
            painter.line_segment(ends, Stroke::new(HATCH_WIDTH, WAITING));
        }
    }
}
