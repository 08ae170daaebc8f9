//! Textures of `.mtl` files.

use super::lines::number;
use crate::model::{ModelTexture, Wrap};

/// A `map` statement: the name of an image and its position on the surface.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Map {
    /// Path relative to the model's folder, as written: not checked yet.
    pub(super) name: String,
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
    pub(super) fn texture(&self, image: usize) -> ModelTexture {
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
