use super::*;

/// A picture of the garden as it is after so many frames, made anew at once.
fn made_at_once(engine: &mut Engine, frame: u32) -> Image {
    let mut garden = Garden::new(engine).unwrap();
    garden.update(frame, true).unwrap();
    garden.draw(engine).unwrap();
    picture(engine).unwrap()
}

/// What was replaced, removed, inserted and moved through many frames looks as what is made
/// of the same crystals at once, to the byte.
#[test]
fn what_has_changed_in_places_looks_as_what_is_new() {
    let mut engine = match Engine::open(320, 180) {
        Ok(engine) => engine,
        Err(error) => {
            println!("skipped: what_has_changed_in_places_looks_as_what_is_new: {error}");
            return;
        }
    };
    let mut garden = Garden::new(&engine).unwrap();
    garden.update(0, true).unwrap();
    garden.draw(&mut engine).unwrap();
    let first = picture(&engine).unwrap();
    for frame in 1..=40 {
        garden.update(frame, false).unwrap();
        garden.draw(&mut engine).unwrap();
        if frame % 13 == 0 {
            let shown = picture(&engine).unwrap();
            assert!(shown == made_at_once(&mut engine, frame), "frame {frame}");
        }
    }
    assert!(garden.defragment(&mut engine).unwrap() > 0, "nothing was there to be moved");
    let last = picture(&engine).unwrap();
    assert!(last == made_at_once(&mut engine, 40), "after moving");
    let is_ground = |picture: &Image| {
        let pixels = picture.rgba().chunks_exact(4);
        pixels.filter(|pixel| *pixel == engine::GROUND_RGBA).count()
    };
    let pixels = (last.width() * last.height()) as usize;
    assert!((pixels / 8..pixels * 7 / 8).contains(&is_ground(&last)), "{}", is_ground(&last));
    let changed = first.difference(&last, 8).unwrap().pixels as usize;
    assert!(changed > pixels / 16, "{changed} pixels have changed");
    garden.pool.frames_completed(engine.submitted(), &mut garden.buffers);
    assert_eq!(garden.pool.len() as usize, garden.meshes.iter().flatten().count());
}
