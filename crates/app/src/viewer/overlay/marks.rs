//! Marks over the scene: the crosshair, and outlines of what is edited.

use drystone::scene::{OutlineLine, OutlinePart};
use drystone_render::{Overlay, OverlayCorner, OverlayPart, OverlayPatch};

/// Marks of one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// Middle of the crosshair, in pixels from the top left.
    pub(crate) crosshair: Option<[f32; 2]>,
    pub(crate) lines: Vec<OutlineLine>,
    /// Pixels in a point, the unit of widths.
    pub(crate) scale: f32,
}

/// Texture of the marks: one white pixel. egui's numbers are small.
const WHITE: u64 = u64::MAX;
/// Distances of the crosshair's arms from its middle, in points.
const ARMS: [f32; 2] = [3.0, 9.0];
/// Width of lines, and of the dark edge on both sides, in points. The edge makes lines visible before
/// bright voxels.
const WIDTHS: [f32; 2] = [1.6, 1.2];
/// Opacity of hidden lines.
const FAINT: f32 = 0.3;

/// Returns the texture of the marks.
pub(super) fn white() -> OverlayPatch {
    OverlayPatch { texture: WHITE, at: None, size: [1, 1], rgba: vec![255; 4] }
}

impl Marks {
    /// Returns the triangles of the marks.
    pub(super) fn overlay(&self) -> Overlay {
        let mut overlay = Overlay::default();
        // Hidden lines are below visible ones.
        for is_hidden in [true, false] {
            for line in self.lines.iter().filter(|line| line.is_hidden == is_hidden) {
                let color = match line.part {
                    OutlinePart::Voxel => [1.0, 1.0, 1.0],
                    OutlinePart::Brush => [1.0, 0.8, 0.3],
                    OutlinePart::Selection => [0.35, 0.85, 1.0],
                    OutlinePart::Paste => [0.5, 1.0, 0.5],
                };
                self.line(&mut overlay, line.ends, color, if is_hidden { FAINT } else { 1.0 });
            }
        }
        for [x, y] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]] {
            let Some(middle) = self.crosshair else { break };
            let end =
                |arm: f32| [middle[0] + x * arm * self.scale, middle[1] + y * arm * self.scale];
            self.line(&mut overlay, ARMS.map(end), [1.0; 3], 1.0);
        }
        if !overlay.indices.is_empty() {
            let clip = [0, 0, u32::MAX, u32::MAX];
            let indices = 0..overlay.indices.len() as u32;
            overlay.parts.push(OverlayPart { texture: WHITE, clip, indices });
        }
        overlay
    }

    /// Adds a line with dark edges that fade out.
    fn line(&self, overlay: &mut Overlay, ends: [[f32; 2]; 2], color: [f32; 3], opacity: f32) {
        let [from, to] = ends;
        let [x, y] = [to[0] - from[0], to[1] - from[1]];
        let length = x.hypot(y).max(1e-3);
        let across = [-y / length, x / length];
        let [inner, edge] = [WIDTHS[0] / 2.0, WIDTHS[1]].map(|width| width * self.scale);
        let dark = [0.0, 0.0, 0.0];
        let rows = [
            (-inner - edge, dark, 0.0),
            (-inner, dark, 0.6 * opacity),
            (-inner * 0.6, color, opacity),
            (inner * 0.6, color, opacity),
            (inner, dark, 0.6 * opacity),
            (inner + edge, dark, 0.0),
        ];
        let first = overlay.corners.len() as u32;
        for (distance, color, opacity) in rows {
            let byte = |part: f32| (part * 255.0).round() as u8;
            let [red, green, blue] = color.map(|part: f32| byte(part * opacity));
            for end in ends {
                let at = [end[0] + across[0] * distance, end[1] + across[1] * distance];
                let color = [red, green, blue, byte(opacity)];
                overlay.corners.push(OverlayCorner { at, uv: [0.5; 2], color });
            }
        }
        for row in 0..rows.len() as u32 - 1 {
            let corner = first + 2 * row;
            overlay.indices.extend([0, 1, 2, 1, 3, 2].map(|offset| corner + offset));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_lines_with_dark_edges() {
        assert_eq!(Marks::default().overlay(), Overlay::default(), "nothing to draw");
        let ends = [[10.0, 20.0], [30.0, 20.0]];
        let line = |is_hidden| OutlineLine { ends, part: OutlinePart::Voxel, is_hidden };
        let strongest = |is_hidden| {
            let marks = Marks { lines: vec![line(is_hidden)], scale: 2.0, ..Marks::default() };
            let overlay = marks.overlay();
            let corners = overlay.corners.iter();
            assert!(corners.clone().all(|corner| corner.color[3] >= corner.color[0]));
            let heights = corners.clone().map(|corner| (corner.at[1] - 20.0).abs());
            assert_eq!(heights.fold(0.0, f32::max), WIDTHS[0] + 2.0 * WIDTHS[1]);
            assert_eq!(overlay.parts[0].indices, 0..30);
            corners.map(|corner| corner.color[3]).max()
        };
        assert_eq!([true, false].map(strongest), [Some(77), Some(255)], "hidden lines are faint");
        let marks = Marks { crosshair: Some([50.0, 40.0]), scale: 1.0, ..Marks::default() };
        let overlay = marks.overlay();
        assert_eq!(overlay.indices.len(), 4 * 30);
        let far = overlay.corners.iter().map(|corner| (corner.at[0] - 50.0).abs());
        assert_eq!(far.fold(0.0, f32::max), ARMS[1]);
    }
}
