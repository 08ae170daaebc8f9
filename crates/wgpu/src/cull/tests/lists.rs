//! The device's lists are compared with those of the twin.

use drystone_mesh::FaceSet;
use drystone_pool::{DrawCommand, MeshHandle, PoolConfig};
use drystone_testing::Random;
use glam::{EulerRot, Mat4, Quat, Vec3, camera::rh::proj::directx};

use super::{
    super::{bounds::CullRecord, *},
    depth::Depth,
    twin,
};

/// A device as a caller opens it; `None` if none can cull, which is printed and counted.
fn open(test: &str) -> Option<Gpu> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
    let adapter = adapter.inspect_err(|error| println!("skipped: {test}: {error}")).ok()?;
    let features =
        wgpu::Features::INDIRECT_FIRST_INSTANCE | wgpu::Features::MULTI_DRAW_INDIRECT_COUNT;
    let request = wgpu::DeviceDescriptor {
        required_features: adapter.features() & features,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&request)).unwrap();
    let checked = Culler::check(&device);
    checked.inspect_err(|error| println!("skipped: {test}: {error}")).ok()?;
    Some(Gpu::new(&device, &queue))
}

/// Handle of a slot's mesh.
fn mesh(slot: u32) -> MeshHandle {
    MeshHandle::from_bits((1 << 32 | u64::from(slot), 0)).unwrap()
}

/// A table of random meshes, and a culler.
struct Scene {
    gpu: Gpu,
    culler: Culler,
    entries: Entries,
    /// The buffer and the record of each piece of each slot's mesh.
    meshes: Vec<Vec<(u32, CullRecord)>>,
    random: Random,
}

/// A list that the device made for one buffer: commands, and numbers of commands, meshes, elements.
type List = (Vec<DrawCommand>, [u32; 3]);

impl Scene {
    const SLOTS: u32 = 700;

    fn open(test: &str, seed: u64) -> Option<Self> {
        let gpu = open(test)?;
        let culler = Culler::new(&gpu.device, &gpu.queue).unwrap();
        let entries = Entries::new(&PoolConfig::default().with_pattern_elements(7));
        let meshes = vec![Vec::new(); Self::SLOTS as usize];
        Some(Self { gpu, culler, entries, meshes, random: Random::new(seed) })
    }

    /// Prepares a frame, which `depth` culls.
    fn prepare(&mut self, view: &CullView, depth: Option<CullDepth<'_>>) {
        let Self { culler, entries, meshes, .. } = self;
        let make = |mesh: MeshHandle, piece| meshes[mesh.slot() as usize].get(piece).copied();
        culler.prepare_source(&Source { entries, make: &make }, view, depth).unwrap();
    }

    /// The records of a buffer, in the order of the table.
    fn records(&self, buffer: usize) -> Vec<CullRecord> {
        let record = |index| {
            let entry = self.entries.entry(buffer, index);
            self.meshes[entry.slot as usize][entry.piece].1
        };
        (0..self.entries.records(buffer)).map(record).collect()
    }

    fn remove(&mut self, slot: u32) {
        self.meshes[slot as usize].clear();
        self.entries.remove(mesh(slot));
    }

    /// Replaces the mesh of a slot by a random one, or by none. It has up to two pieces in three
    /// buffers.
    fn set(&mut self, slot: u32) {
        let random = &mut self.random;
        let pieces: Vec<_> = (0..random.below(3))
            .map(|_| {
                let origin = [(); 3].map(|()| random.below(400) - 200);
                let size = [(); 3].map(|()| 1 + random.below(30));
                let bounds = match random.below(3) {
                    0 => CullBounds::of_voxels(origin, size),
                    1 => {
                        CullBounds::new([0.25; 3], size.map(|side| side as f32)).with_origin(origin)
                    }
                    _ => {
                        let low = origin.map(|c| c as f32 + 0.5);
                        CullBounds::new(low, [0, 1, 2].map(|n| low[n] + size[n] as f32))
                    }
                };
                let counts = [(); 8].map(|()| random.below(3) * random.below(9));
                (random.below(3), CullRecord::new(slot, bounds, random.below(1000), counts))
            })
            .collect();
        self.entries.set(mesh(slot), pieces.iter().copied());
        self.meshes[slot as usize] = pieces;
    }

    fn view(&mut self) -> CullView {
        let random = &mut self.random;
        let mut unit = || random.below(10_001) as f32 / 10_000.0;
        let turn = Quat::from_euler(EulerRot::YXZ, unit() * 6.3, unit() * 3.0 - 1.5, unit());
        let eye = [(); 3].map(|()| unit() * 500.0 - 250.0);
        let [fov_y, aspect, far] = [0.2 + unit(), 0.5 + unit(), 50.0 + 800.0 * unit()];
        let is_parallel = unit() < 0.3;
        let projection = match is_parallel {
            false => directx::perspective(fov_y, aspect, far, 0.2),
            true => directx::orthographic(-90.0, 90.0, -60.0, 60.0, far, -far),
        };
        let world = projection
            * Mat4::from_quat(turn.inverse())
            * Mat4::from_translation(-Vec3::from_array(eye));
        let view = CullView::new(world.to_cols_array_2d()).with_seam(unit() * 0.01);
        let order = CullOrder::ByDistance { farthest: far };
        match (is_parallel, self.random.below(3)) {
            (_, 0) => view,
            (true, 1) => view.with_parallel_faces(FaceSet::from_bits(self.random.below(64) as u8)),
            (true, _) => view.with_order(CullOrder::ByReversedDepth),
            (false, 1) => view.with_camera(eye.map(f64::from)).with_order(order),
            (false, _) => view.with_order(order).without_frustum(),
        }
    }

