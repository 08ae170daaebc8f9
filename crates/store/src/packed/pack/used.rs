use drystone_voxel::{Chunk, Face, Material, MaterialKind, MaterialTable};

/// Set of the materials that chunks contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedMaterials {
    /// A bit for each number.
    bits: Vec<u64>,
}

impl Default for UsedMaterials {
    fn default() -> Self {
        Self { bits: vec![0; (1 << 16) / 64] }
    }
}

impl UsedMaterials {
    /// Adds the materials of a chunk. A LOD chunk may have others than the chunks below it.
    pub(super) fn add_chunk(&mut self, chunk: &Chunk) {
        if let Some(material) = chunk.uniform() {
            self.insert(material);
            return;
        }
        chunk.for_each_row(|_, _, row| {
            row.chunk_by(PartialEq::eq).for_each(|run| self.insert(run[0]));
        });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.bits.iter_mut().zip(&other.bits) {
            *own |= other;
        }
    }

    pub(super) fn bits(&self) -> &[u64] {
        &self.bits
    }

    pub(super) fn of_bits(bits: Vec<u64>) -> Self {
        Self { bits }
    }

    fn insert(&mut self, material: Material) {
        self.bits[usize::from(material.0) / 64] |= 1 << (material.0 % 64);
    }

    fn contains(&self, material: Material) -> bool {
        self.bits[usize::from(material.0) / 64] >> (material.0 % 64) & 1 != 0
    }

    /// Returns a table in which all other materials are placeholders of their opacity. Numbers keep their meaning, those of [partial materials](MaterialTable::filled_to) too, which depend on all
    /// translucent materials.
    pub(super) fn table(&self, materials: &MaterialTable) -> MaterialTable {
        let mut used = self.clone();
        for material in (0..=u16::MAX).map(Material).filter(|material| self.contains(*material)) {
            let whole = materials.whole(material);
            used.insert(whole);
            let fluid = materials.get(whole).and_then(|kind| kind.fluid);
            fluid.into_iter().for_each(|fluid| used.insert(fluid));
        }
        let is_used = |(material, _): (Material, &MaterialKind)| used.contains(material);
        let is_textured =
            |kind: &MaterialKind| Face::ALL.iter().any(|face| kind.texture(*face).is_some());
        let mut table = MaterialTable::new();
        if materials.iter().any(|it| is_used(it) && is_textured(it.1)) {
            // The source's table takes no more textures than this one.
            materials
                .textures()
                .iter()
                .for_each(|texture| _ = table.insert_texture(texture.clone()));
        }
        for (material, kind) in materials.iter().skip(1) {
            let kind = match is_used((material, kind)) {
                true => kind.clone(),
                false => MaterialKind::placeholder(kind.color[3]),
            };
            table.insert_kind(kind);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A LOD chunk has partial materials, of others than the chunks below it perhaps.
    #[test]
    fn partial_materials_use_their_whole_one() {
        let mut table = MaterialTable::new();
        let water = table.insert("water", [1, 2, 3, 90]).unwrap();
        let mut used = UsedMaterials::default();
        used.add_chunk(&Chunk::new(Chunk::SIDE, table.filled_to(water, 5)));
        assert_eq!(used.table(&table).get(water).unwrap().name, "water");
    }

    #[test]
    fn unused_materials_lose_their_names_and_the_others_keep_their_numbers() {
        let mut table = MaterialTable::new();
        for (name, opacity) in [("stone", 255), ("unused", 255), ("water", 90), ("glass", 40)] {
            table.insert(name, [1, 2, 3, opacity]).unwrap();
        }
        let wet = MaterialKind::new("wet stairs", [9, 9, 9, 255]).with_fluid(Material(3));
        let wet = table.insert_kind(wet).unwrap();
        let mut used = UsedMaterials::default();
        used.add_chunk(&Chunk::new(Chunk::SIDE, Material(1)));
        used.add_chunk(&Chunk::from_fn(
            Chunk::SIDE,
            |at| if at.x > 3 { wet } else { Material::AIR },
        ));
        let pruned = used.table(&table);
        let names: Vec<&str> = pruned.iter().map(|(_, kind)| kind.name.as_str()).collect();
        assert_eq!(names, ["air", "stone", "", "water", "", "wet stairs"]);
        assert_eq!(pruned.filled_to(Material(4), 5), table.filled_to(Material(4), 5));
        let partial = table.filled_to(Material(3), 7);
        assert_eq!(pruned.whole(partial), Material(3));
    }
}
