mod kind;
mod textures;

use alloc::{vec, vec::Vec};

pub use kind::MaterialKind;

use crate::{MaterialTexture, Shape, ShapeKind};

/// Material of a voxel: a number in a [`MaterialTable`]. Zero is air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[repr(transparent)]
pub struct Material(pub u16);

impl Material {
    /// Air: not drawn, and hides nothing behind it.
    pub const AIR: Self = Self(0);

    /// Returns whether the material is air.
    #[inline]
    pub const fn is_air(self) -> bool {
        self.0 == 0
    }
}

/// Materials of a world, indexed by number.
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
    /// One bit per material, set if it is translucent, also for [partial materials](Self::filled_to). Meshers read
    /// it once per voxel.
    translucent: Vec<u64>,
    /// Translucent materials in ascending order.
    translucent_list: Vec<Material>,
    /// One bit per material, set if it has a shape. Empty if none has.
    shaped: Vec<u64>,
    /// One bit per material, set if it is thin. Empty if none has a shape.
    thin: Vec<u64>,
    /// One bit per material, set if it is cut out. Empty if none is.
    cut_out: Vec<u64>,
    /// Whether two translucent materials have the same opacity.
    has_bodies: bool,
    textures: Vec<MaterialTexture>,
}

/// Maximum number of materials for which comparisons per voxel are faster than a table lookup.
const FEW: usize = 4;
/// Number of the first partial material. Each translucent material has 16 numbers and uses 15 of them.
pub(crate) const FIRST_PARTIAL: u16 = 1 << 15;
/// Maximum number of translucent materials with partial ones.
const MAX_WITH_PARTIALS: usize = (FIRST_PARTIAL / Shape::CELLS as u16) as usize;

impl MaterialTable {
    /// Creates a table that contains only air.
    pub fn new() -> Self {
        let air = MaterialKind::new("air", [0; 4]);
        let (translucent, translucent_list) = (vec![0], Vec::new());
        Self {
            kinds: vec![air],
            translucent,
            translucent_list,
            shaped: Vec::new(),
            thin: Vec::new(),
            cut_out: Vec::new(),
            has_bodies: false,
            textures: Vec::new(),
        }
    }

    /// Adds a material with one colour that emits no light. Returns `None` if all 65,535 numbers are
    /// used.
    pub fn insert(&mut self, name: &str, color: [u8; 4]) -> Option<Material> {
        self.insert_kind(MaterialKind::new(name, color))
    }

    /// Adds a material. Returns `None` if all 65,535 numbers are used, or if the material has a texture
    /// that is not in this table.
    pub fn insert_kind(&mut self, kind: MaterialKind) -> Option<Material> {
        let id = u16::try_from(self.kinds.len()).ok()?;
        self.check_textures(&kind.textures).ok()?;
        let (color, word) = (kind.color, usize::from(id) / 64);
        if kind.shape.is_some() {
            self.shaped.resize(word + 1, 0);
            self.thin.resize(word + 1, 0);
            self.shaped[word] |= 1 << (id % 64);
            self.thin[word] |= u64::from(kind.is_thin()) << (id % 64);
        }
        if kind.cut_out && color[3] == u8::MAX && kind.shape.is_none() {
            self.cut_out.resize(word + 1, 0);
            self.cut_out[word] |= 1 << (id % 64);
        }
        let is_like = |other: &MaterialKind| other.color[3] == color[3];
        self.has_bodies =
            self.has_bodies || (color[3] < u8::MAX && self.kinds.iter().skip(1).any(is_like));
        self.kinds.push(kind);
        if id == FIRST_PARTIAL {
            // The table is now too long for partial materials.
            self.translucent.truncate(word);
        }
        if self.translucent.len() <= word {
            self.translucent.resize(word + 1, 0);
        }
        if color[3] < u8::MAX {
            self.translucent[word] |= 1 << (id % 64);
            self.translucent_list.push(Material(id));
            self.mark_partials();
        }
        Some(Material(id))
    }

