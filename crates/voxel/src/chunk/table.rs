use core::array;

use super::palette::Palette;
use crate::Material;

/// Lookup table from each byte of a palette to its 8, 4, 2 or 1 voxels.
///
/// One lookup converts a whole byte, and one store writes its voxels. For rows that are copied to
/// another layout, this is hardly slower than a copy of unpacked voxels.
pub(crate) struct Table([Material; MAX_PER_BYTE * BYTES]);

/// Maximum number of voxels per byte.
const MAX_PER_BYTE: usize = 8;
const BYTES: usize = 256;

impl Table {
    /// Creates a table; call [`set`](Self::set) before use.
    pub(crate) const fn new() -> Self {
        Self([Material::AIR; MAX_PER_BYTE * BYTES])
    }

    /// Fills the table for a palette.
    pub(super) fn set(&mut self, palette: &Palette) {
        match palette.width().bits() {
            1 => self.fill::<8, 4>(palette),
            2 => self.fill::<4, 2>(palette),
            4 => self.fill::<2, 1>(palette),
            _ => self.0[..palette.materials().len()].copy_from_slice(palette.materials()),
        }
    }

    /// Copies consecutive voxels of the palette from the last [`set`](Self::set), starting at
    /// `first`, to `row`.
    #[inline]
    pub(super) fn copy(&self, palette: &Palette, first: usize, row: &mut [Material]) {
        match palette.width().bits() {
            1 => self.copy_bytes::<8>(palette, first, row),
            2 => self.copy_bytes::<4>(palette, first, row),
            4 => self.copy_bytes::<2>(palette, first, row),
            _ => self.copy_bytes::<1>(palette, first, row),
        }
    }

    /// Fills the table from a smaller one for half bytes, with at most `HALF` voxels each.
    fn fill<const PER_BYTE: usize, const HALF: usize>(&mut self, palette: &Palette) {
        const HALVES: usize = 16;
        let bits = 4 / HALF;
        // Numbers beyond the list do not occur.
        let mut materials = [Material::AIR; HALVES];
        for (to, &material) in materials.iter_mut().zip(palette.materials()) {
            *to = material;
        }
        let halves: [[Material; HALF]; HALVES] = array::from_fn(|number| {
            array::from_fn(|n| materials[number >> (n * bits) & ((1 << bits) - 1)])
        });
        let (table, _) = self.0.as_chunks_mut::<PER_BYTE>();
        for (byte, voxels) in table.iter_mut().take(BYTES).enumerate() {
            let (low, high) = voxels.split_at_mut(HALF);
            low.copy_from_slice(&halves[byte % HALVES]);
            high.copy_from_slice(&halves[byte / HALVES]);
        }
    }

    #[inline]
    fn copy_bytes<const PER_BYTE: usize>(
        &self,
        palette: &Palette,
        first: usize,
        row: &mut [Material],
    ) {
        let (table, _) = self.0.as_chunks::<PER_BYTE>();
        let Ok(table) = <&[[Material; PER_BYTE]; BYTES]>::try_from(&table[..BYTES]) else {
            unreachable!("the table has an entry for each byte")
        };
        if first.is_multiple_of(PER_BYTE) && row.len().is_multiple_of(PER_BYTE) {
            return copy_whole(table, palette.packed(), first / PER_BYTE, row);
        }
        // First up to the start of a byte, then whole bytes, then the rest.
        let head = (first.next_multiple_of(PER_BYTE) - first).min(row.len());
        let (before, rest) = row.split_at_mut(head);
        palette.copy(first, before);
        let (whole, after) = rest.split_at_mut(rest.len() - rest.len() % PER_BYTE);
        let byte = (first + head) / PER_BYTE;
        copy_whole(table, palette.packed(), byte, whole);
        palette.copy(byte * PER_BYTE + whole.len(), after);
    }
}

/// Copies the voxels of whole bytes.
#[inline]
fn copy_whole<const PER_BYTE: usize>(
    table: &[[Material; PER_BYTE]; BYTES],
    packed: &[u8],
    byte: usize,
    row: &mut [Material],
) {
    let (row, _) = row.as_chunks_mut::<PER_BYTE>();
    let bytes = &packed[byte..byte + row.len()];
    for (voxels, &byte) in row.iter_mut().zip(bytes) {
        *voxels = table[usize::from(byte)];
    }
}
