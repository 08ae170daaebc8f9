//! The polygon models that every renderer and backend must draw alike.

use std::collections::HashMap;

use drystone::scene::{self, ModelTriangles, Shade};
use drystone_formats::{
    AlphaMode, Model, ModelImage, ModelMaterial, ModelOptions, ModelPart, ModelTexture,
    ModelVertex, Wrap,
};
use drystone_mesh::{Corner, VertexHandle};
use drystone_render::{Camera, Projection, View};
use glam::DVec3;

/// Model, its shading, and its views.
pub(crate) struct ModelCase {
    pub(crate) name: String,
    pub(crate) model: ModelTriangles,
    pub(crate) views: Vec<View>,
}

/// Returns all cases; those of real files are left out without `DRYSTONE_DATA`.
pub(crate) fn model_cases() -> Vec<ModelCase> {
    let mut models = vec![
        ("shapes", shapes(1.0)),
        ("tiny", shapes(1e-4)),
        ("huge", shapes(1e5)),
        ("sheet", sheet()),
        ("glass", glass()),
        ("textured", textured()),
        ("nothing", Model::default()),
    ];
    for name in ["spot.obj", "suzanne.obj"] {
        if let Some(path) = crate::program::data(name) {
            models.push((name, Model::open(&path, &ModelOptions::default()).unwrap()));
        }
    }
    let shades = [("flat", Shade::Flat), ("smooth", Shade::Smooth)];
    let cases = models.iter().flat_map(|(name, model)| {
        shades.map(|(how, shade)| case(format!("{name}-{how}"), model, shade))
    });
    cases.collect()
}

/// Returns a case with the default view, views from behind and below, orthographic and from inside;
/// each with lines and without.
fn case(name: String, model: &Model, shade: Shade) -> ModelCase {
    let model = ModelTriangles::new(model, shade).unwrap();
    let (min, max) = model.transform.corners();
    let default_view = scene::default_view_of_model((min, max), 4.0 / 3.0);
    let fit = |direction: [f64; 3], projection| {
        let direction = DVec3::from(direction).normalize();
        View::new(Camera::fit_from(direction, min, max, projection, 4.0 / 3.0))
    };
    let mut views = vec![
        View { atmosphere: default_view.atmosphere, ..View::new(default_view.camera) },
        fit([-0.7, -0.4, -0.6], Projection::Perspective { fov_y: 0.9 }),
        fit([1.0, 0.2, -0.3], Projection::Orthographic { height_voxels: 1.0 }),
        View::new(Camera::look_at(DVec3::new(0.3, 0.7, -0.2), max + DVec3::new(1.0, -2.0, 0.5))),
    ];
    // Views with lines along edges.
    views.extend_from_within(..);
    views[4..].iter_mut().for_each(|view| view.wire = true);
    ModelCase { name, model, views }
}

/// Adds a part of polygons of one colour, which share their vertices.
fn add(model: &mut Model, color: [u8; 4], polygons: &[Vec<[f32; 3]>]) {
    let mut known: HashMap<[u32; 3], VertexHandle> = HashMap::new();
    let insert = |corners: &Vec<[f32; 3]>| {
        let data = ModelVertex::default();
        let corner = |&position: &[f32; 3]| match known.get(&position.map(f32::to_bits)) {
            Some(&vertex) => Corner::Shared(vertex),
            None => Corner::New { position, uv: [0.0; 2], data },
        };
        let corners: Vec<_> = corners.iter().map(corner).collect();
        let polygon = model.polygons.insert(&corners).unwrap();
        for corner in model.polygons.corners(polygon).unwrap() {
            known.insert(corner.position().map(f32::to_bits), corner.vertex().unwrap());
        }
        polygon
    };
    let polygons = polygons.iter().map(insert).collect();
    model.parts.push(ModelPart { name: String::new(), material: model.materials.len(), polygons });
    model.materials.push(ModelMaterial::new("", color));
}

/// Returns a prism over an outline: both ends and the sides between them.
fn prism(outline: &[[f32; 2]], [low, high]: [f32; 2], scale: f32) -> Vec<Vec<[f32; 3]>> {
    let at = |n: usize, z: f32| {
        let [x, y] = outline[n % outline.len()];
        [x * scale, y * scale, z * scale]
    };
    let count = outline.len();
    let mut polygons: Vec<Vec<[f32; 3]>> = (0..count)
        .map(|n| vec![at(n, low), at(n + 1, low), at(n + 1, high), at(n, high)])
        .collect();
    polygons.push((0..count).map(|n| at(n, high)).collect());
    polygons.push((0..count).rev().map(|n| at(n, low)).collect());
    polygons
}

