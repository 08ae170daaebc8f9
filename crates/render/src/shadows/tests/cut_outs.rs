//! Shadows of quads whose textures have holes.

use super::*;
use crate::{MaterialLook, QuadTextures};

/// Material of the plate.
const LEAVES: u16 = 3;
/// Rows of 4 × 4 texels without symmetry. Bits that are 0 are holes.
const LEAF: [u8; 4] = [0b1011, 0b0110, 0b1001, 0b0111];

/// Appearances of the materials. [`LEAVES`] has a texture.
struct Looks {
    solid: Vec<MaterialLook>,
    cut_out: Vec<MaterialLook>,
    textures: QuadTextures,
}

impl Looks {
    fn new(side: u32, is_leaf: impl Fn(u32, u32) -> bool) -> Self {
        let mut textures = QuadTextures::default();
        let texel = |at| [60, 200, 60, if is_leaf(at % side, at / side) { 255 } else { 0 }];
        let number = textures.add(side, (0..side * side).flat_map(texel).collect());
        let plain = PALETTE.map(MaterialLook::new);
        let leaves = MaterialLook::new([255; 4]).with_textures([number; 6]);
        let with = |leaves| plain.into_iter().chain([leaves]).collect();
        Self { solid: with(leaves), cut_out: with(leaves.with_cut_out()), textures }
    }

    fn set(&self, renderer: &mut dyn Renderer, has_holes: bool) {
        let looks = if has_holes { &self.cut_out } else { &self.solid };
        renderer.set_textured_materials(looks, &self.textures).unwrap();
    }
}

/// Whether a texel is opaque. The pattern repeats after four texels.
fn is_leaf(column: u32, row: u32) -> bool {
    LEAF[row as usize % 4] >> (3 - column % 4) & 1 != 0
}

/// Every fourth texel is opaque. By their mean opacity all would be holes.
fn is_sparse_leaf(column: u32, row: u32) -> bool {
    (column + row).is_multiple_of(4)
}

/// All renderers on all devices over a floor, and their names.
fn over_floor(test: &str) -> Vec<(Box<dyn Renderer>, String)> {
    let mut all = soft();
    all.extend(on_gpus(test));
    let with_floor = |mut renderer: Box<dyn Renderer>| {
        floor(renderer.as_mut());
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        (renderer, name)
    };
    all.into_iter().map(with_floor).collect()
}

/// A view of the floor between 10, 14 and 14, 18, which a plate above shades but does not hide. Texels of
/// its shadow maps are a tenth of a voxel large.
fn below_plate() -> View {
    let mut view = view([12.0, 18.0, 24.0], 12.0);
    view.camera.turn_to(DVec3::new(12.0, 1.0, 16.0));
    view.camera.projection = Projection::Perspective { fov_y: 0.5 };
    view.camera.depth_range = [8.0, 26.0];
    view.atmosphere.sun_direction = Vec3::new(0.0, 1.0, 0.0);
    view
}

/// Voxels of leaves above the floor.
fn plate() -> Voxels {
    Voxels::filled([10, 20, 14], [4, 1, 4])
}

/// The plate with one quad for each face direction.
fn merged_plate() -> ([Quad; 6], [u32; 6]) {
    let quad = |face: Face| {
        let size = face.span_axes().map(|axis| if axis == 1 { 1 } else { 4 });
        let mut position = [10, 20, 14];
        if face.is_positive() && face.axis() != 1 {
            position[face.axis()] += 3;
        }
        Quad::new(position, size, face, LEAVES)
    };
    (Face::ALL.map(quad), [1; 6])
}

/// Asserts that pictures differ at most at edges.
fn assert_like(want: &Image, seen: &Image, name: &str) {
    let seen = want.difference(seen, TOLERANCE).unwrap();
    let limit = EDGES * f64::from(SIZE[0] * SIZE[1]);
    assert!(f64::from(seen.pixels) <= limit && seen.away_from_edges <= 8, "{name}: {seen:?}");
}

