//! Shadows of quads in sixteenths of a voxel, such as the slabs and fences of Minecraft.

use super::*;

/// The faces of a board of 4 × 4 voxels, a sixteenth of a voxel thick, at a position in voxels.
fn board([x, y, z]: [u32; 3]) -> Parts {
    let low = [x, y, z].map(|at| 16 * at);
    let size = [64, 1, 64];
    let face = |face: Face| {
        let axis = face.axis();
        let mut position = low;
        position[axis] += if face.is_positive() { size[axis] - 1 } else { 0 };
        Quad::fine(position, [size[(axis + 1) % 3], size[(axis + 2) % 3]], face, 1)
    };
    (Face::ALL.map(face), [1; 6])
}

/// Quads, and their number for each face direction.
type Parts = ([Quad; 6], [u32; 6]);

fn mesh((quads, counts): &Parts) -> MeshData<'_> {
    let draw_data = DrawData { extent: 64, ..DrawData::default() };
    MeshData { quads, counts: *counts, draw_data, layer: Layer::Opaque }
}

/// A board casts the shadow of its size, alike in every renderer on every device. The shadow follows
/// when the mesh is replaced, and goes with it.
#[test]
fn shapes_cast_shadows() {
    let mut view = view([20.0, 24.0, 46.0], 12.0);
    view.atmosphere.sun_direction = Vec3::new(0.0, 1.0, 0.0);
    let mut all = soft();
    all.extend(on_gpus("shapes_cast_shadows"));
    for mut renderer in all {
        let renderer = renderer.as_mut();
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        floor(renderer);
        let open = picture(renderer, &view);
        let is_dark = |picture: &Image, [x, z]: [f64; 2]| {
            let [seen, lit] = [picture, &open].map(|it| at(it, &view, [x, 1.0, z])[0]);
            seen + 20 < lit
        };
        // The board hides none of these points from the camera.
        let boards = [board([18, 9, 14]), board([10, 9, 14])];
        let id = renderer.insert(&mesh(&boards[0])).unwrap();
        let seen = picture(renderer, &view);
        let points = [[19.4, 15.4], [20.6, 16.6], [20.0, 16.0]];
        assert!(points.iter().all(|point| is_dark(&seen, *point)), "{name}");
        let beside = [[16.4, 16.0], [23.6, 16.0], [20.0, 19.6]];
        assert!(beside.iter().all(|point| !is_dark(&seen, *point)), "{name}");
        renderer.replace(id, &mesh(&boards[1])).unwrap();
        let seen = picture(renderer, &view);
        assert!(points.iter().all(|point| !is_dark(&seen, *point)), "{name}: replaced");
        assert!(is_dark(&seen, [12.0, 16.0]), "{name}: replaced");
        renderer.remove(id).unwrap();
        assert!(picture(renderer, &view) == open, "{name}: removed");
    }
}

/// Shapes cover the ground below them from the light of the sky.
#[test]
fn shapes_hide_sky_light() {
    let mut view = view([20.0, 24.0, 46.0], 12.0);
    (view.atmosphere.sun, view.shadows, view.sky_light) = (Vec3::ZERO, false, true);
    for mut renderer in soft() {
        let renderer = renderer.as_mut();
        floor(renderer);
        let open = picture(renderer, &view);
        let board = board([18, 3, 14]);
        renderer.insert(&mesh(&board)).unwrap();
        let seen = picture(renderer, &view);
        let [below, before] = [&seen, &open].map(|it| at(it, &view, [20.0, 1.0, 16.4])[0]);
        assert!(below + 10 < before, "{}: {below}, {before}", renderer.name());
    }
}
