use drystone_mesh::Face;

use super::LodTree;

/// Numbers of nodes and quads that are shown at one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LodCount {
    /// Level of detail. 0 is full detail.
    pub level: u8,
    /// Number of shown nodes, including empty ones.
    pub nodes: u32,
    /// Number of shown nodes with at least one quad.
    pub meshes: u32,
    /// Number of quads in bodies and shown skirts.
    pub quads: u64,
}

impl LodTree {
    /// Returns what is shown by level, finest level first. Levels without shown nodes are omitted.
    pub fn counts(&self) -> Vec<LodCount> {
        let mut counts: Vec<LodCount> = Vec::new();
        counts.resize_with(usize::from(self.data.top_level()) + 1, LodCount::default);
        for (node, shown) in &self.shown {
            let Some(count) = counts.get_mut(usize::from(node.level)) else { continue };
            let skirts = Face::ALL.into_iter().filter(|&face| shown.skirts.contains(face));
            let quads = u64::from(shown.quads)
                + skirts.map(|face| shown.made.get(face).len() as u64).sum::<u64>();
            count.nodes += 1;
            count.meshes += u32::from(quads > 0);
            count.quads += quads;
        }
        (0..).zip(&mut counts).for_each(|(level, count)| count.level = level);
        counts.retain(|count| count.nodes > 0);
        counts
    }
}
