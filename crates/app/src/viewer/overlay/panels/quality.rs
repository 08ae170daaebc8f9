//! Samples, shadows, sky light, bloom and ambient occlusion, with their measured costs.

use drystone::{CostSwitch, Costs};
use drystone_render::Samples;
use egui::{RichText, Ui};

use super::{Action, Facts, switch};

/// Shows the switches.
pub(super) fn show(ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        for samples in Samples::ALL {
            let is_it = samples == facts.samples;
            if ui.selectable_label(is_it, samples.to_string()).clicked() && !is_it {
                actions.push(Action::Samples(samples));
            }
        }
        ui.label("samples");
        cost(ui, facts, CostSwitch::Samples);
    });
    let is_occluded = facts.view.atmosphere.ambient_occlusion > 0.0;
    let switches = [
        (("shadows", facts.view.shadows, false), Action::Shadows, CostSwitch::Shadows),
        (("sky light", facts.view.sky_light, false), Action::SkyLight, CostSwitch::SkyLight),
        (("bloom", facts.view.bloom, false), Action::Bloom, CostSwitch::Bloom),
        (("ambient occlusion", is_occluded, true), Action::Occlusion, CostSwitch::Occlusion),
    ];
    for (it, action, of) in switches {
        ui.horizontal(|ui| {
            switch(ui, facts, it, || actions.push(action));
            cost(ui, facts, of);
        });
    }
    if ui.button("Measure the costs").on_hover_text(Costs::METHOD).clicked() {
        actions.push(Action::MeasureCosts);
    }
}

/// Shows the cost of a switch, if it was measured.
fn cost(ui: &mut Ui, facts: &Facts<'_>, of: CostSwitch) {
    let text = facts.costs.map(|costs| costs.text(of)).unwrap_or_default();
    if !text.is_empty() {
        ui.label(RichText::new(text).weak()).on_hover_text(Costs::METHOD);
    }
}
