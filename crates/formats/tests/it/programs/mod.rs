//! Reads bytes as files, for tests and fuzzers. Any input must give a valid model or an error in
//! one line.

#[cfg(feature = "minecraft")]
use drystone_formats::MinecraftWorld;
#[cfg(feature = "qb")]
use drystone_formats::QbFile;
#[cfg(any(feature = "height-map", feature = "minecraft", feature = "qb", feature = "vox"))]
use drystone_formats::Source;
#[cfg(feature = "height-map")]
use drystone_formats::{HeightMap, HeightMapOptions};
#[cfg(feature = "model")]
use drystone_formats::{Model, ModelOptions, SourceError};
#[cfg(feature = "vox")]
use drystone_formats::{VoxFile, VoxOptions};
#[cfg(feature = "vox")]
use drystone_voxel::ChunkPos;

/// Lower than the default, so that each of many files takes little time.
const MAX_CORNERS: u64 = 1 << 16;

/// Reads the bytes up to the first zero as an `.obj` file, and the rest as its material file.
#[cfg(feature = "obj")]
pub(crate) fn obj(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, materials) = bytes.split_at(end);
    let materials = materials.get(1..).unwrap_or_default();
    // Both merge modes.
    for merge_tolerance in [0.0, 0.75] {
        let options = options(merge_tolerance);
        let mut beside = |_: &str, _| Ok(materials.to_vec());
        check_result(&Model::parse_obj(text, "fuzz.obj", &options, &mut beside), bytes);
    }
}

/// Reads bytes as a glTF file, and as every buffer that it names.
#[cfg(feature = "gltf")]
pub(crate) fn gltf(bytes: &[u8]) {
    let mut beside = |_: &str, _| Ok(bytes.to_vec());
    check_result(&Model::parse_gltf(bytes, "fuzz.gltf", &options(0.0), &mut beside), bytes);
}

/// Reads bytes as the textures of an `.obj` file: of its colour and of its opacity. Returns whether
/// the image is valid.
#[cfg(feature = "obj")]
pub(crate) fn texture(bytes: &[u8]) -> bool {
    let text = b"mtllib a\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mut beside = |name: &str, _| match name {
        "a" => Ok(b"newmtl a\nmap_Kd b\nmap_d c\nmap_Ke d\n".to_vec()),
        // The opacity is that of the first half, which is another image or none.
        "c" => Ok(bytes[..bytes.len() / 2].to_vec()),
        _ => Ok(bytes.to_vec()),
    };
    let max_texture_bytes = 1 << 18;
    let options = options(0.0).with_max_texture_bytes(max_texture_bytes);
    let model = Model::parse_obj(text, "fuzz.obj", &options, &mut beside);
    check_result(&model, bytes);
    let Ok(model) = model else { return false };
    let bytes_of = |image: &drystone_formats::ModelImage| image.rgba.len() as u64;
    assert!(model.images.iter().map(bytes_of).sum::<u64>() <= max_texture_bytes);
    assert!(model.warnings.iter().all(|it| it.count <= 3 && !it.first_location.contains('\n')));
    model.materials[0].base_texture.is_some()
}

/// Reads bytes as a height map and makes some of its chunks. Returns whether the map is valid.
#[cfg(feature = "height-map")]
pub(crate) fn height_map(bytes: &[u8]) -> bool {
    // Files without a signature are read as tiles.
    let name = if bytes.starts_with(b"h") { "N47E011.hgt" } else { "fuzz.tif" };
    let options = HeightMapOptions::default().with_metres_per_voxel(Some(90.0));
    let map = match HeightMap::parse(bytes, name, &options) {
        Ok(map) => map,
        Err(error) => {
            let line = error.to_string();
            assert!(line.starts_with(name) && line.len() < 600, "{line}");
            return false;
        }
    };
    let summary = map.summary();
    let [width, height] = summary.size_samples;
    assert!(width > 0 && height > 0 && summary.void_count <= Some((width * height) as u64));
    assert_eq!(summary.range_metres.is_none(), summary.void_count == Some((width * height) as u64));
    // A few samples over thousands of kilometres make a long list.
    if width * height > 1 << 12 || summary.metres_per_sample.iter().any(|metres| *metres > 1e4) {
        return true;
    }
    let positions = map.chunk_positions();
    assert!(positions.is_sorted());
    for position in positions.iter().take(4).chain(positions.last()) {
        map.chunk(*position).unwrap().validate().unwrap();
    }
    true
}

#[cfg(feature = "model")]
fn options(merge_tolerance: f32) -> ModelOptions {
    ModelOptions::default()
        .with_merge_tolerance(merge_tolerance)
        .with_max_file_bytes(1 << 20)
        .with_max_corners(MAX_CORNERS)
}

#[cfg(feature = "model")]
fn check_result(result: &Result<Model, SourceError>, bytes: &[u8]) {
    match result {
        Ok(model) => check(model),
        Err(error) => {
            let line = error.to_string();
            assert!(line.starts_with("fuzz."), "{line}");
            // No message repeats the file.
            assert!(line.len() < 600, "{line} of {} bytes", bytes.len());
        }
    }
}

