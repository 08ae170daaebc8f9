use drystone_mesh::Face;

use super::LevelTree;

/// What is shown, of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCount {
    /// The level.
    pub level: u8,
    /// Nodes that are shown, those without a mesh included.
    pub nodes: u32,
    /// Nodes that show anything.
    pub meshes: u32,
    /// Quads in bodies and shown walls.
    pub quads: u64,
}

impl LevelTree {
    /// What is shown by level, the finest first; levels of which nothing is are left out.
    pub fn counts(&self) -> Vec<LevelCount> {
        let mut counts: Vec<LevelCount> = Vec::new();
        counts.resize_with(usize::from(self.data.top_level()) + 1, LevelCount::default);
        for (node, shown) in &self.shown {
            let Some(count) = counts.get_mut(usize::from(node.level)) else { continue };
            let walls = Face::ALL.into_iter().filter(|&face| shown.walls.contains(face));
            let quads = u64::from(shown.quads)
                + walls.map(|face| shown.made.get(face).len() as u64).sum::<u64>();
            count.nodes += 1;
            count.meshes += u32::from(quads > 0);
            count.quads += quads;
        }
        (0..).zip(&mut counts).for_each(|(level, count)| count.level = level);
        counts.retain(|count| count.nodes > 0);
        counts
    }
}
