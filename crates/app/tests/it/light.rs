//! The example of a spot light: its memory and its pictures.

#[path = "../../examples/light/hall.rs"]
mod hall;

use drystone_render::{PoolRenderer, SoftDevice};
use hall::{Hall, Lamp, NEARER, Pictured, TURN_FRAMES};

#[test]
fn an_orbiting_lamp_does_not_leak_polygons() {
    let mut hall = Hall::new().unwrap();
    let stats = hall.stats();
    // The tiles share their corners: some 121 vertices per hundred tiles.
    assert!(stats.polygons > 300 && stats.vertices < 500, "{stats:?}");
    let report = hall.turn_for(10_000).unwrap();
    assert!(report.portions > 100_000, "{report:?}");
    assert_eq!(hall.stats().bytes, report.bytes);
    assert!(report.reserved_bytes < 4 * report.bytes, "{report:?}");
}

/// The light is visible and moves, and lit portions and the polygons below do not shine through
/// each other. The depth offset only has to be above zero.
#[test]
fn lit_portions_hide_the_polygons_below_them() {
    let mut hall = Hall::new().unwrap();
    let renderer = || {
        let device = SoftDevice::new(320, 180).unwrap();
        Box::new(PoolRenderer::new(device, 0, 8).unwrap())
    };
    let mut pictured = Pictured::new(&hall, renderer()).unwrap();
    let dark = pictured.draw(&hall).unwrap();
    let mut pictures = Vec::new();
    for quarter in 0..4 {
        hall.light(&Lamp::at(quarter * TURN_FRAMES / 4)).unwrap();
        assert!(!hall.lit().is_empty());
        let [as_drawn, farther, nearer, not_moved] = [1.0, 0.5, 2.0, 0.0].map(|times| {
            pictured.nearer = NEARER * times;
            pictured.draw(&hall).unwrap()
        });
        let differ = |other| as_drawn.difference(other, 8).unwrap().pixels;
        let lit = differ(&dark);
        assert!(lit > 1500, "quarter {quarter}: {lit}");
        for other in [&farther, &nearer] {
            assert!(differ(other) < lit / 200, "quarter {quarter}: {} of {lit}", differ(other));
        }
        // Without an offset, they do shine through.
        assert!(differ(&not_moved) > lit / 20, "{} of {lit}", differ(&not_moved));
        hall.end_frame();
        pictures.push(as_drawn);
    }
    for pair in pictures.windows(2) {
        assert!(pair[0].difference(&pair[1], 8).unwrap().pixels > 1000);
    }
    assert_eq!(pictured.draw(&hall).unwrap().difference(&dark, 0).unwrap().pixels, 0);
}
