use drystone_mesh::Face;

use super::*;
use crate::ShapeBox;

/// Face colours that equal the colour are not stored.
#[test]
fn each_face_direction_has_its_colour_and_the_common_opacity() {
    let plain = MaterialKind::new("plain", [1, 2, 3, 40]);
    assert!(Face::ALL.into_iter().all(|face| plain.face_color(face) == [1, 2, 3, 40]));
    assert_eq!(plain.clone().with_faces([[1, 2, 3]; 6]), plain);
    let faces: [[u8; 3]; 6] = core::array::from_fn(|face| [face as u8 * 9, 7, 8]);
    let cube = plain.with_faces(faces).with_emission(9);
    for face in Face::ALL {
        assert_eq!(cube.face_color(face), [face.index() as u8 * 9, 7, 8, 40]);
    }
    let mut table = MaterialTable::new();
    let number = table.insert_kind(cube.clone()).unwrap();
    assert!(table.is_translucent(number) && table.get(number) == Some(&cube));
}

#[test]
fn partial_materials_have_the_properties_of_whole_ones() {
    let mut table = MaterialTable::new();
    let all: Vec<Material> = (0..300_u16)
        .map(|id| table.insert("any", [1, 2, 3, if id % 3 == 0 { 90 } else { 255 }]).unwrap())
        .collect();
    let mut numbers = alloc::collections::BTreeSet::new();
    for &material in &all {
        let is_translucent = table.is_translucent(material);
        assert_eq!((table.whole(material), table.fill_cells(material)), (material, 16));
        for cells in 1..16 {
            let partial = table.filled_to(material, cells);
            assert_eq!(partial != material, is_translucent);
            assert_eq!(table.fill_cells(partial), if is_translucent { cells } else { 16 });
            assert_eq!(table.whole(partial), material);
            assert_eq!(table.get(partial), table.get(material));
            assert_eq!(table.is_translucent(partial), is_translucent);
            assert_eq!(table.filled_to(partial, 16), material);
            assert!(!is_translucent || table.is_one_body(partial, material));
            assert!(!is_translucent || numbers.insert(partial));
        }
    }
    assert!(!table.is_translucent(Material(FIRST_PARTIAL)));
    assert!(
        table.get(Material(FIRST_PARTIAL)).is_none() && table.get(Material(u16::MAX)).is_none()
    );
    let clear = all[0];
    while table.len() <= usize::from(FIRST_PARTIAL) {
        assert_ne!(table.filled_to(clear, 8), clear);
        table.insert("opaque", [1, 2, 3, 255]).unwrap();
    }
    assert_eq!(table.filled_to(clear, 8), clear);
    assert!((FIRST_PARTIAL..=u16::MAX).all(|id| !table.is_translucent(Material(id))));
}

#[test]
fn only_shapes_have_a_fluid_around_them_and_thin_ones_are_replaced_by_it() {
    let shape = |max, kind| Shape::new(vec![ShapeBox { min: [0; 3], max }], kind).unwrap();
    let mut table = MaterialTable::new();
    let mut insert = |kind| table.insert_kind(kind).unwrap();
    let new = || MaterialKind::new("any", [1, 2, 3, 255]);
    let stone = insert(new());
    let water = insert(new().with_shape(shape([16, 14, 16], ShapeKind::Fluid)));
    let drop = insert(new().with_shape(shape([2, 2, 2], ShapeKind::Fluid)));
    let plant = shape([16, 9, 1], ShapeKind::Opaque);
    let slab = shape([16, 8, 16], ShapeKind::Opaque);
    let mut around =
        |shape: &Shape, fluid| insert(new().with_shape(shape.clone()).with_fluid(fluid));
    let [wet_plant, wet_slab] = [&plant, &slab].map(|shape| around(shape, water));
    let wrong = [stone, Material::AIR, wet_plant, Material(999)].map(|it| around(&plant, it));
    let in_drop = around(&plant, drop);
    let cube = insert(new().with_fluid(water));
    let fluids = [wet_plant, wet_slab, water, drop, in_drop].map(|it| table.fluid(it));
    assert_eq!(fluids, [water, water, water, drop, drop].map(Some));
    for material in [stone, cube, Material::AIR, Material(999)].into_iter().chain(wrong) {
        assert_eq!(table.fluid(material), None, "{material:?}");
    }
    let lod = [wet_plant, wet_slab, water, drop, in_drop, wrong[3], stone];
    let expected = [water, wet_slab, water, Material::AIR, Material::AIR, Material::AIR, stone];
    assert_eq!(lod.map(|it| table.without_thin(it)), expected);
}

#[test]
fn a_full_table_returns_none_and_keeps_its_content() {
    let mut table = MaterialTable::new();
    for id in 1..=u16::MAX {
        assert_eq!(table.insert("", [0, 0, 0, (id % 256) as u8]), Some(Material(id)));
    }
    assert_eq!(table.insert("one more", [0; 4]), None);
    assert_eq!(table.len(), 1 << 16);
    assert!(table.is_translucent(Material(u16::MAX - 1)));
    assert!(!table.is_translucent(Material(u16::MAX)));
}

#[test]
fn cut_out_materials_cover_nothing() {
    let mut table = MaterialTable::new();
    let kind = |opacity| MaterialKind::new("leaves", [1, 2, 3, opacity]).with_cut_out();
    assert!(!table.any_cut_out());
    let stone = table.insert("stone", [1, 2, 3, 255]).unwrap();
    let leaves = table.insert_kind(kind(255)).unwrap();
    let glass = table.insert_kind(kind(90)).unwrap();
    let of = |material| (table.is_cut_out(material), table.covers(material));
    assert!(table.any_cut_out());
    assert_eq!(
        [Material::AIR, stone, leaves, glass].map(of),
        [(false, false), (false, true), (true, false), (false, false),]
    );
    assert_eq!(of(Material(9)), (false, true));
}
