//! Samples and shadows: what the device affords, and what they cost.

use std::time::Duration;

use drystone::{Action, CostSwitch, Costs};
use drystone_render::Samples;
use wasm_bindgen::prelude::*;

use super::Page;

/// Longest time of a picture with the switches that the page chooses, in milliseconds: 60 pictures a
/// second.
const MAX_PICTURE_MS: f64 = 16.0;

#[wasm_bindgen]
impl Page {
    /// Switches shadows and four samples on if a GPU draws. Once all meshes are shown, the page
    /// measures and switches off what the device does not afford.
    pub fn choose_quality(&mut self) -> Result<(), String> {
        let Some(stage) = self.session.stage() else { return Ok(()) };
        if !stage.renderer().output().info().is_software {
            self.set_quality("4", "on")?;
            self.chooses = true;
        }
        Ok(())
    }

    /// Sets the number of samples in each pixel and the shadows, named as on the command line.
    ///
    /// # Errors
    /// Throws a message for other values.
    pub fn set_quality(&mut self, samples: &str, shadows: &str) -> Result<(), String> {
        let number: Samples =
            samples.parse().map_err(|error| format!("samples={samples}: {error}"))?;
        let has_shadows = match shadows {
            "on" => true,
            "off" => false,
            _ => return Err(format!("shadows={shadows}: shadows are on or off")),
        };
        self.apply(Action::Samples(number))?;
        if self.has_shadows() != has_shadows {
            self.apply(Action::Shadows)?;
        }
        self.session.set_message(String::new());
        Ok(())
    }

    /// Copies samples and shadows of another page.
    pub fn copy_quality(&mut self, other: &Page) -> Result<(), String> {
        self.chooses = other.chooses;
        self.session.copy_quality(&other.session).map_err(|error| error.to_string())
    }

    /// Returns the number of samples that the device draws in each pixel.
    pub fn samples(&mut self) -> u32 {
        let stage = self.session.stage();
        stage.map_or(1, |stage| stage.renderer().output().info().samples.count())
    }

    /// Whether the sun casts shadows.
    pub fn has_shadows(&self) -> bool {
        self.session.camera().view().shadows
    }

    /// Whether there is ambient occlusion.
    pub fn has_occlusion(&self) -> bool {
        self.session.camera().view().atmosphere.ambient_occlusion > 0.0
    }

    /// Begins to measure what the switches cost; the rounds follow.
    pub fn measure(&mut self) -> Result<(), String> {
        self.apply(Action::MeasureCosts)
    }

    /// Whether rounds of a measurement are left.
    pub fn is_measuring(&self) -> bool {
        self.session.is_measuring()
    }

    /// Begins a round: draws a first picture, which is not measured. Wait until the page is idle.
    /// Returns false if the measurement ended.
    pub fn begin_round(&mut self) -> Result<bool, String> {
        self.session.begin_round().map_err(|error| error.to_string())
    }

    /// Draws the measured pictures of a round. Its time ends when the page is idle.
    pub fn draw_round(&mut self) -> Result<(), String> {
        self.session.draw_round().map_err(|error| error.to_string())
    }

    /// Ends a round that took this time.
    pub fn end_round(&mut self, ms: f64) -> Result<(), String> {
        let time = Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
        self.session.end_round(time).map_err(|error| error.to_string())
    }

    /// Whether the device has drawn all pictures.
    pub fn is_idle(&mut self) -> Result<bool, String> {
        self.session.is_idle().map_err(|error| error.to_string())
    }

    /// Returns the costs of samples, shadows and ambient occlusion in words; empty if they were not
    /// measured.
    pub fn costs(&self) -> Vec<String> {
        let of = |switch| self.session.costs().map_or_else(String::new, |it| it.text(switch));
        [CostSwitch::Samples, CostSwitch::Shadows, CostSwitch::Occlusion].map(of).into()
    }
}

impl Page {
    /// Measures when all meshes are shown, then switches off what the device does not afford.
    pub(super) fn choose(&mut self) -> Result<(), String> {
        if !self.chooses || self.session.is_measuring() || !self.session.is_settled() {
            return Ok(());
        }
        let Some(costs) = self.session.costs().copied() else { return self.measure() };
        self.chooses = false;
        self.session.set_message(String::new());
        let off = costs.too_expensive(MAX_PICTURE_MS);
        for switch in &off {
            match switch {
                CostSwitch::Samples => self.apply(Action::Samples(Samples::One))?,
                _ => self.apply(Action::Shadows)?,
            };
        }
        if !off.is_empty() {
            self.session.say(choice_text(&costs, &off));
        }
        Ok(())
    }
}

/// Says which switches are off, and why.
fn choice_text(costs: &Costs, off: &[CostSwitch]) -> String {
    let name = |switch: &CostSwitch| match switch {
        CostSwitch::Samples => format!("4 samples ({})", costs.text(*switch)),
        _ => format!("shadows ({})", costs.text(*switch)),
    };
    let names: Vec<_> = off.iter().map(name).collect();
    let (names, ms) = (names.join(" and "), costs.picture_ms);
    format!("{names} switched off: a picture took {ms:.1} ms, more than {MAX_PICTURE_MS} ms")
}

/// Returns how costs are measured.
#[wasm_bindgen]
pub fn cost_method() -> String {
    Costs::METHOD.into()
}
