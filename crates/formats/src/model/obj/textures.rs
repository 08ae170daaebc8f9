//! Textures of `.mtl` files.

use super::lines::number;
use super::materials::Definition;
use crate::model::builder::Builder;
use crate::model::files::NamedFiles;
use crate::model::texture::{alpha_mode, with_opacity};
use crate::model::{AlphaMode, ModelImage, ModelMaterial, ModelTexture, Wrap};

/// A `map` statement: the name of an image and its position on the surface.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Map {
    /// Path relative to the model's folder, as written: not checked yet.
    name: String,
    scale: [f32; 2],
    offset: [f32; 2],
    wrap: Wrap,
}

impl Map {
    /// Parses a statement of the material file `file`, without its keyword. `None` if it names no
    /// file. Options without meaning here are skipped.
    pub(super) fn parse(mut rest: &[u8], file: &str) -> Option<Self> {
        let mut map =
            Self { name: String::new(), scale: [1.0; 2], offset: [0.0; 2], wrap: Wrap::Repeat };
        loop {
            let (option, after) = split_word(rest);
            // At most this many words belong to the option; numbers are optional after the first.
            let mut words = match option {
                b"-o" | b"-s" | b"-t" => 3,
                b"-mm" => 2,
                b"-blendu" | b"-blendv" | b"-bm" | b"-boost" | b"-cc" | b"-clamp" | b"-imfchan"
                | b"-texres" | b"-type" => 1,
                _ => break,
            };
            rest = after;
            let mut numbers = Vec::new();
            while words > 0 {
                let (word, after) = split_word(rest);
                let parsed = number(word).ok();
                // The last word is the name.
                if after.is_empty() || (parsed.is_none() && words > 1) {
                    break;
                }
                if option == b"-clamp" && word == b"on" {
                    map.wrap = Wrap::Clamp;
                }
                if parsed.is_none() && matches!(option, b"-o" | b"-s" | b"-t") {
                    break;
                }
                numbers.extend(parsed);
                (rest, words) = (after, words - 1);
            }
            let target = match option {
                b"-o" => &mut map.offset,
                b"-s" => &mut map.scale,
                _ => continue,
            };
            target.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        }
        if rest.is_empty() {
            return None;
        }
        let own = String::from_utf8_lossy(rest);
        // Names are relative to the material file.
        let folder = file.rfind(['/', '\\']).map_or("", |end| &file[..=end]);
        let is_absolute = own.starts_with(['/', '\\']);
        map.name = if is_absolute { own.into() } else { format!("{folder}{own}") };
        Some(map)
    }

    /// The texture with an image.
    fn texture(&self, image: usize) -> ModelTexture {
        let ([width, height], [across, up]) = (self.scale, self.offset);
        // Texture coordinates begin at the lower left corner, rows of images at the top.
        let transform = [[width, 0.0, across], [0.0, -height, 1.0 - up]];
        ModelTexture { image, wrap: [self.wrap; 2], transform }
    }
}

/// The first word, and the text after it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii_start())
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

    #[test]
    fn options_come_before_a_name_with_spaces() {
        let parse = |text: &str| Map::parse(text.as_bytes(), "sub/a.mtl");
        let map = parse("-blendu on -mm 0 1 -o 0.5 0.25 0 -s 2 -clamp on -bm 1 a b.png").unwrap();
        let expected = Map {
            name: "sub/a b.png".into(),
            scale: [2.0, 1.0],
            offset: [0.5, 0.25],
            wrap: Wrap::Clamp,
        };
        assert_eq!(map, expected);
        // A number can be a name.
        assert_eq!(
            parse("-o 1 2").map(|map| (map.offset, map.name)),
            Some(([1.0, 0.0], "sub/2".into()))
        );
        assert_eq!(parse("-x.png").map(|map| map.name), Some("sub/-x.png".into()));
        assert_eq!((parse(""), parse("-clamp on -o")), (None, None));
        assert_eq!(parse("/a.png").map(|map| map.name), Some("/a.png".into()));
    }
}
