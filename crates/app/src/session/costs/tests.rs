use super::*;

fn costs(picture_ms: f64, samples_ms: f64, shadows_ms: f64) -> Costs {
    Costs { picture_ms, of_switches: [Some(samples_ms), Some(shadows_ms), None, None, None] }
}

#[test]
fn the_more_expensive_switch_goes_first_and_only_if_needed() {
    use CostSwitch::{Samples, Shadows};
    assert_eq!(costs(16.0, 9.0, 5.0).too_expensive(16.0), []);
    assert_eq!(costs(20.0, 9.0, 5.0).too_expensive(16.0), [Samples]);
    assert_eq!(costs(20.0, 4.0, 5.0).too_expensive(16.0), [Shadows]);
    assert_eq!(costs(31.0, 9.0, 8.0).too_expensive(16.0), [Samples, Shadows]);
    assert_eq!(costs(99.0, 1.0, 2.0).too_expensive(16.0), [Shadows, Samples]);
}

/// Each switch is changed in one variant, in both directions, and costs have the sign of what the
/// switch adds.
#[test]
fn costs_are_differences_with_and_without() {
    let off = View::new(Default::default());
    let mut on = View { shadows: true, sky_light: true, bloom: true, fade_far: true, ..off };
    on.atmosphere.ambient_occlusion = 0.2;
    for (view, samples, has_occlusion) in [(on, Samples::Four, true), (off, Samples::One, false)] {
        let mut trial = Trial::new(view, samples, has_occlusion, false);
        for variant in &mut trial.variants {
            let View { shadows, sky_light, bloom, fade_far, atmosphere, .. } = variant.view;
            assert_eq!(fade_far, variant.samples != Samples::One);
            let ms = 10.0
                + if variant.samples == Samples::One { 0.0 } else { 4.0 }
                + if shadows { 2.0 } else { 0.0 }
                + if sky_light { 8.0 } else { 0.0 }
                + if bloom { 16.0 } else { 0.0 }
                + if atmosphere.ambient_occlusion > 0.0 { 1.0 } else { 0.0 };
            variant.times_ms = vec![ms, 500.0, ms, 0.1, ms];
        }
        let costs = trial.costs();
        assert_eq!(costs.of(CostSwitch::Samples), Some(4.0));
        assert_eq!(costs.of(CostSwitch::Shadows), Some(2.0));
        assert_eq!(costs.of(CostSwitch::SkyLight), Some(8.0));
        assert_eq!(costs.of(CostSwitch::Bloom), Some(16.0));
        assert_eq!(costs.of(CostSwitch::Occlusion), has_occlusion.then_some(1.0));
        assert_eq!(costs.picture_ms, if has_occlusion { 41.0 } else { 10.0 });
    }
    assert_eq!(costs(9.0, 3.12, 0.01).text(CostSwitch::Samples), "3.1 ms");
    assert_eq!(costs(9.0, 3.12, -0.2).text(CostSwitch::Shadows), "< 0.1 ms");
    assert_eq!(costs(9.0, 3.12, 0.0).text(CostSwitch::Occlusion), "");
}
