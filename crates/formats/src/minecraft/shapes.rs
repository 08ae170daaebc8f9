//! Shapes of blocks by name and state, from a table of this program: the game's models are not read.
//!
//! Lines of the table, after the line `shape NAME` with the optional words `~` (the boxes resemble the
//! block only roughly), `turned` (the boxes are those of a block that faces north), `wet` (blocks may be
//! in water), `colored` and `fluid` (see [`ShapeKind`]):
//!
//! ```text
//! has PROPERTY VALUE …                property and its values, the usual first; NEW:OLD renames a value
//! bits SHIFT COUNT PROPERTY VALUE …   bits of the variant, before 1.13
//! box [PROPERTY=VALUE|VALUE …] BOX …  boxes of states, as min and max x,y,z in sixteenths
//! sides VALUE BOX …                   boxes for each of north, east, south and west with this value,
//!                                     as they are in the north
//! of NAME …                           blocks, `*` at the start or the end for any letters
//! ```
//! A state without boxes is a cube.

use drystone_voxel::{Shape, ShapeBox, ShapeKind};

const SHAPES: &str = include_str!("shapes.txt");
/// The directions of a turn, clockwise seen from above.
const DIRECTIONS: [&str; 4] = ["north", "east", "south", "west"];

/// The shapes of a family of blocks, by state.
#[derive(Debug)]
pub(super) struct Family {
    patterns: Vec<&'static str>,
    properties: Vec<Property>,
    bits: Vec<Bits>,
    parts: Vec<Part>,
    kind: ShapeKind,
    is_turned: bool,
    /// Whether blocks may be in water.
    pub(super) is_wet: bool,
    /// Whether the boxes are those of the block, and not only similar.
    pub(super) is_exact: bool,
}

#[derive(Debug)]
struct Property {
    name: &'static str,
    values: Vec<&'static str>,
    /// Values of earlier versions, with the index of the present value.
    renamed: Vec<(&'static str, usize)>,
}

/// A property in the variant of a block before 1.13.
#[derive(Debug)]
struct Bits {
    shift: u8,
    mask: u8,
    property: usize,
    /// Index of the property's value by the value of the bits.
    values: Vec<usize>,
}

/// Boxes of the states with certain values.
#[derive(Debug)]
struct Part {
    /// Properties, each with the values that it may have.
    conditions: Vec<(usize, Vec<usize>)>,
    /// Quarter turns of the boxes.
    turns: usize,
    boxes: Vec<ShapeBox>,
}

/// A state of a block: the index of a combination of values.
pub(super) type State = usize;

/// Returns the families of the table.
pub(super) fn families() -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in SHAPES.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), families.last_mut()) {
            (Some("shape"), _) => families.push(Family::new(words.skip(1))),
            (Some(word), Some(family)) => family.add(word, words),
            _ => {}
        }
    }
    families
}

impl Family {
    fn new(words: impl Iterator<Item = &'static str>) -> Self {
        let mut family = Self {
            patterns: Vec::new(),
            properties: Vec::new(),
            bits: Vec::new(),
            parts: Vec::new(),
            kind: ShapeKind::Opaque,
            is_turned: false,
            is_wet: false,
            is_exact: true,
        };
        for word in words {
            match word {
                "~" => family.is_exact = false,
                "turned" => family.is_turned = true,
                "wet" => family.is_wet = true,
                "colored" => family.kind = ShapeKind::Colored,
                _ => family.kind = ShapeKind::Fluid,
            }
        }
        family
    }

    /// Adds a line of the table. Words that are not understood are left out; a test finds them.
    fn add(&mut self, word: &str, mut words: impl Iterator<Item = &'static str>) {
        match word {
            "has" => self.properties.extend(Property::new(words)),
            "bits" => self.bits.extend(self.bits_of(words)),
            "box" => {
                let mut part = Part { conditions: Vec::new(), turns: 0, boxes: Vec::new() };
                for word in words {
                    match word.split_once('=') {
                        Some(condition) => part.conditions.extend(self.condition(condition)),
                        None => part.boxes.extend(box_of(word)),
                    }
                }
                self.parts.push(part);
            }
            "sides" => {
                let value = words.next().unwrap_or_default();
                let boxes: Vec<ShapeBox> = words.filter_map(box_of).collect();
                for (turns, side) in DIRECTIONS.into_iter().enumerate() {
                    let conditions = self.condition((side, value)).into_iter().collect();
                    self.parts.push(Part { conditions, turns, boxes: boxes.clone() });
                }
            }
            _ => self.patterns.extend(words),
        }
    }

