//! Costs of samples, shadows, sky light, bloom and ambient occlusion, measured with pictures of the current view.
//!
//! ```text
//!  begin_round ─► draw_round ─► end_round      a round has pictures of one variant
//!       ▲      wait         wait    │          variants take turns, until each has its rounds
//!       └───────────────────────────┘
//! ```
//! The pictures are not shown, so the screen's refresh does not limit them. The host waits for the
//! device, because a page cannot block: [`measure_round`](Session::measure_round) is for all others.

use std::time::Duration;

use drystone_render::{Destination, RenderError, Samples, View};
use web_time::Instant;

use super::Session;
use crate::scene;

/// Switch whose cost is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSwitch {
    /// Several samples in each pixel, with the fading of far faces, compared to one sample.
    Samples,
    /// Shadows of the sun. Maps that a moving camera draws again are not included.
    Shadows,
    /// Sky light. Maps that a moving camera draws again are not included.
    SkyLight,
    /// Bloom. Nothing without materials that emit light.
    Bloom,
    /// Ambient occlusion in pixels. The quads that meshes have more with it are not included.
    Occlusion,
}

impl CostSwitch {
    const ALL: [Self; 5] =
        [Self::Samples, Self::Shadows, Self::SkyLight, Self::Bloom, Self::Occlusion];
}

/// Times of pictures of one view on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Median time of a picture with the switches as they were, in milliseconds.
    pub picture_ms: f64,
    /// Difference of the medians with and without each switch.
    of_switches: [Option<f64>; CostSwitch::ALL.len()],
}

impl Costs {
    /// Description of the measurement for users.
    pub const METHOD: &str = "Measured with pictures of the current view, which are not shown: \
        the median time with the switch minus the median time without it. Samples include the \
        fading of far faces. Shadows and sky light do not include maps that a moving camera \
        draws again; ambient occlusion does not include its additional quads.";

    /// Returns the cost of a switch in milliseconds; `None` if it was not measured.
    pub const fn of(&self, switch: CostSwitch) -> Option<f64> {
        self.of_switches[switch as usize]
    }

    /// Returns the cost of a switch in words; empty if it was not measured.
    pub fn text(&self, switch: CostSwitch) -> String {
        match self.of(switch) {
            None => String::new(),
            Some(ms) if ms < 0.05 => "< 0.1 ms".into(),
            Some(ms) => format!("{ms:.1} ms"),
        }
    }

    /// Returns which of samples and shadows have to be switched off for pictures of at most
    /// `limit_ms`: none, the more expensive one, or both.
    pub fn too_expensive(&self, limit_ms: f64) -> Vec<CostSwitch> {
        let mut left = [CostSwitch::Samples, CostSwitch::Shadows];
        let cost = |switch| self.of(switch).unwrap_or(0.0);
        if cost(left[0]) < cost(left[1]) {
            left.reverse();
        }
        let mut picture_ms = self.picture_ms;
        let is_too_much = |switch: &CostSwitch| {
            let is_too_much = picture_ms > limit_ms;
            picture_ms -= cost(*switch);
            is_too_much
        };
        left.into_iter().filter(is_too_much).collect()
    }
}

/// State of measuring.
#[derive(Default)]
pub(super) struct Measurement {
    costs: Option<Costs>,
    trial: Option<Trial>,
}

/// A measurement in progress.
struct Trial {
    /// The picture as it is, then with each switch changed.
    variants: Vec<Variant>,
    /// Number of rounds so far.
    rounds: usize,
    /// Number of rounds of all variants together.
    all_rounds: usize,
    /// Pictures in a round.
    pictures: u32,
    /// Whether a round has begun and not ended.
    is_open: bool,
}

struct Variant {
    /// The switch that is changed, and whether it is on here.
    changed: Option<(CostSwitch, bool)>,
    view: View,
    samples: Samples,
    times_ms: Vec<f64>,
}

