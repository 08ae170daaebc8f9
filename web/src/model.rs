//! Polygon models, and the files that they name.

use std::path::Path;

use drystone_formats::{Format, Input, Model, ModelOptions, SourceError, UpAxis};
use wasm_bindgen::prelude::*;

/// Number of missing files that a message lists.
const MAX_LISTED: usize = 4;

/// Files that the user opened together with a model: materials, buffers and textures.
#[wasm_bindgen]
#[derive(Default)]
pub struct NamedFiles(Vec<(String, Vec<u8>)>);

#[wasm_bindgen]
impl NamedFiles {
    /// Creates an empty list.
    #[wasm_bindgen(constructor)]
    pub fn new() -> NamedFiles {
        Self::default()
    }

    /// Adds a file, by its path from the model's folder, or by its name if the path is unknown.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.push((name, bytes));
    }
}

impl NamedFiles {
    /// Returns a file by the path that a model names. Without folders, browsers report names alone: then the
    /// last part of the path selects the file.
    fn find(&self, path: &str) -> Option<&[u8]> {
        let path = Path::new(path.strip_prefix("./").unwrap_or(path));
        let name = path.file_name()?;
        let by_path = self.0.iter().find(|(it, _)| path == Path::new(it));
        let by_name = || self.0.iter().find(|(it, _)| Path::new(it).file_name() == Some(name));
        by_path.or_else(by_name).map(|(_, bytes)| bytes.as_slice())
    }
}

/// A model, and what is missing in its picture.
pub(crate) struct OpenedModel {
    pub(crate) model: Model,
    /// Empty if nothing is missing.
    pub(crate) notice: String,
}

/// Whether the bytes of a file are those of a polygon model.
pub(crate) fn is_model(bytes: &[u8], name: &str) -> bool {
    Format::of(Input::Bytes { bytes, name }) == Some(Format::Model)
}

/// Reads a polygon model. It names `others`.
pub(crate) fn read_model(
    bytes: &[u8],
    name: &str,
    others: &NamedFiles,
) -> Result<OpenedModel, String> {
    let mut missing: Vec<String> = Vec::new();
    let mut read = |path: &str, limit: u64| match others.find(path) {
        Some(bytes) if bytes.len() as u64 <= limit => Ok(bytes.to_vec()),
        Some(_) => Err(SourceError::Unsupported {
            path: path.into(),
            found: "too large to be read with its model".into(),
        }),
        None => {
            if !missing.iter().any(|it| it == path) {
                missing.push(path.into());
            }
            let problem = std::io::ErrorKind::NotFound.into();
            Err(SourceError::Unreadable { path: path.into(), problem })
        }
    };
    let is_obj = Path::new(name).extension().is_some_and(|it| it.eq_ignore_ascii_case("obj"));
    let options = ModelOptions::default();
    let parsed = match is_obj {
        true => Model::parse_obj(bytes, name, &options, &mut read),
        false => Model::parse_gltf(bytes, name, &options, &mut read),
    };
    match parsed {
        Ok(model) if model.triangle_count() == 0 => {
            Err(format!("{name}: not opened. The model has no polygons"))
        }
        Ok(model) => {
            let notice = notice(&model, name, &missing);
            Ok(OpenedModel { model, notice })
        }
        // An .obj file is read without the files that it names: another fault stopped it.
        Err(_) if !missing.is_empty() && !is_obj => {
            Err(format!("{name}: not opened. {}", advice(&missing)))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Lists missing files, and says how to open them.
fn advice(missing: &[String]) -> String {
    let listed = missing.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>();
    let more = match missing.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Missing: {}{more}. Open these files together with the model", listed.join(", "))
}

/// Describes what the model does not show.
fn notice(model: &Model, name: &str, missing: &[String]) -> String {
    let guess = model.up.is_guess() && model.up.axis != UpAxis::Y;
    let turned = guess.then(|| format!("up is {}", model.up));
    let counted = model.warnings.iter().map(|it| format!("{} {}", it.count, it.kind));
    let warnings: Vec<_> = turned.into_iter().chain(counted).collect();
    match (warnings.is_empty(), missing.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("{name}: {}", warnings.join(", ")),
        (_, false) => format!("{name}: {}. {}", warnings.join(", "), advice(missing)),
    }
}
