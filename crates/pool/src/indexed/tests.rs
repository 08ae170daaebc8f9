//! Random programs on two simulated GPUs, one per kind of buffer. Every frame must show the
//! triangles of a twin that copies every mesh and has no allocator.

use alloc::{vec, vec::Vec};

use drystone_testing::Random;

use super::*;
use crate::{
    backend::Access,
    command::{CommandRun, Grouping},
    error::EVICTION_CANDIDATES,
    simulated::SimulatedGpu,
};

/// Simulated device, divided into two parts that can be inspected separately.
struct Gpus {
    vertices: SimulatedGpu,
    indices: SimulatedGpu,
}

impl IndexedBackend for Gpus {
    fn vertices(&mut self) -> impl Backend {
        &mut self.vertices
    }

    fn indices(&mut self) -> impl Backend {
        &mut self.indices
    }
}

impl Gpus {
    fn new(access: Access, frames_in_flight: usize) -> Self {
        let gpu = || SimulatedGpu::new(access, frames_in_flight);
        Self { vertices: gpu(), indices: gpu() }
    }

    /// Submits converted commands.
    fn submit(&mut self, pool: &Pool, [vertices, indices]: &[Plain; 2]) -> u64 {
        let (of_vertices, of_indices) = pool.pools();
        self.indices.submit(of_indices, &[(&indices.0, &indices.1)]);
        self.vertices.submit(of_vertices, &[(&vertices.0, &vertices.1)])
    }

    /// Converts indexed commands to two frames of plain elements: all vertices of each mesh, and
    /// all its indices.
    fn plain(pool: &Pool, list: (&[IndexedRun], &[DrawCommand])) -> [Plain; 2] {
        let (mut vertices, mut indices) = ((vec![], vec![]), (vec![], vec![]));
        let (runs, commands) = list;
        for run in runs {
            for (at, command) in run.commands.clone().zip(&commands[run.commands.clone()]) {
                let mesh = handle_at(pool, command.first_instance);
                let [range, of_indices] = pool.ranges_of(mesh).unwrap();
                assert_eq!(range.buffer, run.vertices);
                assert_eq!(of_indices.buffer, run.indices);
                let plain = |first: u32, count: u32| DrawCommand {
                    index_count: count,
                    instance_count: 1,
                    first_index: 0,
                    base_vertex: first as i32,
                    first_instance: command.first_instance,
                };
                let run_of = |buffer| CommandRun { buffer, commands: at..at + 1 };
                vertices.0.push(run_of(run.vertices));
                vertices.1.push(plain(command.base_vertex as u32, range.part_counts[0]));
                indices.0.push(run_of(run.indices));
                // The table of the index pool has its own slots.
                let slot = pool.index_mesh(mesh).unwrap().slot();
                let plain = plain(command.first_index, command.index_count);
                indices.1.push(DrawCommand { first_instance: slot, ..plain });
            }
        }
        [vertices, indices]
    }
}

/// Commands that draw elements one by one, in runs.
type Plain = (Vec<CommandRun>, Vec<DrawCommand>);

type Pool = IndexedPool<u64, u32>;

/// Copy of a mesh in the twin.
#[derive(Clone, Debug)]
struct Copied {
    handle: MeshHandle,
    vertices: Vec<u64>,
    indices: Vec<u32>,
    data: u32,
}

fn handle_at(pool: &Pool, slot: u32) -> MeshHandle {
    let mut handles = pool.pools().0.iter().map(|(handle, _)| handle);
    handles.find(|handle| handle.slot() == slot).unwrap()
}

fn small() -> PoolConfig {
    PoolConfig {
        min_buffer_elements: 32,
        max_buffer_elements: 64,
        max_buffers: 3,
        first_slots: 2,
        spare_frames: 2,
        ..PoolConfig::default()
    }
}

fn mesh(random: &mut Random, step: u64) -> (Vec<u64>, Vec<u32>) {
    let count = random.below(12);
    let vertices = (0..count).map(|n| step << 8 | u64::from(n)).collect();
    let triangles = if count == 0 { 0 } else { random.below(6) };
    (vertices, (0..triangles * 3).map(|_| random.below(count)).collect())
}

/// A pool, the device, the twin and the expected content of each frame.
struct Run {
    pool: Pool,
    gpus: Gpus,
    list: IndexedList,
    twin: Vec<Copied>,
    /// For each frame in flight: each mesh's data, vertices and indices, in order.
    expected: Vec<(u64, Vec<Copied>)>,
    refused: u32,
}

impl Run {
    fn new(access: Access, grouping: Grouping) -> Self {
        Self {
            pool: Pool::new(small(), small()).unwrap(),
            gpus: Gpus::new(access, 3),
            list: IndexedList::new(grouping),
            twin: Vec::new(),
            expected: Vec::new(),
            refused: 0,
        }
    }

