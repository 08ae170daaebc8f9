//! Distance of the samples of a GeoTIFF.

use tiff::tags::Tag;

use super::super::hgt::metres_per_degree;
use super::File;

/// Keys of the GeoTIFF directory: kind of coordinates, and unit of length.
const MODEL_TYPE: u16 = 1024;
const LINEAR_UNITS: u16 = 3076;
const GEOGRAPHIC: u16 = 2;
/// Lengths of GeoTIFF's other units in metres: foot, US survey foot.
const FEET: [(u16, f64); 2] = [(9002, 0.3048), (9003, 1200.0 / 3937.0)];

/// Distance of samples eastwards and southwards, in metres; `None` if it is missing or invalid.
pub(super) fn metres_per_sample(file: &mut File, rows: u32) -> Option<[f64; 2]> {
    let scale = file.get_tag_f64_vec(Tag::ModelPixelScaleTag).ok()?;
    let &[east, south, ..] = scale.as_slice() else { return None };
    let keys = file.get_tag_u16_vec(Tag::GeoKeyDirectoryTag).unwrap_or_default();
    let unit = if key(&keys, MODEL_TYPE) == Some(GEOGRAPHIC) {
        let tie = file.get_tag_f64_vec(Tag::ModelTiepointTag).unwrap_or_default();
        metres_per_degree(middle_latitude(&tie, south, rows)?)
    } else {
        let unit = key(&keys, LINEAR_UNITS);
        let feet = FEET.into_iter().find(|(code, _)| unit == Some(*code));
        [feet.map_or(1.0, |(_, metres)| metres); 2]
    };
    let metres = [east * unit[0], south * unit[1]];
    // The same limits as for options.
    metres.iter().all(|it| (1e-6..=1e9).contains(it)).then_some(metres)
}

/// The value of a key that is stored in the directory itself.
fn key(directory: &[u16], id: u16) -> Option<u16> {
    // Four numbers of head, then for each key: id, location of its value (0: here), count, value.
    let keys = directory.get(4..)?.chunks_exact(4);
    keys.filter(|it| it[0] == id && it[1] == 0).map(|it| it[3]).next()
}

/// Latitude of the middle row, from a tie point: sample x, y, z, then longitude, latitude, height.
fn middle_latitude(tie: &[f64], degrees_per_row: f64, rows: u32) -> Option<f64> {
    let &[_, row, _, _, latitude, ..] = tie else { return None };
    let middle = latitude - (f64::from(rows) / 2.0 - row) * degrees_per_row;
    (-90.0..=90.0).contains(&middle).then_some(middle)
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
        assert_eq!(middle_latitude(&[0.0, 0.0, 0.0, 11.0, 48.0, 0.0], 0.5, 4), Some(47.0));
        assert_eq!(middle_latitude(&[0.0, 2.0, 0.0, 11.0, 48.0, 0.0], 0.5, 4), Some(48.0));
        assert_eq!(middle_latitude(&[0.0, 0.0, 0.0, 11.0, 48.0, 0.0], 70.0, 4), None);
        assert_eq!(middle_latitude(&[0.0; 3], 0.5, 4), None);
    }
}
