use crate::{atmosphere::Atmosphere, camera::Camera, frame::Frame};

/// Camera, atmosphere and drawing options of one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// Sky, sun and haze.
    pub atmosphere: Atmosphere,
    /// Tint each mesh by its level of detail, see [`Frame::TINTS`](crate::Frame::TINTS). Polygon
    /// models keep their colours.
    pub tint_levels: bool,
    /// Draw a wire frame over the picture: the edges of merged quads and of models' triangles, in
    /// lines of one or two pixels.
    pub wire: bool,
    /// Fade the contrast between far faces whose voxels are few pixels long, see
    /// [`Frame::FADE_UNITS`](crate::Frame::FADE_UNITS). It prevents moiré and flicker in far land.
    /// Polygon models and the instanced renderer keep their colours.
    pub fade_far: bool,
    /// Whether opaque meshes cast shadows of the sun. A sun below the horizon and the moon cast none;
    /// pictures then cost as much as without shadows.
    pub shadows: bool,
    /// Whether opaque meshes above hide sky light, so that caves and rooms are dark. It
    /// changes only [ambient](Atmosphere::ambient) light, under a cover within some 200 voxels of the
    /// camera.
    pub sky_light: bool,
    /// Whether light spreads around surfaces that emit light, by up to some 60 pixels. Nearer surfaces
    /// hide it. Costs nothing if no material emits light.
    pub bloom: bool,
    /// Skip face directions that point away from the camera. Ignored by the naive renderer.
    pub mask_back_faces: bool,
    /// Skip meshes outside the view frustum.
    pub cull_frustum: bool,
    /// Draw near meshes first, so that hidden pixels are not shaded. Ignored by the naive renderer.
    /// Blended meshes are always sorted, farthest first.
    pub sort_opaque: bool,
}

impl View {
    /// Creates a view with all optimizations on and the default atmosphere, without shadows and bloom.
    /// Covers do not hide the sky.
    pub fn new(camera: Camera) -> Self {
        Self {
            camera,
            atmosphere: Atmosphere::default(),
            tint_levels: false,
            wire: false,
            fade_far: false,
            shadows: false,
            sky_light: false,
            bloom: false,
            mask_back_faces: true,
            cull_frustum: true,
            sort_opaque: true,
        }
    }

    /// Returns the shader data for this view on `width × height` pixels.
    pub fn frame(&self, width: u32, height: u32) -> Frame {
        let mut frame = Frame::new(&self.camera, &self.atmosphere, width, height);
        frame.level_tint = if self.tint_levels { Frame::TINT } else { 0.0 };
        frame.far_fade = if self.fade_far { 1.0 } else { 0.0 };
        frame.wire_pixels = if self.wire { Frame::WIRE_PIXELS } else { 0.0 };
        frame
    }
}