    fn insert(&mut self, random: &mut Random, step: u64) {
        let (vertices, indices) = mesh(random, step);
        let data = step as u32;
        match self.pool.insert(&vertices, &indices, data, &mut self.gpus) {
            Ok(handle) => {
                self.list.insert(handle);
                self.twin.push(Copied { handle, vertices, indices, data });
            }
            Err(error) => self.refuse(error),
        }
    }

    fn replace(&mut self, random: &mut Random, step: u64, data: Option<u32>) {
        if self.twin.is_empty() {
            return;
        }
        let nth = random.below(self.twin.len() as u32) as usize;
        let (vertices, indices) = mesh(random, step);
        let handle = self.twin[nth].handle;
        let data = data.unwrap_or(self.twin[nth].data);
        match self.pool.replace(handle, &vertices, &indices, data, &mut self.gpus) {
            Ok(()) => self.twin[nth] = Copied { handle, vertices, indices, data },
            // The twin keeps the old mesh, and so must the pool.
            Err(error) => self.refuse(error),
        }
    }

    fn remove(&mut self, random: &mut Random) {
        if self.twin.is_empty() {
            return;
        }
        let gone = self.twin.swap_remove(random.below(self.twin.len() as u32) as usize);
        self.pool.remove(gone.handle).unwrap();
        assert_eq!(self.pool.remove(gone.handle), Err(PoolError::Stale));
        assert_eq!(self.pool.ranges_of(gone.handle), None);
    }

    /// Checks that the error lists meshes of this pool for eviction.
    fn refuse(&mut self, error: PoolError) {
        self.refused += 1;
        let PoolError::Full { least_recently_drawn, .. } = error else { panic!("{error}") };
        let named = least_recently_drawn.iter().flatten();
        named.for_each(|&handle| assert!(self.pool.data(handle).is_some()));
        assert!(least_recently_drawn.len() == EVICTION_CANDIDATES);
    }

    /// Draws the meshes that pass the mask, by descending data.
    fn draw(&mut self, random: &mut Random, step: u64) {
        let hidden = random.below(7);
        let shown = |data: u32| data % 5 != hidden;
        let key = |&data: &u32| shown(data).then(|| u64::from(u32::MAX - data));
        let plain = Gpus::plain(&self.pool, self.list.select(&self.pool, key));
        let is_visible = |it: &&Copied| shown(it.data) && !it.indices.is_empty();
        let mut visible: Vec<_> = self.twin.iter().filter(is_visible).cloned().collect();
        visible.sort_by_key(|it| (u32::MAX - it.data, it.handle.slot()));
        if self.gpus.vertices.access() == Access::Direct {
            // Commands were returned for this frame. The memory that they read must stay unchanged
            // before submission, even if all earlier frames have completed.
            for _ in 0..random.below(4) {
                self.replace(random, step, None);
                self.finish();
            }
        }
        let frame = self.gpus.submit(&self.pool, &plain);
        self.pool.frame_submitted(frame);
        self.expected.push((frame, visible));
        self.compare();
    }

    /// Lets the GPU finish all frames.
    fn finish(&mut self) {
        self.gpus.vertices.finish();
        self.gpus.indices.finish();
        self.compare();
    }

    /// Compares the finished pictures with the expected ones.
    fn compare(&mut self) {
        let triangles = |meshes: &[Copied]| {
            let of_mesh = |it: &Copied| {
                let vertices = it.indices.iter().map(|&n| it.vertices[n as usize]);
                (it.data, vertices.collect::<Vec<u64>>())
            };
            meshes.iter().map(of_mesh).collect::<Vec<_>>()
        };
        while let Some((frame, vertices)) = self.gpus.vertices.completed_picture() {
            let (_, indices) = self.gpus.indices.completed_picture().unwrap();
            let (number, expected) = self.expected.remove(0);
            assert_eq!(frame, number);
            let (mut drawn, mut at, mut index_at) = (Vec::new(), 0, 0);
            let mut left = expected.clone();
            // The order of meshes in several buffers depends on the grouping.
            while at < vertices.len() {
                let data: u32 = bytemuck::pod_read_unaligned(vertices.drawn(at).0);
                let nth = left.iter().position(|it| it.data == data).unwrap();
                let Copied { vertices: of_mesh, indices: order, .. } = left.remove(nth);
                let vertex = |n: u32| -> u64 {
                    bytemuck::pod_read_unaligned(vertices.drawn(at + n as usize).1)
                };
                let index = |n| bytemuck::pod_read_unaligned(indices.drawn(index_at + n).1);
                drawn.push((data, (0..order.len()).map(|n| vertex(index(n))).collect()));
                (at, index_at) = (at + of_mesh.len(), index_at + order.len());
            }
            assert!(left.is_empty() && index_at == indices.len(), "{left:?}");
            let mut expected = triangles(&expected);
            if self.list.grouping == Grouping::ByBuffer {
                drawn.sort();
                expected.sort();
            }
            assert_eq!(drawn, expected, "frame {frame}");
        }
        self.pool.frames_completed(self.gpus.vertices.completed(), &mut self.gpus);
    }

