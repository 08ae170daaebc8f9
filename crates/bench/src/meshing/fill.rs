//! `fill-…`: meshes chunks into a pool, in place or through a finished mesh that is copied.
//!
//! Mapped memory is plain memory. The copies of staged writes to the buffers are the GPU's work and
//! are not timed.

use std::{hint::black_box, time::Instant};

use drystone_mesh::{Face, Quad, QuadBuffer};
use drystone_pool::{Access, MeshHandle, PoolConfig, VertexPool};
use drystone_render::QuadWriter;
use drystone_voxel::{ChunkMesh, GreedyMesher};

use super::Input;
use crate::{
    Contender, Error, Failure, Figure, Run,
    plain_memory::PlainMemory,
    rounds::{Round, elapsed_ns},
};

/// Largest number of quads of a chunk of 32³ voxels: a checkerboard.
const MAX_QUADS: u32 = 98_304;
/// Frames by which the GPU is behind.
const FRAMES_IN_FLIGHT: u64 = 2;
/// Number of frames of a round. Each frame replaces every mesh.
const FRAMES: usize = 4;

/// Path of quads from the mesher to the pool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// The mesher makes a whole mesh, which the pool copies.
    Gathered,
    /// The mesher writes through a [`QuadWriter`].
    InPlace,
}

pub(super) fn run(run: &mut Run<'_>, case: &str, inputs: &[Input]) -> Result<(), Error> {
    run.case(case, || {
        let contenders = [
            ("gathered-mapped", Access::Direct, Fill::Gathered),
            ("in-place-mapped", Access::Direct, Fill::InPlace),
            ("gathered-staged", Access::Staged, Fill::Gathered),
            ("in-place-staged", Access::Staged, Fill::InPlace),
        ];
        Ok(contenders.map(|(name, access, fill)| contender(name, access, fill, inputs)).into())
    })
}

fn contender<'a>(name: &str, access: Access, fill: Fill, inputs: &'a [Input]) -> Contender<'a> {
    let mut state = None;
    Contender::new(name, move || {
        let state = match &mut state {
            Some(state) => state,
            None => state.insert(Filled::new(access, fill, inputs)?),
        };
        state.round(inputs)
    })
}

/// A pool with the meshes of all inputs.
struct Filled {
    pool: VertexPool<Quad, u32>,
    memory: PlainMemory,
    fill: Fill,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
    translucent: QuadBuffer,
    /// Opaque and translucent mesh of each input.
    handles: Vec<[MeshHandle; 2]>,
    frame: u64,
}

impl Filled {
    fn new(access: Access, fill: Fill, inputs: &[Input]) -> Result<Self, Failure> {
        let mut memory = PlainMemory::new(access);
        let mut pool = VertexPool::new(PoolConfig::default())?;
        // Each frame in flight holds all meshes; then the reservation of the writer.
        let areas = inputs.len() as u64 * u64::from(MAX_QUADS / 4) * (2 + FRAMES_IN_FLIGHT);
        pool.reserve(areas + u64::from(MAX_QUADS), &mut memory)?;
        let mut handles = Vec::new();
        for _ in inputs {
            let mut insert = || pool.insert(&[], &[], 0, &mut memory);
            handles.push([insert()?, insert()?]);
        }
        Ok(Self {
            pool,
            memory,
            fill,
            mesher: GreedyMesher::new(),
            mesh: ChunkMesh::new(),
            translucent: QuadBuffer::new(),
            handles,
            frame: 0,
        })
    }

    fn round(&mut self, inputs: &[Input]) -> Round {
        let mut ns = 0.0;
        for _ in 0..FRAMES {
            let start = Instant::now();
            for (at, input) in inputs.iter().enumerate() {
                self.replace(at, black_box(input))?;
            }
            ns += elapsed_ns(start);
            self.end_frame();
        }
        self.check(inputs)?;
        let chunks = (FRAMES * inputs.len()) as f64;
        Ok(vec![Figure::new("time", "us/chunk", ns / 1e3 / chunks)])
    }

    /// Meshes a chunk into the pool.
    fn replace(&mut self, at: usize, input: &Input) -> Result<(), Failure> {
        let Self { pool, memory, mesher, mesh, translucent, .. } = self;
        let [opaque, clear] = self.handles[at];
        let (padded, table) = (input.padded(), input.materials());
        let clear_quads = if self.fill == Fill::Gathered {
            mesher.mesh(padded, table, mesh);
            let quads = &mesh.opaque;
            pool.replace(opaque, quads.quads(), &quads.counts(), 0, memory)?;
            &mesh.translucent
        } else {
            translucent.clear();
            let mut sink = QuadWriter::new(pool.replacing_writer(opaque, MAX_QUADS, memory)?);
            mesher.mesh_into(padded, table, &mut sink, translucent);
            sink.finish(0)?;
            &*translucent
        };
        pool.replace(clear, clear_quads.quads(), &clear_quads.counts(), 0, memory)?;
        Ok(())
    }

    fn end_frame(&mut self) {
        self.frame += 1;
        self.memory.run_copies();
        self.pool.frame_submitted(self.frame);
        let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
        self.pool.frames_completed(completed, &mut self.memory);
    }

    /// Checks that the memory contains the mesh of each input.
    fn check(&mut self, inputs: &[Input]) -> Result<(), Failure> {
        self.pool.validate()?;
        for (input, handles) in inputs.iter().zip(&self.handles) {
            self.mesher.mesh(input.padded(), input.materials(), &mut self.mesh);
            for (quads, &handle) in
                [&self.mesh.opaque, &self.mesh.translucent].into_iter().zip(handles)
            {
                let mut stored = Vec::new();
                let mut counts = [0; Face::COUNT];
                for range in self.pool.ranges_of(handle) {
                    let quads: &[Quad] = self.memory.elements(range.buffer);
                    let count = range.part_counts.iter().sum::<u32>() as usize;
                    stored.extend_from_slice(&quads[range.first as usize..][..count]);
                    (0..Face::COUNT).for_each(|part| counts[part] += range.part_counts[part]);
                }
                if stored != quads.quads() || counts != quads.counts() {
                    return Err("the pool contains another mesh".into());
                }
            }
        }
        Ok(())
    }
}