    /// Encodes and submits a list, and reads it for each buffer.
    fn made(&self, list: CullList) -> Vec<List> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.culler.encode(&mut encoder, list).unwrap();
        self.gpu.queue.submit([encoder.finish()]);
        let first = list.totals_offset() as usize / 4;
        let regions = self.culler.regions.iter().map(|region| {
            let totals = self.read(&region.totals, 8);
            let totals = [0, 1, 2].map(|n| totals[first + n]);
            let words = self.read(&region.commands, u64::from(totals[0]) * 5);
            (bytemuck::pod_collect_to_vec(&words), totals)
        });
        regions.collect()
    }

    fn read(&self, from: &wgpu::Buffer, count: u64) -> Vec<u32> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = self.gpu.buffer("a test", count.max(1) * 4, usage).unwrap();
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &buffer, 0, count * 4);
        self.gpu.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let view = buffer.get_mapped_range(..count * 4).unwrap();
        bytemuck::pod_collect_to_vec(&view[..])
    }

    /// The twin's list of one buffer: commands bin by bin.
    fn list(&self, view: &CullView, drawn: &[(&CullRecord, u32)]) -> List {
        let mut binned: Vec<_> = drawn
            .iter()
            .map(|(record, parts)| (twin::bin(view, record), *record, *parts))
            .collect();
        binned.sort_by_key(|(bin, ..)| *bin);
        let pattern = self.entries.pattern();
        let of =
            |(_, record, parts): &(u32, &CullRecord, u32)| twin::commands(record, *parts, pattern);
        let commands: Vec<_> = binned.iter().flat_map(of).collect();
        let elements = commands.iter().map(|command| command.index_count / 6).sum();
        let totals = [commands.len() as u32, drawn.len() as u32, elements];
        (commands, totals)
    }

    /// Compares lists. Another order of sums, and a driver's own logarithm, can move a mesh across a
    /// boundary; not on Mesa's software driver.
    fn compare(&self, expected: &List, made: &List, step: u32) {
        let is_exact = self.gpu.device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        let allowed = if is_exact { 0 } else { 2 + expected.0.len() / 50 };
        let pairs = expected.0.iter().zip(&made.0);
        let differ = pairs.filter(|(expected, made)| expected != made).count()
            + expected.0.len().abs_diff(made.0.len());
        assert!(differ <= allowed, "step {step}: {differ} of {} commands", expected.0.len());
        assert!(allowed > 0 || expected.1 == made.1, "step {step}: {expected:?} {made:?}");
    }
}

/// The commands in view are those that the CPU makes, for random views, while meshes are inserted,
/// removed and changed.
#[test]
fn lists_without_depth_equal_those_of_the_cpu() {
    const TEST: &str = "lists_without_depth_equal_those_of_the_cpu";
    let Some(mut scene) = Scene::open(TEST, 1) else { return };
    let (mut drawn, mut culled) = (0, 0);
    for step in 0..120 {
        // The table begins empty, grows beyond the capacity of its buffers, and shrinks again.
        let slots = if step < 60 { Scene::SLOTS } else { 40 };
        for _ in 0..if step % 20 == 1 { 900 } else { 5 } {
            let slot = scene.random.below(slots);
            scene.set(slot);
        }
        if step == 80 {
            (0..Scene::SLOTS).for_each(|slot| scene.remove(slot));
        }
        let view = scene.view();
        scene.culler.set_max_counted(step % 2 * 1000);
        scene.prepare(&view, None);
        let made = scene.made(CullList::All);
        for (buffer, made) in made.iter().enumerate() {
            let records = scene.records(buffer);
            let visible: Vec<_> = records
                .iter()
                .map(|record| (record, twin::visible_parts(&view, record)))
                .filter(|(_, parts)| *parts != 0)
                .collect();
            scene.compare(&scene.list(&view, &visible), made, step);
            drawn += visible.len();
            culled += records.len() - visible.len();
        }
        assert_eq!(made.len(), scene.entries.buffers());
    }
    assert!(drawn > 5000 && culled > 5000, "{drawn} {culled}");
}

