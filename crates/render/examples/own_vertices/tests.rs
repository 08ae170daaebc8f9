use super::*;

/// A picture of the garden in a frame, drawn with new meshes only.
fn drawn_with_new_meshes(engine: &mut Engine, frame: u32) -> Image {
    let mut garden = Garden::new(engine).unwrap();
    garden.update(frame, true).unwrap();
    garden.draw(engine).unwrap();
    picture(engine).unwrap()
}

/// After many frames of replaced, removed, inserted and moved meshes, the picture equals one of new
/// meshes, byte for byte.
#[test]
fn changed_meshes_draw_like_new_ones() {
    let mut engine = match Engine::open(320, 180) {
        Ok(engine) => engine,
        Err(error) => {
            println!("skipped: changed_meshes_draw_like_new_ones: {error}");
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
            assert!(shown == drawn_with_new_meshes(&mut engine, frame), "frame {frame}");
        }
    }
    assert!(garden.defragment(&mut engine).unwrap() > 0, "no ranges were moved");
    let last = picture(&engine).unwrap();
    assert!(last == drawn_with_new_meshes(&mut engine, 40), "after moving");
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
