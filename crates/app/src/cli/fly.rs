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
    /// Camera path: orbit (once around the scene), still (for a moving scene), or a file with one stop per line: X,Y,Z of the
    /// camera and X,Y,Z of its target. The camera moves smoothly through the stops, starts and stops
    /// slowly; a path whose last stop equals the first repeats without a seam
    #[arg(long = "path", value_name = "FILE|orbit|still", default_value = "orbit", value_parser = OsStringValueParser::new().try_map(CameraPathKind::parse))]
    pub(crate) camera_path: CameraPathKind,
    /// Number of pictures
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: u32,
    /// Pictures per second in a file. The delays of a GIF are whole hundredths of a second
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(crate) rate: u16,
    /// GIF or animated PNG to write, or folder for one PNG per picture
    #[arg(short, long, value_name = "DIR|FILE.gif|FILE.png")]
    pub(crate) output: PathBuf,
}

/// Camera path that the command line names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CameraPathKind {
    /// Once around the target point, at the height of the first view.
    Orbit,
    /// The camera does not move.
    Still,
    /// Through the stops of a file.
    File(PathBuf),
}

impl CameraPathKind {
    fn parse(text: OsString) -> Result<Self, &'static str> {
        match text.to_str() {
            Some("") => Err("a camera path is orbit, still or a file"),
            Some("orbit") => Ok(Self::Orbit),
            Some("still") => Ok(Self::Still),
            _ => Ok(Self::File(text.into())),
        }
    }
}
