use drystone_voxel::MaterialKind;

use super::*;

fn plain() -> MaterialTable {
    let mut table = MaterialTable::new();
    for name in ["stone", "grass", "lava"] {
        table.insert(name, [1, 2, 3, 200]).unwrap();
    }
    table
}

/// Face colours, emission, both, and none.
fn table() -> MaterialTable {
    let faces: [[u8; 3]; 6] = std::array::from_fn(|face| [face as u8, 90, 7]);
    let mut table = MaterialTable::new();
    let kind = |name| MaterialKind::new(name, [1, 2, 3, 200]);
    for kind in [
        kind("stone"),
        kind("grass").with_faces(faces),
        kind("lava").with_faces(faces).with_emission(255),
    ] {
        table.insert_kind(kind).unwrap();
    }
    table
}

#[test]
fn looks_are_read_back_and_materials_without_them_take_no_bytes() {
    assert_eq!(to_bytes(&plain()), None);
    let bytes = to_bytes(&table()).unwrap();
    assert_eq!(bytes.len(), 1 + 2 * 21 + 1 + 8);
    assert_eq!(read(&plain(), &bytes), Ok(table()));
    // A program that knows no looks may have added materials since.
    let mut grown = plain();
    grown.insert("more", [9; 4]).unwrap();
    assert_eq!(read(&grown, &bytes).unwrap().len(), 5);
}

/// Shapes have a version of their own, which earlier programs refuse.
#[test]
fn shapes_are_read_back_and_damaged_ones_refused() {
    let boxes = vec![
        ShapeBox { min: [0; 3], max: [16, 8, 16] },
        ShapeBox { min: [8, 0, 0], max: [8, 16, 16] },
    ];
    let mut expected = MaterialTable::new();
    for (name, kind) in ["stone", "grass", "lava"].into_iter().zip(KINDS) {
        let material = MaterialKind::new(name, [1, 2, 3, 200]).with_emission(7);
        let shape = Shape::new(boxes.clone(), kind).unwrap();
        expected.insert_kind(material.with_shape(shape)).unwrap();
    }
    let bytes = to_bytes(&expected).unwrap();
    let entry = 3 + 1 + 2 + 12;
    assert_eq!((bytes[0], bytes.len()), (2, 1 + 3 * entry + 8));
    assert_eq!(read(&plain(), &bytes), Ok(expected));
    let bytes = opened(&bytes).unwrap().to_vec();
    let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
    for len in (2..bytes.len()).filter(|len| (len - 1) % entry != 0) {
        assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
    }
    // Version without shapes, kind, number of boxes, a corner.
    for (at, value) in [(0, 1), (5, 3), (6, 0), (6, 3), (7, 17)] {
        let mut changed = bytes.clone();
        changed[at] = value;
        assert_eq!(read(&changed), Err(INVALID), "{at} {value}");
    }
}

/// Fluids have the version of textures, which earlier programs refuse. A number that is no fluid's is
/// refused.
#[test]
fn fluids_are_read_back_and_wrong_ones_refused() {
    let full = vec![ShapeBox { min: [0; 3], max: [16, 14, 16] }];
    let shape = |kind| Shape::new(full.clone(), kind).unwrap();
    let mut expected = MaterialTable::new();
    for (name, kind) in
        [("stone", ShapeKind::Opaque), ("grass", ShapeKind::Fluid), ("lava", ShapeKind::Opaque)]
    {
        let mut material = MaterialKind::new(name, [1, 2, 3, 200]).with_shape(shape(kind));
        material.fluid = (name == "lava").then_some(Material(2));
        expected.insert_kind(material).unwrap();
    }
    let bytes = to_bytes(&expected).unwrap();
    let entry = 3 + 2 + 6;
    assert_eq!((bytes[0], bytes.len()), (4, 3 + 3 * entry + 2 + 8));
    assert_eq!(read(&plain(), &bytes), Ok(expected));
    let bytes = opened(&bytes).unwrap().to_vec();
    let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
    for len in (2..bytes.len()).filter(|len| (len + entry - 3) % entry != 0) {
        assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
    }
    // Version without fluids; then the fluid: air, a shape that is none, itself, beyond the table.
    let at = bytes.len() - 2;
    for (at, value) in [(0, 2), (at, 0), (at, 1), (at, 3), (at, 4), (at + 1, 1)] {
        let mut changed = bytes.clone();
        changed[at] = value;
        assert_eq!(read(&changed), Err(INVALID), "{at} {value}");
    }
}

