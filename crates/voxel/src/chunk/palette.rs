use alloc::vec::Vec;

use super::blocks::Block;
use super::numbered::{Numbered, find};
use crate::Material;

/// Voxels as indices of 1, 2, 4 or 8 bits into a list of materials: X fastest, then Y, then Z,
/// lowest bits first.
///
/// ```text
///  materials   0 air   1 stone   2 dirt   3 grass        2 bits: four voxels per byte
///  counts      9000    22000     1100     0 ◄─ its entry is used by the next new material
///  bytes       ..11 01 00 10 ..
/// ```
#[derive(Clone, Debug)]
pub(super) struct Palette {
    width: Width,
    /// Number of materials that have voxels.
    live_count: u32,
    materials: Vec<Material>,
    /// Number of voxels of each material.
    counts: Vec<u32>,
    packed: Block<u8>,
}

/// Logarithm of the bits per voxel: 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Width(u8);

impl Width {
    pub(super) const MAX: Self = Self(3);

    /// Returns the narrowest width for this number of materials, if any.
    pub(super) const fn of(materials: usize) -> Option<Self> {
        Some(Self(match materials {
            0..=2 => 0,
            3..=4 => 1,
            5..=16 => 2,
            17..=256 => 3,
            _ => return None,
        }))
    }

    /// Returns the width for this number of bits per voxel.
    pub(super) const fn of_bits(bits: u32) -> Option<Self> {
        Some(Self(match bits {
            1 => 0,
            2 => 1,
            4 => 2,
            8 => 3,
            _ => return None,
        }))
    }

    pub(super) const fn bits(self) -> u32 {
        1 << self.0
    }

    /// Maximum number of materials.
    pub(super) const fn capacity(self) -> usize {
        1 << self.bits()
    }

    /// Returns the size of `volume` voxels, in bytes.
    pub(super) const fn bytes(self, volume: usize) -> usize {
        volume.div_ceil(8 >> self.0)
    }

    pub(super) fn next(self) -> Option<Self> {
        (self < Self::MAX).then(|| Self(self.0 + 1))
    }

    /// Returns the byte of a voxel, and the bit shift in it.
    #[inline]
    const fn position(self, voxel: usize) -> (usize, u32) {
        let voxels_log2 = 3 - self.0 as u32;
        let within = voxel as u32 & ((1 << voxels_log2) - 1);
        (voxel >> voxels_log2, within << self.0)
    }

    #[inline]
    const fn mask(self) -> u8 {
        (((1u32 << self.bits()) - 1) & 0xff) as u8
    }
}

impl Palette {
    /// Creates a palette whose voxels are all of one material.
    pub(super) fn uniform(volume: usize, fill: Material) -> Self {
        let mut palette = Self::blank(volume, Width(0));
        (palette.materials, palette.counts) = ([fill].to_vec(), [volume as u32].to_vec());
        palette.live_count = 1;
        palette
    }

    /// Creates a palette with empty lists whose numbers are all 0.
    fn blank(volume: usize, width: Width) -> Self {
        let packed = Block::filled(width.bytes(volume), 0);
        Self { width, live_count: 0, materials: Vec::new(), counts: Vec::new(), packed }
    }

    /// Packs numbered voxels with the minimum width.
    pub(super) fn of(voxels: Numbered) -> Self {
        let Numbered { materials, counts, numbers } = voxels;
        let width = Width::of(materials.len()).unwrap_or(Width::MAX);
        let mut packed = Block::filled(width.bytes(numbers.len()), 0);
        match width.bits() {
            1 => pack::<8>(&numbers, &mut packed),
            2 => pack::<4>(&numbers, &mut packed),
            4 => pack::<2>(&numbers, &mut packed),
            _ => packed.copy_from_slice(&numbers),
        }
        Self { width, live_count: materials.len() as u32, materials, counts, packed }
    }

    /// Creates a palette from packed voxels; `counts` are the numbers of voxels per material.
    pub(super) fn of_parts(
        width: Width,
        materials: &[Material],
        counts: &[u32],
        packed: Block<u8>,
    ) -> Self {
        let live_count = counts.iter().filter(|&&count| count > 0).count() as u32;
        let (materials, counts) = (materials.to_vec(), counts.to_vec());
        Self { width, live_count, materials, counts, packed }
    }

    pub(super) const fn width(&self) -> Width {
        self.width
    }

    /// Number of materials that have voxels.
    pub(super) const fn live_count(&self) -> usize {
        self.live_count as usize
    }

    /// Returns the material of all voxels, if there is only one.
    pub(super) fn only_material(&self) -> Option<Material> {
        if self.live_count != 1 {
            return None;
        }
        let number = self.counts.iter().position(|&count| count > 0)?;
        self.materials.get(number).copied()
    }

    pub(super) fn materials(&self) -> &[Material] {
        &self.materials
    }

    pub(super) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Returns a voxel's index in [`materials`](Self::materials).
    #[inline]
    pub(super) fn number(&self, voxel: usize) -> usize {
        let (byte, shift) = self.width.position(voxel);
        usize::from(self.packed[byte] >> shift & self.width.mask())
    }

    #[inline]
    pub(super) fn get(&self, voxel: usize) -> Material {
        self.materials[self.number(voxel)]
    }

