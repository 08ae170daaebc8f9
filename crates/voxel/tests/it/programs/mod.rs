//! Programs are byte strings, shared by property tests and fuzz targets. A run panics at the first
//! step after which a structure and its reference differ.

pub(crate) mod array;
pub(crate) mod chunk;
pub(crate) mod mesher;

use drystone_voxel::Material;

/// Reads a program; after its end every byte is 0.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Returns one of a few materials in most cases, else any.
    pub(crate) fn material(&mut self) -> Material {
        Material(match self.byte() {
            byte @ 0..=199 => u16::from(byte % 6),
            byte @ 200..=239 => u16::from(byte),
            _ => self.word(),
        })
    }

    /// Returns a small side in most cases, since large chunks take long to check.
    pub(crate) fn side(&mut self) -> u32 {
        match self.byte() {
            byte @ 0..=219 => 1 + u32::from(byte) % 9,
            byte => 1 + u32::from(byte.wrapping_mul(37)) % 64,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