/// Returns a table of shaped materials with as many boxes as a shape can have.
fn largest(count: usize) -> MaterialTable {
    let corner = |at: usize| [(at % 16) as u8, (at / 16 % 16) as u8, (at / 256 % 16) as u8];
    let mut table = MaterialTable::new();
    for at in 0..count {
        let min = corner(at);
        let boxes = vec![ShapeBox { min, max: min.map(|it| it + 1) }; Shape::MAX_BOXES];
        let shape = Shape::new(boxes, ShapeKind::Opaque).unwrap();
        let kind = MaterialKind::new("", [1, 2, 3, 255]).with_faces([[at as u8; 3]; 6]);
        table.insert_kind(kind.with_emission(1).with_shape(shape)).unwrap();
    }
    table
}

#[test]
fn long_looks_are_compressed() {
    let plain = |count| {
        let mut table = MaterialTable::new();
        for _ in 0..count {
            table.insert("", [1, 2, 3, 255]).unwrap();
        }
        table
    };
    for (count, version) in [(70, SHAPES_VERSION), (5_000, PACKED_VERSION)] {
        let (table, bytes) = (largest(count), to_bytes(&largest(count)).unwrap());
        assert_eq!(bytes[0], version, "{count}");
        assert_eq!(read(&plain(count), &bytes), Ok(table));
    }
    let bytes = to_bytes(&largest(usize::from(u16::MAX))).unwrap();
    let plain = plain(u16::MAX.into());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_eq!(read(&plain, &bytes).map(|table| table.len()), Ok(1 << 16));
    let value = opened(&bytes).unwrap();
    let read = |bytes: &[u8]| read(&plain, &sealed(bytes.to_vec())).map(|_| ());
    for len in [1, 5, value.len() / 2, value.len() - 1] {
        assert_eq!(read(&value[..len]), Err(INVALID), "{len}");
    }
    // What is compressed is never itself compressed.
    let zeros = vec![PACKED_VERSION; 1 << 16];
    let twice = [&[PACKED_VERSION], long::pack(&zeros).unwrap().as_slice()].concat();
    assert_eq!(read(&twice), Err(NEWER));
}

/// Textures and cut-out materials have a version of their own, which earlier programs refuse.
#[test]
fn textures_are_read_back_and_damaged_ones_refused() {
    let mut expected = MaterialTable::new();
    for (side, texel) in [(2, [9, 8, 7, 255]), (1, [1, 2, 3, 0])] {
        let rgba = [texel; 4][..(side * side) as usize].concat();
        expected.insert_texture(MaterialTexture::new(side, rgba).unwrap()).unwrap();
    }
    let kind = |name| MaterialKind::new(name, [1, 2, 3, 200]);
    let one_face = [None, None, Some(1), None, None, None];
    for (kind, textures) in [
        (kind("stone").with_cut_out(), [Some(0); 6]),
        (kind("grass").with_emission(7), one_face),
        (kind("lava").with_cut_out(), [None; 6]),
    ] {
        expected.insert_kind(expected.with_textures(kind, textures).unwrap()).unwrap();
    }
    let bytes = to_bytes(&expected).unwrap();
    let textures = 1 + 2 + (1 + 16) + (1 + 4);
    let entries = [3 + 1 + 12, 3 + 1 + 1 + 2, 3];
    assert_eq!((bytes[0], bytes.len()), (4, textures + entries.iter().sum::<usize>() + 8));
    assert_eq!(read(&plain(), &bytes), Ok(expected));
    let bytes = opened(&bytes).unwrap().to_vec();
    let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
    let ends = [textures, textures + 16, textures + 16 + 7];
    for len in (2..bytes.len()).filter(|len| !ends.contains(len)) {
        assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
    }
    // Number of textures, a side, bits of an entry, its faces, the number of a texture.
    for (at, value) in [
        (1, 3),
        (1, 1),
        (3, 9),
        (3, 255),
        (textures + 2, 64),
        (textures + 3, 0),
        (textures + 3, 64),
        (textures + 4, 2),
    ] {
        let mut changed = bytes.clone();
        changed[at] = value;
        assert_eq!(read(&changed), Err(INVALID), "{at} {value}");
    }
}

#[test]
fn damaged_and_newer_looks_are_refused() {
    let bytes = opened(&to_bytes(&table()).unwrap()).unwrap().to_vec();
    let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
    assert_eq!(read(&bytes), Ok(()));
    // The end of an entry is a shorter list.
    let ends = [1, 22];
    for len in (0..bytes.len()).filter(|len| !ends.contains(len)) {
        assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
    }
    for (at, value, expected) in
        [(0, 0, INVALID), (0, 5, NEWER), (3, 0, INVALID), (3, 4, INVALID), (1, 9, INVALID)]
    {
        let mut changed = bytes.clone();
        changed[at] = value;
        assert_eq!(read(&changed), Err(expected), "{at} {value}");
    }
    assert_eq!(read(&[&bytes[..], &[1]].concat()), Err(INVALID));
    assert_eq!(read(&[&bytes[..], &bytes[1..22]].concat()), Err(INVALID), "listed twice");
    assert_eq!(super::read(&plain(), &bytes), Err(WRONG_SUM));
}
