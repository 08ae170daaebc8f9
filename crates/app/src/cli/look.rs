//! Options for air and light.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use drystone::{Haze, Look};

/// Options for haze, time of day, tint and wireframe.
#[derive(Clone, Debug, Args)]
pub(crate) struct LookArgs {
    /// Distance, in voxels or the model's units, at which haze hides everything, or off (default:
    /// light haze scaled to the scene; in vast worlds, enough to hide their edge)
    #[arg(long, value_name = "DISTANCE|off", value_parser = Haze::from_str)]
    pub(crate) haze: Option<Haze>,
    /// Time of day, which sets the position of the sun (default: a clear afternoon)
    #[arg(long = "time", value_name = "HH:MM", value_parser = hour)]
    pub(crate) hour: Option<f32>,
    /// Tint voxels: levels (one hue per level of detail)
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) tint: Option<Tint>,
    /// Draw the edges of quads, or of a model's triangles
    #[arg(long)]
    pub(crate) wire: bool,
}

impl LookArgs {
    /// Returns the look, with or without ambient occlusion.
    pub(super) fn look(&self, occlusion: bool) -> Look {
        let tint_levels = self.tint == Some(Tint::Levels);
        Look { haze: self.haze, hour: self.hour, tint_levels, wire: self.wire, occlusion }
    }

    /// Returns the options that describe a look.
    pub(crate) fn of(look: Look) -> Self {
        let tint = look.tint_levels.then_some(Tint::Levels);
        Self { haze: look.haze, hour: look.hour, tint, wire: look.wire }
    }
}

/// Property that voxels are tinted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tint {
    Levels,
}

/// Parses a time of day into hours.
fn hour(text: &str) -> Result<f32, String> {
    let (hours, minutes) = text.split_once(':').unwrap_or((text, "0"));
    let is_short = |part: &str| (1..=2).contains(&part.len());
    let is_number = |part: &str| is_short(part) && part.bytes().all(|it| it.is_ascii_digit());
    match (hours.parse::<u8>(), minutes.parse::<u8>()) {
        (Ok(hour @ 0..24), Ok(minute @ 0..60)) if is_number(hours) && is_number(minutes) => {
            Ok(f32::from(hour) + f32::from(minute) / 60.0)
        }
        _ => Err("a time is HH:MM from 00:00 to 23:59, such as 18:30".into()),
    }
}
