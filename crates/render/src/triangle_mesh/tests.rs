use super::*;

fn mesh<'a>(vertices: &'a [TriangleVertex], indices: &'a [u32], scale: f32) -> TriangleMesh<'a> {
    let transform = TriangleTransform { origin: [10, 20, -30], scale };
    TriangleMesh { vertices, indices, transform, layer: Layer::Opaque, is_textured: false }
}

fn at(position: [f32; 3]) -> TriangleVertex {
    TriangleVertex::new(position, [0.0, 1.0, 0.0], [255; 4])
}

#[test]
fn bounds_hold_every_vertex() {
    let vertices = [at([-0.6, 0.0, 1.0]), at([0.6, 0.9, 3.0]), at([0.0; 3])];
    let bounds = mesh(&vertices, &[0, 1, 2], 2.0).bounds().unwrap();
    // 4 x 2 x 7 voxels starting at 8, 20, -30, in the middle of a cube.
    assert_eq!((bounds.origin, bounds.extent), ([7, 18, -30], 7));
    let huge = [at([f32::MIN, 0.0, 0.0]), at([f32::MAX, 0.0, 0.0])];
    let bounds = mesh(&huge, &[], 9.0).bounds().unwrap();
    assert_eq!((bounds.origin, bounds.extent), ([i32::MIN; 3], u32::MAX));
    assert_eq!(mesh(&[], &[], 1.0).bounds().unwrap().extent, 0);
}

#[test]
fn a_large_pane_does_not_sort_before_a_small_one_in_front() {
    let pane = |side: f32, z: f32| {
        let low = 50.0 - side / 2.0;
        [[0.0, 0.0], [side, 0.0], [0.0, side], [side; 2]].map(|[x, y]| at([low + x, low + y, z]))
    };
    let middle_z = |vertices: [TriangleVertex; 4]| {
        let DrawData { origin, extent, .. } = mesh(&vertices, &[], 1.0).bounds().unwrap();
        f64::from(origin[2] + 30) + f64::from(extent) / 2.0
    };
    for (side, z) in [(100.0, 0.0), (20.0, 20.0), (7.0, -3.0)] {
        let middle = middle_z(pane(side, z));
        assert!((middle - f64::from(z)).abs() <= 1.5, "{side} {z}: {middle}");
    }
}

#[test]
fn invalid_triangle_meshes_are_refused() {
    let good = [at([0.0; 3]), at([1.0; 3]), at([2.0, 0.0, 0.0])];
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(mesh(&good, &[], scale).bounds().is_err());
    }
    assert!(mesh(&good, &[0, 1], 1.0).bounds().is_err());
    let error = mesh(&good, &[0, 1, 3], 1.0).bounds().unwrap_err();
    assert!(matches!(error, RenderError::Pool(PoolError::NoSuchVertex { index: 3, .. })));
    for number in [f32::NAN, f32::NEG_INFINITY] {
        let error = mesh(&[at([0.0, number, 0.0])], &[], 1.0).bounds().unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
    }
}