/// Lists of frames that are culled by depth are those of the twin, with any depth.
#[test]
fn lists_by_depth_equal_those_of_the_twin() {
    const TEST: &str = "lists_by_depth_equal_those_of_the_twin";
    let Some(mut scene) = Scene::open(TEST, 2) else { return };
    (0..Scene::SLOTS).for_each(|slot| scene.set(slot));
    let mut seen: Vec<Vec<bool>> =
        (0..3).map(|buffer| vec![false; scene.entries.records(buffer)]).collect();
    let (mut known, mut new, mut hidden) = (0, 0, 0);
    let mut depth = Depth::new(&scene.gpu, &mut scene.random);
    for step in 0..150 {
        if step % 5 == 4 {
            depth = Depth::new(&scene.gpu, &mut scene.random);
        }
        let view = scene.view();
        let of_frame = CullDepth { view: &depth.view, size: depth.size };
        scene.prepare(&view, Some(of_frame));
        let pyramid = twin::Pyramid::new(depth.size.map(|side| side as usize), &depth.depths);
        let made = [CullList::Known, CullList::New].map(|list| scene.made(list));
        let texels: Vec<u32> = pyramid
            .levels
            .iter()
            .flat_map(|level| level.texels().iter().map(|it| it.to_bits()))
            .collect();
        assert_eq!(scene.read(&scene.culler.pyramid.texels, texels.len() as u64), texels);
        for (buffer, seen) in seen.iter_mut().enumerate() {
            let mut lists = [Vec::new(), Vec::new()];
            let records = scene.records(buffer);
            for (record, seen) in records.iter().zip(seen) {
                let parts = twin::visible_parts(&view, record);
                let is_seen = parts != 0 && !twin::is_hidden(&view, &pyramid, record);
                let was_seen = std::mem::replace(seen, is_seen);
                match (was_seen, is_seen) {
                    (true, _) if parts != 0 => lists[0].push((record, parts)),
                    (false, true) => lists[1].push((record, parts)),
                    _ => {}
                }
                hidden += u32::from(parts != 0 && !is_seen);
            }
            for (list, made) in lists.iter().zip(&made) {
                scene.compare(&scene.list(&view, list), &made[buffer], step);
            }
            known += lists[0].len();
            new += lists[1].len();
        }
    }
    // Each kind of verdict has occurred many times.
    assert!(known > 1000 && new > 1000 && hidden > 1000, "{known} {new} {hidden}");
}

/// Equal input gives equal commands in equal order, on every run.
#[test]
fn commands_are_the_same_every_time() {
    let run = || {
        let mut scene = Scene::open("commands_are_the_same_every_time", 3)?;
        (0..Scene::SLOTS).for_each(|slot| scene.set(slot));
        let lists = (0..12).map(|_| {
            let view = scene.view();
            scene.prepare(&view, None);
            scene.made(CullList::All)
        });
        Some(lists.collect::<Vec<_>>())
    };
    let first = run();
    assert!(first.is_none() || first == run());
    assert!(
        first.is_none_or(
            |lists| lists.iter().flatten().map(|list| list.0.len()).sum::<usize>() > 300
        )
    );
}

/// The GPU reads the number of commands of a call only up to a number.
#[test]
fn calls_of_too_many_commands_are_not_counted() {
    let test = "calls_of_too_many_commands_are_not_counted";
    let Some(mut scene) = Scene::open(test, 6) else { return };
    (0..50).for_each(|slot| scene.set(slot));
    let most = (0..3).map(|buffer| scene.entries.max_commands(buffer) as u32).max().unwrap();
    let view = scene.view();
    let mut is_counted = |max_counted| {
        scene.culler.set_max_counted(max_counted);
        scene.prepare(&view, None);
        scene.culler.is_counted()
    };
    if !is_counted(Culler::MAX_COUNTED) {
        return println!("skipped: {test}: the GPU reads no counts");
    }
    assert_eq!([most, most - 1, most, 0].map(is_counted), [true, false, true, false]);
}

/// Counts arrive without waiting, and contain their frame's number. Encoders that are dropped make no
/// buffer of counts unusable.
#[test]
fn counts_arrive() {
    let Some(mut scene) = Scene::open("counts_arrive", 4) else { return };
    assert_eq!(scene.culler.counts(), None);
    (0..90).for_each(|slot| scene.set(slot));
    let view = scene.view().without_frustum();
    for frame in 1..=20 {
        scene.prepare(&view, None);
        let mut encoder = scene.gpu.device.create_command_encoder(&Default::default());
        scene.culler.encode(&mut encoder, CullList::All).unwrap();
        scene.culler.encode_counts(&mut encoder, frame).unwrap();
        if frame < 10 {
            drop(encoder);
            continue;
        }
        scene.gpu.queue.submit([encoder.finish()]);
        scene.gpu.device.poll(wgpu::PollType::Poll).unwrap();
        assert!(scene.culler.counts().is_none_or(|counts| (10..=frame).contains(&counts.frame)));
    }
    scene.gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let counts = scene.culler.counts().unwrap();
    let made = scene.made(CullList::All);
    let sum = |of: usize| made.iter().map(|list| list.1[of]).sum::<u32>();
    assert!(counts.frame > 16, "{counts:?}");
    assert_eq!([counts.commands, counts.meshes], [0, 1].map(sum));
    assert!(counts.meshes > 0 && counts.elements == u64::from(sum(2)), "{counts:?}");
}
