use super::*;

/// The error for a model opened as voxels explains how to open polygons.
#[test]
fn opening_a_model_as_voxels_is_an_error() {
    let folder = std::env::temp_dir().join(format!("drystone-model-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let error =
        |name: &str| open_voxels(&folder.join(name), &OpenOptions::default()).err().unwrap();
    for name in ["a.obj", "b.GLTF", "c.glb"] {
        let path = folder.join(name);
        fs::write(&path, "v 0 0 0\n").unwrap();
        let error = error(name);
        assert!(matches!(&error, SourceError::IsModel { path: named } if *named == path));
        let line = error.to_string();
        assert!(line.contains(name) && line.contains("Model::open"), "{line}");
        assert!(!line.contains("supported"), "{line}");
    }
    // Missing paths and folders are reported as such.
    assert!(matches!(error("no.obj"), SourceError::Unreadable { .. }));
    fs::create_dir(folder.join("folder.obj")).unwrap();
    assert!(matches!(error("folder.obj"), SourceError::Unsupported { .. }));
    // Voxel files are recognized under any name.
    fs::write(folder.join("voxels.obj"), "VOX ").unwrap();
    let error = error("voxels.obj");
    assert!(matches!(error, SourceError::Malformed { format: Format::MagicaVoxel, .. }), "{error}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The error for a folder that is no world names what a world has.
#[cfg(feature = "minecraft")]
#[test]
fn opening_a_folder_without_regions_is_an_error() {
    let folder = std::env::temp_dir().join(format!("drystone-folder-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let error = open_voxels(&folder, &OpenOptions::default()).err().unwrap().to_string();
    assert!(error.contains(
        "a folder without Minecraft's regions (region/r.X.Z.mca) or height maps; supported: "
    ));
    fs::remove_dir(&folder).unwrap();
}