/// Number of rounds of each variant, and of pictures in a round, on a GPU and on a software device,
/// whose pictures take long and whose times scatter less.
const ROUNDS: [(usize, u32); 2] = [(5, 4), (3, 1)];

impl Trial {
    fn new(view: View, samples: Samples, has_occlusion: bool, is_software: bool) -> Self {
        let mut variants = vec![Variant { changed: None, view, samples, times_ms: Vec::new() }];
        for switch in CostSwitch::ALL {
            let (mut view, mut samples) = (view, samples);
            let is_on = match switch {
                CostSwitch::Samples => {
                    let is_on = samples == Samples::One;
                    samples = if is_on { Samples::Four } else { Samples::One };
                    view.fade_far = is_on;
                    is_on
                }
                CostSwitch::Shadows => {
                    view.shadows ^= true;
                    view.shadows
                }
                CostSwitch::SkyLight => {
                    view.sky_light ^= true;
                    view.sky_light
                }
                CostSwitch::Bloom => {
                    view.bloom ^= true;
                    view.bloom
                }
                // Meshes without ambient occlusion have nothing to darken.
                CostSwitch::Occlusion if !has_occlusion => continue,
                CostSwitch::Occlusion => {
                    view.atmosphere.ambient_occlusion = 0.0;
                    false
                }
            };
            variants.push(Variant {
                changed: Some((switch, is_on)),
                view,
                samples,
                times_ms: vec![],
            });
        }
        let (rounds, pictures) = ROUNDS[usize::from(is_software)];
        let all_rounds = rounds * variants.len();
        Self { variants, rounds: 0, all_rounds, pictures, is_open: false }
    }

    /// Returns the variant of the current round.
    fn variant(&mut self) -> Option<&mut Variant> {
        let turn = self.rounds % self.variants.len().max(1);
        self.variants.get_mut(turn)
    }

    fn costs(&mut self) -> Costs {
        let mut medians = self.variants.iter_mut().map(|it| (it.changed, median(&mut it.times_ms)));
        let mut costs = Costs::default();
        if let Some((_, picture_ms)) = medians.next() {
            costs.picture_ms = picture_ms;
        }
        for (changed, ms) in medians {
            let Some((switch, is_on)) = changed else { continue };
            let more_ms = ms - costs.picture_ms;
            costs.of_switches[switch as usize] = Some(if is_on { more_ms } else { -more_ms });
        }
        costs
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Samples, and costs of switches.
impl Session {
    /// Sets the number of samples in each pixel.
    pub(super) fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.camera.set_samples(samples);
        let plural = if samples == Samples::One { "" } else { "s" };
        self.set_message(format!("{samples} sample{plural} in each pixel"));
        self.show_samples()
    }

    /// Sets the samples of the device to those of the camera. Says so if the device offers fewer.
    pub(super) fn show_samples(&mut self) -> Result<(), RenderError> {
        let samples = self.camera.samples();
        let Some(stage) = &mut self.stage else { return Ok(()) };
        if let Some(line) = scene::set_samples(stage.renderer().output(), samples)? {
            self.say(line);
        }
        Ok(())
    }

    /// Copies the number of samples, the shadows, sky light and bloom of another session.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn copy_quality(&mut self, other: &Self) -> Result<(), RenderError> {
        self.camera.copy_quality(&other.camera);
        self.show_samples()
    }

    /// Begins to measure what the switches cost; the rounds follow.
    pub(super) fn measure_costs(&mut self) {
        if !self.is_settled() {
            return self.say("some meshes are not shown yet; measure again in a moment");
        }
        let (view, samples) = (*self.camera.view(), self.camera.samples());
        let Some(stage) = &mut self.stage else { return };
        let has_occlusion = view.atmosphere.ambient_occlusion > 0.0 && !stage.is_model();
        let info = stage.renderer().output().info();
        let trial = Trial::new(view, samples.min(info.samples), has_occlusion, info.is_software);
        self.measurement.trial = Some(trial);
        self.set_message("measuring".into());
    }

