//! Pixels of triangles, which are coloured as they are drawn.

use super::{
    super::{
        facet::{Facet, Lamp},
        textures::Textures,
        threads,
        triangles::TriangleBins,
    },
    Band, Layer, SHADED, Sampled, Shader, Span, Target, Viewport, center, over, packed,
};

/// Data for colouring the pixels of triangles.
type Light<'a> = (&'a Shader<'a>, &'a Lamp, &'a Textures);

impl Target {
    /// Colours each pixel with the nearest of the triangles, unless it is hidden; of equally near
    /// ones with the last.
    pub(in crate::soft) fn draw_triangles(
        &mut self,
        bins: &[TriangleBins],
        viewport: &Viewport,
        light: Light<'_>,
    ) {
        if let Some(sampled) = &mut self.sampled {
            return draw_samples(sampled, Layer::Opaque, (bins, viewport), light);
        }
        threads::for_each(&mut self.bands(), |_, band| {
            band.for_each_facet(bins, viewport, |band, span, facet| {
                band.draw_facet(&span, facet, light);
            });
        });
    }

    /// Blends the triangles over the picture in order, except behind nearer surfaces.
    pub(in crate::soft) fn blend_triangles(
        &mut self,
        bins: &[TriangleBins],
        viewport: &Viewport,
        light: Light<'_>,
    ) {
        if let Some(sampled) = &mut self.sampled {
            return draw_samples(sampled, Layer::Blended, (bins, viewport), light);
        }
        threads::for_each(&mut self.bands(), |_, band| {
            band.for_each_facet(bins, viewport, |band, span, facet| {
                band.blend_facet(&span, facet, light);
            });
        });
    }
}

/// Draws the triangles of models into samples.
fn draw_samples(
    sampled: &mut Sampled,
    layer: Layer,
    (bins, viewport): (&[TriangleBins], &Viewport),
    (shader, lamp, textures): Light<'_>,
) {
    sampled.draw(
        (viewport, layer),
        |band| bins.iter().flat_map(move |bins| bins.of_band(band)),
        |at, depth, facet| shader.facet((at, depth), facet, (lamp, textures)),
    );
}

impl Band<'_> {
    /// Calls `fill` with the pixels of each triangle that touches the band, in order.
    fn for_each_facet(
        &mut self,
        bins: &[TriangleBins],
        viewport: &Viewport,
        mut fill: impl FnMut(&mut Self, Span, &Facet),
    ) {
        let (rows, number) = (self.rows(), self.number);
        for (triangle, facet) in bins.iter().flat_map(|bins| bins.of_band(number)) {
            triangle.spans(viewport, &rows, |span| fill(self, span, facet));
        }
    }

    fn draw_facet(&mut self, span: &Span, facet: &Facet, (shader, lamp, textures): Light<'_>) {
        let first = self.pixels(span).start;
        for (i, x) in span.xs.clone().enumerate() {
            let depth = span.depth + span.depth_step * i as f32;
            if depth >= self.depths[first + i] {
                let at = (center(x, span.y), depth);
                let Some(seen) = shader.facet(at, facet, (lamp, textures)) else { continue };
                self.depths[first + i] = depth;
                self.kinds[first + i] = SHADED;
                self.colors[first + i] = packed(seen);
            }
        }
    }

    fn blend_facet(&mut self, span: &Span, facet: &Facet, (shader, lamp, textures): Light<'_>) {
        let first = self.pixels(span).start;
        for (i, x) in span.xs.clone().enumerate() {
            let depth = span.depth + span.depth_step * i as f32;
            if depth >= self.depths[first + i] {
                let at = (center(x, span.y), depth);
                let Some(seen) = shader.facet(at, facet, (lamp, textures)) else { continue };
                let color = &mut self.colors[first + i];
                *color = over(seen, *color);
            }
        }
    }
}