/// An L, a star of many points and a comb: n-gons that are not convex.
fn shapes(scale: f32) -> Model {
    let mut model = Model::default();
    let l = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 4.0], [0.0, 4.0]];
    add(&mut model, [200, 70, 50, 255], &prism(&l, [0.0, 1.0], scale));
    let star: Vec<[f32; 2]> = (0..22)
        .map(|n| {
            let (sin, cos) = (n as f32 / 22.0 * std::f32::consts::TAU).sin_cos();
            let radius = if n % 2 == 0 { 2.0 } else { 0.8 };
            [6.0 + radius * cos, 2.0 + radius * sin]
        })
        .collect();
    add(&mut model, [60, 140, 80, 255], &prism(&star, [-0.5, 0.7], scale));
    let mut comb = vec![[-5.0, 0.0], [-1.0, 0.0]];
    for tooth in 0..4 {
        let x = -1.0 - tooth as f32;
        comb.extend([[x, 4.0], [x - 0.5, 4.0], [x - 0.5, 1.0], [x - 1.0, 1.0]]);
    }
    comb.pop();
    add(&mut model, [70, 90, 190, 255], &prism(&comb, [-2.0, 0.3], scale));
    model
}

/// A wavy sheet, open on all sides, so that its back is visible too.
fn sheet() -> Model {
    let at = |x: i32, z: i32| {
        let (x, z) = (x as f32 / 4.0, z as f32 / 4.0);
        [x, (x * 1.3).sin() + (z * 0.9).cos(), z]
    };
    let cells = (-8..8).flat_map(|x| (-8..8).map(move |z| (x, z)));
    let quads: Vec<_> =
        cells.map(|(x, z)| vec![at(x, z), at(x, z + 1), at(x + 1, z + 1), at(x + 1, z)]).collect();
    let mut model = Model::default();
    add(&mut model, [220, 180, 60, 255], &quads);
    model
}

/// Walls with an image, holes, glass, emitted light and colours of vertices, one behind the other,
/// beside a plain wall.
fn textured() -> Model {
    let mut model = Model::default();
    let rgba = (0..64_u32)
        .flat_map(|n| [n * 37 % 256, n * 91 % 256, 40 + n * 3, 255 - n % 3 * 120].map(|c| c as u8))
        .collect();
    model.images.push(ModelImage { size: [16, 4], rgba });
    let texture = ModelTexture {
        image: 0,
        wrap: [Wrap::Repeat, Wrap::Mirror],
        transform: [[1.2, 0.3, 0.1], [-0.3, 2.0, -0.4]],
    };
    let plain = ModelMaterial::new("", [255, 240, 220, 255]);
    let image = ModelMaterial { base_texture: Some(texture), ..plain.clone() };
    let clamp = ModelTexture { wrap: [Wrap::Clamp; 2], ..texture };
    let materials = [
        image.clone(),
        ModelMaterial { alpha: AlphaMode::Mask { cutoff: 130 }, ..image.clone() },
        ModelMaterial { alpha: AlphaMode::Blend, color: [255, 255, 255, 200], ..image.clone() },
        ModelMaterial { emissive: [200, 90, 30], emissive_texture: Some(clamp), ..plain.clone() },
        ModelMaterial { is_unlit: true, ..image },
        plain,
    ];
    for (number, material) in (0..).zip(materials) {
        let (x, z) = (0.7 * number as f32, -0.8 * number as f32);
        let corner = |[u, v]: [f32; 2]| {
            let color = [255, (u * 200.0) as u8 + 55, 255, 255];
            let data =
                ModelVertex::default().with_color(if number == 4 { color } else { [255; 4] });
            Corner::New { position: [x + 2.0 * u, 2.0 * v, z + 0.4 * u], uv: [u, v], data }
        };
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(corner);
        let polygon = model.polygons.insert(&corners).unwrap();
        let (name, polygons) = (String::new(), vec![polygon]);
        model.parts.push(ModelPart { name, material: number as usize, polygons });
        model.materials.push(material);
    }
    model
}

/// Panes of two colours around a solid body.
fn glass() -> Model {
    let mut model = Model::default();
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    add(&mut model, [200, 60, 50, 255], &prism(&square, [-1.0, 1.0], 1.0));
    for (z, color) in [(2.0, [80, 160, 250, 90]), (-2.5, [250, 200, 60, 140])] {
        let corner = |[x, y]: [f32; 2]| [x * 3.0, y * 3.0, z];
        add(&mut model, color, &[square.map(corner).to_vec()]);
    }
    model
}
