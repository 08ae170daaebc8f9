//! `streams`: vertices of 40 bytes interleaved in one pool, compared with a pool for each attribute.
//!
//! Meshes are replaced in mapped memory, which is plain memory here. Then every vertex is read mesh
//! by mesh, as a vertex shader does: all attributes, or the position alone as in a depth pass.

use std::{hint::black_box, time::Instant};

use bytemuck::{Pod, Zeroable};
use drystone_pool::{Access, MeshHandle, PoolConfig, VertexPool};

use super::steady::{FRAMES_IN_FLIGHT, MAX_QUADS, Meshes};
use crate::{
    Contender, Error, Failure, Figure, Run,
    plain_memory::PlainMemory,
    rounds::{Round, elapsed_ns, timed},
};

/// Number of live meshes.
const MESHES: usize = 3_375;
const QUICK_MESHES: usize = 200;
/// Number of replaced meshes per round, and per frame.
const REPLACEMENTS: usize = 5_000;
const QUICK_REPLACEMENTS: usize = 200;
const REPLACEMENTS_PER_FRAME: usize = 50;
const SEED: u64 = 9;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let meshes = Meshes::random(run.options.size(MESHES, QUICK_MESHES), SEED);
    let replacements = run.options.size(REPLACEMENTS, QUICK_REPLACEMENTS);
    run.case("streams", || {
        let interleaved = contender("interleaved", &meshes, replacements, Interleaved::new);
        Ok(vec![interleaved, contender("separate", &meshes, replacements, Separate::new)])
    })
}

fn contender<L: Layout + 'static>(
    name: &str,
    meshes: &Meshes,
    replacements: usize,
    new: fn(&Meshes) -> Result<L, Failure>,
) -> Contender<'static> {
    let (mut meshes, mut state) = (meshes.clone(), None);
    Contender::new(name, move || {
        let layout = match &mut state {
            Some(layout) => layout,
            None => state.insert(new(&meshes)?),
        };
        round(layout, &mut meshes, replacements)
    })
}

fn round<L: Layout>(layout: &mut L, meshes: &mut Meshes, replacements: usize) -> Round {
    meshes.make_plan(replacements);
    let start = Instant::now();
    for (turn, (at, shape)) in meshes.plan.iter().enumerate() {
        layout.replace(*at as usize, shape.quads as usize)?;
        if turn % REPLACEMENTS_PER_FRAME == 0 {
            layout.end_frame();
        }
    }
    let replace = elapsed_ns(start);
    let (all, all_ns) = timed(|| black_box(layout.read_all()));
    let (positions, positions_ns) = timed(|| black_box(layout.read_positions()));
    let expected = meshes.live.iter().map(|shape| Sums::of(shape.quads));
    let expected = expected.fold(Sums::default(), Sums::plus);
    if (all, positions) != (expected.all, expected.positions) {
        return Err("the pools contain other vertices".into());
    }
    let per_vertex = |ns: f64| ns / meshes.quads() as f64;
    Ok(vec![
        Figure::new("replace", "ns/mesh", replace / replacements as f64),
        Figure::new("read", "ns/vertex", per_vertex(all_ns)),
        Figure::new("read-positions", "ns/vertex", per_vertex(positions_ns)),
    ])
}

/// The article's vertex.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: [f32; 4],
}

/// Returns vertex number `n` of every mesh.
fn vertex(n: u32) -> Vertex {
    let [x, y] = [n as f32, 1.0 / (n + 1) as f32];
    Vertex { position: [x, y, x * y], normal: [y, x, 1.0], color: [x, y, x, 1.0] }
}

/// Sums of the bits of vertices.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: u32,
    positions: u32,
}

impl Sums {
    /// Returns the sums of the first `count` vertices.
    fn of(count: u32) -> Self {
        (0..count).map(vertex).fold(Self::default(), |sums, it| {
            let positions = sum(&it.position);
            let all = positions.wrapping_add(sum(&it.normal)).wrapping_add(sum(&it.color));
            sums.plus(Self { all, positions })
        })
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            all: self.all.wrapping_add(other.all),
            positions: self.positions.wrapping_add(other.positions),
        }
    }
}

fn sum(values: &[f32]) -> u32 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(value.to_bits()))
}

/// Layout of vertices in buffers.
trait Layout {
    /// Replaces a mesh by one of `count` vertices.
    fn replace(&mut self, at: usize, count: usize) -> Result<(), Failure>;
    fn end_frame(&mut self);
    /// Returns the sum of all attributes.
    fn read_all(&self) -> u32;
    /// Returns the sum of the positions.
    fn read_positions(&self) -> u32;
}