    /// Marks the partial materials of the last translucent material as translucent.
    fn mark_partials(&mut self) {
        let rank = self.translucent_list.len() - 1;
        if self.has_partials() && rank < MAX_WITH_PARTIALS {
            let bit = usize::from(FIRST_PARTIAL) + rank * usize::from(Shape::CELLS);
            let words = self.translucent.len().max(bit / 64 + 1);
            self.translucent.resize(words, 0);
            self.translucent[bit / 64] |= 0xfffe << (bit % 64);
        }
    }

    /// Whether the table is short enough for numbers of partial materials.
    pub(crate) const fn has_partials(&self) -> bool {
        self.kinds.len() <= FIRST_PARTIAL as usize
    }

    /// Returns the whole material and the height of a partial one.
    fn partial(&self, material: Material) -> Option<(Material, u8)> {
        if material.0 < FIRST_PARTIAL || !self.has_partials() {
            return None;
        }
        let number = material.0 - FIRST_PARTIAL;
        let cells = (number % u16::from(Shape::CELLS)) as u8;
        let whole = self.translucent_list.get(usize::from(number / u16::from(Shape::CELLS)))?;
        (cells > 0).then_some((*whole, cells))
    }

    /// Returns a *partial material*: a translucent one in LOD voxels that it fills up to a height, in
    /// sixteenths of a voxel from below. So the surface of a lake has one height at all levels.
    ///
    /// Partial materials have numbers from 32,768 on, and no entries in the table. [`get`](Self::get) and
    /// [`is_translucent`](Self::is_translucent) treat them as their whole material. Returns the whole
    /// material for a full voxel, for one that is not translucent, for a table with more than 32,768
    /// materials, and for translucent materials after the first 2,048.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::MaterialTable;
    ///
    /// let mut table = MaterialTable::new();
    /// let water = table.insert("water", [40, 80, 200, 90]).unwrap();
    /// let half = table.filled_to(water, 8);
    /// assert_eq!((table.whole(half), table.fill_cells(half)), (water, 8));
    /// assert_eq!(table.filled_to(half, 16), water);
    /// assert!(table.is_translucent(half) && table.get(half) == table.get(water));
    /// ```
    pub fn filled_to(&self, material: Material, cells: u8) -> Material {
        let whole = self.whole(material);
        if cells >= Shape::CELLS || !self.has_partials() {
            return whole;
        }
        match self.translucent_list.binary_search(&whole) {
            Ok(rank) if rank < MAX_WITH_PARTIALS => {
                let first = FIRST_PARTIAL + rank as u16 * u16::from(Shape::CELLS);
                Material(first + u16::from(cells.max(1)))
            }
            _ => whole,
        }
    }

    /// Returns the whole material of a [partial one](Self::filled_to). Other materials are whole.
    #[inline]
    pub fn whole(&self, material: Material) -> Material {
        self.partial(material).map_or(material, |(whole, _)| whole)
    }

    /// Returns the height of the surface in a voxel below air, in sixteenths of a voxel: that of a
    /// [partial material](Self::filled_to) or of a [fluid](ShapeKind::Fluid), else 16.
    pub fn fill_cells(&self, material: Material) -> u8 {
        if let Some((_, cells)) = self.partial(material) {
            return cells;
        }
        let fluid = self.shape(material).filter(|shape| shape.kind() == ShapeKind::Fluid);
        let tops = fluid.into_iter().flat_map(Shape::boxes).map(|part| part.max[1]);
        tops.max().unwrap_or(Shape::CELLS)
    }

    /// Returns the properties of `material`, or `None` if it is not in the table.
    pub fn get(&self, material: Material) -> Option<&MaterialKind> {
        self.kinds.get(usize::from(self.whole(material).0))
    }

    /// Returns whether `material` is translucent. False for air and for materials not in the table,
    /// which count as opaque.
    #[inline]
    pub fn is_translucent(&self, material: Material) -> bool {
        has_bit(&self.translucent, material)
    }

    /// Returns the shape of `material`, or `None` if its voxels are cubes.
    pub fn shape(&self, material: Material) -> Option<&Shape> {
        self.get(material)?.shape.as_ref()
    }

    /// Returns whether `material` has a shape.
    #[inline]
    pub fn is_shaped(&self, material: Material) -> bool {
        has_bit(&self.shaped, material)
    }