    fn property(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|property| property.name == name)
    }

    fn condition(&self, (name, values): (&str, &str)) -> Option<(usize, Vec<usize>)> {
        let property = self.property(name)?;
        let index = |value| self.properties[property].index(value);
        Some((property, values.split('|').filter_map(index).collect()))
    }

    fn bits_of(&self, mut words: impl Iterator<Item = &'static str>) -> Option<Bits> {
        let shift = words.next()?.parse().ok()?;
        let count: u32 = words.next()?.parse().ok()?;
        let property = self.property(words.next()?)?;
        let values = words.filter_map(|value| self.properties[property].index(value)).collect();
        Some(Bits { shift, mask: (1 << count) - 1, property, values })
    }

    /// Whether the family contains a block.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| match pattern.split_once('*') {
            Some((start, end)) => name.starts_with(start) && name.ends_with(end),
            None => *pattern == name,
        })
    }

    /// Number of states.
    pub(super) fn state_count(&self) -> usize {
        self.properties.iter().map(|property| property.values.len()).product()
    }

    /// Returns the state with these properties; those that are missing have their usual values, others
    /// are ignored. `None` if a value is unknown.
    pub(super) fn state(&self, properties: &[(&[u8], &[u8])]) -> Option<State> {
        self.properties.iter().try_fold(0, |state, property| {
            let mut found = properties.iter();
            let value = match found.find(|(name, _)| *name == property.name.as_bytes()) {
                Some((_, value)) => property.index(std::str::from_utf8(value).ok()?)?,
                None => 0,
            };
            Some(state * property.values.len() + value)
        })
    }

    /// Returns the state of a block before 1.13 by its variant. Properties that it does not contain have
    /// their usual values.
    pub(super) fn state_of_variant(&self, variant: u8) -> State {
        let value = |at: usize| {
            let bits = self.bits.iter().find(|bits| bits.property == at)?;
            bits.values.get(usize::from(variant >> bits.shift & bits.mask)).copied()
        };
        self.properties
            .iter()
            .enumerate()
            .fold(0, |state, (at, property)| state * property.values.len() + value(at).unwrap_or(0))
    }

    /// Returns the value of each property of a state, in order.
    fn values(&self, mut state: State) -> Vec<usize> {
        let mut values: Vec<usize> = Vec::with_capacity(self.properties.len());
        for property in self.properties.iter().rev() {
            values.push(state % property.values.len());
            state /= property.values.len();
        }
        values.reverse();
        values
    }

    /// Returns the properties of a state as text, such as ` half=top`.
    pub(super) fn suffix(&self, state: State) -> String {
        let values = self.values(state);
        let pairs = self.properties.iter().zip(values);
        pairs
            .map(|(property, value)| format!(" {}={}", property.name, property.values[value]))
            .collect()
    }

    /// Returns the shape of a state; `None` for a cube.
    pub(super) fn shape(&self, state: State) -> Option<Shape> {
        let values = self.values(state);
        let facing = match self.property("facing").filter(|_| self.is_turned) {
            Some(facing) => values[facing],
            None => 0,
        };
        let holds = |(property, wanted): &(usize, Vec<usize>)| wanted.contains(&values[*property]);
        let boxes = self
            .parts
            .iter()
            .filter(|part| part.conditions.iter().all(holds))
            .flat_map(|part| part.boxes.iter().map(|it| turned(*it, part.turns + facing)))
            .collect();
        Shape::new(boxes, self.kind)
    }
}

impl Property {
    fn new(mut words: impl Iterator<Item = &'static str>) -> Option<Self> {
        let name = words.next()?;
        let (mut values, mut renamed) = (Vec::new(), Vec::new());
        for word in words {
            match word.split_once(':') {
                None => values.push(word),
                Some((old, new)) => {
                    renamed.push((old, values.iter().position(|value| *value == new)?));
                }
            }
        }
        Some(Self { name, values, renamed })
    }

    fn index(&self, value: &str) -> Option<usize> {
        let renamed = || self.renamed.iter().find(|(old, _)| *old == value).map(|(_, new)| *new);
        self.values.iter().position(|listed| *listed == value).or_else(renamed)
    }
}

fn box_of(word: &str) -> Option<ShapeBox> {
    let mut numbers = word.split(',').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(ShapeBox { min: [next()?, next()?, next()?], max: [next()?, next()?, next()?] })
}

