use std::{ffi::OsString, path::PathBuf};

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use super::SceneOptions;

#[derive(Debug, Args)]
pub(crate) struct FlyOptions {
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    /// The way: orbit (once around), or a file with a line for each stop, X,Y,Z of the eye and
    /// X,Y,Z of what it looks at, between which the flight is smooth
    #[arg(long = "path", value_name = "FILE|orbit", default_value = "orbit", value_parser = OsStringValueParser::new().try_map(Way::of))]
    pub(crate) way: Way,
    /// How many pictures
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: u32,
    /// Pictures a second in a GIF, which knows hundredths of seconds
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(crate) rate: u16,
    /// A GIF, or a folder for a PNG each
    #[arg(short, long, value_name = "DIR|FILE.gif")]
    pub(crate) output: PathBuf,
}

/// Where a flight goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Way {
    /// Once around what is looked at, at the height of the first view.
    Orbit,
    /// Along the stops of a file.
    File(PathBuf),
}

impl Way {
    fn of(text: OsString) -> Result<Self, &'static str> {
        match text.to_str() {
            Some("") => Err("a way is orbit or a file"),
            Some("orbit") => Ok(Self::Orbit),
            _ => Ok(Self::File(text.into())),
        }
    }
}