    /// Returns whether [`number_for`](Self::number_for) has a number for the material.
    #[inline]
    pub(super) fn has_number_for(&self, material: Material) -> bool {
        self.live_count() < self.width.capacity() || find(&self.materials, material).is_some()
    }

    /// Returns a faster [`get`](Self::get) for many voxels; `BITS` must be the bits per voxel.
    #[inline]
    pub(super) fn getter<const BITS: usize>(&self) -> impl Fn(usize) -> Material + '_ {
        let mut materials = [Material::AIR; Width::MAX.capacity()];
        materials[..self.materials.len()].copy_from_slice(&self.materials);
        let (per_byte, mask) = (8 / BITS, ((1u32 << BITS) - 1) as u8);
        move |voxel| {
            let byte = self.packed[voxel / per_byte];
            materials[usize::from(byte >> (voxel % per_byte * BITS) & mask)]
        }
    }

    /// Copies consecutive voxels, starting at `first`, to `row`.
    pub(super) fn copy(&self, first: usize, row: &mut [Material]) {
        match self.width.bits() {
            1 => copy_each(first, row, self.getter::<1>()),
            2 => copy_each(first, row, self.getter::<2>()),
            4 => copy_each(first, row, self.getter::<4>()),
            _ => copy_each(first, row, self.getter::<8>()),
        }
    }

    /// Returns the number of a material, and adds it to the list if necessary: at the end, else in
    /// the entry of a material without voxels. Returns `None` if all entries are used.
    pub(super) fn number_for(&mut self, material: Material) -> Option<usize> {
        if let Some(number) = find(&self.materials, material) {
            return Some(number);
        }
        if self.materials.len() < self.width.capacity() {
            self.materials.push(material);
            self.counts.push(0);
            return Some(self.materials.len() - 1);
        }
        if self.live_count as usize == self.materials.len() {
            return None;
        }
        let number = self.counts.iter().position(|&count| count == 0)?;
        self.materials[number] = material;
        Some(number)
    }

    /// Sets a voxel to the material of this number, and returns the old material.
    #[inline]
    pub(super) fn put(&mut self, voxel: usize, number: usize) -> Material {
        let (byte, shift) = self.width.position(voxel);
        let packed = &mut self.packed[byte];
        let old = usize::from(*packed >> shift & self.width.mask());
        if old != number {
            *packed = *packed & !(self.width.mask() << shift) | (number as u8) << shift;
            self.counts[old] -= 1;
            self.live_count -= u32::from(self.counts[old] == 0);
            self.add(number, 1);
        }
        self.materials[old]
    }

    /// Converts the voxels to another width. Returns `None` if that width is too narrow.
    pub(super) fn with_width(&self, volume: usize, width: Width) -> Option<Self> {
        let mut other = Self::blank(volume, width);
        let mut numbers = [0u8; 256];
        for (number, &material) in self.materials.iter().enumerate() {
            if self.counts[number] > 0 {
                let new = other.number_for(material)?;
                other.add(new, self.counts[number]);
                numbers[number] = new as u8;
            }
        }
        for voxel in 0..volume {
            let (byte, shift) = width.position(voxel);
            other.packed[byte] |= numbers[self.number(voxel)] << shift;
        }
        Some(other)
    }

    /// Returns the memory in bytes, without the struct.
    pub(super) fn size_bytes(&self) -> usize {
        self.packed.len() + self.materials.capacity() * 2 + self.counts.capacity() * 4
    }

    /// Checks all invariants, for tests.
    pub(super) fn validate(&self, volume: usize) -> Result<(), &'static str> {
        let mut counts = [0u32; 256];
        (0..volume).for_each(|voxel| counts[self.number(voxel)] += 1);
        let listed = self.counts.len();
        if listed != self.materials.len() || listed > self.width.capacity() {
            return Err("the list of materials exceeds the width");
        }
        if counts[..listed] != self.counts || counts[listed..].iter().any(|&count| count > 0) {
            return Err("the count of a material's voxels is wrong");
        }
        if self.counts.iter().filter(|&&count| count > 0).count() != self.live_count() {
            return Err("the count of materials with voxels is wrong");
        }
        let twice = |n: usize| self.materials[..n].contains(&self.materials[n]);
        if (0..listed).any(twice) {
            return Err("a material is in the list twice");
        }
        Ok(())
    }

    fn add(&mut self, number: usize, count: u32) {
        self.live_count += u32::from(self.counts[number] == 0 && count > 0);
        self.counts[number] += count;
    }
}

/// Packs `PER_BYTE` numbers into each byte, the first in the lowest bits.
fn pack<const PER_BYTE: usize>(numbers: &[u8], packed: &mut [u8]) {
    let (whole, rest) = numbers.as_chunks::<PER_BYTE>();
    let pack = |numbers: &[u8]| {
        let shifted = numbers.iter().enumerate().map(|(n, number)| number << (n * 8 / PER_BYTE));
        shifted.fold(0, |byte, number| byte | number)
    };
    for (byte, numbers) in packed.iter_mut().zip(whole) {
        *byte = pack(numbers);
    }
    if let Some(last) = packed.get_mut(whole.len()) {
        *last = pack(rest);
    }
}

#[inline]
fn copy_each(first: usize, row: &mut [Material], get: impl Fn(usize) -> Material) {
    for (voxel, to) in (first..).zip(row) {
        *to = get(voxel);
    }
}