/// Turns a box clockwise, seen from above: what is in the north comes to the east.
fn turned(mut it: ShapeBox, quarters: usize) -> ShapeBox {
    for _ in 0..quarters % DIRECTIONS.len() {
        let ShapeBox { min, max } = it;
        it = ShapeBox {
            min: [Shape::CELLS - max[2], min[1], min[0]],
            max: [Shape::CELLS - min[2], max[1], max[0]],
        };
    }
    it
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str) -> Family {
        families().into_iter().find(|family| family.contains(name)).unwrap()
    }

    fn boxes(name: &str, properties: &[(&str, &str)]) -> Vec<[[u8; 3]; 2]> {
        let family = family(name);
        let properties: Vec<(&[u8], &[u8])> =
            properties.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let shape = family.shape(family.state(&properties).unwrap());
        shape.iter().flat_map(Shape::boxes).map(|it| [it.min, it.max]).collect()
    }

    /// Every word of the table is understood: each box has six numbers and lies in its voxel.
    #[test]
    fn every_line_of_the_table_is_read() {
        let mut names = Vec::new();
        for family in families() {
            let is_cube = family.parts.is_empty();
            assert!(!family.patterns.is_empty() && (!is_cube || !family.is_exact));
            let shapes = (0..family.state_count()).filter_map(|state| family.shape(state)).count();
            assert!(shapes > 0 || is_cube, "{:?}", family.patterns);
            names.extend(family.patterns);
        }
        for line in SHAPES.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_known = match words[0] {
                "shape" => {
                    let known = ["~", "turned", "wet", "colored", "fluid"];
                    words[2..].iter().all(|it| known.contains(it))
                }
                "box" | "sides" => {
                    let first = usize::from(words[0] == "sides");
                    words[1 + first..].iter().all(|it| {
                        it.contains('=') || {
                            let shape =
                                box_of(it).and_then(|it| Shape::new(vec![it], ShapeKind::Opaque));
                            shape.is_some() && it.split(',').count() == 6
                        }
                    })
                }
                word => ["has", "bits", "of"].contains(&word),
            };
            assert!(is_known, "{line}");
            if let ["box", conditions @ ..] = words.as_slice() {
                let family = families().into_iter().find(|family| {
                    let parts = family.parts.iter();
                    let listed = conditions.iter().filter(|it| it.contains('=')).count();
                    parts.clone().any(|part| part.conditions.len() == listed)
                });
                assert!(family.is_some(), "{line}");
            }
        }
    }

    #[test]
    fn stairs_turn_with_their_direction() {
        let low = [[0, 0, 0], [16, 8, 16]];
        let straight = |facing| boxes("oak_stairs", &[("facing", facing), ("half", "bottom")]);
        assert_eq!(straight("north"), [low, [[0, 8, 0], [16, 16, 8]]]);
        assert_eq!(straight("east"), [low, [[8, 8, 0], [16, 16, 16]]]);
        assert_eq!(straight("south"), [low, [[0, 8, 8], [16, 16, 16]]]);
        assert_eq!(straight("west"), [low, [[0, 8, 0], [8, 16, 16]]]);
        let outer = [("facing", "east"), ("half", "top"), ("shape", "outer_right")];
        assert_eq!(
            boxes("oak_stairs", &outer),
            [[[0, 8, 0], [16, 16, 16]], [[8, 0, 8], [16, 8, 16]]]
        );
    }

    #[test]
    fn fences_have_an_arm_for_each_neighbour() {
        let post = [[6, 0, 6], [10, 16, 10]];
        assert_eq!(boxes("oak_fence", &[("waterlogged", "true")]), [post]);
        let west = boxes("oak_fence", &[("west", "true"), ("north", "false")]);
        assert_eq!(west, [post, [[0, 6, 7], [6, 9, 9]], [[0, 12, 7], [6, 15, 9]]]);
        // Walls of 1.15.
        let wall = [("east", "true"), ("up", "false")];
        assert_eq!(boxes("cobblestone_wall", &wall), [[[8, 0, 5], [16, 14, 11]]]);
    }

    #[test]
    fn unknown_values_have_no_state_and_full_states_no_shape() {
        assert_eq!(family("snow").state(&[(b"layers", b"9")]), None);
        assert_eq!(family("snow").state(&[(b"layers", b"\xff")]), None);
        assert!(boxes("snow", &[("layers", "8")]).is_empty());
        assert_eq!(boxes("snow", &[("layers", "3")]), [[[0; 3], [16, 6, 16]]]);
        assert_eq!(family("snow").suffix(2), " layers=3");
    }

    #[test]
    fn variants_before_1_13_have_their_states() {
        let stairs = family("oak_stairs");
        let suffix = |variant| stairs.suffix(stairs.state_of_variant(variant));
        assert_eq!(suffix(0), " facing=east half=bottom shape=straight");
        assert_eq!(suffix(7), " facing=north half=top shape=straight");
        let slab = family("stone_slab");
        assert_eq!(slab.suffix(slab.state_of_variant(8 + 3)), " type=top");
    }
}