/// Checks the invariants of any model, even from a damaged file.
#[cfg(feature = "model")]
pub(crate) fn check(model: &Model) {
    model.polygons.validate().unwrap();
    assert!(!model.polygons.is_empty());
    let in_parts: usize = model.parts.iter().map(|part| part.polygons.len()).sum();
    assert_eq!(in_parts, model.polygons.len() as usize);
    for part in &model.parts {
        assert!(part.material < model.materials.len() && part.name.len() <= 255);
        assert!(!part.polygons.is_empty());
        for &polygon in &part.polygons {
            for corner in model.polygons.corners(polygon).unwrap() {
                let uv = corner.uv();
                assert!(corner.position().iter().chain(&uv).all(|number| number.is_finite()));
                let normal = corner.data().normal();
                let length = |normal: [f32; 3]| normal.iter().map(|n| n * n).sum::<f32>();
                assert!(normal.is_none_or(|normal| (length(normal) - 1.0).abs() < 1e-5));
            }
        }
    }
    for image in &model.images {
        let [width, height] = image.size;
        assert!(width > 0 && height > 0 && width <= 8192 && height <= 8192);
        assert_eq!(image.rgba.len(), 4 * width as usize * height as usize);
    }
    for material in &model.materials {
        let textures = [material.base_texture, material.emissive_texture];
        for texture in textures.iter().flatten() {
            assert!(texture.image < model.images.len());
            assert!(texture.transform.iter().flatten().all(|number| number.is_finite()));
        }
    }
    let ratio = model.sharing_ratio();
    assert!(0.0 < ratio && ratio <= 1.0, "{ratio}");
    let bounds = model.bounds().unwrap();
    assert!((0..3).all(|axis| bounds.min[axis] <= bounds.max[axis]));
}

/// Reads bytes as a region file, and as the uncompressed data of its only column.
#[cfg(feature = "minecraft")]
pub(crate) fn region(bytes: &[u8]) {
    minecraft(bytes);
    let mut file = vec![0; 8192];
    // From sector 2 on, as many sectors as needed. Longer data is no column.
    file[2] = 2;
    file[3] = (bytes.len() + 5).div_ceil(4096).min(255) as u8;
    file.extend((bytes.len() as u32 + 1).to_be_bytes());
    file.push(3);
    file.extend(bytes);
    minecraft(&file);
}

/// Reads bytes as Minecraft data. Chunks must be valid, and each fault must be one line.
#[cfg(feature = "minecraft")]
pub(crate) fn minecraft(bytes: &[u8]) {
    let source = match MinecraftWorld::parse(bytes, "fuzz.mca") {
        Ok(source) => source,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.mca: ")),
    };
    let positions = source.chunk_positions();
    assert!(positions.is_sorted_by(|a, b| a < b));
    for &position in &positions {
        source.chunk(position).unwrap().validate().unwrap();
    }
    for line in source.faults() {
        let is_of_columns = line.starts_with("fuzz.mca: column ") || line.contains("biome");
        assert!(is_of_columns && !line.contains('\n'), "{line}");
        assert!(line.len() < 600, "{line}");
    }
}

/// Reads bytes as a `.qb` file and makes some of its chunks. Returns whether the file is accepted.
#[cfg(feature = "qb")]
pub(crate) fn qb(bytes: &[u8]) -> bool {
    let file = match QbFile::parse(bytes, "fuzz.qb") {
        Ok(file) => file,
        Err(error) => {
            let line = error.to_string();
            assert!(line.starts_with("fuzz.qb: ") && !line.contains('\n'), "{line}");
            assert!(line.len() < 600, "{line} of {} bytes", bytes.len());
            return false;
        }
    };
    let positions = file.chunk_positions();
    assert!(positions.is_sorted_by(|a, b| a < b));
    let material_count = file.materials().len();
    for &position in positions.iter().take(8).chain(positions.last()) {
        let chunk = file.chunk(position).unwrap();
        chunk.validate().unwrap();
        let has_kind =
            |material: drystone_voxel::Material| usize::from(material.0) < material_count;
        assert!(chunk.iter_solid().all(|(_, material)| has_kind(material)));
    }
    true
}

/// Reads bytes as a `.vox` file, its first and its last frame, and makes some of its chunks. Returns
/// whether the first frame is valid.
#[cfg(feature = "vox")]
pub(crate) fn vox(bytes: &[u8]) -> bool {
    let Some(frame_count) = vox_frame(bytes, 0) else { return false };
    if frame_count > 1 {
        vox_frame(bytes, frame_count - 1);
    }
    assert_eq!(vox_frame(bytes, frame_count), None, "there is no such frame");
    true
}

/// Reads bytes as a frame of a `.vox` file and makes some of its chunks. Returns the number of
/// frames, or `None` if the frame is not valid.
#[cfg(feature = "vox")]
fn vox_frame(bytes: &[u8], frame: u32) -> Option<u32> {
    let options = VoxOptions::default().with_frame(frame);
    let file = match VoxFile::parse_with(bytes, "fuzz.vox", &options) {
        Ok(file) => file,
        Err(error) => {
            let line = error.to_string();
            assert!(line.starts_with("fuzz.vox: ") && !line.contains('\n'), "{line}");
            assert!(line.len() < 600, "{line} of {} bytes", bytes.len());
            return None;
        }
    };
    let positions = file.chunk_positions();
    assert!(positions.is_sorted_by(|a, b| a < b));
    // A model may be shown very often at the same position.
    let frame_count = file.summary().frame_count;
    if file.summary().instance_count > 64 {
        return Some(frame_count);
    }
    let material_count = file.materials().len();
    for &ChunkPos { x, y, z } in positions.iter().take(8).chain(positions.last()) {
        let chunk = file.chunk(ChunkPos::new(x, y, z)).unwrap();
        chunk.validate().unwrap();
        let is_known =
            |material: drystone_voxel::Material| usize::from(material.0) < material_count;
        assert!(chunk.iter_solid().all(|(_, material)| is_known(material)));
        // Chunks that are not listed are air.
        let beside = ChunkPos::new(x - 1, y, z);
        let is_listed = positions.binary_search(&beside).is_ok();
        assert!(is_listed || file.chunk(beside).unwrap().is_empty());
    }
    Some(frame_count)
}
