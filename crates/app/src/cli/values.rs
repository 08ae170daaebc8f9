//! Parsers of option values.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::ValueEnum;
use drystone::scene::Side;
use drystone_formats::UpAxis;
use drystone_store::PackPart;
use drystone_voxel::VoxelPos;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Axis that points up, as a value of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Up {
    Y,
    Z,
}

impl Up {
    pub(crate) fn axis(self) -> UpAxis {
        match self {
            Self::Y => UpAxis::Y,
            Self::Z => UpAxis::Z,
        }
    }
}

/// Parses the side of a scene: its name, or degrees around it.
pub(super) fn side(text: &str) -> Result<Side, &'static str> {
    const NO_SIDE: &str = "a side is front, back, left, right, top, bottom, or degrees around the \
        scene, such as 90";
    match text.parse::<f64>() {
        Ok(degrees) if degrees.is_finite() => Ok(Side::around(degrees)),
        _ => text.parse().map(Side::named).map_err(|_: &str| NO_SIDE),
    }
}

pub(crate) fn point(text: &str) -> Result<DVec3, String> {
    /// Beyond any world: chunk coordinates are 32-bit.
    const BOUND: f64 = (1_u64 << 31) as f64;
    let parts: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match parts.as_deref() {
        Ok(&[x, y, z]) if [x, y, z].iter().all(|c| c.abs() < BOUND) => Ok(DVec3::new(x, y, z)),
        _ => Err("a point is X,Y,Z in voxels, such as 10,40.5,-3".into()),
    }
}

/// Parses a part of a world: its number, and the number of all parts.
pub(super) fn part(text: &str) -> Result<PackPart, String> {
    let numbers = text.split_once('/').map(|(index, count)| (index.parse(), count.parse()));
    let part = match numbers {
        Some((Ok(index), Ok(count))) => PackPart::new(index, count),
        _ => None,
    };
    let most = PackPart::MAX_COUNT;
    part.ok_or_else(|| {
        format!("a part is I/N, such as 3/8 for the third of 8; at most {most} parts")
    })
}

pub(super) fn voxel_box(text: &str) -> Result<[VoxelPos; 2], String> {
    let parts: Result<Vec<i32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match parts.as_deref() {
        Ok(&[x, y, z, to_x, to_y, to_z]) => {
            Ok([VoxelPos::new(x, y, z), VoxelPos::new(to_x, to_y, to_z)])
        }
        _ => Err("a box is X,Y,Z,X,Y,Z of two opposite voxels, such as 0,0,0,63,31,63".into()),
    }
}

pub(super) fn distance(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(distance) if distance.is_finite() && distance >= 0.0 => Ok(distance),
        _ => Err("a distance is a number, not below 0, such as 0.001".into()),
    }
}

pub(super) fn svg_or_png(text: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is = |ending| path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
    if is("svg") || is("png") {
        return Ok(path);
    }
    Err("the map is an SVG or a PNG: name a file that ends in .svg or .png".into())
}

pub(super) fn chunks(text: &str) -> Result<[u32; 3], String> {
    let parts: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    match parts.as_deref() {
        Ok(&[x, y, z]) => Ok([x, y, z]),
        _ => Err("a size is XxYxZ in chunks, such as 12x4x12".into()),
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    /// One day.
    const MAX_SECONDS: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=MAX_SECONDS).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err("a time is a number of seconds, 0 to 86400, such as 0.5".into()),
    }
}