    fn check(&self) {
        let (vertices, indices) = self.pool.pools();
        vertices.validate().unwrap();
        indices.validate().unwrap();
        assert_eq!((vertices.len(), indices.len()), (self.twin.len() as u32, vertices.len()));
        let [of_vertices, of_indices] = self.pool.ranges();
        self.check_ranges(&of_vertices, |[vertices, _]| vertices);
        self.check_ranges(&of_indices, |[_, indices]| indices);
    }

    /// Checks that the ranges contain each non-empty mesh at its reported location.
    fn check_ranges(&self, ranges: &[PoolRange], of: fn([MeshRange; 2]) -> MeshRange) {
        let named = ranges.iter().filter_map(|range| match range.state {
            RangeState::Live(mesh) => Some((mesh, range)),
            _ => None,
        });
        let mut count = 0;
        for (mesh, range) in named {
            assert!(self.pool.data(mesh).is_some());
            if let Some(ranges) = self.pool.ranges_of(mesh) {
                let MeshRange { buffer, first, part_counts: [len, ..] } = of(ranges);
                assert_eq!((range.buffer, &range.elements), (buffer, &(first..first + len)));
                count += 1;
            }
        }
        let whole = self.twin.iter().filter(|it| !it.vertices.is_empty() && !it.indices.is_empty());
        assert_eq!(count, whole.count());
    }
}

#[test]
fn every_frame_shows_the_content_of_the_twin() {
    for (seed, access) in (1..=40).zip([Access::Direct, Access::Staged].into_iter().cycle()) {
        let grouping = if seed % 3 == 0 { Grouping::ByBuffer } else { Grouping::InOrder };
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ seed << 7);
        let mut run = Run::new(access, grouping);
        for step in 0..400 {
            match random.below(10) {
                0..=3 => run.insert(&mut random, step),
                4..=5 => run.replace(&mut random, step, Some(step as u32)),
                6..=7 => run.remove(&mut random),
                8 => {
                    let budget = MoveBudget { bytes: 200, moves: 4 };
                    run.pool.defragment(&budget, &mut run.gpus);
                }
                _ => run.draw(&mut random, step),
            }
            run.check();
        }
        assert!(run.refused > 0, "seed {seed}: the pool was never full");
        run.finish();
        assert!(run.expected.is_empty());
    }
}

#[test]
fn an_index_beyond_the_vertices_is_an_error() {
    let mut gpus = Gpus::new(Access::Staged, 1);
    let mut pool = Pool::new(small(), small()).unwrap();
    let error = PoolError::NoSuchVertex { index: 3, vertices: 3 };
    assert_eq!(pool.insert(&[1, 2, 3], &[0, 3, 1], 0, &mut gpus), Err(error));
    let handle = pool.insert(&[1, 2, 3], &[0, 2, 1], 0, &mut gpus).unwrap();
    assert_eq!(pool.replace(handle, &[1, 2, 3], &[0, 1, 3], 0, &mut gpus), Err(error));
    assert_eq!((pool.len(), pool.stats().map(|it| it.used)), (1, [3, 3]));
    assert!(matches!(
        pool.insert(&[0; 65], &[0], 0, &mut gpus),
        Err(PoolError::MeshTooLarge { elements: 65, .. })
    ));
    assert_eq!(pool.stats().map(|it| it.used), [3, 3]);
}

/// If one pool is full, the other is left unchanged.
#[test]
fn a_device_without_memory_changes_nothing() {
    for vertices_lack in [true, false] {
        let mut gpus = Gpus::new(Access::Direct, 1);
        let mut pool = Pool::new(small(), small()).unwrap();
        let handle = pool.insert(&[1, 2, 3], &[0, 1, 2], 5, &mut gpus).unwrap();
        let lacking = if vertices_lack { &mut gpus.vertices } else { &mut gpus.indices };
        lacking.set_limit_bytes(0);
        let before = pool.stats().map(|it| (it.used, it.meshes));
        let big: Vec<u32> = (0..40).collect();
        let vertices = [7; 40];
        let full = |result: Result<(), PoolError>| {
            assert!(matches!(result, Err(PoolError::Full { device_refused: true, .. })));
        };
        full(pool.insert(&vertices, &big, 6, &mut gpus).map(|_| ()));
        full(pool.replace(handle, &vertices, &big, 6, &mut gpus));
        assert_eq!(pool.stats().map(|it| (it.used, it.meshes)), before);
        assert_eq!(pool.data(handle), Some(&5));
        let ranges = pool.ranges_of(handle).unwrap();
        assert_eq!(ranges.map(|range| range.part_counts[0]), [3, 3]);
    }
}
