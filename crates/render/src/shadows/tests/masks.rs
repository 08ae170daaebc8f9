//! Shadows of triangles whose textures have holes.

use super::*;
use crate::{Opacity, SurfaceMaterial, SurfaceTexture, TextureSet, TextureWrap};

/// A texture of 4 × 4 texels, every second one clear, for a material that masks it and for an opaque
/// one. Returns the numbers of the corners of each.
fn chequered() -> (TextureSet, [[u32; 4]; 2]) {
    let mut set = TextureSet::default();
    let texel =
        |at: usize| [60, 200, 60, if (at % 4 + at / 4).is_multiple_of(2) { 255 } else { 0 }];
    let image = set.add_image([4, 4], (0..16).flat_map(texel).collect()).unwrap();
    let base = SurfaceTexture { wrap: [TextureWrap::Clamp; 2], ..SurfaceTexture::new(image) };
    let corners = [Opacity::Mask(128), Opacity::Opaque].map(|opacity| {
        let material = SurfaceMaterial { base: Some(base), opacity, ..Default::default() };
        let material = set.add_material(material).unwrap();
        let uvs = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
        uvs.map(|uv| set.add_corner(uv, [255; 4], material).unwrap())
    });
    (set, corners)
}

/// Inserts a level square of 8 × 8 voxels, times the scale, at height 9.
fn insert(renderer: &mut dyn Renderer, numbers: [u32; 4], ([x, z], scale): ([i32; 2], f32)) {
    let places = [[0.0, 0.0], [0.0, 8.0], [8.0, 8.0], [8.0, 0.0]];
    let vertex = |(number, [x, z]): (u32, [f32; 2])| {
        TriangleVertex::with_corner([x, 0.0, z], [0.0, 1.0, 0.0], number)
    };
    let vertices: Vec<_> = numbers.into_iter().zip(places).map(vertex).collect();
    let mesh = TriangleMesh {
        vertices: &vertices,
        indices: &[0, 1, 2, 0, 2, 3],
        transform: TriangleTransform { origin: [x, 9, z], scale },
        layer: Layer::Opaque,
        is_textured: true,
    };
    renderer.insert_triangles(&mesh).unwrap();
}

/// Renderers of models on all devices, with these textures and a floor, and their names.
fn over_floor(test: &str, set: &TextureSet) -> Vec<(Box<dyn Renderer>, String)> {
    let mut all = soft();
    all.extend(on_gpus(test));
    all.retain(|renderer| !renderer.has_cubes());
    let with_floor = |mut renderer: Box<dyn Renderer>| {
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        renderer.output().set_textures(set).unwrap();
        floor(renderer.as_mut());
        (renderer, name)
    };
    all.into_iter().map(with_floor).collect()
}

/// Under the masked square the floor is lit where texels are clear; under the opaque one nowhere.
#[test]
fn masked_textures_cast_shadows_with_holes() {
    let (set, [masked, opaque]) = chequered();
    let mut view = view([24.0, 4.0, 62.0], 12.0);
    view.camera.turn_to(DVec3::new(24.0, 1.0, 16.0));
    view.atmosphere.sun_direction = Vec3::new(0.0, 1.0, 0.0);
    let mut expected: Option<Image> = None;
    for (mut renderer, name) in over_floor("masked_textures_cast_shadows_with_holes", &set) {
        let renderer = renderer.as_mut();
        insert(renderer, masked, ([6, 8], 2.0));
        insert(renderer, opaque, ([26, 8], 2.0));
        let seen = picture(renderer, &view);
        let open = picture(renderer, &View { shadows: false, ..view });
        for texel in 0..16u32 {
            let [column, row] = [texel % 4, texel / 4].map(|it| f64::from(4 * it + 2));
            let is_dark = |x: f64| {
                let point = [x + column, 1.0, 8.0 + row];
                at(&seen, &view, point)[0] + 20 < at(&open, &view, point)[0]
            };
            let is_opaque = (texel % 4 + texel / 4).is_multiple_of(2);
            assert_eq!(is_dark(6.0), is_opaque, "{name}: masked, texel {texel}");
            assert!(is_dark(26.0), "{name}: opaque, texel {texel}");
        }
        let expected = expected.get_or_insert_with(|| seen.clone());
        let seen = expected.difference(&seen, TOLERANCE).unwrap();
        let limit = EDGES * f64::from(SIZE[0] * SIZE[1]);
        assert!(f64::from(seen.pixels) <= limit && seen.away_from_edges <= 8, "{name}: {seen:?}");
    }
}

/// Holes let the light of the sky through from above.
#[test]
fn masked_textures_hide_sky_light_except_in_holes() {
    let (set, [masked, opaque]) = chequered();
    let mut view = view([16.0, 4.0, 62.0], 12.0);
    view.camera.turn_to(DVec3::new(16.0, 1.0, 16.0));
    (view.atmosphere.sun, view.shadows, view.sky_light) = (Vec3::ZERO, false, true);
    for (mut renderer, name) in over_floor("masked_textures_hide_sky_light_except_in_holes", &set) {
        let renderer = renderer.as_mut();
        let mut middle = |numbers, place| {
            insert(renderer, numbers, (place, 1.0));
            let seen = picture(renderer, &view);
            let [x, z] = place.map(|at| f64::from(at) + 4.0);
            at(&seen, &view, [x, 1.0, z])[0]
        };
        let [holes, solid] = [middle(masked, [6, 12]), middle(opaque, [22, 12])];
        assert!(holes > solid + 10, "{name}: {holes}, {solid}");
    }
}
