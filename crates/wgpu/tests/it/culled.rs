//! Pools that the GPU culls, in the caller's encoder and render passes.

use drystone_pool::{DrawList, MeshHandle, MoveBudget, PartSet, PoolConfig, VertexPool};
use drystone_testing::Random;
use drystone_wgpu::{
    CullBounds, CullList, CullTable, CullView, Culler, GpuError, PoolBuffers, VertexInput,
};

use super::{
    dots::{Dot, Rows, pipeline, random_dots, small_pool},
    screen::{Change, SIDE, Screen},
};

/// Features that culling uses, if the adapter has them.
const COUNTED: Change = |features, _| *features |= wgpu::Features::MULTI_DRAW_INDIRECT_COUNT;

/// View of a picture's pixels: x and y from −1 to 1, y down.
fn view_of_rows(first: u32, end: u32) -> CullView {
    // Maps the rows to clip space, so that only they are in view.
    let scale = 2.0 / (end - first) as f32;
    CullView::new([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, scale, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, -1.0 - scale * first as f32, 0.5, 1.0],
    ])
}

/// A pool whose meshes are rows of a picture, with a box for each.
struct Picture {
    screen: Screen,
    pipeline: wgpu::RenderPipeline,
    buffers: PoolBuffers,
    pool: VertexPool<Dot, u32>,
    table: CullTable<u32>,
    culler: Culler,
    meshes: Vec<Option<(MeshHandle, Vec<Dot>)>>,
}

impl Picture {
    fn open(test: &str, input: VertexInput, change: Change) -> Option<Self> {
        let screen = Screen::open_with(test, change)?;
        let (device, queue) = (&screen.device, &screen.queue);
        let buffers = PoolBuffers::new::<Dot, u32>(device, queue, small_pool(), input).unwrap();
        let pipeline = pipeline(&screen, input, buffers.layout());
        let pool = VertexPool::new(buffers.pool_config()).unwrap();
        let table = CullTable::new(&buffers.pool_config(), |_, row| bounds_of(*row));
        let culler = Culler::new(device, queue);
        let culler = culler.inspect_err(|error| println!("skipped: {test}: {error}")).ok()?;
        let meshes = vec![None; SIDE as usize];
        Some(Self { screen, pipeline, buffers, pool, table, culler, meshes })
    }

    /// Inserts, replaces or removes a row.
    fn set(&mut self, row: u32, dots: Option<Vec<Dot>>) {
        let Self { buffers, pool, table, meshes, .. } = self;
        let held = &mut meshes[row as usize];
        let Some(dots) = dots else {
            if let Some((mesh, _)) = held.take() {
                pool.remove(mesh).unwrap();
                table.remove(mesh);
            }
            return;
        };
        let parts = [dots.len() as u32];
        let mesh = match held {
            Some((mesh, _)) => {
                pool.replace(*mesh, &dots, &parts, row, buffers).unwrap();
                *mesh
            }
            None => pool.insert(&dots, &parts, row, buffers).unwrap(),
        };
        table.set(pool, mesh);
        *held = Some((mesh, dots));
    }

    /// Draws the rows that are in view. The picture must show them and no others. Returns the number of
    /// calls.
    fn draw(&mut self, view: &CullView, rows: std::ops::Range<u32>) -> usize {
        let Self { screen, pipeline, buffers, pool, table, culler, meshes } = self;
        let mut expected = Rows::default();
        for row in rows {
            if let Some((_, dots)) = &meshes[row as usize] {
                expected.set(row, dots.clone());
            }
        }
        culler.prepare(table, pool, view).unwrap();
        let mut encoder = screen.device.create_command_encoder(&Default::default());
        culler.encode(&mut encoder, CullList::All).unwrap();
        screen.queue.submit([encoder.finish()]);
        let mut calls = 0;
        screen.frame(expected.picture(), |pass| {
            pass.set_pipeline(pipeline);
            calls = buffers.draw_culled(pass, culler, CullList::All).unwrap();
        });
        buffers.submitted(pool);
        calls
    }
}

/// Box of a row, from the middle of its pixels on, so that rows in view are certain.
fn bounds_of(row: u32) -> CullBounds {
    let y = row as f32;
    CullBounds::new([-1.0, y + 0.25, 0.0], [1.0, y + 0.75, 0.0])
}

