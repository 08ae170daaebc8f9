use std::collections::HashMap;

use super::lines::{Lines, Statement, number, numbers};
use super::textures::Map;
use crate::fault::Fault;
use crate::model::ModelMaterial;
use crate::model::fault::name_of;

/// Definitions of materials by name, from the `.mtl` files.
pub(super) type Definitions = HashMap<String, Definition>;

/// Definition of a material in a `.mtl` file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Definition {
    /// Colour, if it is stated.
    pub(super) color: Option<[u8; 3]>,
    pub(super) opacity: u8,
    /// Emitted light, if it is stated.
    pub(super) emissive: Option<[u8; 3]>,
    /// The maps of colour, opacity and emitted light.
    pub(super) color_map: Option<Map>,
    pub(super) opacity_map: Option<Map>,
    pub(super) emissive_map: Option<Map>,
}

impl Default for Definition {
    fn default() -> Self {
        Self {
            color: None,
            opacity: u8::MAX,
            emissive: None,
            color_map: None,
            opacity_map: None,
            emissive_map: None,
        }
    }
}

impl Definition {
    /// Colour and opacity. White if only a texture is stated.
    pub(super) fn color(&self) -> [u8; 4] {
        let [red, green, blue, _] = match self.color_map {
            Some(_) => [u8::MAX; 4],
            None => ModelMaterial::DEFAULT_COLOR,
        };
        let [red, green, blue] = self.color.unwrap_or([red, green, blue]);
        [red, green, blue, self.opacity]
    }
}

/// Reads colours, opacities and names of textures from a `.mtl` file. If a name occurs twice, the
/// first definition is used.
pub(super) fn read(bytes: &[u8], file: &str, definitions: &mut Definitions) -> Result<(), Fault> {
    let mut current: Option<(String, Definition)> = None;
    for statement in Lines::new(bytes) {
        let in_this_file = |fault| match fault {
            Fault::Malformed { location, problem, advice } => {
                let location = format!("{location} of {}", name_of(file.as_bytes()));
                Fault::Malformed { location, problem, advice }
            }
            other => other,
        };
        if statement.keyword() == b"newmtl" {
            keep(current.take(), definitions);
            current = Some((name_of(statement.rest()), Definition::default()));
        } else if let Some((_, definition)) = &mut current {
            read_property(&statement, file, definition).map_err(in_this_file)?;
        }
    }
    keep(current, definitions);
    Ok(())
}

fn keep(material: Option<(String, Definition)>, definitions: &mut Definitions) {
    if let Some((name, definition)) = material {
        definitions.entry(name).or_insert(definition);
    }
}

fn read_property(it: &Statement, file: &str, to: &mut Definition) -> Result<(), Fault> {
    match it.keyword() {
        b"Kd" => to.color = color(it)?.or(to.color),
        b"Ke" => to.emissive = color(it)?.or(to.emissive),
        b"d" if it.words().next() == Some(b"-halo") => {}
        b"d" => to.opacity = byte(numbers::<1>(it, 1)?[0]),
        b"Tr" => to.opacity = byte(1.0 - numbers::<1>(it, 1)?[0]),
        b"map_Kd" => to.color_map = Map::parse(it.rest(), file),
        b"map_d" => to.opacity_map = Map::parse(it.rest(), file),
        b"map_Ke" => to.emissive_map = Map::parse(it.rest(), file),
        _ => {}
    }
    Ok(())
}

/// A colour: one or three numbers. `None` for spectral curves and CIE XYZ, which are ignored: no
/// known program writes them.
fn color(it: &Statement) -> Result<Option<[u8; 3]>, Fault> {
    if it.words().next().is_some_and(|word| number(word).is_err() && is_name(word)) {
        return Ok(None);
    }
    let color = match it.words().count() {
        1 => [numbers::<1>(it, 1)?[0]; 3],
        _ => numbers::<3>(it, 3)?,
    };
    Ok(Some(color.map(byte)))
}

fn is_name(word: &[u8]) -> bool {
    word == b"spectral" || word == b"xyz"
}

/// Converts a number from 0 to 1 to a byte.
pub(super) fn byte(number: f32) -> u8 {
    (number.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colors(text: &str) -> Result<Vec<(String, [u8; 4])>, String> {
        let mut colors = Definitions::new();
        let read = read(text.as_bytes(), "a.mtl", &mut colors);
        read.map_err(|fault| fault.in_file(crate::format::Format::Model, "m.obj").to_string())?;
        let color = |(name, it): (String, Definition)| (name, it.color());
        let mut sorted: Vec<_> = colors.into_iter().map(color).collect();
        sorted.sort();
        Ok(sorted)
    }

    #[test]
    fn colours_and_opacity() {
        let text = "Kd x\nnewmtl a b\nKd 1 0.5 0\nd 0.2\nnewmtl c\nTr 1\nKd 0.2\nmap_Kd -o 1 x.png\n\
                    newmtl plain\nKd spectral x.rfl\nd -halo 0.3\nnewmtl c\nKd 9 -1 1\nnewmtl map\nmap_Kd x.png";
        let expected = [
            ("a b", [255, 128, 0, 51]),
            ("c", [51, 51, 51, 0]),
            ("map", [255; 4]),
            ("plain", ModelMaterial::DEFAULT_COLOR),
        ];
        assert_eq!(colors(text).unwrap(), expected.map(|(name, color)| (name.to_owned(), color)));
    }

    #[test]
    fn bad_numbers_name_the_line_and_the_file() {
        let error = colors("newmtl a\n\nKd 1 nan 0").unwrap_err();
        assert!(error.starts_with("m.obj: line 3 of a.mtl: \"nan\" is NaN"), "{error}");
        let error = colors("newmtl a\nKd 1 0").unwrap_err();
        assert!(error.starts_with("m.obj: line 2 of a.mtl: \"Kd\" has 2 numbers"), "{error}");
    }
}
