use std::collections::HashSet;

use drystone_voxel::{Chunk, LocalPos, Material, StorageKind};

use super::Bytes;

#[derive(Debug)]
enum Op {
    Set(usize, Material),
    /// Set this many voxels, `step` apart, to materials that count up from `first`.
    Sprinkle {
        start: usize,
        count: usize,
        step: usize,
        first: u16,
        materials: u16,
    },
    FillBox([u8; 3], [u32; 3], Material),
    /// Set every voxel to one material, one by one.
    SetAll(Material),
    Compact,
    Rebuild,
    Snapshot,
    /// Continue with a snapshot, and store the current chunk in its slot.
    Swap(usize),
}

impl Bytes<'_> {
    fn voxel(&mut self, volume: usize) -> usize {
        (usize::from(self.word()) | usize::from(self.byte()) << 16) % volume
    }

    fn op(&mut self, volume: usize) -> Op {
        match self.byte() {
            0..=119 => Op::Set(self.voxel(volume), self.material()),
            120..=164 => Op::Sprinkle {
                start: self.voxel(volume),
                count: usize::from(self.word()) % 2048,
                step: 1 + usize::from(self.byte()),
                first: self.word(),
                materials: 1 + self.word() % 400,
            },
            165..=194 => {
                let low = [(); 3].map(|()| self.byte() % 66);
                let size = [(); 3].map(|()| u32::from(self.byte()) % 66);
                Op::FillBox(low, size, self.material())
            }
            195..=204 => Op::SetAll(self.material()),
            205..=219 => Op::Compact,
            220..=229 => Op::Rebuild,
            230..=244 => Op::Snapshot,
            _ => Op::Swap(usize::from(self.byte())),
        }
    }
}

/// Simple reference: one material per voxel.
#[derive(Clone)]
struct Flat {
    side: usize,
    voxels: Vec<Material>,
}

impl Flat {
    fn position(&self, voxel: usize) -> LocalPos {
        let n = self.side;
        LocalPos::new((voxel % n) as u8, (voxel / n % n) as u8, (voxel / n / n) as u8)
    }

    fn fill_box(&mut self, low: [u8; 3], size: [u32; 3], material: Material) {
        for voxel in 0..self.voxels.len() {
            let at = self.position(voxel);
            let within = [(at.x, 0), (at.y, 1), (at.z, 2)].into_iter().all(|(c, axis)| {
                let low = u32::from(low[axis]);
                (low..low + size[axis]).contains(&u32::from(c))
            });
            if within {
                self.voxels[voxel] = material;
            }
        }
    }

    /// Determines the smallest storage by counting.
    fn smallest(&self) -> StorageKind {
        let kinds = self.voxels.iter().collect::<HashSet<_>>().len();
        let bits = [1u32, 2, 4, 8].into_iter().find(|&bits| kinds <= 1 << bits).unwrap_or(16);
        let runs = 1 + self.voxels.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let bytes = (self.voxels.len() * bits as usize).div_ceil(8);
        match kinds {
            1 => StorageKind::Uniform,
            _ if 4 * 6 * runs <= bytes => StorageKind::Runs,
            257.. => StorageKind::Palette { bits },
            _ if self.brick_bytes(kinds).is_some_and(|it| it <= bytes / 4 * 3) => {
                StorageKind::Bricks
            }
            _ => StorageKind::Palette { bits },
        }
    }
}

impl Flat {
    /// Size in bricks of 4³, in bytes: two per brick and two per material. A mixed brick adds one
    /// byte for its count and one per material, rounded up to an even number, and eight per bit.
    fn brick_bytes(&self, kinds: usize) -> Option<usize> {
        let n = self.side;
        if !matches!(n, 8 | 16 | 32 | 64) {
            return None;
        }
        let mut bricks = vec![HashSet::new(); (n / 4).pow(3)];
        for (voxel, material) in self.voxels.iter().enumerate() {
            let [x, y, z] = [voxel % n, voxel / n % n, voxel / n / n].map(|c| c / 4);
            bricks[x + n / 4 * (y + n / 4 * z)].insert(*material);
        }
        let mixed = bricks.iter().map(HashSet::len).filter(|&count| count > 1).map(|count| {
            let bits = (1..).find(|&bits| count <= 1 << bits).unwrap_or(6);
            (1 + count).next_multiple_of(2) + 8 * bits
        });
        Some(2 * bricks.len() + 2 * kinds + mixed.sum::<usize>())
    }
}

