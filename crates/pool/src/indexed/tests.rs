//! Random programs on two simulated GPUs, one per kind of buffer. Every frame must show the
//! triangles of a twin that copies every mesh and has no allocator.

use alloc::{vec, vec::Vec};

use drystone_testing::Random;

use super::*;
use crate::{
    backend::Access,
    command::{CommandRun, Grouping},
    simulated::SimulatedGpu,
    stats::MeshRange,
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
                let [of_vertices, of_indices] = ranges_of(pool, mesh);
                let range = of_vertices[0];
                assert_eq!(range.buffer, run.vertices);
                assert!(of_indices.iter().any(|range| range.buffer == run.indices));
                assert_eq!(command.index_count % 3, 0, "a triangle is cut");
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
    /// Indices by part.
    parts: Vec<Vec<u32>>,
    data: u32,
}

impl Copied {
    /// Returns the vertices of the triangles of the visible parts.
    fn triangles(&self, shown: PartSet) -> Vec<u64> {
        let parts = self.parts.iter().enumerate().filter(|(part, _)| shown.contains(*part));
        parts.flat_map(|(_, indices)| indices).map(|&n| self.vertices[n as usize]).collect()
    }
}

/// Returns the ranges of a mesh's vertices and of its indices.
fn ranges_of(pool: &Pool, mesh: MeshHandle) -> [Vec<MeshRange>; 2] {
    let (vertices, indices) = pool.pools();
    let index_mesh = pool.index_mesh(mesh).unwrap();
    [vertices.ranges_of(mesh).collect(), indices.ranges_of(index_mesh).collect()]
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

/// Returns vertices, and triangles in three parts.
fn mesh(random: &mut Random, step: u64) -> (Vec<u64>, Vec<Vec<u32>>) {
    let count = random.below(12);
    let vertices = (0..count).map(|n| step << 8 | u64::from(n)).collect();
    let mut part = |_| {
        let triangles = if count == 0 { 0 } else { random.below(4) };
        (0..triangles * 3).map(|_| random.below(count)).collect()
    };
    (vertices, (0..3).map(&mut part).collect())
}

fn counts(parts: &[Vec<u32>]) -> Vec<u32> {
    parts.iter().map(|part| part.len() as u32).collect()
}

/// A pool, the device, the twin and the expected content of each frame.
struct Run {
    pool: Pool,
    gpus: Gpus,
    list: IndexedList,
    twin: Vec<Copied>,
    /// Each frame in flight.
    expected: Vec<Expected>,
    refused: u32,
}

/// Expected content of a frame, and the number of indices of each of its commands.
struct Expected {
    frame: u64,
    meshes: Vec<(Copied, PartSet)>,
    index_counts: Vec<usize>,
}

impl Run {
    fn new(access: Access, grouping: Grouping, oversize: Oversize) -> Self {
        // A split mesh of 27 indices needs up to three pieces of 12; 17 is no multiple of 6.
        let pieces = PoolConfig { max_buffer_elements: 17, max_buffers: 12, ..small() };
        let indices = if oversize == Oversize::Split { pieces } else { small() };
        Self {
            pool: Pool::new(small(), PoolConfig { oversize, ..indices }).unwrap(),
            gpus: Gpus::new(access, 3),
            list: IndexedList::new(grouping),
            twin: Vec::new(),
            expected: Vec::new(),
            refused: 0,
        }
    }

    fn insert(&mut self, random: &mut Random, step: u64) {
        let (vertices, parts) = mesh(random, step);
        let (data, counts) = (step as u32, counts(&parts));
        match self.pool.insert(&vertices, &parts.concat(), &counts, data, &mut self.gpus) {
            Ok(handle) => {
                self.list.insert(handle);
                self.twin.push(Copied { handle, vertices, parts, data });
            }
            Err(error) => self.refuse(error),
        }
    }

    fn replace(&mut self, random: &mut Random, step: u64, data: Option<u32>) {
        if self.twin.is_empty() {
            return;
        }
        let nth = random.below(self.twin.len() as u32) as usize;
        let (vertices, parts) = mesh(random, step);
        let handle = self.twin[nth].handle;
        let data = data.unwrap_or(self.twin[nth].data);
        let (indices, counts) = (parts.concat(), counts(&parts));
        match self.pool.replace(handle, &vertices, &indices, &counts, data, &mut self.gpus) {
            Ok(()) => self.twin[nth] = Copied { handle, vertices, parts, data },
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
        assert_eq!(self.pool.data(gone.handle), None);
    }

    /// Checks that the error lists meshes of this pool for eviction.
    fn refuse(&mut self, error: PoolError) {
        self.refused += 1;
        let PoolError::Full { least_recently_drawn, .. } = error else { panic!("{error}") };
        let named = least_recently_drawn.iter();
        named.for_each(|handle| assert!(self.pool.data(handle).is_some()));
    }

    /// Draws the meshes that pass the mask, by descending data.
    fn draw(&mut self, random: &mut Random, step: u64) {
        let hidden = random.below(7);
        let shown = |data: u32| match data % 5 == hidden {
            true => PartSet::EMPTY,
            false => PartSet::from_bits((data ^ hidden) as u8),
        };
        let twin = &self.twin;
        let select = |mesh: &MeshRef<'_, u32>| {
            let copied = twin.iter().find(|it| it.handle == mesh.handle()).unwrap();
            assert_eq!(mesh.element_count() as usize, copied.vertices.len());
            (shown(**mesh), u64::from(u32::MAX - **mesh))
        };
        let selected = self.list.select(&self.pool, select);
        let index_counts = selected.1.iter().map(|it| it.index_count as usize).collect();
        let plain = Gpus::plain(&self.pool, selected);
        let visible = self.twin.iter().map(|it| (it.clone(), shown(it.data)));
        let mut visible: Vec<_> =
            visible.filter(|(it, shown)| !it.triangles(*shown).is_empty()).collect();
        visible.sort_by_key(|(it, _)| (u32::MAX - it.data, it.handle.slot()));
        assert_eq!(self.list.visible(), visible.len());
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
        self.expected.push(Expected { frame, meshes: visible, index_counts });
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
        while let Some((number, vertices)) = self.gpus.vertices.completed_picture() {
            let (_, indices) = self.gpus.indices.completed_picture().unwrap();
            let Expected { frame, meshes, index_counts } = self.expected.remove(0);
            assert_eq!(frame, number);
            let mut drawn = Vec::<(u32, Vec<u64>)>::new();
            let (mut at, mut index_at) = (0, 0);
            for count in index_counts {
                let data: u32 = bytemuck::pod_read_unaligned(vertices.drawn(at).0);
                let (mesh, _) = meshes.iter().find(|(it, _)| it.data == data).unwrap();
                let index = |n| -> u32 { bytemuck::pod_read_unaligned(indices.drawn(n).1) };
                let vertex = |n| -> u64 {
                    bytemuck::pod_read_unaligned(vertices.drawn(at + index(n) as usize).1)
                };
                let command: Vec<u64> = (index_at..index_at + count).map(vertex).collect();
                // With commands sorted by buffer, those of one mesh can be apart.
                let is_grouped = self.list.grouping == Grouping::ByBuffer;
                let before = if is_grouped { drawn.len() } else { 1 };
                let mut before = drawn.iter_mut().rev().take(before);
                match before.find(|(other, _)| *other == data) {
                    Some((_, of_mesh)) => of_mesh.extend(command),
                    None => drawn.push((data, command)),
                }
                (at, index_at) = (at + mesh.vertices.len(), index_at + count);
            }
            assert_eq!((at, index_at), (vertices.len(), indices.len()));
            let mut expected: Vec<_> =
                meshes.iter().map(|(it, shown)| (it.data, it.triangles(*shown))).collect();
            if self.list.grouping == Grouping::ByBuffer {
                for all in [&mut drawn, &mut expected] {
                    all.iter_mut().for_each(|(_, of_mesh)| of_mesh.sort_unstable());
                    all.sort();
                }
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
        self.check_ranges(&of_vertices, 0);
        self.check_ranges(&of_indices, 1);
    }

    /// Checks that the ranges of one of the pools contain each mesh at its location.
    fn check_ranges(&self, ranges: &[PoolRange], of_pool: usize) {
        let named = ranges.iter().filter_map(|range| match range.state {
            RangeState::Live(mesh) => Some((mesh.slot(), range.buffer, range.elements.clone())),
            _ => None,
        });
        let mut named: Vec<_> = named.collect();
        let expected = self.twin.iter().flat_map(|mesh| {
            let ranges = ranges_of(&self.pool, mesh.handle)[of_pool].clone();
            ranges.into_iter().map(|MeshRange { buffer, first, part_counts }| {
                let end = first + part_counts.iter().sum::<u32>();
                (mesh.handle.slot(), buffer, first..end)
            })
        });
        let mut expected: Vec<_> = expected.collect();
        named.sort_by_key(|it| (it.0, it.1, it.2.start));
        expected.sort_by_key(|it| (it.0, it.1, it.2.start));
        assert_eq!(named, expected);
    }
}

#[test]
fn every_frame_shows_the_content_of_the_twin() {
    for (seed, access) in (1..=40).zip([Access::Direct, Access::Staged].into_iter().cycle()) {
        let grouping = if seed % 3 == 0 { Grouping::ByBuffer } else { Grouping::InOrder };
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ seed << 7);
        let oversize = if seed % 4 < 2 { Oversize::Refuse } else { Oversize::Split };
        let mut run = Run::new(access, grouping, oversize);
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
    assert_eq!(pool.insert(&[1, 2, 3], &[0, 3, 1], &[3], 0, &mut gpus), Err(error));
    let handle = pool.insert(&[1, 2, 3], &[0, 2, 1], &[3], 0, &mut gpus).unwrap();
    assert_eq!(pool.replace(handle, &[1, 2, 3], &[0, 1, 3], &[3], 0, &mut gpus), Err(error));
    assert_eq!((pool.len(), pool.stats().map(|it| it.used)), (1, [3, 3]));
    assert!(matches!(
        pool.insert(&[0; 65], &[0], &[1], 0, &mut gpus),
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
        let handle = pool.insert(&[1, 2, 3], &[0, 1, 2], &[3], 5, &mut gpus).unwrap();
        let lacking = if vertices_lack { &mut gpus.vertices } else { &mut gpus.indices };
        lacking.set_limit_bytes(0);
        let before = pool.stats().map(|it| (it.used, it.meshes));
        let big: Vec<u32> = (0..40).collect();
        let vertices = [7; 40];
        let full = |result: Result<(), PoolError>| {
            assert!(matches!(result, Err(PoolError::Full { device_refused: true, .. })));
        };
        full(pool.insert(&vertices, &big, &[40], 6, &mut gpus).map(|_| ()));
        full(pool.replace(handle, &vertices, &big, &[40], 6, &mut gpus));
        assert_eq!(pool.stats().map(|it| (it.used, it.meshes)), before);
        assert_eq!(pool.data(handle), Some(&5));
        let ranges = ranges_of(&pool, handle);
        assert_eq!(ranges.map(|ranges| ranges[0].part_counts[0]), [3, 3]);
    }
}

#[test]
fn hidden_meshes_are_the_first_eviction_candidates() {
    let mut gpus = Gpus::new(Access::Staged, 2);
    let mut pool = Pool::new(PoolConfig::fixed(9, 64), PoolConfig::fixed(64, 64)).unwrap();
    let mut list = IndexedList::new(Grouping::InOrder);
    let mut insert = |data| pool.insert(&[1, 2, 3], &[0, 1, 2], &[3], data, &mut gpus).unwrap();
    let [shown, hidden] = [insert(7), insert(8)];
    [shown, hidden].into_iter().for_each(|mesh| list.insert(mesh));
    for frame in 1..4 {
        let is_shown = |mesh: MeshHandle| if mesh == shown { PartSet::ALL } else { PartSet::EMPTY };
        list.select(&pool, |mesh| (is_shown(mesh.handle()), 0));
        pool.frame_submitted(frame);
    }
    let error = pool.insert(&[0; 9], &[0], &[1], 0, &mut gpus).unwrap_err();
    let PoolError::Full { least_recently_drawn, .. } = error else { panic!("{error:?}") };
    assert!(least_recently_drawn.iter().eq([hidden, shown]));
}
