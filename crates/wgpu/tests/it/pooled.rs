use drystone_pool::{DrawList, DrawView, MeshHandle, MoveBudget, PartSet, VertexPool};
use drystone_testing::Random;
use drystone_wgpu::{FrameNumbers, PoolBuffers, VertexInput, parts::Gpu};

use super::{
    dots::{Dot, Rows, pipeline, random_dots, small_pool},
    screen::{Change, SIDE, Screen},
};

const PULLED: VertexInput = VertexInput::Pulled { group: 0 };

/// A pool whose meshes are the rows of a picture, and the rows that it must show.
struct Picture {
    screen: Screen,
    pipeline: wgpu::RenderPipeline,
    buffers: PoolBuffers,
    pool: VertexPool<Dot, u32>,
    list: DrawList,
    meshes: Vec<Option<MeshHandle>>,
    rows: Rows,
}

impl Picture {
    fn open(test: &str, input: VertexInput, change: Change) -> Option<Self> {
        let screen = Screen::open_with(test, change)?;
        let (device, queue) = (&screen.device, &screen.queue);
        let buffers = PoolBuffers::new::<Dot, u32>(device, queue, small_pool(), input).unwrap();
        let pipeline = pipeline(&screen, input, buffers.layout());
        let pool = VertexPool::new(buffers.pool_config()).unwrap();
        let (list, meshes) = (DrawList::new(), vec![None; SIDE as usize]);
        Some(Self { screen, pipeline, buffers, pool, list, meshes, rows: Rows::default() })
    }

    /// Inserts, replaces or removes a row.
    fn set(&mut self, row: u32, dots: Option<Vec<Dot>>) {
        let Self { buffers, pool, list, rows, .. } = self;
        let mesh = &mut self.meshes[row as usize];
        match (dots, *mesh) {
            (Some(dots), old) => {
                let parts = [dots.len() as u32];
                match old {
                    Some(old) => pool.replace(old, &dots, &parts, row, buffers).unwrap(),
                    None => {
                        let new = pool.insert(&dots, &parts, row, buffers).unwrap();
                        list.insert(new).unwrap();
                        *mesh = Some(new);
                    }
                }
                rows.set(row, dots);
            }
            (None, Some(old)) => {
                pool.remove(old).unwrap();
                *mesh = None;
                rows.remove(row);
            }
            (None, None) => {}
        }
    }

    /// Draws a frame. Returns the number of commands, of runs and of calls.
    fn draw(&mut self) -> [usize; 3] {
        let Self { screen, pipeline, buffers, pool, list, rows, .. } = self;
        let mut counts = [0; 3];
        screen.frame(rows.picture(), |pass| {
            pass.set_pipeline(pipeline);
            let (runs, commands) = list.runs(pool);
            counts = [commands.len(), runs.len(), 0];
            counts[2] = buffers.draw(pass, (runs, commands)).unwrap();
        });
        buffers.submitted(pool);
        counts
    }
}

/// Meshes that are inserted, replaced, removed and moved while frames are in flight are drawn as
/// they were when each frame was submitted.
fn every_frame_shows_its_meshes(test: &str, input: VertexInput) {
    let Some(mut picture) = Picture::open(test, input, |_, _| {}) else { return };
    let mut random = Random::new(7);
    let (mut moves, mut buffers) = (0, Vec::new());
    for frame in 0..160 {
        // Rows are removed at times, so that the pool shrinks, and grow again.
        let removes = if (30..50).contains(&(frame % 80)) { 3 } else { 1 };
        for _ in 0..12 {
            let row = random.below(SIDE);
            let is_kept = random.below(4) >= removes;
            picture.set(row, is_kept.then(|| random_dots(&mut random)));
        }
        let moved = picture.pool.defragment(&MoveBudget::default(), &mut picture.buffers);
        assert_eq!(moved.refused, None);
        moves += moved.moves;
        // In every other frame moves are followed by writes, which go to ranges that were just left.
        if frame % 2 == 0 {
            let row = random.below(SIDE);
            picture.set(row, Some(random_dots(&mut random)));
        }
        picture.draw();
        buffers.push(picture.pool.stats().buffers);
        picture.pool.validate().unwrap();
    }
    picture.screen.finish();
    assert!(moves > 50, "{moves} moves");
    let [min, max] = [buffers[5..].iter().min(), buffers.iter().max()].map(Option::unwrap);
    assert!(max > &4 && min + 3 < *max, "{min} to {max} buffers");
    let FrameNumbers { submitted, completed } = picture.buffers.frames();
    assert_eq!(submitted, 160);
    assert!(completed >= 157, "{completed}");
    assert!(picture.screen.overlaps > 0, "no two frames were in flight");
}

