use drystone_render::{DrawStats, Image, Layer, RenderError, Renderer, TrianglesId, View};

use super::ModelTriangles;

/// A model and a renderer that shows it.
///
/// # Cost
/// Beside the model's triangles and the renderer's, a handle a part.
pub struct ModelScene {
    model: ModelTriangles,
    renderer: Box<dyn Renderer>,
    /// What is shown, and in which layer.
    shown: Vec<(TrianglesId, Layer)>,
}

impl ModelScene {
    /// Hands the parts of `model` to `renderer`, those that are too large for it in
    /// [pieces](ModelTriangles::split).
    ///
    /// # Errors
    /// What the renderer says: that it draws no models, is full, or its device failed.
    pub fn new(
        model: ModelTriangles,
        mut renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let model = model.split(renderer.most_triangle_bytes());
        Ok(Self { shown: insert(&model, renderer.as_mut())?, model, renderer })
    }

    /// Has another renderer draw the model. It may share its device with the one that draws.
    ///
    /// # Cost
    /// As [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new); the old renderer then goes on.
    pub fn change_renderer(&mut self, mut renderer: Box<dyn Renderer>) -> Result<(), RenderError> {
        self.model = std::mem::take(&mut self.model).split(renderer.most_triangle_bytes());
        self.shown = insert(&self.model, renderer.as_mut())?;
        self.renderer = renderer;
        Ok(())
    }

    /// The model, as it was handed over.
    pub const fn model(&self) -> &ModelTriangles {
        &self.model
    }

    /// Shows another model in the place of this one: part for part, and what one has more
    /// comes or goes. Returns the old one.
    ///
    /// # Errors
    /// As [`new`](Self::new). Parts that the renderer did not take are shown as they were,
    /// those before them as they are to be, and the old model is kept: replace again.
    pub fn replace(&mut self, model: ModelTriangles) -> Result<ModelTriangles, RenderError> {
        let model = model.split(self.renderer.most_triangle_bytes());
        for ((id, layer), part) in self.shown.iter_mut().zip(&model.parts) {
            if part.layer == *layer {
                self.renderer.replace_triangles(*id, &model.mesh(part))?;
                continue;
            }
            // A mesh keeps its layer: what is to change that is another mesh.
            let new = self.renderer.insert_triangles(&model.mesh(part))?;
            *layer = part.layer;
            self.renderer.remove_triangles(std::mem::replace(id, new))?;
        }
        for part in model.parts.iter().skip(self.shown.len()) {
            let id = self.renderer.insert_triangles(&model.mesh(part))?;
            self.shown.push((id, part.layer));
        }
        while self.shown.len() > model.parts.len() {
            if let Some((id, _)) = self.shown.pop() {
                self.renderer.remove_triangles(id)?;
            }
        }
        Ok(std::mem::replace(&mut self.model, model))
    }

    /// The renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
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
        self.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with what it took.
    ///
    /// # Errors
    /// When the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.renderer.draw(view)?;
        let picture = self.renderer.read_image()?;
        Ok((picture, self.renderer.drawn()))
    }
}

/// Hands all parts to a renderer.
fn insert(
    model: &ModelTriangles,
    renderer: &mut dyn Renderer,
) -> Result<Vec<(TrianglesId, Layer)>, RenderError> {
    let mut shown = Vec::with_capacity(model.parts.len());
    for part in &model.parts {
        shown.push((renderer.insert_triangles(&model.mesh(part))?, part.layer));
    }
    Ok(shown)
}
