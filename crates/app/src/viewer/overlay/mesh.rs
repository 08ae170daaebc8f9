//! Conversion of egui's output to overlays, and what the renderer has of it.

use std::{collections::BTreeMap, mem};

use drystone_render::{Overlay, OverlayCorner, OverlayPart, OverlayPatch};
use egui::{
    ClippedPrimitive, Context, TextureId, TexturesDelta,
    epaint::{ClippedShape, ImageData, ImageDelta, Primitive},
};

use super::marks::{self, Marks};

/// Panels between their layout and the renderer.
#[derive(Default)]
pub(super) struct Canvas {
    textures: Textures,
    /// Finished layout that the next frame tessellates.
    layout: Option<Layout>,
    /// Whether the renderer has panels to draw.
    pub(super) is_drawn: bool,
    /// Triangles of the panels that the renderer has.
    painted: Overlay,
    marks: Marks,
    /// Whether the renderer has no overlay with these marks.
    has_new_marks: bool,
    /// Whether the renderer has the texture of the marks.
    has_white: bool,
}

/// Panels as shapes.
struct Layout {
    shapes: Vec<ClippedShape>,
    pixels_per_point: f32,
    /// Textures that are unused after these shapes.
    freed: Vec<u64>,
}

impl Canvas {
    /// Takes a layout, in place of an older one.
    pub(super) fn lay_out(
        &mut self,
        textures: TexturesDelta,
        shapes: Vec<ClippedShape>,
        pixels_per_point: f32,
    ) {
        // An older layout may never be painted; its unused textures are freed anyway.
        let mut freed = self.layout.take().map_or_else(Vec::new, |it| it.freed);
        freed.extend(self.textures.free());
        self.textures.take(textures);
        self.layout = Some(Layout { shapes, pixels_per_point, freed });
        self.is_drawn = true;
    }

    /// Tessellates the waiting layout; `None` if there is none.
    pub(super) fn paint(&mut self, context: &Context) -> Option<Overlay> {
        let Layout { shapes, pixels_per_point, freed } = self.layout.take()?;
        let primitives = context.tessellate(shapes, pixels_per_point);
        Some(Overlay { freed, ..self.textures.overlay(&primitives, pixels_per_point) })
    }

    /// Sets the marks; returns whether they differ from the last ones.
    pub(super) fn set_marks(&mut self, marks: Marks) -> bool {
        let is_new = self.marks != marks;
        if is_new {
            (self.marks, self.has_new_marks) = (marks, true);
        }
        is_new
    }

    /// Returns an overlay of the marks and of panels above them: new ones, or else, if the marks are
    /// new, the last ones. `None` if nothing is new.
    ///
    /// # Cost
    /// O(marks + triangles of the panels). The panels are not tessellated again.
    pub(super) fn with_marks(&mut self, panels: Option<Overlay>) -> Option<Overlay> {
        if panels.is_none() && !self.has_new_marks {
            return None;
        }
        let (mut patches, mut freed) = (Vec::new(), Vec::new());
        if let Some(mut panels) = panels {
            (patches, freed) = (mem::take(&mut panels.patches), mem::take(&mut panels.freed));
            self.painted = panels;
        }
        self.has_new_marks = false;
        let Overlay { mut corners, mut indices, mut parts, .. } = self.marks.overlay();
        if !parts.is_empty() && !mem::replace(&mut self.has_white, true) {
            patches.push(marks::white());
        }
        let (first, start) = (corners.len() as u32, indices.len() as u32);
        corners.extend(&self.painted.corners);
        indices.extend(self.painted.indices.iter().map(|index| first + index));
        parts.extend(self.painted.parts.iter().map(|OverlayPart { texture, clip, indices }| {
            let indices = start + indices.start..start + indices.end;
            OverlayPart { texture: *texture, clip: *clip, indices }
        }));
        Some(Overlay { patches, freed, corners, indices, parts })
    }

    /// Whether the renderer has no overlay with the current marks.
    pub(super) const fn has_new_marks(&self) -> bool {
        self.has_new_marks
    }

    /// Notes that the renderer's overlay was cleared; its textures remain.
    pub(super) const fn clear(&mut self) {
        (self.is_drawn, self.has_new_marks) = (false, true);
    }

    /// Drops the layout of panels that are closed.
    pub(super) fn close(&mut self) {
        (self.layout, self.is_drawn) = (None, false);
    }

    /// Prepares for another renderer, which has no overlay and no textures.
    pub(super) fn forget(&mut self) {
        self.textures.forget();
        self.close();
        self.painted = Overlay::default();
        (self.has_new_marks, self.has_white) = (true, false);
    }

