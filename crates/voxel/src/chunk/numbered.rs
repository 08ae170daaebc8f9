use alloc::vec;
use alloc::vec::Vec;

use crate::Material;

/// Voxels as indices into a list of at most 256 materials.
pub(super) struct Numbered {
    pub(super) materials: Vec<Material>,
    /// Number of voxels of each material.
    pub(super) counts: Vec<u32>,
    /// Material index of each voxel.
    pub(super) numbers: Vec<u8>,
}

/// Maximum number of materials.
const MAX: usize = 256;

impl Numbered {
    /// Numbers voxels; there must be at least one. Returns `None` if they have too many materials.
    ///
    /// # Cost
    /// About a nanosecond per voxel. A table stores the last index for each low byte of a material;
    /// most lookups succeed there.
    pub(super) fn of(voxels: &[Material]) -> Option<Self> {
        let mut list = [*voxels.first()?; MAX];
        let mut len = 1;
        let mut recent = [0u8; 256];
        let mut numbers = vec![0; voxels.len()];
        for (to, &material) in numbers.iter_mut().zip(voxels) {
            let slot = &mut recent[usize::from(material.0 & 255)];
            if list[usize::from(*slot)] != material {
                let number = find(&list[..len], material).unwrap_or(len);
                if number == len {
                    *list.get_mut(len)? = material;
                    len += 1;
                }
                *slot = number as u8;
            }
            *to = *slot;
        }
        let counts = count(&numbers)[..len].to_vec();
        Some(Self { materials: list[..len].to_vec(), counts, numbers })
    }
}

/// Counts how often each number occurs.
fn count(numbers: &[u8]) -> [u32; MAX] {
    /// Number of counter sets. Adjacent voxels are often equal, and increments of one counter wait
    /// for each other.
    const LANES: usize = 4;
    let mut lanes = [[0u32; MAX]; LANES];
    for block in numbers.chunks(LANES) {
        for (lane, &number) in lanes.iter_mut().zip(block) {
            lane[usize::from(number)] += 1;
        }
    }
    core::array::from_fn(|number| lanes.iter().map(|lane| lane[number]).sum())
}

/// Returns the index of a material in a list, comparing sixteen at a time.
#[inline]
pub(super) fn find(materials: &[Material], material: Material) -> Option<usize> {
    const LANES: usize = 16;
    for (block, lanes) in materials.chunks(LANES).enumerate() {
        let found = match <[Material; LANES]>::try_from(lanes) {
            Ok(lanes) => lanes.iter().fold(false, |any, &lane| any | (lane == material)),
            Err(_) => true,
        };
        if found && let Some(lane) = lanes.iter().position(|&lane| lane == material) {
            return Some(block * LANES + lane);
        }
    }
    None
}

/// Returns whether a material is in the list more than once.
pub(super) fn has_duplicates(materials: &[Material]) -> bool {
    const FEW: usize = 16;
    if materials.len() <= FEW {
        return (0..materials.len()).any(|n| materials[..n].contains(&materials[n]));
    }
    let mut sorted = materials.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
