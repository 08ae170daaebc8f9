//! Drawing of shadow maps.

use super::{
    SoftGeometry,
    bins::{BAND_ROWS, Bins},
    memory::zeroed,
    rasterise,
    sun::Sun,
    textures::Textures,
    threads,
    triangle::Triangle,
    triangles::{TriangleBins, TriangleStage},
    vertex::VertexStage,
    viewport::Viewport,
};
use crate::{error::RenderError, passes::ShadowPass, shadows::ShadowFrame};

/// The maps of the last picture with shadows: depths, row by row.
#[derive(Default)]
pub(super) struct ShadowMaps {
    maps: Vec<Vec<f32>>,
    side: u32,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
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
        textures: &Textures,
    ) -> Result<(), RenderError> {
        self.token = 0;
        let (side, count) = (pass.side as usize, pass.frame.cascade_count as usize);
        if self.side != pass.side {
            (self.maps, self.side) = (Vec::new(), pass.side);
        }
        self.maps.truncate(count);
        while self.maps.len() < count {
            self.maps.push(zeroed("a shadow map", side * side)?);
        }
        let viewport = Viewport::new(pass.side, pass.side);
        for cascade in &pass.redrawn {
            let Some(map) = self.maps.get_mut(cascade.layer) else { continue };
            map.fill(0.0);
            let stage = VertexStage::new(&cascade.frame, true);
            rasterise(cascade.batches.iter(), bins, &stage, &viewport, |bins| {
                draw_bands(map, side, &viewport, |band| {
                    bins.iter().flat_map(move |bins| bins.of_band(band))
                });
            });
            let stage = TriangleStage::new(&cascade.frame, &viewport, textures);
            stage.rasterise(&cascade.batches, triangle_bins, |bins| {
                draw_bands(map, side, &viewport, |band| {
                    bins.iter().flat_map(move |bins| bins.of_band(band)).map(|(it, _)| it)
                });
            });
        }
        self.token = pass.token;
        Ok(())
    }

    /// The maps for reading.
    pub(super) fn sun(&self, frame: &ShadowFrame, sun_direction: [f32; 3]) -> Sun<'_> {
        Sun::new((&self.maps, self.side), frame, sun_direction)
    }
}

/// Stores the nearest depth of each texel.
fn draw_bands<'b, I: Iterator<Item = &'b Triangle>>(
    map: &mut [f32],
    side: usize,
    viewport: &Viewport,
    of_band: impl Fn(usize) -> I + Sync,
) {
    let mut bands: Vec<&mut [f32]> = map.chunks_mut(side * BAND_ROWS).collect();
    threads::for_each(&mut bands, |number, band| {
        let first = number * BAND_ROWS;
        let rows = first as i32..(first + band.len() / side) as i32;
        for triangle in of_band(number) {
            triangle.spans(viewport, &rows, |span| {
                let row = (span.y - first) * side;
                let texels = &mut band[row + span.xs.start..row + span.xs.end];
                for (i, depth) in (0i32..).zip(texels) {
                    *depth = depth.max(span.depth + span.depth_step * i as f32);
                }
            });
        }
    });
}
