use alloc::{string::String, vec, vec::Vec};

/// What a voxel is made of: a number into a [`MaterialTable`]. Zero is air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Material(pub u16);

impl Material {
    /// Nothing: neither drawn nor hiding what is behind.
    pub const AIR: Self = Self(0);

    /// Whether this is air.
    #[inline]
    pub const fn is_air(self) -> bool {
        self.0 == 0
    }
}

/// What is known of one material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialKind {
    /// A name to show.
    pub name: String,
    /// Red, green, blue and opacity as shown on screen (sRGB), 0 to 255. Opacity below
    /// 255 makes the material translucent.
    pub color: [u8; 4],
}

/// The materials of one world, by number.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable};
///
/// let mut table = MaterialTable::new();
/// let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
/// assert!(table.is_translucent(glass) && !table.is_translucent(Material::AIR));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialTable {
    kinds: Vec<MaterialKind>,
    /// One bit a material, set where it is translucent; asked once a voxel by the meshers.
    translucent: Vec<u64>,
    /// The first of those that are translucent, up to one more than `FEW`.
    first_translucent: Vec<Material>,
}

/// So many materials are sooner compared with each voxel than looked up.
const FEW: usize = 4;

impl MaterialTable {
    /// A table that knows only air.
    pub fn new() -> Self {
        let air = MaterialKind { name: String::from("air"), color: [0; 4] };
        Self { kinds: vec![air], translucent: vec![0], first_translucent: Vec::new() }
    }

    /// Adds a material, or returns `None` when all 65,535 numbers are taken.
    pub fn insert(&mut self, name: &str, color: [u8; 4]) -> Option<Material> {
        let id = u16::try_from(self.kinds.len()).ok()?;
        self.kinds.push(MaterialKind { name: String::from(name), color });
        let word = usize::from(id) / 64;
        if self.translucent.len() <= word {
            self.translucent.push(0);
        }
        self.translucent[word] |= u64::from(color[3] < u8::MAX) << (id % 64);
        if color[3] < u8::MAX && self.first_translucent.len() <= FEW {
            self.first_translucent.push(Material(id));
        }
        Some(Material(id))
    }

    /// What is known of `material`, or `None` where the table has no such number.
    pub fn get(&self, material: Material) -> Option<&MaterialKind> {
        self.kinds.get(usize::from(material.0))
    }

    /// Whether light passes `material`. False for air and for numbers not in the table,
    /// which count as opaque.
    #[inline]
    pub fn is_translucent(&self, material: Material) -> bool {
        let word = self.translucent.get(usize::from(material.0) / 64).copied().unwrap_or(0);
        word >> (material.0 % 64) & 1 != 0
    }

    /// Whether any material at all is translucent.
    pub fn any_translucent(&self) -> bool {
        !self.first_translucent.is_empty()
    }

    /// The translucent materials, where they are so few that comparing beats looking up.
    pub(crate) fn few_translucent(&self) -> Option<&[Material]> {
        (self.first_translucent.len() <= FEW).then_some(&self.first_translucent)
    }

    /// All materials by number, air first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Material, &MaterialKind)> {
        self.kinds.iter().enumerate().map(|(id, kind)| (Material(id as u16), kind))
    }

    /// How many materials there are, air included.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is nothing but air.
    pub fn is_empty(&self) -> bool {
        self.kinds.len() == 1
    }
}

impl Default for MaterialTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_table_refuses_and_keeps_what_it_has() {
        let mut table = MaterialTable::new();
        for id in 1..=u16::MAX {
            assert_eq!(table.insert("", [0, 0, 0, (id % 256) as u8]), Some(Material(id)));
        }
        assert_eq!(table.insert("one more", [0; 4]), None);
        assert_eq!(table.len(), 1 << 16);
        assert!(table.is_translucent(Material(u16::MAX - 1)));
        assert!(!table.is_translucent(Material(u16::MAX)));
    }
}
