use std::collections::HashMap;

use super::lines::{Lines, Statement, bad};
use super::materials::{self, Definitions};
use super::numbers::Numbers;
use crate::fault::Fault;
use crate::model::builder::{Builder, FaceCorner, MAX_FACE_CORNERS};
use crate::model::fault::{name_of, quoted};
use crate::model::files::NamedFiles;
use crate::model::{ModelMaterial, WarningKind};

/// Statements of the format that have no effect on the model.
const WITHOUT_EFFECT: [&[u8]; 23] = [
    b"v",
    b"vt",
    b"vn",
    b"vp",
    b"mtllib",
    b"mg",
    b"cstype",
    b"deg",
    b"bmat",
    b"step",
    b"parm",
    b"trim",
    b"hole",
    b"scrv",
    b"sp",
    b"end",
    b"con",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"maplib",
    b"usemap",
];

/// Reads faces, and the statements that assign them to parts.
pub(super) struct Faces<'a, 'f> {
    numbers: &'a Numbers,
    definitions: &'a Definitions,
    /// Reader of textures.
    named_files: &'a mut NamedFiles<'f>,
    builder: &'a mut Builder,
    /// Number of `v`, `vt` and `vn` statements so far. Negative numbers count back from there.
    seen: [usize; 3],
    object: String,
    group: String,
    material: Option<String>,
    /// Smoothing group, once a statement sets one.
    smoothing: Option<u32>,
    /// Indices of the materials that faces use.
    materials: HashMap<Option<String>, usize>,
    /// Part of the current object, group and material, once a face uses it.
    part: Option<usize>,
    corners: Vec<FaceCorner>,
}

impl<'a, 'f> Faces<'a, 'f> {
    pub(super) fn new(
        numbers: &'a Numbers,
        (definitions, named_files): (&'a Definitions, &'a mut NamedFiles<'f>),
        builder: &'a mut Builder,
    ) -> Self {
        Self {
            numbers,
            definitions,
            named_files,
            builder,
            seen: [0; 3],
            object: String::new(),
            group: String::new(),
            material: None,
            smoothing: None,
            materials: HashMap::new(),
            part: None,
            corners: Vec::new(),
        }
    }

    pub(super) fn read(mut self, bytes: &[u8]) -> Result<(), Fault> {
        for statement in Lines::new(bytes) {
            self.read_statement(&statement)?;
        }
        Ok(())
    }

    fn read_statement(&mut self, it: &Statement) -> Result<(), Fault> {
        let line = format_args!("line {}", it.line);
        match it.keyword() {
            b"v" => self.seen[0] += 1,
            b"vt" => self.seen[1] += 1,
            b"vn" => self.seen[2] += 1,
            b"f" | b"fo" => self.read_face(it)?,
            b"o" => {
                (self.object, self.group) = (name_of(it.rest()), String::new());
                self.part = None;
            }
            b"g" => {
                self.group = name_of(it.rest());
                self.part = None;
            }
            b"usemtl" => {
                self.material = Some(name_of(it.rest()));
                self.part = None;
            }
            b"s" => self.smoothing = Some(smoothing_group(it)),
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                self.builder.warn(WarningKind::NotPolygons, line);
            }
            known if WITHOUT_EFFECT.contains(&known) => {}
            _ => self.builder.warn(WarningKind::UnknownStatement, line),
        }
        Ok(())
    }

    fn read_face(&mut self, it: &Statement) -> Result<(), Fault> {
        self.corners.clear();
        for word in it.words() {
            if self.corners.len() == MAX_FACE_CORNERS {
                let problem = format!("a face of more than {MAX_FACE_CORNERS} corners");
                return Err(bad(it.line, problem));
            }
            let corner = self.corner(word).map_err(|problem| bad(it.line, problem))?;
            self.corners.push(corner);
        }
        self.builder.expect_corners(self.corners.len() as u64)?;
        let part = match self.part {
            Some(part) => part,
            None => self.start_part(it.line)?,
        };
        self.builder.add_face(part, &self.corners, format_args!("line {}", it.line))
    }

