//! Whoever drops a tree gets back what its threads had.

use super::*;

/// Takes its time.
struct Slow(Box<GeneratedWorld>);

impl Source for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn materials(&self) -> &MaterialTable {
        self.0.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.0.chunk_positions()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        std::thread::sleep(Duration::from_millis(3));
        self.0.chunk(position)
    }
}

#[test]
fn a_tree_that_is_dropped_lets_its_voxels_go() {
    for round in 0..12 {
        let data = Arc::new(LevelData::new(Box::new(Slow(generated([4, 4, 4]))), 1 << 20));
        let config = LevelConfig { threads: 3, ..unhurried() };
        let mut tree = LevelTree::new(Arc::clone(&data), config).unwrap();
        let eye = eye([60.0, 60.0, 60.0], 500.0);
        tree.update(&eye, &mut Screen::default()).unwrap();
        std::thread::sleep(Duration::from_millis(round));
        drop(tree);
        assert!(Arc::try_unwrap(data).is_ok(), "a thread has it still in round {round}");
    }
}
