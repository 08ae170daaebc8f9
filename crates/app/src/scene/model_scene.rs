use std::time::Duration;

use drystone_render::{DrawStats, Image, Layer, RenderError, Renderer, TrianglesId, View};
use web_time::Instant;

use super::ModelTriangles;

/// Model with the renderer that shows it.
///
/// # Cost
/// One handle per part, in addition to the triangles of model and renderer.
pub struct ModelScene {
    model: ModelTriangles,
    drawn: Shown,
    /// Renderer that draws once it has all parts.
    next: Option<NextRenderer>,
}

/// Renderer with its meshes, one for each part of the model.
struct Shown {
    renderer: Box<dyn Renderer>,
    parts: Vec<(TrianglesId, Layer)>,
}

/// New renderer, and the number of parts that it has.
struct NextRenderer {
    shown: Shown,
    done: usize,
}

impl ModelScene {
    /// Size of pieces that are uploaded in a millisecond or two, for [`ModelTriangles::in_pieces`].
    /// [`change_for`](Self::change_for) uploads at least one part per call.
    pub const PIECE_BYTES: u64 = 2 << 20;

    /// Creates a scene and uploads the model's parts. Parts that are too large for the renderer are
    /// [split](ModelTriangles::split).
    ///
    /// # Errors
    /// Errors of the renderer: it does not draw models, is full, or its device failed.
    pub fn new(model: ModelTriangles, renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        let model = model.split(renderer.max_triangle_bytes());
        let mut drawn = Shown { renderer, parts: Vec::with_capacity(model.parts.len()) };
        drawn.renderer.set_textures(&model.textures)?;
        drawn.show_all(&model)?;
        Ok(Self { model, drawn, next: None })
    }

    /// Begins to upload the model to another renderer, which draws once it has all;
    /// [`change_for`](Self::change_for) continues. The two renderers may share a device, see
    /// [`OpenDevice`](super::OpenDevice). An earlier change in progress is cancelled.
    ///
    /// # Cost
    /// None, except for parts that have to be split.
    pub fn change_renderer(&mut self, renderer: Box<dyn Renderer>) {
        self.model = std::mem::take(&mut self.model).split(renderer.max_triangle_bytes());
        let parts = Vec::with_capacity(self.model.parts.len());
        self.next = Some(NextRenderer { shown: Shown { renderer, parts }, done: 0 });
    }

    /// Cancels a change in progress; the new renderer is dropped.
    pub fn stop_change(&mut self) {
        self.next = None;
    }

    /// Continues a change for about `time`. Returns the finished fraction, or `None` if the change
    /// is complete or there is none.
    ///
    /// # Cost
    /// `time`, plus at most the time of the largest part.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new). The change is cancelled then, and the old renderer stays.
    pub fn change_for(&mut self, time: Duration) -> Result<Option<f32>, RenderError> {
        let Some(mut next) = self.next.take() else { return Ok(None) };
        let (start, count) = (Instant::now(), self.model.parts.len());
        if next.done == 0 {
            next.shown.renderer.set_textures(&self.model.textures)?;
        }
        while next.done < count {
            next.shown.show(&self.model, next.done)?;
            next.done += 1;
            if start.elapsed() >= time && next.done < count {
                let part = next.done as f32 / count as f32;
                self.next = Some(next);
                return Ok(Some(part));
            }
        }
        next.shown.truncate(count)?;
        self.drawn = next.shown;
        Ok(None)
    }

    /// Returns the model, as it was uploaded.
    pub const fn model(&self) -> &ModelTriangles {
        &self.model
    }

    /// Replaces the model, part by part, and returns the old one. A change of renderer starts over.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new). Parts before the failed one are replaced then, the others are
    /// not, and the old model stays; replace it again.
    pub fn replace(&mut self, model: ModelTriangles) -> Result<ModelTriangles, RenderError> {
        let limit = |shown: &Shown| shown.renderer.max_triangle_bytes();
        let next_limit = self.next.as_ref().map_or(u64::MAX, |next| limit(&next.shown));
        let model = model.split(limit(&self.drawn).min(next_limit));
        if !self.model.textures.is_same(&model.textures) {
            self.drawn.renderer.set_textures(&model.textures)?;
        }
        self.drawn.show_all(&model)?;
        self.next.iter_mut().for_each(|next| next.done = 0);
        Ok(std::mem::replace(&mut self.model, model))
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.drawn.renderer.as_mut()
    }

    /// Drops the renderer and returns the model, to show it with another.
    pub fn into_model(self) -> ModelTriangles {
        self.model
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.drawn.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        let renderer = self.renderer();
        renderer.draw(view)?;
        let picture = renderer.read_image()?;
        Ok((picture, renderer.drawn()))
    }
}

impl Shown {
    /// Shows all parts of a model, and nothing else.
    fn show_all(&mut self, model: &ModelTriangles) -> Result<(), RenderError> {
        (0..model.parts.len()).try_for_each(|at| self.show(model, at))?;
        self.truncate(model.parts.len())
    }

    /// Shows one part in place of the existing one, or adds it.
    fn show(&mut self, model: &ModelTriangles, at: usize) -> Result<(), RenderError> {
        let Self { renderer, parts } = self;
        let (part, mesh) = (&model.parts[at], model.mesh(&model.parts[at]));
        match parts.get_mut(at) {
            None => parts.push((renderer.insert_triangles(&mesh)?, part.layer)),
            Some((id, layer)) if *layer == part.layer => {
                renderer.replace_triangles(*id, &mesh)?;
            }
            // A mesh cannot change its layer, so a new one is inserted.
            Some((id, layer)) => {
                let new = renderer.insert_triangles(&mesh)?;
                *layer = part.layer;
                renderer.remove_triangles(std::mem::replace(id, new))?;
            }
        }
        Ok(())
    }

