//! Models from bytes in memory, and their content as plain numbers.

use std::time::{Duration, Instant};

#[cfg(feature = "obj")]
use drystone_formats::ModelOptions;
use drystone_formats::{Model, SourceError, WarningKind};
use drystone_testing::Random;

pub(crate) use crate::programs::check;

/// Files in the folder of the model.
pub(crate) type Files<'a> = &'a [(&'a str, &'a [u8])];

/// Returns a reader of these files. Other names give an error.
pub(crate) fn beside(files: Files) -> impl FnMut(&str, u64) -> Result<Vec<u8>, SourceError> {
    move |name, limit| match files.iter().find(|(known, _)| *known == name) {
        Some((_, bytes)) if bytes.len() as u64 > limit => Err(SourceError::TooLarge {
            what: name.into(),
            found: bytes.len() as u64,
            limit,
            unit: "bytes",
            advice: "none",
        }),
        Some((_, bytes)) => Ok(bytes.to_vec()),
        None => Err(SourceError::Unreadable {
            path: name.into(),
            problem: std::io::ErrorKind::NotFound.into(),
        }),
    }
}

#[cfg(feature = "obj")]
pub(crate) fn obj(text: &str, files: Files) -> Model {
    let options = ModelOptions::default();
    Model::parse_obj(text.as_bytes(), "test.obj", &options, &mut beside(files)).unwrap()
}

#[cfg(feature = "obj")]
pub(crate) fn obj_error(text: &[u8], files: Files) -> String {
    let options = ModelOptions::default();
    let model = Model::parse_obj(text, "test.obj", &options, &mut beside(files));
    model.unwrap_err().to_string()
}

/// Returns the positions of each polygon of a part, corner by corner.
pub(crate) fn polygons(model: &Model, part: usize) -> Vec<Vec<[f32; 3]>> {
    let corners = |&polygon| {
        let corners = model.polygons.corners(polygon).unwrap();
        corners.map(|corner| corner.position()).collect()
    };
    model.parts[part].polygons.iter().map(corners).collect()
}

/// Returns the names of the parts and of their materials.
pub(crate) fn parts(model: &Model) -> Vec<(&str, &str)> {
    let names = model
        .parts
        .iter()
        .map(|part| (part.name.as_str(), model.materials[part.material].name.as_str()));
    names.collect()
}

/// Returns each kind of warning with its number and first position.
pub(crate) fn warnings(model: &Model) -> Vec<(WarningKind, u64, String)> {
    model.warnings.iter().map(|it| (it.kind, it.count, it.first_location)).collect()
}

/// Reads `count` copies of a file, each with 1 to 4 changed bytes: a flipped bit, or another byte
/// of the file, which keeps more of its syntax. Returns the number of copies that could be read.
pub(crate) fn change_bytes(
    bytes: &[u8],
    count: usize,
    parse: impl Fn(&[u8]) -> Result<Model, SourceError>,
) -> usize {
    let mut random = Random::new(bytes.len() as u64);
    let mut read = 0;
    for round in 0..count {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(damaged.len());
            damaged[at] = match random.below(2) {
                0 => damaged[at] ^ 1 << random.below(8),
                _ => bytes[random.below(bytes.len())],
            };
        }
        let start = Instant::now();
        match parse(&damaged) {
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("changed.") && !error.contains('\n'), "{error}");
            }
            Ok(model) => {
                read += 1;
                check(&model);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(5), "round {round} took long");
    }
    read
}