#[test]
fn every_frame_shows_its_meshes_with_pulled_vertices() {
    every_frame_shows_its_meshes("every_frame_shows_its_meshes_with_pulled_vertices", PULLED);
}

#[test]
fn every_frame_shows_its_meshes_with_attributes() {
    let test = "every_frame_shows_its_meshes_with_attributes";
    every_frame_shows_its_meshes(test, VertexInput::default());
}

/// Devices that pass first instances to shaders get one call a run, others one call a command, and
/// both show the same.
#[test]
fn calls_follow_the_abilities_of_the_device() {
    let test = "calls_follow_the_abilities_of_the_device";
    let changes: [Change; 2] = [|_, _| {}, |features, _| *features = wgpu::Features::empty()];
    for (number, change) in changes.into_iter().enumerate() {
        let Some(mut picture) = Picture::open(test, PULLED, change) else { return };
        let gpu = Gpu::new(&picture.screen.device, &picture.screen.queue);
        let is_indirect = gpu.draws_indirectly();
        if number == 0 && !is_indirect {
            println!("skipped: {test}: no indirect calls");
            return;
        }
        let mut random = Random::new(3);
        for row in 0..SIDE {
            let mut dots = random_dots(&mut random);
            dots.push(Dot { x: 0, rgba: 1 });
            dots.reverse();
            picture.set(row, Some(dots));
        }
        let [commands, runs, calls] = picture.draw();
        picture.screen.finish();
        assert!(commands == SIDE as usize && (2..commands).contains(&runs), "{runs} runs");
        assert_eq!(calls, if is_indirect { runs } else { commands });
    }
}

/// Several views are drawn in one frame, also with more commands than fit the first buffer of
/// commands. No draw sees the commands of another.
#[test]
fn a_frame_draws_several_views() {
    let Some(mut picture) = Picture::open("a_frame_draws_several_views", PULLED, |_, _| {}) else {
        return;
    };
    for row in 0..SIDE {
        picture.set(row, Some(vec![Dot { x: row, rgba: 0x0101 * row + 1 }]));
    }
    let Picture { screen, pipeline, buffers, pool, list, rows, .. } = &mut picture;
    let mut views: Vec<DrawView> = (0..SIDE).map(|_| DrawView::new()).collect();
    for (shown, view) in (0..SIDE).zip(&mut views) {
        view.mask(list, pool, |mesh| match *mesh.data() == shown {
            true => PartSet::ALL,
            false => PartSet::EMPTY,
        });
    }
    for _ in 0..3 {
        screen.frame(rows.picture(), |pass| {
            pass.set_pipeline(pipeline);
            let mut commands = 0;
            for number in 0..SIDE as usize * 20 {
                let view = &mut views[number % SIDE as usize];
                let (runs, of_view) = view.runs(list, pool);
                commands += of_view.len();
                buffers.draw(pass, (runs, of_view)).unwrap();
            }
            assert_eq!(commands, 1280);
        });
        buffers.submitted(pool);
    }
    screen.finish();
    // Each view alone shows one row.
    for (row, view) in (0..SIDE).zip(&mut views).step_by(9) {
        let mut one = Rows::default();
        one.set(row, vec![Dot { x: row, rgba: 0x0101 * row + 1 }]);
        screen.frame(one.picture(), |pass| {
            pass.set_pipeline(pipeline);
            buffers.draw(pass, view.runs(list, pool)).unwrap();
        });
        buffers.submitted(pool);
    }
    screen.finish();
}

/// A frame without meshes draws nothing.
#[test]
fn an_empty_pool_draws_nothing() {
    let Some(mut picture) = Picture::open("an_empty_pool_draws_nothing", PULLED, |_, _| {}) else {
        return;
    };
    assert_eq!(picture.draw(), [0; 3]);
    picture.screen.finish();
}