    /// Drops the marks. The renderer has to draw none of them.
    pub(super) fn drop_marks(&mut self) {
        (self.marks, self.has_new_marks) = (Marks::default(), false);
    }

    /// Whether a layout waits to be tessellated.
    pub(super) const fn has_layout(&self) -> bool {
        self.layout.is_some()
    }
}

/// Copies of all textures, for a device that is opened later, and the changes that the current
/// device lacks.
#[derive(Default)]
pub(crate) struct Textures {
    whole: BTreeMap<u64, OverlayPatch>,
    patches: Vec<OverlayPatch>,
    /// Freed after the next overlay.
    freed: Vec<u64>,
}

impl Textures {
    /// Applies changes of textures; freed ones stay until the next overlay is set.
    pub(crate) fn take(&mut self, mut delta: TexturesDelta) {
        for (id, deltas) in delta.set.drain() {
            for delta in &deltas {
                let patch = patch_of(id, delta);
                match self.whole.get_mut(&patch.texture).filter(|_| patch.at.is_some()) {
                    Some(whole) => copy_into(whole, &patch),
                    None => drop(self.whole.insert(patch.texture, patch.clone())),
                }
                self.patches.push(patch);
            }
        }
        self.freed.extend(delta.free.drain().map(number));
    }

    /// Prepares to upload all textures to another device.
    fn forget(&mut self) {
        let freed = mem::take(&mut self.freed);
        freed.iter().for_each(|texture| drop(self.whole.remove(texture)));
        self.patches = self.whole.values().cloned().collect();
    }

    /// Converts painted shapes to an overlay with the changed textures.
    pub(crate) fn overlay(
        &mut self,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
    ) -> Overlay {
        let patches = mem::take(&mut self.patches);
        let mut overlay = Overlay { patches, ..Overlay::default() };
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            // No panel uses paint callbacks.
            let Primitive::Mesh(mesh) = primitive else { continue };
            let first = overlay.corners.len() as u32;
            let start = overlay.indices.len() as u32;
            overlay.corners.extend(mesh.vertices.iter().map(|vertex| OverlayCorner {
                at: [vertex.pos.x * pixels_per_point, vertex.pos.y * pixels_per_point],
                uv: [vertex.uv.x, vertex.uv.y],
                color: vertex.color.to_array(),
            }));
            overlay.indices.extend(mesh.indices.iter().map(|index| first + index));
            // A float below 0 becomes 0, one that is too large the maximum.
            let pixel = |points: f32| (points * pixels_per_point).round() as u32;
            overlay.parts.push(OverlayPart {
                texture: number(mesh.texture_id),
                clip: [clip_rect.min.x, clip_rect.min.y, clip_rect.max.x, clip_rect.max.y]
                    .map(pixel),
                indices: start..overlay.indices.len() as u32,
            });
        }
        overlay
    }

    /// Returns the textures that the last overlay used and the next does not.
    fn free(&mut self) -> Vec<u64> {
        let freed = mem::take(&mut self.freed);
        freed.iter().for_each(|texture| drop(self.whole.remove(texture)));
        freed
    }
}

/// Maps both kinds of ids to distinct numbers.
const fn number(id: TextureId) -> u64 {
    match id {
        TextureId::Managed(number) => number * 2,
        TextureId::User(number) => number * 2 + 1,
    }
}

fn patch_of(id: TextureId, delta: &ImageDelta) -> OverlayPatch {
    let ImageData::Color(image) = &delta.image;
    OverlayPatch {
        texture: number(id),
        at: delta.pos.map(|at| at.map(|side| side as u32)),
        size: image.size.map(|side| side as u32),
        rgba: image.pixels.iter().flat_map(egui::Color32::to_array).collect(),
    }
}

