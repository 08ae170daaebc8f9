//! Chunks that are being made during an edit or save elsewhere are cached. The tests count how
//! often each is made.

use std::sync::{Mutex, Weak};

use super::*;

type Hook = Box<dyn Fn(&LodData) + Send>;

/// Counts the chunks that are made. Calls `hook` once, while the chunk at `during` is made.
struct Counting {
    below: GeneratedWorld,
    makes: Arc<Mutex<HashMap<ChunkPos, u32>>>,
    data: Weak<LodData>,
    during: ChunkPos,
    hook: Mutex<Option<Hook>>,
}

impl Source for Counting {
    fn name(&self) -> &str {
        self.below.name()
    }
    fn materials(&self) -> &MaterialTable {
        self.below.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.below.chunk_positions()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        *self.makes.lock().unwrap().entry(position).or_default() += 1;
        let made = self.below.chunk(position);
        // The lock is not held during the call, which may read this chunk.
        let hook = (position == self.during).then(|| self.hook.lock().unwrap().take());
        if let Some(hook) = hook.flatten() {
            hook(&self.data.upgrade().unwrap());
        }
        made
    }
}

/// Chunks of land, far from each other.
const HERE: ChunkPos = ChunkPos::new(1, 1, 1);
const THERE: ChunkPos = ChunkPos::new(6, 1, 6);

/// Reads the parent of `HERE` twice and calls `hook` meanwhile. Returns how often each of its
/// children was made, and its chunk.
fn makes_during(hook: impl Fn(&LodData) + Send + 'static) -> (Vec<u32>, Chunk) {
    let makes = Arc::new(Mutex::new(HashMap::new()));
    let data = Arc::new_cyclic(|data| {
        let (below, data) = (*generated([8, 4, 8]), data.clone());
        let hook: Mutex<Option<Hook>> = Mutex::new(Some(Box::new(hook)));
        let makes = Arc::clone(&makes);
        let source = Counting { below, makes, data, during: HERE, hook };
        LodData::new(Box::new(source), 64 << 20)
    });
    let node = NodePos::from(HERE).parent();
    let first = data.chunk(node);
    assert_eq!(data.chunk(node), first);
    let makes = makes.lock().unwrap();
    let below = node.children().unwrap();
    (below.iter().filter_map(|child| makes.get(&child.chunk).copied()).collect(), first)
}

fn dig(data: &LodData, chunk: ChunkPos) {
    let origin = chunk.origin(Chunk::SIDE);
    let voxels = (0..32 * 32 * 32).map(|n| {
        let at = VoxelPos::new(origin.x + n % 32, origin.y + n / 32 % 32, origin.z + n / 1_024);
        (at, Material::AIR)
    });
    assert!(data.set(voxels).count > 0);
}

fn save(data: &LodData) {
    let unsaved = data.unsaved();
    assert!(!unsaved.chunks.is_empty());
    data.saved(&unsaved);
}

#[test]
fn edits_and_saves_elsewhere_do_not_repeat_work() {
    let (undisturbed, expected) = makes_during(|_| {});
    assert_eq!(undisturbed, vec![1; undisturbed.len()]);
    assert!(undisturbed.len() > 4);
    let edits: [fn(&LodData); 2] = [
        |data| dig(data, THERE),
        |data| {
            dig(data, THERE);
            save(data);
        },
    ];
    for edit in edits {
        let (makes, found) = makes_during(edit);
        assert_eq!(makes, undisturbed);
        assert!(found == expected);
    }
}

#[test]
fn a_chunk_edited_while_it_is_made_is_made_again() {
    let (undisturbed, before) = makes_during(|_| {});
    let (makes, after) = makes_during(|data| dig(data, HERE));
    assert!(before != after, "the edit is not in it");
    // Only the edited chunk is made again.
    assert_eq!(
        makes.iter().filter(|count| **count > 1).count(),
        1,
        "{makes:?}, not {undisturbed:?}"
    );
}
