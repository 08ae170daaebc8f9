use drystone_voxel::MaterialTable;
use twox_hash::XxHash3_64;

use crate::codec::{looks, materials};

/// Encodes the materials that are in use, with their numbers: the length of the table (4 bytes), the table, and
/// the properties beside it. Both are encoded as in a stored world.
pub(super) fn to_bytes(materials: &MaterialTable) -> Vec<u8> {
    let table = materials::to_bytes(materials);
    let looks = looks::to_bytes(materials).unwrap_or_default();
    [(table.len() as u32).to_le_bytes().as_slice(), &table, &looks].concat()
}

/// Decodes materials. Returns the problem of damaged bytes.
pub(super) fn of_bytes(bytes: &[u8], checksum: u64) -> Result<MaterialTable, &'static str> {
    if XxHash3_64::oneshot(bytes) != checksum {
        return Err(crate::codec::WRONG_SUM);
    }
    let split = || {
        let (len, rest) = bytes.split_first_chunk()?;
        rest.split_at_checked(u32::from_le_bytes(*len) as usize)
    };
    let (table, properties) = split().ok_or("they end too early")?;
    let table = materials::of_bytes(table).ok_or("their table is damaged")?;
    match properties {
        [] => Ok(table),
        properties => looks::read(&table, properties),
    }
}