/// Copies a patch into its texture; parts that do not fit are left out.
fn copy_into(whole: &mut OverlayPatch, patch: &OverlayPatch) {
    let [x, y] = patch.at.unwrap_or_default().map(|side| side as usize);
    let [width, row] = [patch.size[0], whole.size[0]].map(|side| side as usize * 4);
    for (i, bytes) in patch.rgba.chunks_exact(width.max(1)).enumerate() {
        let start = (y + i) * row + x * 4;
        if let Some(there) = whole.rgba.get_mut(start..start + width) {
            there.copy_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::{Color32, ColorImage, Mesh, Rect, TextureOptions, pos2};

    use super::*;

    fn delta(pos: Option<[usize; 2]>, size: [usize; 2], shade: u8) -> ImageDelta {
        let image = ColorImage::filled(size, Color32::from_gray(shade));
        ImageDelta { image: image.into(), options: TextureOptions::LINEAR, pos }
    }

    #[test]
    fn a_device_that_is_opened_later_gets_all_textures() {
        let id = TextureId::Managed(0);
        let mut textures = Textures::default();
        let mut changes = TexturesDelta::default();
        changes.push(id, delta(None, [4, 3], 9));
        changes.push(TextureId::Managed(1), delta(None, [1, 1], 1));
        textures.take(changes);
        assert_eq!(textures.overlay(&[], 1.0).patches.len(), 2);
        assert!(textures.overlay(&[], 1.0).patches.is_empty(), "changes are uploaded once");
        let mut changes = TexturesDelta::default();
        changes.push(id, delta(Some([2, 1]), [2, 1], 80));
        changes.free(TextureId::Managed(1));
        textures.take(changes);
        assert_eq!(textures.free(), [2]);
        textures.forget();
        let all = textures.overlay(&[], 1.0).patches;
        assert_eq!((all.len(), all[0].at, all[0].size), (1, None, [4, 3]));
        let shades: Vec<u8> = all[0].rgba.chunks(4).map(|pixel| pixel[0]).collect();
        assert_eq!(shades, [9, 9, 9, 9, 9, 9, 80, 80, 9, 9, 9, 9]);
    }

    /// Otherwise the textures of a layout that another one replaced would stay in the renderer.
    #[test]
    fn a_layout_that_is_never_painted_frees_its_textures() {
        let (mut canvas, context) = (Canvas::default(), Context::default());
        context.run_pass(egui::RawInput::default(), |_| {}).drop_without_applying_deltas();
        let mut change = |has_texture: bool| {
            let (id, mut changes) = (TextureId::User(4), TexturesDelta::default());
            match has_texture {
                true => changes.push(id, delta(None, [1, 1], 1)),
                false => changes.free(id),
            }
            canvas.lay_out(changes, Vec::new(), 1.0);
        };
        [true, false, true].into_iter().for_each(&mut change);
        assert!(canvas.has_layout() && canvas.is_drawn);
        assert_eq!(canvas.paint(&context).map(|painted| painted.freed), Some(vec![9]));
        assert!(canvas.paint(&context).is_none() && canvas.is_drawn, "nothing waits");
    }

    /// Marks change in each frame while the camera moves, panels ten times a second.
    #[test]
    fn new_marks_repeat_the_panels_above_them() {
        let mut canvas = Canvas::default();
        assert_eq!(canvas.with_marks(None), None);
        let corner = OverlayCorner::default();
        let part = OverlayPart { texture: 2, clip: [0; 4], indices: 0..3 };
        let panels = Overlay {
            corners: vec![corner; 3],
            indices: vec![0, 1, 2],
            parts: vec![part],
            ..Overlay::default()
        };
        assert_eq!(canvas.with_marks(Some(panels.clone())), Some(panels.clone()));
        let marks = Marks { crosshair: Some([9.0, 9.0]), scale: 1.0, ..Marks::default() };
        assert!(canvas.set_marks(marks.clone()) && !canvas.set_marks(marks.clone()));
        let both = canvas.with_marks(None).unwrap();
        let below = marks.overlay();
        assert_eq!((both.patches.len(), both.parts.len()), (1, 2));
        assert_eq!(both.corners.len(), below.corners.len() + 3);
        let panel = both.parts[1].indices.clone().map(|i| both.indices[i as usize] as usize);
        assert_eq!(panel.collect::<Vec<_>>(), [0, 1, 2].map(|i| below.corners.len() + i));
        assert_eq!(canvas.with_marks(None), None, "nothing is new");
        let again = canvas.with_marks(Some(panels)).unwrap();
        assert_eq!((again.patches.len(), again.parts), (0, both.parts), "the texture is there");
        canvas.forget();
        let marks_alone = canvas.with_marks(None).unwrap();
        assert_eq!((marks_alone.patches.len(), marks_alone.parts.len()), (1, 1));
    }

    #[test]
    fn points_become_pixels() {
        let mut mesh = Mesh::default();
        let square = Rect::from_min_max(pos2(1.0, 2.0), pos2(3.0, 5.0));
        mesh.add_colored_rect(square, Color32::RED);
        let clip_rect = Rect::from_min_max(pos2(-4.0, 0.0), pos2(f32::INFINITY, 9.0));
        let painted = ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh) };
        let overlay = Textures::default().overlay(&[painted.clone(), painted], 2.0);
        assert_eq!(overlay.corners.iter().map(|corner| corner.at[1]).fold(0.0, f32::max), 10.0);
        assert_eq!(overlay.parts[1].clip, [0, 0, u32::MAX, 18]);
        assert_eq!(overlay.parts[1].indices, 6..12);
        assert!(overlay.indices[6..].iter().all(|&index| (4..8).contains(&index)));
    }
}
