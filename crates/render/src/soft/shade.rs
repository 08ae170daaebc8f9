//! The fragment stage: the colour of a pixel, from its stored data and its depth.
//!
//! A GPU interpolates the position of each corner. Here a pixel stores only its depth, and its
//! quad's face direction, ambient occlusion, material and level: 9 bytes. Its position follows from
//! its coordinates in the picture and its depth, so hidden surfaces are never shaded.

use glam::{DMat4, IVec3, Mat4, Vec3A, Vec4};

use super::facet::{Facet, Lamp};
use super::fade::Fade;
use super::occlusion::{PixelKind, darkness, span_axes};
use super::sky::{Sky, mix, smooth};
use super::sky_light::SkyLight;
use super::sun::Sun;
use super::textures::Textures;
use super::tiles::Tiles;
use super::wire::Wire;
use crate::{frame::Frame, material_look::MaterialLook};

/// Depth of pixels without a mesh: that of the far plane, because depth is reversed.
pub(super) const FAR: f32 = 0.0;

/// Material as pixels read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoftMaterial {
    /// Colour of each face direction.
    faces: [Vec4; 6],
    /// Part of the colour that is drawn as it is, 0 to 1.
    emission: f32,
    /// Offset of the record of its textures; 0 for none.
    record: u32,
}

/// Material of quads whose material is not in the table, which must be visible.
const MISSING: SoftMaterial =
    SoftMaterial { faces: [Vec4::new(1.0, 0.0, 1.0, 1.0); 6], emission: 0.0, record: 0 };
/// Shorter distances are not used as divisors.
const MIN_DISTANCE: f32 = 1e-6;

impl SoftMaterial {
    pub(super) fn new(look: &MaterialLook, record: u32) -> Self {
        let emission = f32::from(look.emission) / f32::from(u8::MAX);
        Self { faces: look.faces.map(unpacked), emission, record }
    }

    /// Whether the material emits light.
    pub(super) fn emits(&self) -> bool {
        self.emission != 0.0
    }
}
/// Normals of face directions, in the order of [`drystone_mesh::Face::ALL`].
const NORMALS: [Vec3A; 6] =
    [Vec3A::NEG_X, Vec3A::NEG_Y, Vec3A::NEG_Z, Vec3A::X, Vec3A::Y, Vec3A::Z];

/// Light that meshes hide.
#[derive(Default)]
pub(super) struct Hidden<'a> {
    /// The sun, if meshes cast shadows.
    pub(super) sun: Option<Sun<'a>>,
    /// The sky, if meshes cover what is below them.
    pub(super) sky: Option<SkyLight<'a>>,
}

pub(super) struct Shader<'a> {
    frame: &'a Frame,
    sky: Sky,
    materials: &'a [SoftMaterial],
    face_light: [Vec3A; 6],
    /// Light of the sun and of the sky that meshes hide.
    hidden: Hidden<'a>,
    /// Textures of quads, if any material has one.
    tiles: Option<Tiles<'a>>,
    relative_from_clip: Mat4,
    camera_voxel: IVec3,
    camera_fraction: Vec3A,
    /// The fading of far faces, if there is any.
    fade: Option<Fade>,
    /// The lines along quads' edges, if they are drawn.
    wire: Option<Wire>,
    /// Width and height of a pixel in coordinates from −1 to 1, y up.
    pixel_steps: [f32; 2],
}

impl<'a> Shader<'a> {
    pub(super) fn new(
        frame: &'a Frame,
        (materials, tiles): (&'a [SoftMaterial], &'a [u32]),
        [width, height]: [u32; 2],
    ) -> Self {
        let clip_from_relative = Mat4::from_cols_array_2d(&frame.clip_from_relative);
        let relative_from_clip: DMat4 = clip_from_relative.as_dmat4().inverse();
        Self {
            frame,
            sky: Sky::new(frame),
            materials,
            face_light: frame.face_light.map(|[red, green, blue, _]| Vec3A::new(red, green, blue)),
            hidden: Hidden::default(),
            tiles: Tiles::new(tiles, frame),
            relative_from_clip: relative_from_clip.as_mat4(),
            camera_voxel: IVec3::from_array(frame.camera_voxel),
            camera_fraction: Vec3A::from_array(frame.camera_fraction),
            fade: Fade::new(frame),
            wire: Wire::new(frame),
            pixel_steps: [2.0 / width as f32, -2.0 / height as f32],
        }
    }

    /// Shades without the light that meshes hide.
    pub(super) fn with_shadows(self, hidden: Option<Hidden<'a>>) -> Self {
        Self { hidden: hidden.unwrap_or_default(), ..self }
    }