/// Meshes that are inserted, replaced, removed and moved while frames are in flight are culled as they
/// were when each frame was submitted.
fn every_frame_shows_the_rows_in_view(test: &str, input: VertexInput, max_counted: u32) {
    let Some(mut picture) = Picture::open(test, input, COUNTED) else { return };
    picture.culler.set_max_counted(max_counted);
    let mut random = Random::new(7);
    let (mut moves, mut most, mut counted) = (0, 0, 0);
    for frame in 0..120 {
        // Rows are removed in the middle, so that the pool shrinks, and grow again.
        let removes = if (40..70).contains(&frame) { 3 } else { 1 };
        for _ in 0..12 {
            let row = random.below(SIDE);
            let is_kept = random.below(4) >= removes;
            picture.set(row, is_kept.then(|| random_dots(&mut random)));
        }
        if frame == 100 {
            (0..SIDE).for_each(|row| picture.set(row, None));
        }
        let moved = picture.pool.defragment(&MoveBudget::default(), &mut picture.buffers);
        picture.table.update_moved(&picture.pool);
        moves += moved.moves;
        let first = random.below(SIDE);
        let end = first + 1 + random.below(SIDE - first);
        let calls = picture.draw(&view_of_rows(first, end), first..end);
        most = most.max(calls);
        counted += u32::from(picture.culler.is_counted());
        assert!(frame != 100 || calls == 0);
    }
    picture.screen.finish();
    assert!(moves > 50 && most > 4, "{moves} moves, {most} calls");
    assert!(picture.screen.overlaps > 0, "no two frames were in flight");
    let features = picture.screen.device.features();
    let can_count = features.contains(wgpu::Features::MULTI_DRAW_INDIRECT_COUNT);
    assert_eq!(counted > 0, can_count && max_counted > 0);
}

#[test]
fn every_frame_shows_the_rows_in_view_with_pulled_vertices() {
    let test = "every_frame_shows_the_rows_in_view_with_pulled_vertices";
    every_frame_shows_the_rows_in_view(test, VertexInput::Pulled { group: 0 }, 0);
}

#[test]
fn every_frame_shows_the_rows_in_view_with_attributes_and_counts() {
    let test = "every_frame_shows_the_rows_in_view_with_attributes_and_counts";
    every_frame_shows_the_rows_in_view(test, VertexInput::default(), Culler::MAX_COUNTED);
}

/// An empty table draws nothing.
#[test]
fn an_empty_table_draws_nothing() {
    let test = "an_empty_table_draws_nothing";
    let Some(mut picture) = Picture::open(test, VertexInput::default(), |_, _| {}) else { return };
    assert_eq!(picture.draw(&view_of_rows(0, SIDE), 0..SIDE), 0);
    picture.screen.finish();
}

/// A picture of a culled pool is that of a list that the same view masks.
#[test]
fn the_gpu_draws_what_a_masked_list_draws() {
    let test = "the_gpu_draws_what_a_masked_list_draws";
    let Some(mut picture) = Picture::open(test, VertexInput::default(), |_, _| {}) else { return };
    let mut random = Random::new(4);
    for row in 0..SIDE {
        picture.set(row, Some(random_dots(&mut random)));
    }
    let mut list = DrawList::new();
    for (mesh, _) in picture.meshes.iter().flatten() {
        list.insert(*mesh).unwrap();
    }
    for (first, end) in [(0, 64), (3, 5), (60, 64), (17, 40)] {
        let view = view_of_rows(first, end);
        picture.draw(&view, first..end);
        let Picture { screen, pipeline, buffers, pool, meshes, .. } = &mut picture;
        list.mask(pool, |row| view.visible_parts(&bounds_of(**row)));
        let mut expected = Rows::default();
        for row in first..end {
            expected.set(row, meshes[row as usize].clone().unwrap().1);
        }
        screen.frame(expected.picture(), |pass| {
            pass.set_pipeline(pipeline);
            buffers.draw(pass, list.runs(pool)).unwrap();
        });
        buffers.submitted(pool);
        assert_eq!(list.drawn(), (end - first) as usize);
    }
    picture.screen.finish();
    assert_eq!(CullView::new([[0.0; 4]; 4]).visible_parts(&bounds_of(1)), PartSet::ALL);
}

/// Devices that lack a feature or a limit are refused with its name.
#[test]
fn devices_that_cannot_cull_are_refused() {
    let test = "devices_that_cannot_cull_are_refused";
    let cases: [(Change, &str); 4] = [
        (|features, _| *features = wgpu::Features::empty(), "a draw's slot"),
        (
            |_, limits| limits.max_storage_buffers_per_shader_stage = 6,
            "max_storage_buffers_per_shader_stage = 6",
        ),
        (
            |_, limits| limits.max_compute_workgroups_per_dimension = 0,
            "max_compute_workgroups_per_dimension = 0",
        ),
        (
            |_, limits| limits.max_compute_invocations_per_workgroup = 128,
            "max_compute_invocations_per_workgroup = 128",
        ),
    ];
    for (change, words) in cases {
        let Some(screen) = Screen::open_with(test, change) else { return };
        let refused = Culler::new(&screen.device, &screen.queue).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains(words), "{refused}");
        let is_limit = matches!(refused, GpuError::Limit { .. });
        assert_eq!(is_limit, words.contains('='), "{refused}");
    }
}