struct Pair {
    chunk: Chunk,
    flat: Flat,
}

impl Pair {
    fn apply(&mut self, op: Op) {
        let Self { chunk, flat } = self;
        match op {
            Op::Set(voxel, material) => set(chunk, flat, voxel, material),
            Op::Sprinkle { start, count, step, first, materials } => {
                for n in 0..count.min(flat.voxels.len()) {
                    let material = Material(first.wrapping_add(n as u16 % materials));
                    set(chunk, flat, (start + n * step) % flat.voxels.len(), material);
                }
            }
            Op::FillBox(low, size, material) => {
                chunk.fill_box(LocalPos::new(low[0], low[1], low[2]), size, material);
                flat.fill_box(low, size, material);
            }
            Op::SetAll(material) => {
                (0..flat.voxels.len()).for_each(|voxel| set(chunk, flat, voxel, material));
                // Palettes count the voxels of each material, so they detect uniform chunks at
                // once.
                if chunk.storage() != (StorageKind::Palette { bits: 16 }) {
                    assert_eq!(chunk.uniform(), Some(material));
                }
            }
            Op::Compact => {
                chunk.compact();
                assert_eq!(chunk.storage(), flat.smallest());
            }
            Op::Rebuild => {
                *chunk = Chunk::from_voxels(flat.side as u32, &flat.voxels).unwrap();
                assert_eq!(chunk.storage(), flat.smallest());
            }
            Op::Snapshot | Op::Swap(_) => {}
        }
    }

    fn check(&self) {
        let Self { chunk, flat } = self;
        assert_eq!(chunk.validate(), Ok(()));
        let all = flat.voxels.iter().enumerate();
        let expected = all.map(|(voxel, &material)| (flat.position(voxel), material));
        assert!(chunk.iter().eq(expected), "iteration");
        let mut rows = flat.voxels.chunks(flat.side);
        chunk.for_each_row(|_, _, row| assert_eq!(Some(row), rows.next()));
        if let Some(material) = chunk.uniform() {
            assert!(flat.voxels.iter().all(|voxel| *voxel == material), "not uniform");
        }
    }
}

fn set(chunk: &mut Chunk, flat: &mut Flat, voxel: usize, material: Material) {
    let at = flat.position(voxel);
    let old = std::mem::replace(&mut flat.voxels[voxel], material);
    assert_eq!(chunk.get(at), old);
    assert_eq!(chunk.set(at, material), old);
    assert_eq!(chunk.get(at), material);
}

/// Limit for the voxels that a program reads in total.
const VOXEL_BUDGET: usize = 1 << 19;
/// Maximum number of stored snapshots.
const MAX_SNAPSHOTS: usize = 4;

/// Runs a program on a chunk and its snapshots.
pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes(program);
    let side = bytes.side();
    let volume = side.pow(3) as usize;
    let fill = bytes.material();
    let flat = Flat { side: side as usize, voxels: vec![fill; volume] };
    let mut pair = Pair { chunk: Chunk::new(side, fill), flat };
    let mut snapshots: Vec<Pair> = Vec::new();
    let mut budget = VOXEL_BUDGET;
    while !bytes.0.is_empty() && budget >= volume {
        budget -= volume;
        match bytes.op(volume) {
            Op::Snapshot => {
                snapshots.truncate(MAX_SNAPSHOTS - 1);
                let chunk = pair.chunk.snapshot();
                snapshots.insert(0, Pair { chunk, flat: pair.flat.clone() });
            }
            Op::Swap(which) if !snapshots.is_empty() => {
                let which = which % snapshots.len();
                std::mem::swap(&mut pair, &mut snapshots[which]);
            }
            op => pair.apply(op),
        }
        pair.check();
    }
    snapshots.iter().for_each(Pair::check);
}
