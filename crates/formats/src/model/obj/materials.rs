use std::collections::HashMap;

use super::lines::{Lines, Statement, number, numbers};
use super::textures::Map;
use crate::fault::Fault;
use crate::model::builder::Builder;
use crate::model::fault::name_of;
use crate::model::files::NamedFiles;
use crate::model::texture::{alpha_mode, with_opacity};
use crate::model::{AlphaMode, ModelImage, ModelMaterial};

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

/// Makes a material from its definition, and reads its textures.
pub(super) fn material(
    name: String,
    definition: &Definition,
    builder: &mut Builder,
    named_files: &mut NamedFiles,
) -> ModelMaterial {
    let mut material = ModelMaterial::new(name, definition.color());
    let location = format!("material {}", material.name);
    let mut image = |map: &Map, builder: &mut Builder| {
        let location = format_args!("{location}, {}", map.name);
        builder.image(map.name.clone(), location, || named_files.texture(&map.name).map(Into::into))
    };
    let Definition { color_map, opacity_map, emissive_map, .. } = definition;
    let color = color_map.as_ref().and_then(|map| Some((map, image(map, builder)?)));
    let opacity = opacity_map.as_ref().and_then(|map| Some((map, image(map, builder)?)));
    let emissive = emissive_map.as_ref().and_then(|map| Some((map, image(map, builder)?)));
    material.base_texture = color.map(|(map, image)| map.texture(image));
    if let Some((map, mask)) = opacity {
        let color = color.map(|(map, image)| (map, Some(image))).unwrap_or((map, None));
        let combined = match color {
            // One image has both.
            (_, Some(image)) if image == mask => Some(image),
            (_, base) => {
                let of =
                    |number: usize, builder: &Builder| builder.model.images.get(number).cloned();
                let mask = of(mask, builder);
                mask.and_then(|mask| {
                    let base = base.and_then(|base| of(base, builder));
                    let base = base.unwrap_or_else(|| white(mask.size));
                    builder.derive_image(base.size, &location, || with_opacity(&base, &mask))
                })
            }
        };
        if let Some(image) = combined {
            material.base_texture = Some(color.0.texture(image));
            material.alpha = builder.model.images.get(image).map_or(AlphaMode::Opaque, alpha_mode);
        }
    }
    material.emissive_texture = emissive.map(|(map, image)| map.texture(image));
    let default = if emissive.is_some() { [u8::MAX; 3] } else { [0; 3] };
    // Programs write `Ke 0 0 0` beside the map, which would hide it.
    material.emissive = definition.emissive.filter(|it| *it != [0; 3]).unwrap_or(default);
    material
}

/// A white image.
fn white(size: [u32; 2]) -> ModelImage {
    let texels = size[0] as usize * size[1] as usize;
    ModelImage { size, rgba: std::iter::repeat_n(u8::MAX, 4 * texels).collect() }
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
