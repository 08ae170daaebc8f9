//! Drawing of maps of shadows and of the sky.

use super::{
    Scene, SoftGeometry,
    bins::{BAND_ROWS, Bins},
    facet::Facet,
    memory::zeroed,
    rasterise,
    shade::{Hidden, Shader, center},
    sky_light::SkyLight,
    sun::Sun,
    threads,
    triangle::Triangle,
    triangles::{TriangleBins, TriangleStage},
    vertex::VertexStage,
    viewport::Viewport,
};
use crate::{
    error::RenderError,
    frame::Frame,
    passes::{CascadePass, ShadowPass},
    shadows::{MapKinds, MapLayer, SKY_MAPS, SKY_SIDE, ShadowFrame},
};

/// The maps of the last picture with shadows or sky light.
#[derive(Default)]
pub(super) struct ShadowMaps {
    cascades: Maps,
    sky: Maps,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
}

/// Maps of one size: depths, row by row.
#[derive(Default)]
struct Maps {
    maps: Vec<Vec<f32>>,
    side: u32,
}

impl Maps {
    /// Keeps `count` maps of this size, or creates them.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn resize(&mut self, count: usize, side: u32) -> Result<(), RenderError> {
        if self.side != side {
            (self.maps, self.side) = (Vec::new(), side);
        }
        self.maps.truncate(count);
        while self.maps.len() < count {
            self.maps.push(zeroed("a shadow map", side as usize * side as usize)?);
        }
        Ok(())
    }
}

impl ShadowMaps {
    /// Draws the maps of a pass that have changed.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn draw(
        &mut self,
        pass: &ShadowPass<'_, SoftGeometry>,
        (bins, triangle_bins): (&mut Vec<Bins>, &mut Vec<TriangleBins>),
        scene: &Scene<'_>,
    ) -> Result<(), RenderError> {
        self.token = 0;
        let sky_count = if pass.kinds().sky { SKY_MAPS } else { 0 };
        self.cascades.resize(pass.frame.cascade_count as usize, pass.side)?;
        self.sky.resize(sky_count, SKY_SIDE)?;
        for redrawn in &pass.redrawn {
            let (Maps { maps, side }, layer) = match redrawn.layer {
                MapLayer::Cascade(layer) => (&mut self.cascades, layer),
                MapLayer::Sky(layer) => (&mut self.sky, layer),
            };
            let (Some(map), side) = (maps.get_mut(layer), *side) else { continue };
            draw_map(map, side, redrawn, (bins, triangle_bins), scene);
        }
        self.token = pass.token;
        Ok(())
    }

    /// The maps for reading.
    pub(super) fn light(&self, maps: &ShadowFrame, frame: &Frame) -> Hidden<'_> {
        let Self { cascades, sky, .. } = self;
        let MapKinds { sun: has_sun, sky: has_sky } = maps.kinds();
        Hidden {
            sun: has_sun
                .then(|| Sun::new((&cascades.maps, cascades.side), maps, frame.sun_direction)),
            sky: has_sky.then(|| SkyLight::new((&sky.maps, sky.side as usize), &maps.sky, frame)),
        }
    }
}

/// Clears a map and draws the meshes of a pass into it.
fn draw_map(
    map: &mut [f32],
    side: u32,
    pass: &CascadePass<'_, SoftGeometry>,
    (bins, triangle_bins): (&mut Vec<Bins>, &mut Vec<TriangleBins>),
    &Scene { materials, tiles, textures, .. }: &Scene<'_>,
) {
    map.fill(0.0);
    let (viewport, row) = (Viewport::new(side, side), side as usize);
    let stage = VertexStage::new(&pass.frame, true);
    // A map is a picture from the light, so the rule for its holes is that of pictures.
    let shader = Shader::new(&pass.frame, (materials, &tiles.words), [side, side]);
    rasterise(pass.batches.iter(), bins, &stage, &viewport, |bins| {
        let of_band = |band| {
            let all = bins.iter().flat_map(move |bins| bins.of_band(band));
            all.map(|triangle| (triangle, triangle.kind))
        };
        let solid = |band| of_band(band).filter(|(_, kind)| !shader.has_holes(*kind));
        draw_bands(map, row, &viewport, solid, |_, _, _| false);
        if tiles.has_holes {
            let cut_out = |band| of_band(band).filter(|(_, kind)| shader.has_holes(*kind));
            draw_bands(map, row, &viewport, cut_out, |kind, at, depth| {
                shader.texel(at, depth, kind).is_none()
            });
        }
    });
    let stage = TriangleStage::new(&pass.frame, &viewport, textures);
    stage.rasterise(&pass.batches, triangle_bins, |bins| {
        let of_band = |band| bins.iter().flat_map(move |bins| bins.of_band(band));
        let is_masked = |facet: &Facet| textures.is_masked(facet.material);
        let solid = |band| of_band(band).filter(|(_, facet)| !is_masked(facet));
        draw_bands(map, row, &viewport, solid, |_, _, _| false);
        if textures.set.has_masks() {
            let masked = |band| of_band(band).filter(|(_, facet)| is_masked(facet));
            let steps = [2.0 / side as f32, -2.0 / side as f32];
            draw_bands(map, row, &viewport, masked, |facet, [x, y], _| {
                let place = [x * steps[0] - 1.0, y * steps[1] + 1.0];
                let shares = facet.shares(place);
                let uv = facet.pixel_uv(place, shares, steps);
                textures.surface(facet.material, facet.color(shares), &uv).is_none()
            });
        }
    });
}

/// Stores the nearest depth of each texel. `is_hole` returns whether a triangle has a hole at a position
/// in texels and a depth.
fn draw_bands<'b, T: Copy, I: Iterator<Item = (&'b Triangle, T)>>(
    map: &mut [f32],
    side: usize,
    viewport: &Viewport,
    of_band: impl Fn(usize) -> I + Sync,
    is_hole: impl Fn(T, [f32; 2], f32) -> bool + Sync,
) {
    let mut bands: Vec<&mut [f32]> = map.chunks_mut(side * BAND_ROWS).collect();
    threads::for_each(&mut bands, |number, band| {
        let first = number * BAND_ROWS;
        let rows = first as i32..(first + band.len() / side) as i32;
        for (triangle, data) in of_band(number) {
            triangle.spans(viewport, &rows, |span| {
                let row = (span.y - first) * side;
                let texels = &mut band[row + span.xs.start..row + span.xs.end];
                for (i, depth) in (0i32..).zip(texels) {
                    let own = span.depth + span.depth_step * i as f32;
                    if !is_hole(data, center(span.xs.start + i as usize, span.y), own) {
                        *depth = depth.max(own);
                    }
                }
            });
        }
    });
}
