use drystone_voxel::{Chunk, Material, MaterialKind, MaterialTable};

use crate::codec::materials::is_same_kind;

/// Maps the materials of a source to those of a file of edits. The numbers are the same, except for
/// one number that marks emptied chunks.
///
/// ```text
///  source   0 air  1 stone  2 grass              3 snow, added later
///  file     0 air  1 stone  2 grass  3 emptied   4 snow
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Material that marks emptied chunks.
    emptied: Material,
    /// Whether the source has materials from this number on.
    is_grown: bool,
}

/// Name of the material that marks emptied chunks.
const EMPTIED: &str = "emptied";

impl Numbers {
    /// Returns the materials of a new file, or `None` if there are too many.
    pub(super) fn table(source: &MaterialTable) -> Option<MaterialTable> {
        let mut name = EMPTIED.to_owned();
        while source.iter().any(|(_, kind)| kind.name == name) {
            name += "'";
        }
        let mut table = source.clone();
        table.insert(&name, [0; 4]).map(|_| table)
    }

    /// Whether a material may be the one that marks emptied chunks.
    pub(super) fn could_be_emptied(kind: &MaterialKind) -> bool {
        kind.color == [0; 4] && kind.name.trim_end_matches('\'') == EMPTIED
    }

    /// Finds the mapping of a file. Returns `None` unless its materials are the first ones of the
    /// source, in the same order, plus the one that marks emptied chunks.
    pub(super) fn find(file: &MaterialTable, source: &MaterialTable) -> Option<Self> {
        if source.len() > usize::from(u16::MAX) || file.len() > source.len() + 1 {
            return None;
        }
        let could_be = |number: &Material| file.get(*number).is_some_and(Self::could_be_emptied);
        let mut could_be = file.iter().map(|(number, _)| number).filter(could_be);
        let fits = |&emptied: &Material| {
            let others = file.iter().filter(|(number, _)| *number != emptied);
            others.zip(source.iter()).all(|((_, a), (_, b))| is_same_kind(a, b))
        };
        let emptied = could_be.find(fits)?;
        Some(Self { emptied, is_grown: source.len() > usize::from(emptied.0) })
    }

    /// Returns the materials that the file needs now, or `None` if it has all.
    pub(super) fn grown(
        self,
        file: &MaterialTable,
        source: &MaterialTable,
    ) -> Option<MaterialTable> {
        if file.len() > source.len() {
            return None;
        }
        let mut table = file.clone();
        for (_, kind) in source.iter().skip(file.len() - 1) {
            let mut kind = kind.clone();
            kind.fluid = kind.fluid.map(|number| self.number_in_file(number));
            table.insert_kind(kind)?;
        }
        Some(table)
    }

    /// Converts a chunk from the source's numbers to those of the file.
    pub(super) fn to_file(self, chunk: Chunk) -> Chunk {
        if chunk.is_empty() {
            return Chunk::new(chunk.side(), self.emptied);
        }
        self.renumbered(chunk, |number| self.number_in_file(number))
    }

    const fn number_in_file(self, number: Material) -> Material {
        match number.0 < self.emptied.0 {
            true => number,
            false => Material(number.0.saturating_add(1)),
        }
    }

    /// Converts a chunk from the file's numbers to those of the source.
    pub(super) fn to_source(self, chunk: Chunk) -> Chunk {
        if chunk.uniform() == Some(self.emptied) {
            return Chunk::new(chunk.side(), Material::AIR);
        }
        self.renumbered(chunk, |number| match number <= self.emptied {
            true => number,
            false => Material(number.0 - 1),
        })
    }

    fn renumbered(self, chunk: Chunk, number: impl Fn(Material) -> Material) -> Chunk {
        let has_later = || chunk.iter().any(|(_, material)| material >= self.emptied);
        if !self.is_grown || !has_later() {
            return chunk;
        }
        Chunk::from_fn(chunk.side(), |at| number(chunk.get(at)))
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{LocalPos, Shape, ShapeBox, ShapeKind};

    use super::*;

    fn table(names: &[&str]) -> MaterialTable {
        let mut table = MaterialTable::new();
        for name in names {
            let color = if name.starts_with(EMPTIED) { [0; 4] } else { [1, 2, 3, 255] };
            table.insert(name, color).unwrap();
        }
        table
    }

    /// The mapping is found again for any names of materials, and both conversions are inverse.
    #[test]
    fn material_numbers_are_found_again_and_converted_back() {
        let names = ["a", "emptied", "b", "emptied'", "emptied", "c", "d"];
        for made in 0..=names.len() {
            let file = Numbers::table(&table(&names[..made])).unwrap();
            for now in 0..=names.len() {
                let source = table(&names[..now]);
                let found = Numbers::find(&file, &source);
                if now < made {
                    assert_eq!(found, None, "{made} {now}");
                    continue;
                }
                let numbers = found.unwrap();
                assert_eq!(usize::from(numbers.emptied.0), made + 1, "{made} {now}");
                let grown = numbers.grown(&file, &source).unwrap_or_else(|| file.clone());
                assert_eq!(grown.len(), source.len() + 1);
                assert_eq!(Numbers::find(&grown, &source), Some(numbers));
                for first in 0..=now as u16 {
                    let at = |it: LocalPos| Material((first + u16::from(it.x)) % (now as u16 + 1));
                    let uniform = Chunk::new(4, Material(first));
                    for chunk in [uniform, Chunk::from_fn(4, at)] {
                        let kept = numbers.to_file(chunk.snapshot());
                        let mut pairs = kept.iter().zip(chunk.iter());
                        let same = pairs.all(|((_, a), (_, b))| grown.get(a) == source.get(b));
                        assert!(same || kept.uniform() == Some(numbers.emptied));
                        assert!(numbers.to_source(kept).iter().eq(chunk.iter()));
                    }
                }
            }
        }
        assert_eq!(Numbers::find(&table(&["a"]), &table(&["a", "b"])), None);
        assert_eq!(Numbers::find(&table(&["x", "emptied"]), &table(&["a"])), None);
    }
    /// A fluid that the source added has another number in the file, behind emptied chunks.
    #[test]
    fn fluids_of_added_materials_have_the_numbers_of_the_file() {
        let full = ShapeBox { min: [0; 3], max: [16, 14, 16] };
        let shape = |kind| Shape::new(vec![full], kind).unwrap();
        let mut source = table(&["old"]);
        let file = Numbers::table(&source).unwrap();
        let kind = |name, shape| MaterialKind::new(name, [1, 2, 3, 99]).with_shape(shape);
        let water = source.insert_kind(kind("water", shape(ShapeKind::Fluid))).unwrap();
        let plant = kind("plant", shape(ShapeKind::Opaque)).with_fluid(water);
        let plant = source.insert_kind(plant).unwrap();
        let numbers = Numbers::find(&file, &source).unwrap();
        let grown = numbers.grown(&file, &source).unwrap();
        let [water, plant] = [water, plant].map(|number| numbers.number_in_file(number));
        assert_eq!((water, grown.fluid(plant)), (Material(3), Some(water)));
    }
}
