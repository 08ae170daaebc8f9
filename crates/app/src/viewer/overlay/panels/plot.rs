//! Plot of frame times.

use egui::{Color32, Sense, Shape, Stroke, Ui, pos2, vec2};

use super::{FrameTimes, WIDTH, line};

const HEIGHT: f32 = 54.0;
/// Milliseconds of a frame at 60 and at 30 frames per second.
const MARKS: [f32; 2] = [16.7, 33.3];

/// Plots the last frames and shows their percentiles.
pub(super) fn show(ui: &mut Ui, times: &FrameTimes) {
    let (response, painter) = ui.allocate_painter(vec2(WIDTH, HEIGHT), Sense::hover());
    let area = response.rect;
    painter.rect_filled(area, 2.0, Color32::from_black_alpha(120));
    let percentiles = times.percentiles();
    let top = percentiles.max.max(MARKS[0]) * 1.1;
    let height = |ms: f32| area.bottom() - ms / top * area.height();
    for mark in MARKS.into_iter().filter(|&mark| mark < top) {
        let stroke = Stroke::new(1.0, Color32::from_gray(80));
        painter.hline(area.x_range(), height(mark), stroke);
    }
    let count = times.iter().len();
    let step = area.width() / count.saturating_sub(1).max(1) as f32;
    let points = times.iter().enumerate();
    let points = points.map(|(i, ms)| pos2(area.left() + i as f32 * step, height(ms))).collect();
    painter.add(Shape::line(points, Stroke::new(1.2, Color32::from_rgb(120, 200, 140))));
    let words = format!(
        "p50 {:.1}  p99 {:.1}  max {:.1}",
        percentiles.p50, percentiles.p99, percentiles.max
    );
    line(ui, "ms", &words);
}