/// More meshes in a buffer than the device culls are an error. Fewer are culled again.
#[test]
fn more_meshes_than_the_device_culls_are_an_error() {
    let test = "more_meshes_than_the_device_culls_are_an_error";
    let two: Change = |_, limits| limits.max_compute_workgroups_per_dimension = 2;
    let Some(screen) = Screen::open_with(test, two) else { return };
    let (device, queue) = (&screen.device, &screen.queue);
    let Ok(mut culler) = Culler::new(device, queue) else {
        return println!("skipped: {test}: the GPU does not cull");
    };
    let input = VertexInput::default();
    let config = PoolConfig::default();
    let mut buffers = PoolBuffers::new::<Dot, u32>(device, queue, config, input).unwrap();
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    let mut table = CullTable::new(&buffers.pool_config(), |_, row| bounds_of(*row));
    let view = view_of_rows(0, SIDE);
    let mut meshes = Vec::new();
    for number in 0..129 {
        culler.prepare(&table, &pool, &view).unwrap();
        let mesh = pool.insert(&[Dot { x: 0, rgba: 1 }], &[1], number, &mut buffers).unwrap();
        table.set(&pool, mesh);
        meshes.push(mesh);
    }
    match culler.prepare(&table, &pool, &view) {
        Err(GpuError::Limit { needed: 3, allowed: 2, limit, .. }) => {
            assert_eq!(limit, "max_compute_workgroups_per_dimension");
        }
        other => panic!("{other:?}"),
    }
    table.remove(meshes[70]);
    culler.prepare(&table, &pool, &view).unwrap();
}

/// Lists of frames by depth need a depth attachment that shaders can read.
#[test]
fn depths_that_cannot_be_read_are_refused() {
    let test = "depths_that_cannot_be_read_are_refused";
    let Some(mut picture) = Picture::open(test, VertexInput::default(), |_, _| {}) else { return };
    let view = view_of_rows(0, SIDE);
    picture.set(3, Some(vec![Dot { x: 1, rgba: 1 }]));
    let Picture { screen, buffers, culler, pool, table, .. } = &mut picture;
    let mut encoder = screen.device.create_command_encoder(&Default::default());
    culler.prepare(table, pool, &view).unwrap();
    let refused = culler.encode(&mut encoder, CullList::Known).unwrap_err();
    assert!(refused.to_string().contains("without a depth attachment"), "{refused}");
    use wgpu::{TextureFormat as Format, TextureUsages as Usage};
    let read = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING;
    for (usage, format, sample_count, size, words) in [
        (Usage::RENDER_ATTACHMENT, Format::Depth32Float, 1, [8, 8], Some("TEXTURE_BINDING")),
        (read, Format::Depth32Float, 4, [8, 8], Some("several samples")),
        (read, Format::Rgba8Unorm, 1, [8, 8], Some("no depth")),
        (read, Format::Depth32Float, 1, [8, 9], Some("smaller")),
        (read, Format::Depth32Float, 1, [8, 8], None),
        (read, Format::Depth24Plus, 1, [7, 5], None),
    ] {
        let texture = screen.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 8, height: 8, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        let attachment = texture.create_view(&Default::default());
        let depth = drystone_wgpu::CullDepth { view: &attachment, size };
        let prepared = culler.prepare_by_depth(table, pool, &view, depth);
        match (prepared, words) {
            (Ok(()), None) => culler.encode(&mut encoder, CullList::Known).unwrap(),
            (Err(error @ GpuError::Unsupported { .. }), Some(words)) => {
                assert!(error.to_string().contains(words), "{error}");
            }
            other => panic!("{format:?}: {other:?}"),
        }
    }
    // The lists of the last frame by depth cannot be encoded instead of those that were refused.
    let other = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    assert_eq!(culler.prepare(table, &other, &view), Err(GpuError::OtherPool));
    assert!(culler.encode(&mut encoder, CullList::Known).is_err());
    screen.queue.submit([encoder.finish()]);
}

/// A lost device is an error, and never a panic.
#[test]
fn a_lost_device_is_an_error() {
    let test = "a_lost_device_is_an_error (culling)";
    let Some(mut picture) = Picture::open(test, VertexInput::default(), |_, _| {}) else { return };
    picture.set(3, Some(vec![Dot { x: 1, rgba: 1 }]));
    picture.screen.device.destroy();
    for _ in 0..3 {
        let Picture { culler, table, pool, .. } = &mut picture;
        let prepared = culler.prepare(table, pool, &view_of_rows(0, SIDE));
        assert!(matches!(prepared, Err(GpuError::Lost { .. })), "{prepared:?}");
    }
}