    /// Creates or finds the part of the current object, group and material.
    fn start_part(&mut self, line: u64) -> Result<usize, Fault> {
        let name = match (self.object.as_str(), self.group.as_str()) {
            (object, "") => name_of(object.as_bytes()),
            ("", group) => name_of(group.as_bytes()),
            (object, group) => name_of(format!("{object}/{group}").as_bytes()),
        };
        let material = self.material_number(line);
        let part = self.builder.part(name, material)?;
        self.part = Some(part);
        Ok(part)
    }

    /// The index of the current material, or of the default material if none is set.
    fn material_number(&mut self, line: u64) -> usize {
        if let Some(&number) = self.materials.get(&self.material) {
            return number;
        }
        let definition = self.material.as_ref().and_then(|name| self.definitions.get(name));
        if self.material.is_some() && definition.is_none() {
            self.builder.warn(WarningKind::UnknownMaterial, format_args!("line {line}"));
        }
        let name = self.material.clone().unwrap_or_default();
        let material = match definition {
            Some(definition) => {
                materials::material(name, definition, self.builder, self.named_files)
            }
            None => ModelMaterial::new(name, ModelMaterial::DEFAULT_COLOR),
        };
        let number = self.builder.add_material(material);
        self.materials.insert(self.material.clone(), number);
        number
    }

    /// Parses a corner: `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn corner(&self, word: &[u8]) -> Result<FaceCorner, String> {
        let Numbers { welded, colors, uvs, normals, .. } = self.numbers;
        let mut parts = word.split(|byte| *byte == b'/');
        let word_of_position = parts.next().unwrap_or_default();
        let position = find(word_of_position, welded, self.seen[0], "vertices")?;
        let position = position.ok_or_else(|| format!("{} has no vertex number", quoted(word)))?;
        let uv = find(parts.next().unwrap_or_default(), uvs, self.seen[1], "texture coordinates")?;
        let normal = find(parts.next().unwrap_or_default(), normals, self.seen[2], "normals")?;
        if parts.next().is_some() {
            return Err(format!("{} has more than three numbers", quoted(word)));
        }
        let mut vertex = normal.unwrap_or_default();
        if let Some(group) = self.smoothing {
            vertex = vertex.with_smoothing_group(group);
        }
        if !colors.is_empty()
            && let Some(color) = find(word_of_position, colors, self.seen[0], "vertices")?
        {
            vertex = vertex.with_color(color);
        }
        Ok(FaceCorner { position, uv: uv.unwrap_or_default(), vertex })
    }
}

/// The number of an `s` statement; 0 means flat. A number that cannot be read counts as a group.
fn smoothing_group(it: &Statement) -> u32 {
    let word = it.words().next().unwrap_or(b"off");
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.unwrap_or(u32::from(word != b"off"))
}

/// Looks up an element by number: from 1 in the whole file, or from −1 backwards from the face.
/// Returns `None` for an empty word.
fn find<T: Copy>(word: &[u8], all: &[T], seen: usize, what: &str) -> Result<Option<T>, String> {
    if word.is_empty() {
        return Ok(None);
    }
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<i64>().ok());
    let Some(number) = number else {
        return Err(format!("{} is not a number of the {what}", quoted(word)));
    };
    let index = match number {
        0 => return Err(format!("number 0 of the {what}: numbers start at 1")),
        1.. => usize::try_from(number - 1).ok(),
        _ => usize::try_from(number.unsigned_abs()).ok().and_then(|back| seen.checked_sub(back)),
    };
    let found = index.and_then(|index| all.get(index)).copied();
    found.map(Some).ok_or_else(|| match number > 0 {
        true => format!("number {number}, but the file has {} {what}", all.len()),
        false => format!("number {number}, but only {seen} {what} precede it"),
    })
}
