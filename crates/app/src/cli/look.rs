//! How a picture looks: its air, its light.

use std::str::FromStr;

use clap::{Args, ValueEnum};

/// Air and light.
#[derive(Clone, Debug, Args)]
pub(crate) struct LookArgs {
    /// The distance, in voxels or a model's units, beyond which haze hides all, or off
    /// (default: some haze to the scene's size, and in vast worlds as much as hides their end)
    #[arg(long, value_name = "DISTANCE|off", value_parser = Haze::from_str)]
    pub(crate) haze: Option<Haze>,
    /// The hour of the day, which the sun stands by (default: a clear afternoon)
    #[arg(long = "time", value_name = "HH:MM", value_parser = hour)]
    pub(crate) hour: Option<f32>,
    /// Tint voxels by what is asked for: levels (each level of detail in another hue)
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) tint: Option<Tint>,
    /// Draw the edges of quads, or of a model's triangles
    #[arg(long)]
    pub(crate) wire: bool,
}

/// What voxels are tinted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tint {
    Levels,
}

/// How far one sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Haze {
    /// As far as anything is drawn.
    Off,
    /// Not beyond this distance.
    Distance(f32),
}

impl FromStr for Haze {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse::<f32>()) {
            ("off", _) => Ok(Self::Off),
            (_, Ok(distance)) if distance.is_finite() && distance > 0.0 => {
                Ok(Self::Distance(distance))
            }
            _ => Err("haze is off, or a distance above 0, such as 5000"),
        }
    }
}

/// The hours of a time of day.
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
