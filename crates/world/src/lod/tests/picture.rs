//! Updates for a single picture.

use super::*;

fn settle_picture(
    tree: &mut LodTree,
    camera: &LodCamera,
    lights: &[BlockedLight],
    screen: &mut Screen,
) {
    for _ in 0..10_000 {
        tree.update_picture(camera, lights, screen).unwrap();
        if tree.is_settled() {
            check(tree, screen, 5);
            return;
        }
        tree.wait(Duration::ZERO);
    }
    panic!("never settled");
}

/// Returns the nodes that may be in the picture, with their quads.
fn seen(screen: &Screen, camera: &LodCamera) -> Vec<(NodePos, Vec<Quad>)> {
    let seen = screen.bodies.iter().filter(|(node, _)| camera.may_see(**node));
    let mut seen: Vec<_> = seen.map(|(node, quads)| (*node, quads.clone())).collect();
    seen.sort_unstable_by_key(|(node, _)| *node);
    seen
}

/// A camera that turns and moves shows the same nodes as with everything around it, and far fewer
/// outside of the picture.
#[test]
fn nodes_in_the_picture_are_as_fine_as_with_everything_around_it() {
    let size = [12, 3, 12];
    // With hysteresis, what is shown depends on earlier pictures.
    let config = unlimited().with_hysteresis(1.0);
    let (mut tree_of_all, mut all) = (tree(generated(size), config), Screen::default());
    let (mut tree, mut picture) = (tree(generated(size), config), Screen::default());
    for (position, forward) in [
        ([150.0, 90.0, 150.0], [0.0, 0.0, 1.0]),
        ([150.0, 90.0, 150.0], [1.0, 0.0, 0.0]),
        ([210.0, 90.0, 180.0], [-0.6, 0.0, -0.8]),
        ([150.0, 90.0, 150.0], [0.0, -1.0, 0.0]),
    ] {
        let camera = LodCamera { forward, ..camera(position, 250.0) };
        settle(&mut tree_of_all, &camera, &mut all);
        settle_picture(&mut tree, &camera, &[], &mut picture);
        let expected = seen(&all, &camera);
        assert!(expected.len() > 50, "{}", expected.len());
        assert!(seen(&picture, &camera) == expected, "at {position:?} to {forward:?}");
    }
    // A new tree has no nodes of earlier pictures.
    let camera = camera([150.0, 90.0, 150.0], 250.0);
    let (mut tree, mut picture) = (super::tree(generated(size), config), Screen::default());
    settle(&mut tree_of_all, &camera, &mut all);
    settle_picture(&mut tree, &camera, &[], &mut picture);
    let [few, many] = [&picture, &all].map(|screen| screen.bodies.len());
    assert!(3 * few < 2 * many, "{few} of {many} nodes");
    // The rest follows when the surroundings are requested.
    settle(&mut tree, &camera, &mut picture);
    assert!(picture.bodies == all.bodies && picture.skirts == all.skirts);
}
