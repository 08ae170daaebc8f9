//! Colours of blocks by face direction, and blocks that emit light. Colours are chosen for this program;
//! no texture of the game is read.

use drystone_voxel::{Face, MaterialKind};

use super::colors;

/// Colours of top, sides and bottom as six hexadecimal digits, `-` for the block's own, and names of
/// blocks: one line for each set of colours.
const FACES: &str = include_str!("faces.txt");
/// Colour of both ends of blocks that lie along an axis, and their names. Logs are not listed: their
/// ends have the colour of planks.
const ENDS: &str = include_str!("ends.txt");
/// Emission, 0 to 255, and names of blocks.
const LIGHTS: &str = include_str!("lights.txt");
/// Colour of snow on a block, and of its sides below.
const SNOW: [u8; 3] = [0xf9, 0xfe, 0xfe];
const SNOWY_SIDE: [u8; 3] = [0xb9, 0xae, 0x9d];

/// State of a block that changes its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Variant {
    /// Lies along X.
    AlongX,
    /// Lies along Z.
    AlongZ,
    /// Is covered with snow.
    Snowy,
}

impl Variant {
    const ALL: [Self; 3] = [Self::AlongX, Self::AlongZ, Self::Snowy];

    /// Returns the variant that a property of a block names.
    pub(super) fn of_property(name: &[u8], value: &[u8]) -> Option<Self> {
        match (name, value) {
            (b"axis", b"x") => Some(Self::AlongX),
            (b"axis", b"z") => Some(Self::AlongZ),
            (b"snowy", b"true") => Some(Self::Snowy),
            _ => None,
        }
    }

    /// Returns the variant of a block before 1.13 by its number: bits 2 and 3 of logs and hay.
    pub(super) const fn of_number(variant: u8) -> Option<Self> {
        match variant >> 2 & 3 {
            1 => Some(Self::AlongX),
            2 => Some(Self::AlongZ),
            _ => None,
        }
    }

    /// Returns the end of the names of such materials.
    const fn suffix(self) -> &'static str {
        match self {
            Self::AlongX => " along x",
            Self::AlongZ => " along z",
            Self::Snowy => " with snow",
        }
    }
}

/// Returns the material of a block by its name and its own colour.
pub(super) fn kind(name: &str, color: [u8; 4]) -> MaterialKind {
    let kind = MaterialKind::new(name, color).with_emission(emission(name));
    let [red, green, blue, _] = color;
    let own = [red, green, blue];
    match (of_faces(name, own), ends(name)) {
        (Some([top, side, bottom]), _) => kind.with_faces(upright([top, side, bottom])),
        (None, Some(end)) => kind.with_faces(upright([end, own, end])),
        (None, None) => kind,
    }
}

/// Returns the materials of the block's variants.
pub(super) fn variants(name: &str, color: [u8; 4]) -> Vec<(Variant, MaterialKind)> {
    let [red, green, blue, _] = color;
    let own = [red, green, blue];
    let faces = |variant| match variant {
        Variant::AlongX | Variant::AlongZ => {
            let axis = if variant == Variant::AlongX { 0 } else { 2 };
            let end = ends(name)?;
            Some(Face::ALL.map(|face| if face.axis() == axis { end } else { own }))
        }
        Variant::Snowy => {
            let is_ground = matches!(name, "grass_block" | "podzol" | "mycelium");
            let [_, _, bottom] = of_faces(name, own).filter(|_| is_ground)?;
            Some(upright([SNOW, SNOWY_SIDE, bottom]))
        }
    };
    let kind = |variant: Variant, faces| {
        let name = format!("{name}{}", variant.suffix());
        MaterialKind::new(name, color).with_faces(faces)
    };
    Variant::ALL.into_iter().filter_map(|it| Some((it, kind(it, faces(it)?)))).collect()
}

fn emission(name: &str) -> u8 {
    let line = line_of(LIGHTS, name, 1);
    line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// Returns the colours of top, sides and bottom.
fn of_faces(name: &str, own: [u8; 3]) -> Option<[[u8; 3]; 3]> {
    let mut words = line_of(FACES, name, 3)?.split(' ');
    let mut next = || match words.next()? {
        "-" => Some(own),
        color => rgb(color),
    };
    Some([next()?, next()?, next()?])
}

/// Returns the colour of both ends of a block that can lie along an axis.
fn ends(name: &str) -> Option<[u8; 3]> {
    if let Some(line) = line_of(ENDS, name, 1) {
        return rgb(line.split(' ').next()?);
    }
    let log = name.strip_prefix("stripped_").unwrap_or(name);
    let wood = ["_log", "_stem", "bamboo_block"].iter().find_map(|end| match *end {
        "bamboo_block" => (log == *end).then_some("bamboo"),
        end => log.strip_suffix(end),
    })?;
    let planks = colors::color(&format!("{wood}_planks"))?;
    // The ends of a stripped log are darker than its sides, which look like planks.
    let is_stripped = log.len() < name.len();
    let [red, green, blue, _] =
        planks.map(|c| if is_stripped { (u16::from(c) * 7 / 8) as u8 } else { c });
    Some([red, green, blue])
}

/// Returns the line that lists a block's name after `skip` words.
fn line_of(table: &'static str, name: &str, skip: usize) -> Option<&'static str> {
    table.lines().find(|line| line.split(' ').skip(skip).any(|listed| listed == name))
}

pub(super) fn rgb(color: &str) -> Option<[u8; 3]> {
    let [_, red, green, blue] = u32::from_str_radix(color, 16).ok()?.to_be_bytes();
    Some([red, green, blue])
}

/// Returns the colours of all face directions.
fn upright([top, side, bottom]: [[u8; 3]; 3]) -> [[u8; 3]; Face::COUNT] {
    Face::ALL.map(|face| match face {
        Face::PosY => top,
        Face::NegY => bottom,
        _ => side,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each listed block exists, and each line has its colours.
    #[test]
    fn listed_blocks_exist_and_have_colours() {
        for (table, skip) in [(FACES, 3), (ENDS, 1), (LIGHTS, 1)] {
            for name in table.lines().flat_map(|line| line.split(' ').skip(skip)) {
                let color = colors::color(name).unwrap_or_else(|| panic!("no block {name}"));
                let kind = kind(name, color);
                let is_special = kind.faces.is_some() || kind.emission > 0;
                assert!(is_special && kind.color == color, "{name}");
            }
        }
    }

    #[test]
    fn logs_have_ends_along_their_axis() {
        let [bark, planks] = ["oak_log", "oak_planks"].map(|name| colors::color(name).unwrap());
        let log = kind("oak_log", bark);
        let [along_x, along_z] = variants("oak_log", bark).try_into().unwrap();
        for (kind, axis) in [(log, 1), (along_x.1, 0), (along_z.1, 2)] {
            for face in Face::ALL {
                let expected = if face.axis() == axis { planks } else { bark };
                assert_eq!(kind.face_color(face), expected, "{} {face:?}", kind.name);
            }
        }
        assert!(variants("oak_wood", bark).is_empty() && kind("oak_wood", bark).faces.is_none());
        assert_eq!(variants("grass_block", [1, 2, 3, 255])[0].0, Variant::Snowy);
        for name in ["crimson_stem", "stripped_oak_log", "bamboo_block", "hay_block"] {
            assert_eq!(variants(name, bark).len(), 2, "{name}");
        }
        assert!(variants("mushroom_stem", bark).is_empty());
    }
}
