//! Distance and position of the samples of a GeoTIFF.

use std::io::{Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::super::place::{Place, Unit};

/// Keys of the GeoTIFF directory: kind of coordinates, what a tie point is, and unit of length.
const MODEL_TYPE: u16 = 1024;
const RASTER_TYPE: u16 = 1025;
const LINEAR_UNITS: u16 = 3076;
/// Numbers of coordinate systems: projected ones, and those of degrees.
const SYSTEMS: [u16; 2] = [3072, 2048];
const GEOGRAPHIC: u16 = 2;
const POINTS: u16 = 2;
/// Lengths of GeoTIFF's other units in metres: foot, US survey foot.
const FEET: [(u16, f64); 2] = [(9002, 0.3048), (9003, 1200.0 / 3937.0)];

/// Distance of samples, and their position if the file has one. `None` if they are missing or invalid.
pub(super) struct Scale {
    step: [f64; 2],
    unit: Unit,
    pub(super) place: Option<Place>,
}

impl Scale {
    pub(super) fn of<R: Read + Seek>(file: &mut Decoder<R>) -> Option<Self> {
        let scale = file.get_tag_f64_vec(Tag::ModelPixelScaleTag).ok()?;
        let &[east, south, ..] = scale.as_slice() else { return None };
        let keys = file.get_tag_u16_vec(Tag::GeoKeyDirectoryTag).unwrap_or_default();
        let unit = match key(&keys, MODEL_TYPE) {
            Some(GEOGRAPHIC) => Unit::Degrees,
            _ => {
                let unit = key(&keys, LINEAR_UNITS);
                let feet = FEET.into_iter().find(|(code, _)| unit == Some(*code));
                Unit::Metres(feet.map_or(1.0, |(_, metres)| metres))
            }
        };
        let step = [east, south];
        let system = SYSTEMS.into_iter().find_map(|id| key(&keys, id));
        let tie = file.get_tag_f64_vec(Tag::ModelTiepointTag).unwrap_or_default();
        // A tie point is the corner of a sample, or its middle.
        let middle = if key(&keys, RASTER_TYPE) == Some(POINTS) { 0.0 } else { 0.5 };
        let first = first_of(&tie, step, middle).filter(|_| east > 0.0 && south > 0.0);
        let place = first.map(|first| Place { first, step, unit, system });
        Some(Self { step, unit, place })
    }

    /// Distance of samples eastwards and southwards, in metres, in the middle of `rows` rows.
    pub(super) fn metres_per_sample(&self, rows: u32) -> Option<[f64; 2]> {
        let Self { step, unit, place } = *self;
        let without = || match unit {
            Unit::Degrees => None,
            Unit::Metres(_) => Some(Place { first: [0.0; 2], step, unit, system: None }),
        };
        place.or_else(without)?.metres_per_sample(rows as usize)
    }
}

/// The value of a key that is stored in the directory itself.
fn key(directory: &[u16], id: u16) -> Option<u16> {
    // Four numbers of head, then for each key: id, location of its value (0: here), count, value.
    let keys = directory.get(4..)?.chunks_exact(4);
    keys.filter(|it| it[0] == id && it[1] == 0).map(|it| it[3]).next()
}

/// Middle of the first sample, from a tie point: sample x, y, z, then its longitude, latitude, height.
fn first_of(tie: &[f64], [east, south]: [f64; 2], middle: f64) -> Option<[f64; 2]> {
    let &[column, row, _, x, y, ..] = tie else { return None };
    let first = [x + (middle - column) * east, y - (middle - row) * south];
    first.iter().all(|it| it.is_finite()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tie_points_are_found() {
        let directory = [1, 1, 0, 2, 1024, 0, 1, 2, 3076, 34736, 1, 9002];
        assert_eq!(key(&directory, MODEL_TYPE), Some(2));
        // Its value is stored elsewhere, which is invalid for a unit of length.
        assert_eq!(key(&directory, LINEAR_UNITS), None);
        assert_eq!(key(&directory[..7], MODEL_TYPE), None);
        let first = |tie: &[f64], middle| first_of(tie, [0.25, 0.5], middle);
        assert_eq!(first(&[0.0, 0.0, 0.0, 11.0, 48.0, 0.0], 0.5), Some([11.125, 47.75]));
        assert_eq!(first(&[4.0, 2.0, 0.0, 11.0, 48.0, 0.0], 0.0), Some([10.0, 49.0]));
        assert_eq!(first(&[0.0, 0.0, 0.0, f64::NAN, 48.0, 0.0], 0.0), None);
        assert_eq!(first(&[0.0; 3], 0.5), None);
    }
}
