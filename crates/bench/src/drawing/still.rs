//! Table `static`: a scene that does not change, seen by an eye that stands still, and by
//! one that moves (`pool-wgpu-moving`).

use std::{cell::RefCell, time::Instant};

use drystone::scene::{BackendKind, RendererKind, Scene, Size, open_renderer};
use drystone_render::View;

use super::{STATIC, scene::RandomScene};
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};

/// Cases: name, voxels a side of a chunk, chunks a side, whether a quick run has it.
const CASES: [(&str, u32, u32, bool); 7] = [
    ("16x3", 16, 3, true),
    ("16x5", 16, 5, true),
    ("16x10", 16, 10, true),
    ("16x15", 16, 15, false),
    ("32x3", 32, 3, true),
    ("32x5", 32, 5, true),
    ("32x10", 32, 10, true),
];

/// The picture that is drawn.
const SIZE: Size = Size { width: 720, height: 720 };

/// A round of a small scene draws frames until this much time has gone by.
const ROUND_SECONDS: f64 = 0.25;
/// And at most so many.
const ROUND_FRAMES: usize = 32;

/// How far a moving eye moves from frame to frame: nothing that shows.
const TREMBLE_VOXELS: f64 = 1e-3;

/// Pixels that may differ between the contenders' pictures: faces of different chunks
/// that meet at one depth are decided by drawing order.
const DIFFERENT_PIXELS: u32 = SIZE.width * SIZE.height / 10_000;

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(STATIC.name);
    for (case, side, chunks_a_side, quick) in CASES {
        if (quick || !options.quick) && options.wants(case) {
            run_case(&mut table, options, case, side, chunks_a_side)?;
        }
    }
    Ok(table)
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    side: u32,
    chunks_a_side: u32,
) -> Result<(), Error> {
    let failed = |contender: &str, message: String| Error::Contender {
        table: STATIC.name.into(),
        case: case.into(),
        contender: contender.into(),
        message,
    };
    let scene = RandomScene::new(side, chunks_a_side).map_err(|e| failed("scene", e))?;
    eprintln!("{case}: {:.0} quads a chunk on average", scene.mean_quads());
    let open = |name, kind| Drawn::open(&scene, kind).map_err(|e| failed(name, e));
    let pool = RefCell::new(open("pool-wgpu", RendererKind::Pool)?);
    let naive = RefCell::new(open("naive-wgpu", RendererKind::Naive)?);
    table.machine.gpu = pool.borrow_mut().scene.renderer().backend();
    compare(&pool, &naive, &scene.view).map_err(|e| failed("pool-wgpu", e))?;
    let view = &scene.view;
    let contenders = vec![
        Contender::new("pool-wgpu", || pool.borrow_mut().round(view, 0.0)),
        Contender::new("naive-wgpu", || naive.borrow_mut().round(view, 0.0)),
        Contender::new("pool-wgpu-moving", || pool.borrow_mut().round(view, TREMBLE_VOXELS)),
    ];
    table.run_case(case, options, contenders)
}

/// Both must draw the same picture, and not an empty one.
fn compare(pool: &RefCell<Drawn>, naive: &RefCell<Drawn>, view: &View) -> Result<(), String> {
    let picture = |drawn: &RefCell<Drawn>| {
        let mut drawn = drawn.borrow_mut();
        drawn.scene.picture(view).map_err(|e| e.to_string())
    };
    let ((pool, drawn), (naive, _)) = (picture(pool)?, picture(naive)?);
    if drawn.quads == 0 {
        return Err("nothing was drawn".into());
    }
    let difference = naive.difference(&pool, 2).ok_or("the pictures' sizes differ")?;
    if difference.pixels > DIFFERENT_PIXELS {
        return Err(format!("{} pixels differ from the naive picture", difference.pixels));
    }
    Ok(())
}

/// One contender's scene.
struct Drawn {
    scene: Scene,
    /// Frames drawn so far, to move the eye by.
    frame: u32,
}

impl Drawn {
    fn open(scene: &RandomScene, kind: RendererKind) -> Result<Self, String> {
        let renderer = open_renderer(kind, BackendKind::Wgpu, SIZE, &scene.quads)
            .map_err(|error| error.to_string())?;
        let scene = Scene::new(scene.world.clone(), &scene.quads, renderer)
            .map_err(|error| error.to_string())?;
        Ok(Self { scene, frame: 0 })
    }

    /// Draws frames and times them: how long this thread works until a frame is handed over
    /// (`submit`: CPU time, since a software adapter's threads soon take this one's core), and
    /// how long it is until the frame is done (`draw`). The eye moves by `tremble_voxels` from frame to frame: when it
    /// does, nothing can be kept of the last frame, and masking, ordering and cutting
    /// commands are part of `submit`.
    fn round(&mut self, view: &View, tremble_voxels: f64) -> Result<Vec<Figure>, String> {
        // One frame that does not count: another contender may have drawn the last.
        self.scene.draw(view).map_err(|error| error.to_string())?;
        self.scene.renderer().finish().map_err(|error| error.to_string())?;
        let (mut submit_ns, mut draw_ns, mut frames) = (0.0, 0.0, 0);
        while frames < ROUND_FRAMES && draw_ns < ROUND_SECONDS * 1e9 {
            let mut view = *view;
            self.frame += 1;
            view.camera.eye.x += tremble_voxels * f64::from(1 + self.frame % 2);
            let (start, cpu_start_ns) = (Instant::now(), thread_cpu_ns());
            self.scene.draw(&view).map_err(|error| error.to_string())?;
            submit_ns += thread_cpu_ns() - cpu_start_ns;
            self.scene.renderer().finish().map_err(|error| error.to_string())?;
            draw_ns += elapsed_ns(start);
            frames += 1;
        }
        let per_frame_us = |ns: f64| ns / frames as f64 / 1e3;
        let held = self.scene.renderer().held();
        let quads = held.used_bytes as f64 / 8.0;
        Ok(vec![
            Figure::new("draw", "us/frame", per_frame_us(draw_ns)),
            Figure::new("submit", "us/frame", per_frame_us(submit_ns)),
            Figure::new("bytes", "bytes", held.reserved_bytes as f64 / quads.max(1.0)),
        ])
    }
}

/// Nanoseconds that this thread has run.
#[cfg(unix)]
fn thread_cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds of wall-clock time, where the thread's own are not to be had.
#[cfg(not(unix))]
fn thread_cpu_ns() -> f64 {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    elapsed_ns(*START)
}
