use super::*;

/// Subtrees that are skipped until the camera has travelled far enough have no changes.
#[test]
fn skipped_subtrees_have_no_changes() {
    let config = LodConfig { frame_bytes: 100_000, ..unlimited() };
    let mut tree = tree(generated([32, 4, 32]), config);
    let mut screen = Screen::default();
    let (mut found_count, mut skipped_count) = (0, 0);
    let mut random = Random::new(1);
    let mut position = [100.0, 90.0, 100.0];
    for frame in 0..200 {
        // The camera stays, walks, or jumps.
        let step = [0.0, 0.5, 3.0, 3.0, 20.0, 300.0][random.below(6_usize)];
        position = position
            .map(|c| (c + step * (f64::from(random.below(201)) / 100.0 - 1.0)).clamp(0.0, 1_000.0));
        let camera = camera(position, if frame % 100 < 90 { 150.0 } else { 60.0 });
        if frame % 7 == 0 {
            let at = VoxelPos::new(position[0] as i32, 40 + frame % 50, position[2] as i32);
            tree.set([(at, Material((frame % 2) as u16))], &mut screen).unwrap();
        }
        let (found, skipped) = tree.found(&camera, false);
        assert_eq!(found, tree.found(&camera, true).0, "frame {frame}");
        found_count += found.len();
        skipped_count += skipped;
        tree.update(&camera, &mut screen).unwrap();
        (0..random.below(40)).for_each(|_| tree.wait(Duration::ZERO));
    }
    assert!(
        found_count > 1_000 && skipped_count > 1_000,
        "{found_count} found, {skipped_count} skipped"
    );
}