/// A pool of elements `V`, with a mesh for each live shape.
struct Stream<V> {
    pool: VertexPool<V, u32>,
    memory: PlainMemory,
    handles: Vec<MeshHandle>,
    /// The first vertices of every mesh.
    elements: Vec<V>,
    frame: u64,
}

impl<V: Pod> Stream<V> {
    fn new(meshes: &Meshes, attribute: fn(Vertex) -> V) -> Result<Self, Failure> {
        let mut stream = Self {
            pool: VertexPool::new(PoolConfig::default())?,
            memory: PlainMemory::new(Access::Direct),
            handles: Vec::new(),
            elements: (0..MAX_QUADS).map(|n| attribute(vertex(n))).collect(),
            frame: 0,
        };
        stream.pool.reserve(2 * meshes.quads(), &mut stream.memory)?;
        for shape in &meshes.live {
            let elements = &stream.elements[..shape.quads as usize];
            let counts = [shape.quads];
            stream.handles.push(stream.pool.insert(elements, &counts, 0, &mut stream.memory)?);
        }
        Ok(stream)
    }

    fn replace(&mut self, at: usize, count: usize) -> Result<(), Failure> {
        let Self { pool, memory, handles, elements, .. } = self;
        Ok(pool.replace(handles[at], &elements[..count], &[count as u32], 0, memory)?)
    }

    fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
        self.pool.frames_completed(completed, &mut self.memory);
    }

    /// Returns the vertices of a mesh.
    fn mesh(&self, at: usize) -> &[V] {
        let range = self.pool.ranges_of(self.handles[at]).next();
        range.map_or(&[], |range| {
            let elements = &self.memory.elements(range.buffer)[range.first as usize..];
            &elements[..range.part_counts[0] as usize]
        })
    }

    /// Returns the sum of what `read` returns for each vertex.
    fn read(&self, read: impl Fn(&V) -> u32) -> u32 {
        (0..self.handles.len()).fold(0, |total, at| {
            self.mesh(at).iter().fold(total, |total, vertex| total.wrapping_add(read(vertex)))
        })
    }
}

struct Interleaved(Stream<Vertex>);

impl Interleaved {
    fn new(meshes: &Meshes) -> Result<Self, Failure> {
        Ok(Self(Stream::new(meshes, |vertex| vertex)?))
    }
}

impl Layout for Interleaved {
    fn replace(&mut self, at: usize, count: usize) -> Result<(), Failure> {
        self.0.replace(at, count)
    }

    fn end_frame(&mut self) {
        self.0.end_frame();
    }

    fn read_all(&self) -> u32 {
        self.0
            .read(|it| sum(&it.position).wrapping_add(sum(&it.normal)).wrapping_add(sum(&it.color)))
    }

    fn read_positions(&self) -> u32 {
        self.0.read(|it| sum(&it.position))
    }
}

struct Separate {
    positions: Stream<[f32; 3]>,
    normals: Stream<[f32; 3]>,
    colors: Stream<[f32; 4]>,
}

impl Separate {
    fn new(meshes: &Meshes) -> Result<Self, Failure> {
        Ok(Self {
            positions: Stream::new(meshes, |vertex| vertex.position)?,
            normals: Stream::new(meshes, |vertex| vertex.normal)?,
            colors: Stream::new(meshes, |vertex| vertex.color)?,
        })
    }
}

impl Layout for Separate {
    fn replace(&mut self, at: usize, count: usize) -> Result<(), Failure> {
        self.positions.replace(at, count)?;
        self.normals.replace(at, count)?;
        self.colors.replace(at, count)
    }

    fn end_frame(&mut self) {
        self.positions.end_frame();
        self.normals.end_frame();
        self.colors.end_frame();
    }

    fn read_all(&self) -> u32 {
        let mut total = 0_u32;
        for at in 0..self.positions.handles.len() {
            let others = self.normals.mesh(at).iter().zip(self.colors.mesh(at));
            for (position, (normal, color)) in self.positions.mesh(at).iter().zip(others) {
                let others = sum(normal).wrapping_add(sum(color));
                total = total.wrapping_add(sum(position)).wrapping_add(others);
            }
        }
        total
    }

    fn read_positions(&self) -> u32 {
        self.positions.read(|it| sum(it))
    }
}
