use drystone_pool::{IndexedList, IndexedPool, MeshHandle, MoveBudget, PartSet};
use drystone_testing::Random;
use drystone_wgpu::{IndexedBuffers, VertexInput};

use super::{
    dots::{Dot, Rows, pipeline, random_dots, small_pool},
    screen::{SIDE, Screen},
};

/// Meshes with their own indices are drawn like those of a pool with an index pattern: each frame
/// shows its meshes, whatever is inserted, replaced, removed and moved while it is in flight.
fn every_frame_shows_its_indexed_meshes(test: &str, input: VertexInput) {
    let Some(mut screen) = Screen::open(test) else { return };
    let configs = [small_pool(), small_pool()];
    let (device, queue) = (&screen.device, &screen.queue);
    let mut buffers = IndexedBuffers::new::<Dot, u32>(device, queue, configs, input).unwrap();
    let pipeline = pipeline(&screen, input, buffers.layout());
    let [vertices, indices] = buffers.pool_configs();
    let mut pool = IndexedPool::<Dot, u32>::new(vertices, indices).unwrap();
    let (mut list, mut rows) = (IndexedList::default(), Rows::default());
    let mut meshes: Vec<Option<MeshHandle>> = vec![None; SIDE as usize];
    let mut random = Random::new(11);
    let (mut moves, mut max_buffers) = ([0; 2], [0; 2]);
    for frame in 0..60 {
        let removes = if (25..40).contains(&frame) { 3 } else { 1 };
        for _ in 0..10 {
            let row = random.below(SIDE);
            let mesh = &mut meshes[row as usize];
            if let (Some(old), true) = (*mesh, random.below(4) < removes) {
                pool.remove(old).unwrap();
                *mesh = None;
                rows.remove(row);
                continue;
            }
            let dots = random_dots(&mut random);
            // Every other vertex is drawn, from the last to the first.
            let indices: Vec<u32> = (0..dots.len() as u32).rev().step_by(2).collect();
            let parts = [indices.len() as u32];
            match *mesh {
                Some(old) => {
                    pool.replace(old, &dots, &indices, &parts, row, &mut buffers).unwrap();
                }
                None => {
                    let new = pool.insert(&dots, &indices, &parts, row, &mut buffers).unwrap();
                    list.insert(new);
                    *mesh = Some(new);
                }
            }
            rows.set(row, indices.iter().map(|&index| dots[index as usize]).collect());
        }
        let moved = pool.defragment(&MoveBudget::default(), &mut buffers);
        for (sum, moved) in moves.iter_mut().zip(moved) {
            *sum += moved.moves;
        }
        screen.frame(rows.picture(), |pass| {
            pass.set_pipeline(&pipeline);
            buffers.draw(pass, list.select(&pool, |_| (PartSet::ALL, 0))).unwrap();
        });
        buffers.submitted(&mut pool);
        let stats = pool.stats();
        max_buffers = [0, 1].map(|it| max_buffers[it].max(stats[it].buffers));
    }
    screen.finish();
    assert!(moves.iter().all(|&moves| moves > 20), "{moves:?}");
    assert!(max_buffers.iter().all(|&buffers| buffers > 2), "{max_buffers:?}");
    assert_eq!(buffers.frames().submitted, 60);
    assert_eq!(buffers.take_error(), None);
}

#[test]
fn every_frame_shows_its_indexed_meshes_with_pulled_vertices() {
    let test = "every_frame_shows_its_indexed_meshes_with_pulled_vertices";
    every_frame_shows_its_indexed_meshes(test, VertexInput::Pulled { group: 0 });
}

#[test]
fn every_frame_shows_its_indexed_meshes_with_attributes() {
    let test = "every_frame_shows_its_indexed_meshes_with_attributes";
    every_frame_shows_its_indexed_meshes(test, VertexInput::default());
}