    /// Whether any haze can be visible.
    fn is_hazy(&self) -> bool {
        self.frame.haze_density != 0.0 && self.frame.haze_rate != 0.0
    }

    /// The sky at a position in pixels.
    #[inline]
    pub(super) fn sky(&self, at: [f32; 2]) -> Vec4 {
        let [x, y] = self.ndc_position(at);
        self.sky.behind(x, y).extend(1.0)
    }

    /// Whether quads of this kind can have holes.
    #[inline]
    pub(super) fn has_holes(&self, kind: PixelKind) -> bool {
        let tiles = self.tiles.as_ref();
        tiles.is_some_and(|tiles| tiles.has_holes(self.material(kind).record))
    }

    /// The colour of a quad's texture at a position in pixels; `None` in a hole.
    #[inline]
    pub(super) fn texel(&self, at: [f32; 2], depth: f32, kind: PixelKind) -> Option<Vec3A> {
        let record = self.material(kind).record;
        match &self.tiles {
            Some(tiles) if record != 0 => {
                tiles.color(record, (kind.word & 7).min(5), self.relative(at, depth))
            }
            _ => Some(Vec3A::ONE),
        }
    }

    /// The colour of a quad of this kind at a position in pixels; `None` in a hole of its texture.
    #[inline]
    pub(super) fn surface(&self, at: [f32; 2], depth: f32, kind: PixelKind) -> Option<Vec4> {
        let texel = self.texel(at, depth, kind)?;
        let material = self.material(kind);
        let mut lit = self.in_light(material, kind, (at, depth), true);
        let normal = NORMALS[(kind.word & 7).min(5) as usize];
        if let Some(sun) = &self.hidden.sun {
            let share = sun.share(self.relative(at, depth), normal);
            if share < 1.0 {
                let unlit = self.in_light(material, kind, (at, depth), false);
                lit = unlit * (1.0 - share) + lit * share;
            }
        }
        if let Some(sky) = &self.hidden.sky {
            let share = sky.share(self.relative(at, depth), [normal; 2]);
            if share < 1.0 {
                let unlit = self.in_light(material, kind, (at, depth), false);
                lit = sky.under((lit, unlit), material.emission, share, normal.y);
            }
        }
        let units = || self.relative(at, depth) + self.camera_fraction;
        let fade = || self.fade.as_ref().map_or(0.0, |fade| fade.at(self.relative(at, depth)));
        let shaded = match darkness(kind, self.camera_voxel, units, fade) {
            Some(dark) if self.frame.occlusion_loss != 0.0 => {
                let light = 1.0 - dark * self.frame.occlusion_loss * (1.0 - material.emission);
                (Vec3A::from_vec4(lit) * light).extend(lit.w)
            }
            _ => lit,
        };
        let textured = (Vec3A::from_vec4(shaded) * texel).extend(shaded.w);
        let seen = match &self.wire {
            Some(wire) => wire.over(textured, kind, self.relative(at, depth)),
            None => textured,
        };
        Some(self.hazed(at, depth, seen))
    }

    /// The colour of a triangle at a position in pixels; `None` in a hole of its texture.
    #[inline]
    pub(super) fn facet(
        &self,
        (at, depth): ([f32; 2], f32),
        facet: &Facet,
        (lamp, textures): (&Lamp, &Textures),
    ) -> Option<Vec4> {
        let place = self.ndc_position(at);
        let shares = facet.shares(place);
        let color = facet.color(shares);
        let normal = facet.normal(shares);
        let (sun, sky) = (self.hidden.sun.as_ref(), self.hidden.sky.as_ref());
        let plane = facet.plane_normal(normal);
        let of_sun = sun.map_or(1.0, |sun| sun.share(self.relative(at, depth), plane));
        let of_sky = sky.map_or(1.0, |sky| sky.share(self.relative(at, depth), [normal, plane]));
        let light = lamp.light(normal, [of_sun, of_sky]);
        let lit = if facet.material == 0 {
            (Vec3A::from_vec4(color) * light).min(Vec3A::ONE).extend(color.w)
        } else {
            let uv = facet.pixel_uv(place, shares, self.pixel_steps);
            textures.surface(facet.material, color, &uv)?.lit(light, self.frame.unlit_light)
        };
        let seen = match &self.wire {
            Some(wire) => wire.over_triangle(lit, facet.edges(shares), self.relative(at, depth)),
            None => lit,
        };
        Some(self.hazed(at, depth, seen))
    }

    /// A lit colour at a position in pixels, with the haze in front of it.
    #[inline]
    fn hazed(&self, at: [f32; 2], depth: f32, lit: Vec4) -> Vec4 {
        if self.is_hazy() { self.hazy(lit, self.relative(at, depth)) } else { lit }
    }

