//! drystone's draw list.

use drystone_pool::{
    Access, DrawCommand, DrawList, MeshRef, NullBackend, PartSet, PoolConfig, PoolError,
    VertexPool, sort_key,
};

use super::{
    CommandList,
    crowd::{Crowd, Drawn, FACINGS, PartData, Viewpoint, push_run},
};

/// Granularity of the meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meshes {
    /// A chunk with six parts, as drystone draws.
    Chunks,
    /// Each part as its own mesh, as in the article.
    Parts,
}

/// Number of threads that mask, sort and build commands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Threads {
    One,
    All,
}

/// A pool without GPU memory, its list, and memory for commands.
pub(super) struct PoolList {
    pool: VertexPool<u64, PartData>,
    list: DrawList,
    meshes: Meshes,
    written: Vec<DrawCommand>,
    /// Number of commands of the last upload.
    count: usize,
}

/// A value below any nearness.
const FAR: f32 = (1 << 23) as f32;

impl PoolList {
    pub(super) fn new(crowd: &Crowd, meshes: Meshes) -> Result<Self, PoolError> {
        let parts = crowd.parts().count();
        let config = PoolConfig::fixed(crowd.quad_count(), parts as u32);
        let mut pool = VertexPool::new(config)?;
        let mut list = DrawList::new();
        fill(&mut pool, &mut list, crowd, meshes)?;
        // Adjacent face directions are one command, so there are never more commands than parts.
        let written = vec![DrawCommand::default(); parts];
        Ok(Self { pool, list, meshes, written, count: 0 })
    }

    /// Masks and sorts in one pass, on all cores or on one.
    pub(super) fn mask_and_order(&mut self, viewpoint: &Viewpoint, threads: Threads) {
        let meshes = self.meshes;
        let select =
            |data: &MeshRef<'_, PartData>| (visible(meshes, data, viewpoint), key(data, viewpoint));
        match threads {
            Threads::One => self.list.mask_and_sort(&self.pool, select),
            Threads::All => self.list.par_mask_and_sort(&self.pool, select),
        };
    }
}

fn fill(
    pool: &mut VertexPool<u64, PartData>,
    list: &mut DrawList,
    crowd: &Crowd,
    meshes: Meshes,
) -> Result<(), PoolError> {
    let quads = [0_u64; 64];
    let mut insert = |counts: &[u32], data| {
        let len = counts.iter().sum::<u32>() as usize;
        list.insert(pool.insert(&quads[..len], counts, data, &mut NullBackend(Access::Staged))?)
    };
    for (chunk, &position) in crowd.positions().iter().enumerate() {
        let counts: [u32; FACINGS] =
            std::array::from_fn(|facing| crowd.quads(chunk, facing).len() as u32);
        let with_facing = |facing| PartData { position, facing };
        match meshes {
            Meshes::Chunks => insert(&counts, with_facing(0))?,
            Meshes::Parts => {
                for (facing, count) in (0..).zip(counts).filter(|(_, count)| *count > 0) {
                    insert(&[count], with_facing(facing))?;
                }
            }
        }
    }
    Ok(())
}

#[inline]
fn visible(meshes: Meshes, data: &PartData, viewpoint: &Viewpoint) -> PartSet {
    match meshes {
        Meshes::Chunks => PartSet::from_bits(viewpoint.facings),
        // All quads of the only part, or none.
        Meshes::Parts => PartSet::from_bits(viewpoint.facings >> data.facing & 1),
    }
}

#[inline]
fn key(data: &PartData, viewpoint: &Viewpoint) -> u64 {
    sort_key(FAR - viewpoint.nearness(data.position), 0)
}

impl CommandList for PoolList {
    fn mask(&mut self, viewpoint: &Viewpoint) {
        let meshes = self.meshes;
        self.list.mask(&self.pool, |data| visible(meshes, data, viewpoint));
    }

    fn order(&mut self, viewpoint: &Viewpoint) {
        self.list.sort(&self.pool, |data| key(data, viewpoint));
    }

    fn upload(&mut self) {
        let commands = self.list.commands(&self.pool);
        self.count = commands.len();
        self.written[..self.count].copy_from_slice(commands);
    }

    fn drawn(&self) -> Drawn {
        let mut drawn = Drawn::new();
        for command in &self.written[..self.count] {
            let first = command.base_vertex as u32 / 4;
            push_run(&mut drawn, first..first + command.index_count / 6);
        }
        drawn
    }
}