    /// Removes the parts from `count` on.
    fn truncate(&mut self, count: usize) -> Result<(), RenderError> {
        while self.parts.len() > count {
            if let Some((id, _)) = self.parts.pop() {
                self.renderer.remove_triangles(id)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use drystone_render::{SlotPolicy, SoftDevice, TriangleVertex};

    use super::super::{Capacity, OpenDevice, PartTriangles, RendererKind, default_view_of_model};
    use super::*;

    const SIZE: [u32; 2] = [96, 64];

    fn device() -> OpenDevice {
        OpenDevice::new(SoftDevice::new(SIZE[0], SIZE[1]).unwrap())
    }

    fn renderer(device: &OpenDevice, kind: RendererKind) -> Box<dyn Renderer> {
        device.renderer(kind, Capacity::default()).unwrap()
    }

    /// A wavy sheet of some cells per side under a pane of glass, in pieces.
    fn model(cells: u16) -> ModelTriangles {
        let side = cells + 1;
        let vertex = |n: u16| {
            let [x, z] =
                [n % side, n / side].map(|c| f32::from(c) / f32::from(cells) * 20.0 - 10.0);
            let at = [x, (x * 0.7).sin() + (z * 0.5).cos(), z];
            TriangleVertex::new(at, [0.2, 1.0, 0.1], [(n % 200) as u8, 120, 60, 255])
        };
        let [cells, side] = [u32::from(cells), u32::from(side)];
        let cell = |n: u32| {
            let low = n / cells * side + n % cells;
            [low, low + side, low + 1, low + 1, low + side, low + side + 1]
        };
        let vertices: Vec<_> = (0..(side * side) as u16).map(vertex).collect();
        let indices = (0..cells * cells).flat_map(cell).collect();
        let glass = |&[x, z]: &[f32; 2]| {
            TriangleVertex::new([x, 4.0, z], [0.0, 1.0, 0.0], [90, 160, 250, 120])
        };
        let corners = [[-8.0, -8.0], [8.0, -8.0], [0.0, 8.0]];
        let pane = PartTriangles {
            vertices: corners.iter().map(glass).collect(),
            indices: [0, 1, 2].repeat(40),
            layer: Layer::Blended,
            is_textured: false,
        };
        let sheet = PartTriangles { vertices, indices, ..PartTriangles::default() };
        ModelTriangles { parts: vec![sheet, pane], ..ModelTriangles::default() }.in_pieces(400)
    }

    fn picture(scene: &mut ModelScene) -> Image {
        let corners = (glam::DVec3::splat(-10.0), glam::DVec3::splat(10.0));
        let default_view = default_view_of_model(corners, SIZE[0] as f32 / SIZE[1] as f32);
        scene.picture(&View::new(default_view.camera)).unwrap().0
    }

    /// Every picture during the change equals that of the old renderer.
    #[test]
    fn a_change_of_renderer_never_shows_an_incomplete_picture() {
        let device = device();
        let mut scene = ModelScene::new(model(12), renderer(&device, RendererKind::Pool)).unwrap();
        let glass = scene.model().parts.last().unwrap();
        assert_eq!((glass.layer, glass.indices.len()), (Layer::Blended, 120), "not split");
        for (kind, cells) in [(RendererKind::Naive, 3), (RendererKind::Pool, 15)] {
            scene.replace(model(12)).unwrap();
            let (mut expected, old) = (picture(&mut scene), scene.renderer().name());
            scene.change_renderer(renderer(&device, kind));
            let (mut steps, mut before) = (0, 0.0);
            while let Some(part) = scene.change_for(Duration::ZERO).unwrap() {
                assert!(before < part && part < 1.0, "{before} {part}");
                before = part;
                assert!(picture(&mut scene) == expected && scene.renderer().name() == old);
                if steps == 3 {
                    // With fewer parts than the new renderer has already, or with more.
                    scene.replace(model(cells)).unwrap();
                    let last = std::mem::replace(&mut expected, picture(&mut scene));
                    assert!(last != expected);
                    before = 0.0;
                }
                steps += 1;
            }
            assert!(steps > 4 && scene.renderer().name() != old, "{steps}");
            assert!(picture(&mut scene) == expected, "{kind:?}");
            let parts = scene.model().parts.len() as u32;
            assert_eq!(scene.renderer().held().meshes, parts);
        }
    }

    #[test]
    fn a_refused_or_cancelled_change_keeps_the_current_renderer() {
        let device = device();
        let mut scene = ModelScene::new(model(6), renderer(&device, RendererKind::Pool)).unwrap();
        let before = picture(&mut scene);
        let cubes = RendererKind::Instanced(SlotPolicy::Lowest);
        scene.change_renderer(renderer(&device, cubes));
        assert!(matches!(
            scene.change_for(Duration::MAX),
            Err(RenderError::NoTriangles { renderer: "instanced" })
        ));
        scene.change_renderer(renderer(&device, RendererKind::Naive));
        assert!(scene.change_for(Duration::ZERO).unwrap().is_some());
        scene.stop_change();
        assert!(matches!(scene.change_for(Duration::MAX), Ok(None)));
        assert_eq!(scene.renderer().name(), "pool");
        assert!(picture(&mut scene) == before);
    }
}
