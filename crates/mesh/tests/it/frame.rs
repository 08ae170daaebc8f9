//! Runs the engine of the example `frame`, in all its variants.

#[path = "../../examples/frame/engine.rs"]
mod engine;
#[path = "../../examples/frame/picture.rs"]
mod picture;
#[path = "../../examples/frame/rooms.rs"]
mod rooms;
#[path = "../../examples/frame/view.rs"]
mod view;

use engine::{BATCHES, Engine, EngineOptions, LampParts, Transforms, Triangulation};
use picture::Picture;
use view::{SIZE, Spot, TURN_FRAMES};

use crate::allocation::allocations_in;

const SIDE: usize = 8;

/// Areas of the batches, transforms and polygons of each frame.
type Frames = Vec<([f64; BATCHES], u32, usize)>;

/// Runs all frames. The lamp moves in a quarter of them. Its parts are then removed and made again.
fn frames_of(options: EngineOptions) -> Frames {
    let mut engine = Engine::new(SIDE, Spot::lamp(0), options).unwrap();
    let scene = [&engine.rooms.near[..], &engine.rooms.far, &[engine.rooms.door]].concat();
    let mut frames = Vec::new();
    for frame in 0..TURN_FRAMES {
        if frame % 4 == 0 {
            engine.set_lamp(Spot::lamp(frame / 4 % 2)).unwrap();
        }
        engine.draw(frame).unwrap();
        frames.push((engine.buffer.areas(), engine.transform_count, engine.polygon_count()));
        let store = &engine.rooms.store;
        store.validate().unwrap();
        assert!(scene.iter().all(|&polygon| matches!(store.owners(polygon), 1 | 2)));
        assert_eq!(store.stats().temporaries, 0);
        let picture = Picture::draw(&engine.buffer);
        assert!(picture.pixels.iter().all(Option::is_some), "a gap in frame {frame}");
        assert_eq!(picture.to_ppm().len(), 15 + 320 * 200 * 3);
    }
    frames
}

#[test]
fn every_way_of_drawing_a_frame_gives_the_same_areas() {
    let default = EngineOptions::default();
    let once = frames_of(default);
    let per_polygon = frames_of(EngineOptions { transforms: Transforms::PerPolygon, ..default });
    let early = frames_of(EngineOptions { triangulation: Triangulation::Early, ..default });
    let relit = frames_of(EngineOptions { lamp_parts: LampParts::EveryFrame, ..default });
    let mut lit = [0; 2];
    for (frame, expected) in once.iter().enumerate() {
        let [far, lamp, near, light] = expected.0;
        let picture = f64::from(SIZE[0] * SIZE[1]);
        assert!((far + near - picture).abs() < 1.0, "frame {frame}: {expected:?}");
        assert!(far > 0.0 && lamp <= far && light <= near, "frame {frame}: {expected:?}");
        lit = [lit[0] + u32::from(lamp > 0.0), lit[1] + u32::from(light > 0.0)];
        // The number of transforms is another one; polygons are the same.
        assert_eq!((expected.0, expected.2), (per_polygon[frame].0, per_polygon[frame].2));
        assert_eq!(*expected, relit[frame]);
        for (a, b) in expected.0.iter().zip(early[frame].0) {
            assert!((a - b).abs() < 0.5, "frame {frame}: {expected:?}, {:?}", early[frame]);
        }
        assert!(expected.1 * 2 < per_polygon[frame].1, "transformed once: {expected:?}");
        assert!(expected.2 * 3 < early[frame].2 * 2, "fewer polygons: {expected:?}");
    }
    assert!(lit.iter().all(|&frames| frames > TURN_FRAMES / 4), "{lit:?}");
}

#[test]
fn a_whole_frame_does_not_use_the_heap_in_the_steady_state() {
    let mut engine = Engine::new(SIDE, Spot::lamp(0), EngineOptions::default()).unwrap();
    let mut turn = || (0..TURN_FRAMES).for_each(|frame| engine.draw(frame).unwrap());
    turn();
    assert_eq!(allocations_in(turn), 0);
}
