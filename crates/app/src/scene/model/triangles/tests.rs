use drystone_formats::ModelVertex;
use drystone_mesh::{Corner, VertexHandle};
use proptest::prelude::*;

use super::*;

/// Creates a model of polygons given by their corners' positions; equal ones share a vertex.
fn model_of(polygons: &[&[[f32; 3]]], normal: Option<[f32; 3]>, color: [u8; 4]) -> Model {
    let mut model = Model::default();
    let mut known: Vec<([f32; 3], VertexHandle)> = Vec::new();
    let mut handles = Vec::new();
    for &polygon in polygons {
        let corner = |&position: &[f32; 3]| {
            let shared = known.iter().find(|(at, _)| *at == position);
            let data = ModelVertex::new(normal);
            let new = Corner::New { position, uv: [0.0; 2], data };
            shared.map_or(new, |(_, vertex)| Corner::Shared(*vertex))
        };
        let corners: Vec<_> = polygon.iter().map(corner).collect();
        let handle = model.polygons.insert(&corners).unwrap();
        let vertices = model.polygons.corners(handle).unwrap();
        known.extend(vertices.map(|corner| (corner.position(), corner.vertex().unwrap())));
        handles.push(handle);
    }
    model.materials.push(ModelMaterial::new("", color));
    model.parts.push(ModelPart { polygons: handles, ..ModelPart::default() });
    model
}

const GREY: [u8; 4] = [128, 128, 128, 255];

/// Two squares at a right angle: a floor and a wall.
const BENT: [&[[f32; 3]]; 2] = [
    &[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
];

#[test]
fn flat_polygons_have_their_own_normals_and_smooth_ones_share() {
    let model = model_of(&BENT, None, GREY);
    let flat = ModelTriangles::new(&model, Shade::Flat).unwrap();
    assert_eq!((flat.vertex_count(), flat.triangle_count(), flat.polygon_count), (8, 4, 2));
    let normals: Vec<_> = flat.parts[0].vertices.iter().map(TriangleVertex::normal).collect();
    assert!(normals[..4].iter().all(|normal| *normal == [0.0, 1.0, 0.0]), "{normals:?}");
    assert!(normals[4..].iter().all(|normal| *normal == [0.0, 0.0, 1.0]), "{normals:?}");
    let smooth = ModelTriangles::new(&model, Shade::Smooth).unwrap();
    assert_eq!((smooth.vertex_count(), smooth.triangle_count()), (6, 4));
    let at_the_bend = smooth.parts[0].vertices[0].normal();
    let half = 0.5f32.sqrt();
    let off = glam::Vec3::from(at_the_bend) - glam::Vec3::new(0.0, half, half);
    assert!(off.length() < 1e-4, "{at_the_bend:?}");
}

#[test]
fn normals_of_the_file_are_used_and_set_the_winding() {
    let down = Some([0.0, -1.0, 0.0]);
    let floor = &BENT[..1];
    let up = ModelTriangles::new(&model_of(floor, None, GREY), Shade::Smooth).unwrap();
    let turned = ModelTriangles::new(&model_of(floor, down, GREY), Shade::Smooth).unwrap();
    assert!(turned.parts[0].vertices.iter().all(|it| it.normal()[1] < -0.9999));
    let mut wound: Vec<u32> = turned.parts[0].indices.clone();
    wound.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
    assert_eq!(wound, up.parts[0].indices);
    // Flat shading ignores the file's normals.
    let flat = ModelTriangles::new(&model_of(floor, down, GREY), Shade::Flat).unwrap();
    assert!(flat.parts[0].vertices.iter().all(|it| it.normal() == [0.0, 1.0, 0.0]));
}

#[test]
fn translucent_materials_are_blended() {
    let layer = |opacity| {
        let model = model_of(&BENT, None, [1, 2, 3, opacity]);
        let cut = ModelTriangles::new(&model, Shade::Flat).unwrap();
        assert!(cut.parts[0].vertices.iter().all(|vertex| vertex.color == [1, 2, 3, opacity]));
        cut.parts[0].layer
    };
    assert_eq!([255, 254, 0].map(layer), [Layer::Opaque, Layer::Blended, Layer::Blended]);
    let empty = ModelTriangles::new(&Model::default(), Shade::Smooth).unwrap();
    assert!(empty.parts.is_empty());
}

proptest! {
    /// The triangles of any star, with either shading, have its area together and its orientation.
    #[test]
    fn triangles_cover_polygons_that_are_not_convex(
        radii in prop::collection::vec(0.1..9.0f64, 3..24),
        smooth in any::<bool>(),
    ) {
        let count = radii.len() as f64;
        let corners: Vec<[f32; 3]> = radii.iter().enumerate().map(|(n, radius)| {
            let (sin, cos) = (n as f64 / count * std::f64::consts::TAU).sin_cos();
            [(radius * cos) as f32, (radius * sin) as f32, 3.0]
        }).collect();
        let shade = if smooth { Shade::Smooth } else { Shade::Flat };
        let model = model_of(&[&corners], None, GREY);
        let whole = area_vector(&model, model.parts[0].polygons[0]).unwrap();
        let cut = ModelTriangles::new(&model, shade).unwrap();
        let part = &cut.parts[0];
        let at = |n: u32| {
            DVec3::from(part.vertices[n as usize].position.map(f64::from))
        };
        let areas: Vec<f64> = part.indices.chunks_exact(3).map(|it| {
            (at(it[1]) - at(it[0])).cross(at(it[2]) - at(it[0])).z
        }).collect();
        prop_assert_eq!(areas.len(), corners.len() - 2);
        prop_assert!(areas.iter().all(|area| *area > -1e-6), "{:?}", areas);
        let sum: f64 = areas.iter().sum();
        prop_assert!((sum - whole.z).abs() < 1e-4 * whole.z, "{} {}", sum, whole.z);
    }
}