    /// Position of a surface of this depth at a position in pixels, relative to the camera.
    #[inline]
    fn relative(&self, at: [f32; 2], depth: f32) -> Vec3A {
        let [x, y] = self.ndc_position(at);
        let position = self.relative_from_clip * Vec4::new(x, y, depth, 1.0);
        Vec3A::from_vec4(position) * position.w.recip()
    }

    /// A colour as seen through haze.
    #[inline]
    fn hazy(&self, lit: Vec4, relative: Vec3A) -> Vec4 {
        let distance = relative.length();
        let part = ((distance - self.frame.haze_start) * self.frame.haze_rate).clamp(0.0, 1.0);
        if part == 0.0 {
            return lit;
        }
        let haze = self.frame.haze_density * smooth(part);
        let sky = self.sky.toward(relative / distance.max(MIN_DISTANCE));
        mix(Vec3A::from_vec4(lit), sky, haze).extend(lit.w)
    }

    /// Returns the material of a quad.
    #[inline]
    fn material(&self, kind: PixelKind) -> &SoftMaterial {
        self.materials.get((kind.word >> 11 & 0xffff) as usize).unwrap_or(&MISSING)
    }

    /// Returns the colour of a quad, in sunlight or without: that of its material on this face
    /// direction, tinted by its level of detail, times the light on the face direction.
    #[inline]
    fn lit(
        &self,
        material: &SoftMaterial,
        PixelKind { word, level, .. }: PixelKind,
        has_sun: bool,
    ) -> Vec4 {
        let face = (word & 7).min(5) as usize;
        let color = material.faces[face];
        let light = if has_sun { self.face_light[face] } else { self.ambient_light(NORMALS[face]) };
        let light = mix(light, Vec3A::ONE, material.emission);
        let mut own = Vec3A::from_vec4(color);
        if self.frame.level_tint != 0.0 {
            own = mix(own, level_tint(level), self.frame.level_tint);
        }
        (own * light).min(Vec3A::ONE).extend(color.w)
    }

    /// The colour of a quad, in sunlight or without, at a position in pixels and a depth. Far quads
    /// have the mean with the faces beside them, except translucent ones.
    #[inline]
    fn in_light(
        &self,
        material: &SoftMaterial,
        kind: PixelKind,
        (at, depth): ([f32; 2], f32),
        has_sun: bool,
    ) -> Vec4 {
        let own = self.lit(material, kind, has_sun);
        let is_faded = kind.shares != [0; 2] && own.w == 1.0;
        let Some(fade) = self.fade.as_ref().filter(|_| is_faded) else {
            return own;
        };
        let relative = self.relative(at, depth);
        let mut color = Vec3A::from_vec4(own);
        for (share, axis) in kind.shares.into_iter().zip(span_axes(kind.word)) {
            let face = fade.face_towards_camera(axis, relative);
            let beside =
                self.lit(material, PixelKind { word: kind.word & !7 | face, ..kind }, has_sun);
            color += Vec3A::from_vec4(beside - own) * (f32::from(share) / 255.0);
        }
        color.extend(own.w)
    }

    /// Light on a face that the sun does not reach.
    #[inline]
    fn ambient_light(&self, normal: Vec3A) -> Vec3A {
        Vec3A::from_array(self.frame.ambient) * (0.74 + 0.26 * normal.y)
    }

    /// A position in pixels in coordinates from −1 to 1, y up.
    #[inline]
    fn ndc_position(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let [across, down] = self.pixel_steps;
        [x * across - 1.0, y * down + 1.0]
    }
}

/// The hue of a level.
#[inline]
fn level_tint(level: u8) -> Vec3A {
    Vec3A::from(Frame::TINTS.map(|hues| (hues >> (4 * (level & 7)) & 15) as f32)) / 15.0
}

/// Centre of a pixel.
#[inline]
pub(super) fn center(x: usize, y: usize) -> [f32; 2] {
    [x as f32 + 0.5, y as f32 + 0.5]
}

/// A material's colour as the shader unpacks it.
pub(super) fn unpacked(color: [u8; 4]) -> Vec4 {
    Vec4::from_array(color.map(f32::from)) / 255.0
}

/// A colour as an 8-bit target stores it: the nearest of 0 to 255.
#[inline]
pub(super) fn packed(color: Vec4) -> [u8; 4] {
    // The cast saturates, and converts NaN to 0.
    (color * 255.0 + 0.5).to_array().map(|channel| channel as u8)
}

/// Blends `color` over a pixel by its opacity.
#[inline]
pub(super) fn over(color: Vec4, below: [u8; 4]) -> [u8; 4] {
    let opacity = color.w;
    let source = (Vec3A::from_vec4(color) * opacity).extend(opacity);
    packed(source + unpacked(below) * (1.0 - opacity))
}