    /// Returns whether `material` has a shape that a cube does not resemble, such as a plant. Where
    /// shapes are not drawn, such voxels are air.
    #[inline]
    pub fn is_thin(&self, material: Material) -> bool {
        has_bit(&self.thin, material)
    }

    /// Returns the fluid in a voxel: its own material if that is a fluid with a shape, else the fluid
    /// [around its shape](MaterialKind::fluid).
    pub fn fluid(&self, material: Material) -> Option<Material> {
        let kind = self.get(material)?;
        if kind.is_fluid() { Some(material) } else { self.fluid_around(kind) }
    }

    fn fluid_around(&self, kind: &MaterialKind) -> Option<Material> {
        let fluid = kind.fluid.filter(|_| kind.shape.is_some())?;
        self.get(fluid).is_some_and(MaterialKind::is_fluid).then_some(fluid)
    }

    /// Returns what a voxel is where shapes are not drawn: of a [thin](Self::is_thin) one, the
    /// [fluid](MaterialKind::fluid) around it, or air; others stay.
    #[inline]
    pub fn without_thin(&self, material: Material) -> Material {
        if !self.is_thin(material) {
            return material;
        }
        let fluid = self.get(material).and_then(|kind| self.fluid_around(kind));
        fluid.filter(|fluid| !self.is_thin(*fluid)).unwrap_or(Material::AIR)
    }

    /// Returns whether any material has a shape.
    pub fn any_shaped(&self) -> bool {
        !self.shaped.is_empty()
    }

    /// Returns whether a material is a cube with holes: a [cut-out](MaterialKind::cut_out) that is neither
    /// translucent nor shaped. Such voxels hide nothing behind them.
    #[inline]
    pub fn is_cut_out(&self, material: Material) -> bool {
        has_bit(&self.cut_out, material)
    }

    /// Returns a copy without cut-out materials: their voxels are opaque, and hide the faces beside them.
    #[must_use]
    pub fn without_cut_outs(&self) -> Self {
        let mut table = self.clone();
        table.cut_out.clear();
        table.kinds.iter_mut().for_each(|kind| kind.cut_out = false);
        table
    }

    /// Returns whether any material is cut out.
    pub fn any_cut_out(&self) -> bool {
        !self.cut_out.is_empty()
    }

    /// Returns whether voxels of a material hide the faces beside them: it is not air, not translucent
    /// and not cut out.
    #[inline]
    pub fn covers(&self, material: Material) -> bool {
        !material.is_air() && !self.is_translucent(material) && !self.is_cut_out(material)
    }

    /// Returns whether two materials form one body, which has no faces inside: they are equal, or
    /// translucent with the same opacity. So water of two colours is one body, and water and ice are
    /// not. False for air.
    pub fn is_one_body(&self, a: Material, b: Material) -> bool {
        let opacity = |material: Material| self.get(material).map(|kind| kind.color[3]);
        !a.is_air()
            && !b.is_air()
            && (a == b || (self.is_translucent(a) && opacity(a) == opacity(b)))
    }

    /// Whether bodies can have several materials.
    pub(crate) const fn has_bodies(&self) -> bool {
        self.has_bodies
    }

    /// Returns whether the table contains a translucent material.
    pub fn any_translucent(&self) -> bool {
        !self.translucent_list.is_empty()
    }

    /// Returns the translucent materials if they are few enough for comparisons instead of a
    /// lookup.
    pub(crate) fn few_translucent(&self) -> Option<&[Material]> {
        (self.translucent_list.len() <= FEW).then_some(&self.translucent_list)
    }

    /// Iterates over all materials by number, air first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Material, &MaterialKind)> {
        self.kinds.iter().enumerate().map(|(id, kind)| (Material(id as u16), kind))
    }

    /// Number of materials, including air.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns whether the table contains only air.
    pub fn is_empty(&self) -> bool {
        self.kinds.len() == 1
    }
}

/// Returns the bit of a material; false beyond the end.
#[inline]
fn has_bit(words: &[u64], material: Material) -> bool {
    let word = words.get(usize::from(material.0) / 64).copied().unwrap_or(0);
    word >> (material.0 % 64) & 1 != 0
}

impl Default for MaterialTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
