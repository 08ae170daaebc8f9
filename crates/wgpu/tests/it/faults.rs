use drystone_pool::{
    Backend, BackendError, DrawList, MoveBudget, PoolConfig, PoolError, VertexPool,
};
use drystone_wgpu::{GpuError, PoolBuffers, VertexInput, parts::Gpu};

use super::{
    dots::{Dot, small_pool},
    screen::{Change, Screen},
};

const PULLED: VertexInput = VertexInput::Pulled { group: 0 };

fn open(screen: &Screen, config: PoolConfig, input: VertexInput) -> Result<PoolBuffers, GpuError> {
    PoolBuffers::new::<Dot, u32>(&screen.device, &screen.queue, config, input)
}

/// A limit that is too low is reported with its name and both values.
#[test]
fn a_limit_that_is_too_low_is_named() {
    let test = "a_limit_that_is_too_low_is_named";
    let cases: [(Change, VertexInput, &str, [u64; 2]); 3] = [
        (
            |_, limits| limits.max_storage_buffers_per_shader_stage = 1,
            PULLED,
            "max_storage_buffers_per_shader_stage",
            [2, 1],
        ),
        (
            |_, limits| limits.max_vertex_buffers = 1,
            VertexInput::default(),
            "max_vertex_buffers",
            [2, 1],
        ),
        (
            |_, limits| limits.max_bind_groups = 1,
            VertexInput::Pulled { group: 1 },
            "max_bind_groups",
            [2, 1],
        ),
    ];
    for (change, input, name, values) in cases {
        let Some(screen) = Screen::open_with(test, change) else { return };
        match open(&screen, small_pool(), input) {
            Err(error @ GpuError::Limit { limit, needed, allowed, .. }) => {
                assert_eq!((limit, [needed, allowed]), (name, values));
                assert!(error.to_string().contains(name), "{error}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Sizes of a pool beyond the device's limits are lowered. What does not fit them is an error of the
/// pool, not of the device.
#[test]
fn a_pool_stays_within_the_limits_of_the_device() {
    let test = "a_pool_stays_within_the_limits_of_the_device";
    let change: Change = |_, limits| {
        limits.max_storage_buffer_binding_size = 1 << 16;
        limits.max_buffer_size = 1 << 20;
    };
    let Some(screen) = Screen::open_with(test, change) else { return };
    let config = PoolConfig::default();
    let mut buffers = open(&screen, config.clone(), PULLED).unwrap();
    assert_eq!(buffers.pool_config().max_buffer_elements, 1 << 13);
    assert_eq!(buffers.pool_config().max_slots, 1 << 14);
    assert_eq!(buffers.pool_config().pattern_elements, (1 << 20) / (6 * 4));
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    let dots = vec![Dot { x: 0, rgba: 0 }; (1 << 13) + 1];
    let refused = pool.insert(&dots, &[dots.len() as u32], 0, &mut buffers);
    assert!(matches!(refused, Err(PoolError::MeshTooLarge { limit: 8192, .. })), "{refused:?}");
    pool.insert(&dots[1..], &[1 << 13], 0, &mut buffers).unwrap();
    // Attributes are not bound, so only the size of a buffer counts.
    let attributes = open(&screen, config, VertexInput::default()).unwrap();
    assert_eq!(attributes.pool_config().max_buffer_elements, 1 << 17);
}

/// Verifies that nothing panics: the device has no handlers, so wgpu panics on each error that is not
/// caught.
#[test]
fn a_lost_device_is_an_error_of_every_call() {
    let Some(screen) = Screen::open("a_lost_device_is_an_error_of_every_call") else { return };
    let mut buffers = open(&screen, small_pool(), PULLED).unwrap();
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    let mut list = DrawList::new();
    let dots = vec![Dot { x: 0, rgba: 0 }; 200];
    let meshes: Vec<_> =
        (0..5).map(|_| pool.insert(&dots, &[200], 0, &mut buffers).unwrap()).collect();
    meshes.iter().for_each(|&mesh| list.insert(mesh).unwrap());
    pool.remove(meshes[1]).unwrap();
    screen.device.destroy();
    for _ in 0..2 {
        let refused = pool.insert(&dots, &[200], 0, &mut buffers);
        assert_eq!(refused, Err(PoolError::Backend(BackendError::Lost)));
        assert!(matches!(buffers.take_error(), Some(GpuError::Lost { .. })));
        let replaced = pool.replace(meshes[0], &dots, &[200], 0, &mut buffers);
        assert_eq!(replaced, Err(PoolError::Backend(BackendError::Lost)));
        pool.defragment(&MoveBudget::default(), &mut buffers);
        buffers.submitted(&mut pool);
    }
    let opened = open(&screen, small_pool(), PULLED);
    assert!(matches!(opened, Err(GpuError::Lost { .. })), "{opened:?}");
    let gpu = Gpu::new(&screen.device, &screen.queue);
    let filled = gpu.filled_buffer("a test", &[0; 4], wgpu::BufferUsages::VERTEX);
    assert_eq!(filled, Err(GpuError::Lost { what: "a test" }));
}

/// Gathered writes to a lost device are an error of the next draw.
#[test]
fn gathered_writes_that_are_lost_fail_the_next_draw() {
    let Some(screen) = Screen::open("gathered_writes_that_are_lost_fail_the_next_draw") else {
        return;
    };
    let mut buffers = open(&screen, small_pool(), PULLED).unwrap();
    buffers.set_write_mode(drystone_wgpu::WriteMode::Gathered);
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    let dots = [Dot { x: 0, rgba: 0 }; 10];
    for _ in 0..20 {
        pool.insert(&dots, &[10], 0, &mut buffers).unwrap();
    }
    screen.device.destroy();
    pool.insert(&dots, &[10], 0, &mut buffers).unwrap();
    buffers.submitted(&mut pool);
    assert!(matches!(buffers.take_error(), Some(GpuError::Lost { .. })));
}

/// Per-draw data that could not be written is an error of the next draw.
#[test]
fn per_draw_data_that_is_not_written_fails_the_next_draw() {
    let test = "per_draw_data_that_is_not_written_fails_the_next_draw";
    let Some(mut screen) = Screen::open(test) else { return };
    let mut buffers = open(&screen, small_pool(), PULLED).unwrap();
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    pool.insert(&[Dot { x: 0, rgba: 0 }], &[1], 0, &mut buffers).unwrap();
    // Beyond the end of the table.
    buffers.write_draw_data(1 << 20, &[0; 4]);
    screen.frame(vec![0; 64 * 64], |pass| {
        let refused = buffers.draw(pass, (&[], &[])).unwrap_err();
        let is_data = matches!(refused, GpuError::Refused { what: "the per-draw data", .. });
        assert!(is_data, "{refused}");
        assert_eq!(buffers.take_error(), Some(refused));
        assert_eq!(buffers.draw(pass, (&[], &[])), Ok(0));
    });
    screen.finish();
}

/// A buffer beyond the limits and a write beyond the end of a buffer are errors.
#[test]
fn sizes_beyond_the_device_or_the_buffer_are_refused() {
    let test = "sizes_beyond_the_device_or_the_buffer_are_refused";
    let Some(screen) = Screen::open(test) else { return };
    let gpu = Gpu::new(&screen.device, &screen.queue);
    let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST;
    let max = screen.device.limits().max_buffer_size;
    let refused = gpu.buffer("a test", max + 4, usage);
    let is_limit = matches!(refused, Err(GpuError::Limit { limit: "max_buffer_size", .. }));
    assert!(is_limit, "{refused:?}");
    assert!(gpu.buffer("a test", 4, usage).is_ok());
    let small = gpu.buffer("a test", 4, usage).unwrap();
    let beyond = gpu.write("a test", &small, 4, std::iter::once(&[0; 4][..]));
    assert!(matches!(beyond, Err(GpuError::Refused { .. })), "{beyond:?}");
}

/// Variable that is set for a process with little memory.
#[cfg(target_os = "linux")]
const LITTLE_MEMORY: &str = "DRYSTONE_LITTLE_MEMORY";

/// Lack of memory is an error with the number of bytes, and a pool then uses a smaller buffer. The test
/// runs itself again in a process that can have 6 GB of addresses.
#[cfg(target_os = "linux")]
#[test]
fn lack_of_memory_is_an_error() {
    let test = "faults::lack_of_memory_is_an_error";
    if std::env::var_os(LITTLE_MEMORY).is_none() {
        let Some(_) = Screen::open("lack_of_memory_is_an_error") else { return };
        let again = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 6000000 && exec \"$0\" --exact \"$1\""])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env(LITTLE_MEMORY, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let screen = Screen::open("lack_of_memory_is_an_error").unwrap();
    let gpu = Gpu::new(&screen.device, &screen.queue);
    let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST;
    let size = 1 << 30;
    let mut held: Vec<_> = (0..8).map(|_| gpu.buffer("a test", size, usage)).collect();
    let out = GpuError::OutOfMemory { what: "a test", requested_bytes: size };
    assert_eq!(held.pop().map(Result::unwrap_err), Some(out));
    held.retain(Result::is_ok);
    assert!(!held.is_empty());
    // A pool uses a smaller buffer, and the refusal can be queried.
    let min_buffer_elements = size as u32 / size_of::<Dot>() as u32;
    let config = small_pool()
        .with_max_buffer_elements(min_buffer_elements)
        .with_min_buffer_elements(min_buffer_elements);
    let mut buffers = open(&screen, config, VertexInput::default()).unwrap();
    let mut pool = VertexPool::<Dot, u32>::new(buffers.pool_config()).unwrap();
    pool.insert(&[Dot { x: 0, rgba: 0 }], &[1], 0, &mut buffers).unwrap();
    assert_eq!(pool.stats().capacity, 1);
    let out = GpuError::OutOfMemory { what: "vertices", requested_bytes: size };
    assert_eq!(buffers.take_error(), Some(out));
}

/// Commands of one pool cannot be drawn with the buffers of another.
#[test]
fn commands_of_another_pool_are_refused() {
    let Some(mut screen) = Screen::open("commands_of_another_pool_are_refused") else { return };
    for input in [PULLED, VertexInput::default()] {
        let [mut first, mut second] = [(); 2].map(|()| open(&screen, small_pool(), input).unwrap());
        let mut pool = VertexPool::<Dot, u32>::new(first.pool_config()).unwrap();
        let mesh = pool.insert(&[Dot { x: 0, rgba: 0 }], &[1], 0, &mut first).unwrap();
        let mut list = DrawList::new();
        list.insert(mesh).unwrap();
        let mut other = VertexPool::<Dot, u32>::new(second.pool_config()).unwrap();
        for _ in 0..2 {
            screen.frame(vec![0; 64 * 64], |pass| {
                let refused = second.draw(pass, list.runs(&pool));
                assert_eq!(refused, Err(GpuError::NoSuchBuffer { buffer: 0 }));
            });
            // The buffer exists from now on, but no table of per-draw data.
            other.reserve(1, &mut second).unwrap();
        }
    }
    screen.finish();
}

/// A pool with an unknown index pattern is refused.
#[test]
fn an_unknown_index_pattern_is_refused() {
    let Some(screen) = Screen::open("an_unknown_index_pattern_is_refused") else { return };
    let config = PoolConfig::default().with_indices_per_element(5);
    let refused = open(&screen, config, PULLED).map(|_| ());
    assert_eq!(refused, Err(GpuError::NoPattern { indices: 5, vertices: 4 }));
}