/// Below each texel of the plate the floor is lit if it is a hole, with one quad for each voxel and with
/// merged quads, alike on all devices. Shadows follow when materials change.
#[test]
fn holes_of_quads_are_lit() {
    let (view, looks) = (below_plate(), Looks::new(4, is_leaf));
    let mut expected: Option<Image> = None;
    for (mut renderer, name) in over_floor("holes_of_quads_are_lit") {
        let renderer = renderer.as_mut();
        looks.set(renderer, false);
        let id = plate().insert_in(renderer, ([0; 3], 0), (LEAVES, Layer::Opaque));
        let open = picture(renderer, &View { shadows: false, ..view });
        let dark = picture(renderer, &view);
        looks.set(renderer, true);
        let seen = picture(renderer, &view);
        for (voxel, texel) in (0..16u32).flat_map(|it| (0..16u32).map(move |texel| (it, texel))) {
            let [column, row] = [texel % 4, texel / 4];
            let [x, z] = [(voxel % 4, column), (voxel / 4, row)]
                .map(|(voxel, texel)| f64::from(voxel) + (f64::from(texel) + 0.5) / 4.0);
            let light = |image: &Image| u32::from(at(image, &view, [10.0 + x, 1.0, 14.0 + z])[0]);
            let [open, dark, seen] = [&open, &dark, &seen].map(light);
            assert!(dark + 40 < open, "{name}: {dark}, {open} below solid leaves");
            let is_lit = 2 * seen > open + dark;
            assert_eq!(is_lit, !is_leaf(column, row), "{name}: {voxel}, {column}, {row}: {seen}");
        }
        let expected = expected.get_or_insert_with(|| seen.clone());
        assert_like(expected, &seen, &name);
        renderer.remove(id).unwrap();
        let (quads, counts) = merged_plate();
        let draw_data = DrawData { extent: 64, ..DrawData::default() };
        let mesh = MeshData { quads: &quads, counts, draw_data, layer: Layer::Opaque };
        renderer.insert(&mesh).unwrap();
        let merged = picture(renderer, &view);
        assert_like(&seen, &merged, &format!("{name}, merged"));
        looks.set(renderer, false);
        assert_like(&dark, &picture(renderer, &view), &format!("{name}, solid again"));
    }
}

/// A scene in light of the sun that comes from the side, with holes that the camera sees too.
#[test]
fn leaves_have_the_same_shadows_on_every_device() {
    let mut all = over_floor("leaves_have_the_same_shadows_on_every_device");
    let looks = Looks::new(4, is_leaf);
    let mut scene = Voxels::filled([16, 9, 16], [7, 5, 7]);
    scene.0.extend(Voxels::filled([8, 1, 20], [3, 4, 6]).0);
    for (renderer, _) in &mut all {
        looks.set(renderer.as_mut(), true);
        scene.insert_in(renderer.as_mut(), ([0; 3], 0), (LEAVES, Layer::Opaque));
        Voxels::filled([18, 1, 18], [2, 9, 2]).insert(renderer.as_mut(), [0; 3]);
    }
    for hour in [9.0, 14.0] {
        let mut view = View { sky_light: true, ..view([2.0, 12.0, 38.0], hour) };
        view.camera.depth_range = [16.0, 60.0];
        let mut expected: Option<Image> = None;
        for (renderer, name) in &mut all {
            let seen = picture(renderer.as_mut(), &view);
            #[cfg(feature = "png")]
            if let Some(folder) = std::env::var_os("DRYSTONE_KEEP_PICTURES") {
                let file = format!("leaves-{hour}-{}.png", renderer.name());
                seen.save_png(&std::path::Path::new(&folder).join(file)).unwrap();
            }
            let expected = expected.get_or_insert_with(|| seen.clone());
            println!("{name}, {hour} h: {:?}", expected.difference(&seen, TOLERANCE));
            assert_like(expected, &seen, name);
        }
    }
}

/// Holes are closed in maps whose texels span at least four of theirs.
#[test]
fn small_holes_cast_solid_shadows() {
    let (view, looks) = (below_plate(), Looks::new(64, is_sparse_leaf));
    for (mut renderer, name) in over_floor("small_holes_cast_solid_shadows") {
        let renderer = renderer.as_mut();
        plate().insert_in(renderer, ([0; 3], 0), (LEAVES, Layer::Opaque));
        let [solid, holes] = [false, true].map(|has_holes| {
            looks.set(renderer, has_holes);
            picture(renderer, &view)
        });
        assert_eq!(solid.difference(&holes, TOLERANCE).unwrap().pixels, 0, "{name}");
    }
}

/// Texels of maps of the sky are half a voxel large. Below holes of that size there is light of the sky,
/// below leaves with smaller holes there is as much as below solid ones.
#[test]
fn only_large_holes_let_sky_light_through() {
    let mut view = below_plate();
    (view.atmosphere.sun, view.shadows, view.sky_light) = (Vec3::ZERO, false, true);
    for (mut renderer, name) in over_floor("only_large_holes_let_sky_light_through") {
        let renderer = renderer.as_mut();
        let roof = Voxels::filled([4, 20, 8], [16, 1, 16]);
        roof.insert_in(renderer, ([0; 3], 0), (LEAVES, Layer::Opaque));
        let mut with = |looks: &Looks, has_holes| {
            looks.set(renderer, has_holes);
            picture(renderer, &view)
        };
        let large = Looks::new(2, |column, row| column == row);
        let small = Looks::new(16, is_sparse_leaf);
        let [solid, small, large] = [with(&small, false), with(&small, true), with(&large, true)];
        assert_eq!(solid.difference(&small, TOLERANCE).unwrap().pixels, 0, "{name}");
        let [solid, large] = [solid, large].map(|it| at(&it, &view, [12.0, 1.0, 16.0])[0]);
        assert!(large > solid + 10, "{name}: {large}, {solid}");
    }
}
