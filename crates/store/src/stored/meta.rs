use crate::codec::{opened, sealed};

/// Metadata of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Version of the format, see [`VERSION`].
    pub(super) version: u32,
    /// Number of commits since the file was created.
    pub(super) revision: u64,
    pub(super) chunk_count: u64,
    /// Number of regions in the index.
    pub(super) region_count: u64,
    pub(super) name: String,
}

/// Format version that is written, and the newest that is read. Version 1 has no LOD data. Version 2 has
/// LOD data in other tables, in which translucent voxels are not filled up to a height, and no
/// compressed table of materials. Programs that support only earlier versions would leave outdated LOD
/// data.
pub(super) const VERSION: u32 = 3;

const FIXED_BYTES: usize = 4 + 8 + 8 + 8;

impl Head {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.version.to_le_bytes().to_vec();
        for word in [self.revision, self.chunk_count, self.region_count] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend_from_slice(self.name.as_bytes());
        sealed(bytes)
    }

    /// Reads only the version, since the rest may differ in newer versions.
    pub(super) fn version_of(bytes: &[u8]) -> Option<u32> {
        opened(bytes)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (fixed, name) = opened(bytes)?.split_at_checked(FIXED_BYTES)?;
        let (version, words) = fixed.split_first_chunk()?;
        let words: Vec<u64> =
            words.as_chunks().0.iter().map(|&it| u64::from_le_bytes(it)).collect();
        let &[revision, chunk_count, region_count] = words.as_slice() else { return None };
        let name = String::from_utf8(name.to_vec()).ok()?;
        let version = u32::from_le_bytes(*version);
        Some(Self { version, revision, chunk_count, region_count, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_back_and_damaged_ones_refused() {
        let head = Head {
            version: VERSION,
            revision: 1 << 40,
            chunk_count: 77,
            region_count: 3,
            name: "höhle".into(),
        };
        let bytes = head.to_bytes();
        assert_eq!(Head::of_bytes(&bytes), Some(head));
        assert_eq!(Head::version_of(&bytes), Some(VERSION));
        for at in [0, 20, bytes.len() - 1] {
            let mut head = bytes.clone();
            head[at] ^= 16;
            assert_eq!(Head::of_bytes(&head), None);
        }
    }
}
