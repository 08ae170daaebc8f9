//! Face colours, emission and shapes of materials in the file.

use drystone_voxel::{Face, MaterialKind, MaterialTexture, Shape, ShapeBox, ShapeKind};

use super::super::batch::LOOKS;
use super::*;
use crate::codec::sealed;

/// Face colours and emission are beside the materials; a file without them has no such value.
#[test]
fn looks_of_materials_are_stored() {
    let folder = Folder::new();
    let path = folder.file();
    let set = |looks: Option<&[u8]>| {
        let store = Store::open(&path, Access::Write, CACHE_BYTES).unwrap();
        let had = store.write(|it| {
            let mut table = it.open_table(META)?;
            let had = table.remove(LOOKS)?.is_some();
            looks.map(|looks| table.insert(LOOKS, looks).map(drop)).transpose()?;
            Ok(had)
        });
        store.close().unwrap();
        had.unwrap()
    };
    let open = || StoredWorld::open(&path, &StoreOptions::read_only());
    let mut table = materials(2);
    let lava = MaterialKind::new("lava", [200, 80, 10, 255]).with_faces([[1, 2, 3]; 6]);
    let lower_half = ShapeBox { min: [0; 3], max: [16, 8, 16] };
    let shape = Shape::new(vec![lower_half], ShapeKind::Fluid).unwrap();
    table.insert_kind(lava.with_emission(255).with_shape(shape)).unwrap();
    let texture = MaterialTexture::new(2, [[90, 80, 70, 255]; 4].concat()).unwrap();
    let texture = table.insert_texture(texture).unwrap();
    let leaves = MaterialKind::new("leaves", [20, 80, 10, 255]).with_cut_out();
    let leaves = table.with_textures(leaves, [Some(texture); Face::COUNT]).unwrap();
    table.insert_kind(leaves).unwrap();
    let world = StoredWorld::create(&path, "", &materials(2)).unwrap();
    world.put_materials(&table).unwrap();
    world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, Material(3)))]).unwrap();
    world.close().unwrap();
    assert_eq!(*open().unwrap().materials(), table);
    assert_eq!(StoredWorld::check(&path).unwrap().damage, Vec::<String>::new());
    StoredWorld::compact(&path).unwrap();
    assert_eq!(*open().unwrap().materials(), table);
    let damaged: [(&[u8], &str); 2] = [(&[1; 9], "checksum"), (&sealed(vec![5]), "later version")];
    for (bytes, expected) in damaged {
        assert!(set(Some(bytes)));
        let error = open().unwrap_err().to_string();
        assert!(error.contains("looks of materials") && error.contains(expected), "{error}");
        assert!(StoredWorld::check(&path).unwrap().damage[0].contains(expected));
    }
    // A repaired world has plain colours.
    assert!(StoredWorld::repair(&path).unwrap().1.is_some());
    let plain = open().unwrap().materials().get(Material(3)).cloned();
    assert_eq!(plain, Some(MaterialKind::new("lava", [200, 80, 10, 255])));
    assert!(!set(None), "plain materials need no value");
}
