use std::time::Duration;

use drystone_render::{DrawStats, Image, Layer, RenderError, Renderer, TrianglesId, View};
use web_time::Instant;

use super::ModelTriangles;

/// A model and a renderer that shows it.
///
/// # Cost
/// Beside the model's triangles and the renderer's, a handle a part.
pub struct ModelScene {
    model: ModelTriangles,
    drawn: Shown,
    /// Who draws when it has all parts.
    next: Option<Next>,
}

/// What a renderer shows of a model, part for part.
struct Shown {
    renderer: Box<dyn Renderer>,
    parts: Vec<(TrianglesId, Layer)>,
}

/// The renderer that is to draw, and how many parts it has.
struct Next {
    shown: Shown,
    done: usize,
}

impl ModelScene {
    /// Parts that are no larger are handed over in a millisecond or two: what
    /// [`change_for`](Self::change_for) does at once is one of them. For
    /// [`ModelTriangles::in_pieces`].
    pub const PIECE_BYTES: u64 = 2 << 20;

    /// Hands the parts of `model` to `renderer`, those that are too large for it in
    /// [pieces](ModelTriangles::split).
    ///
    /// # Errors
    /// What the renderer says: that it draws no models, is full, or its device failed.
    pub fn new(model: ModelTriangles, renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        let model = model.split(renderer.max_triangle_bytes());
        let mut drawn = Shown { renderer, parts: Vec::with_capacity(model.parts.len()) };
        drawn.show_all(&model)?;
        Ok(Self { model, drawn, next: None })
    }

    /// Begins to hand the model to another renderer, which draws when it has all:
    /// [`change_for`](Self::change_for) goes on. It may share its device with the one that draws;
    /// see [`OpenDevice`](super::OpenDevice). An earlier change that is not done is given up.
    ///
    /// # Cost
    /// None but for parts that are too large for it, which are split.
    pub fn change_renderer(&mut self, renderer: Box<dyn Renderer>) {
        self.model = std::mem::take(&mut self.model).split(renderer.max_triangle_bytes());
        let parts = Vec::with_capacity(self.model.parts.len());
        self.next = Some(Next { shown: Shown { renderer, parts }, done: 0 });
    }

    /// Gives up a change that was begun; the other renderer is dropped.
    pub fn stop_change(&mut self) {
        self.next = None;
    }

    /// Goes on with a change for about so long. Returns which part of it is done, and `None` when
    /// all is, or none was begun.
    ///
    /// # Cost
    /// `time`, and at most that of the largest part.
    ///
    /// # Errors
    /// As [`new`](Self::new). The change is given up then, and the old renderer goes on.
    pub fn change_for(&mut self, time: Duration) -> Result<Option<f32>, RenderError> {
        let Some(mut next) = self.next.take() else { return Ok(None) };
        let (start, count) = (Instant::now(), self.model.parts.len());
        while next.done < count {
            next.shown.show(&self.model, next.done)?;
            next.done += 1;
            if start.elapsed() >= time && next.done < count {
                let part = next.done as f32 / count as f32;
                self.next = Some(next);
                return Ok(Some(part));
            }
        }
        next.shown.cut(count)?;
        self.drawn = next.shown;
        Ok(None)
    }

    /// The model, as it was handed over.
    pub const fn model(&self) -> &ModelTriangles {
        &self.model
    }

    /// Shows another model in the place of this one: part for part, and what one has more
    /// comes or goes. Returns the old one. A change to another renderer begins anew.
    ///
    /// # Errors
    /// As [`new`](Self::new). Parts that the renderer did not take are shown as they were,
    /// those before them as they are to be, and the old model is kept: replace again.
    pub fn replace(&mut self, model: ModelTriangles) -> Result<ModelTriangles, RenderError> {
        let most = |shown: &Shown| shown.renderer.max_triangle_bytes();
        let most_of_next = self.next.as_ref().map_or(u64::MAX, |next| most(&next.shown));
        let model = model.split(most(&self.drawn).min(most_of_next));
        self.drawn.show_all(&model)?;
        self.next.iter_mut().for_each(|next| next.done = 0);
        Ok(std::mem::replace(&mut self.model, model))
    }

    /// The renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.drawn.renderer.as_mut()
    }

    /// Gives the model back and drops the renderer, to show it with another.
    pub fn into_model(self) -> ModelTriangles {
        self.model
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// When the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.drawn.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with what it took.
    ///
    /// # Errors
    /// When the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        let renderer = self.renderer();
        renderer.draw(view)?;
        let picture = renderer.read_image()?;
        Ok((picture, renderer.drawn()))
    }
}

impl Shown {
    /// Shows all of a model, and nothing else.
    fn show_all(&mut self, model: &ModelTriangles) -> Result<(), RenderError> {
        (0..model.parts.len()).try_for_each(|at| self.show(model, at))?;
        self.cut(model.parts.len())
    }

    /// Shows one part in the place of what was shown there, if there is one, or behind all.
    fn show(&mut self, model: &ModelTriangles, at: usize) -> Result<(), RenderError> {
        let Self { renderer, parts } = self;
        let (part, mesh) = (&model.parts[at], model.mesh(&model.parts[at]));
        match parts.get_mut(at) {
            None => parts.push((renderer.insert_triangles(&mesh)?, part.layer)),
            Some((id, layer)) if *layer == part.layer => {
                renderer.replace_triangles(*id, &mesh)?;
            }
            // A mesh keeps its layer: what is to change that is another mesh.
            Some((id, layer)) => {
                let new = renderer.insert_triangles(&mesh)?;
                *layer = part.layer;
                renderer.remove_triangles(std::mem::replace(id, new))?;
            }
        }
        Ok(())
    }

    /// Shows no parts from this one on.
    fn cut(&mut self, count: usize) -> Result<(), RenderError> {
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

    /// A wavy sheet of some cells a side under a pane of glass, in pieces.
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
        };
        let sheet = PartTriangles { vertices, indices, layer: Layer::Opaque };
        ModelTriangles { parts: vec![sheet, pane], ..ModelTriangles::default() }.in_pieces(400)
    }

    fn picture(scene: &mut ModelScene) -> Image {
        let corners = (glam::DVec3::splat(-10.0), glam::DVec3::splat(10.0));
        let default_view = default_view_of_model(corners, SIZE[0] as f32 / SIZE[1] as f32);
        scene.picture(&View::new(default_view.camera)).unwrap().0
    }

    /// Every picture on the way is that of the renderer before, of the model that there is.
    #[test]
    fn another_renderer_takes_over_without_a_picture_that_lacks_anything() {
        let device = device();
        let mut scene = ModelScene::new(model(12), renderer(&device, RendererKind::Pool)).unwrap();
        let glass = scene.model().parts.last().unwrap();
        assert_eq!((glass.layer, glass.indices.len()), (Layer::Blended, 120), "never in pieces");
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
                    // Of fewer parts than the next renderer has by now, or of more.
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
    fn a_renderer_that_refuses_or_is_given_up_leaves_the_one_that_draws() {
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