    /// Whether rounds of a measurement are left.
    pub const fn is_measuring(&self) -> bool {
        self.measurement.trial.is_some()
    }

    /// Returns the last measured costs; `None` before any were measured on this device.
    pub const fn costs(&self) -> Option<&Costs> {
        self.measurement.costs.as_ref()
    }

    /// Begins a round: draws a first picture, which is not measured. Then wait until the device is
    /// [idle](Self::is_idle). Returns false, and ends the measurement, if the scene is being changed.
    ///
    /// # Errors
    /// If the device fails.
    pub fn begin_round(&mut self) -> Result<bool, RenderError> {
        let is_settled = self.is_settled();
        let (Some(stage), Some(trial)) = (&mut self.stage, &mut self.measurement.trial) else {
            return Ok(false);
        };
        if !is_settled {
            self.measurement.trial = None;
            self.say("not measured, because the scene is changing; measure again afterwards");
            return Ok(false);
        }
        trial.is_open = true;
        let Some(Variant { view, samples, changed, .. }) = trial.variant() else {
            return Ok(false);
        };
        stage.renderer().output().set_destination(Destination::Kept)?;
        if scene::set_samples(stage.renderer().output(), *samples)?.is_some() {
            // The device does not offer as many.
            *changed = None;
        }
        stage.draw(view)?;
        Ok(true)
    }

    /// Draws the pictures of a round, whose time counts until the device is [idle](Self::is_idle).
    ///
    /// # Errors
    /// If the device fails.
    pub fn draw_round(&mut self) -> Result<(), RenderError> {
        let (Some(stage), Some(trial)) = (&mut self.stage, &mut self.measurement.trial) else {
            return Ok(());
        };
        let pictures = trial.pictures;
        let Some(Variant { view, .. }) = trial.variant() else { return Ok(()) };
        (0..pictures).try_for_each(|_| stage.draw(view).map(drop))
    }

    /// Ends a round that took this time.
    ///
    /// # Errors
    /// If the device fails.
    pub fn end_round(&mut self, time: Duration) -> Result<(), RenderError> {
        let Some(trial) = self.measurement.trial.as_mut().filter(|trial| trial.is_open) else {
            return Ok(());
        };
        let picture_ms = time.as_secs_f64() * 1e3 / f64::from(trial.pictures);
        if let Some(variant) = trial.variant() {
            variant.times_ms.push(picture_ms);
        }
        trial.rounds += 1;
        let costs = (trial.rounds >= trial.all_rounds).then(|| trial.costs());
        self.leave_round()?;
        if let Some(costs) = costs {
            self.measurement = Measurement { costs: Some(costs), trial: None };
            self.set_message(format!("measured: {:.1} ms for a picture", costs.picture_ms));
        }
        Ok(())
    }

    /// Measures a round and waits for the device. Does nothing without a measurement.
    ///
    /// # Errors
    /// If the device fails.
    pub fn measure_round(&mut self) -> Result<(), RenderError> {
        if !self.begin_round()? {
            return Ok(());
        }
        self.finish()?;
        let start = Instant::now();
        self.draw_round()?;
        self.finish()?;
        self.end_round(start.elapsed())
    }

    /// Whether the device has drawn all pictures.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn is_idle(&mut self) -> Result<bool, RenderError> {
        self.stage.as_mut().map_or(Ok(true), |stage| stage.renderer().output().is_idle())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.stage.as_mut().map_or(Ok(()), |stage| stage.renderer().finish())
    }

    /// Restores the device after a round.
    pub(super) fn leave_round(&mut self) -> Result<(), RenderError> {
        let Some(trial) = self.measurement.trial.as_mut().filter(|trial| trial.is_open) else {
            return Ok(());
        };
        trial.is_open = false;
        let Some(stage) = &mut self.stage else { return Ok(()) };
        let output = stage.renderer().output();
        output.set_destination(Destination::Window)?;
        scene::set_samples(output, self.camera.samples()).map(drop)
    }
}

#[cfg(test)]
mod tests;
