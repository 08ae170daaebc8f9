//! Tiles of the Shuttle Radar Topography Mission: big-endian samples without a header.

use super::grid::{Decoded, Grid};
use crate::fault::{Fault, GET_AGAIN};

/// Sizes of tiles of one degree: 3 arc seconds, 1 arc second, and 1 by 2 beyond 50° north and
/// south.
const SIZES: [[usize; 2]; 3] = [[1201, 1201], [3601, 3601], [1801, 3601]];
/// Value of samples without a height.
const VOID: i16 = i16::MIN;
/// Length of a degree of longitude at the equator and of a degree of latitude, in metres.
pub(super) const METRES_PER_DEGREE: [f64; 2] = [111_320.0, 111_132.0];

/// Decodes a tile. Its name gives the latitude, and thereby the distance of samples.
pub(super) fn decode(bytes: &[u8], name: &str) -> Result<Decoded, Fault> {
    let Some([width, height]) = SIZES.into_iter().find(|[w, h]| w * h * 2 == bytes.len()) else {
        let problem = format!(
            "{} bytes, not the size of a tile: 1201 x 1201, 3601 x 3601 or 1801 x 3601 samples",
            bytes.len()
        );
        return Err(Fault::new("file", problem, GET_AGAIN));
    };
    let numbers = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]]));
    let metres = numbers.map(|n| if n == VOID { f32::NAN } else { f32::from(n) }).collect();
    let metres_per_sample = middle_latitude(name).map(|degrees| {
        // The first and last samples of a row are one degree apart.
        let [along, up] = metres_per_degree(degrees);
        [along / (width - 1) as f64, up / (height - 1) as f64]
    });
    let format = "SRTM tile".into();
    Ok(Decoded { grid: Grid::new(width, metres), format, metres_per_sample })
}

/// Length of a degree eastwards and southwards at a latitude, in metres.
pub(super) fn metres_per_degree(latitude_degrees: f64) -> [f64; 2] {
    let [along, up] = METRES_PER_DEGREE;
    // A degree of longitude has length 0 at the poles, but samples need a distance.
    [along * latitude_degrees.to_radians().cos().max(0.001), up]
}

/// Latitude of the middle of a tile named like `N47E011.hgt`, which gives its south-western corner.
fn middle_latitude(name: &str) -> Option<f64> {
    let file = name.rsplit(['/', '\\']).next()?.as_bytes();
    let (sign, digits) = match file.first()? {
        b'N' | b'n' => (1.0, file.get(1..3)?),
        b'S' | b's' => (-1.0, file.get(1..3)?),
        _ => return None,
    };
    if !matches!(file.get(3)?, b'E' | b'e' | b'W' | b'w') {
        return None;
    }
    let degrees: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (degrees < 90.0).then_some(sign * degrees + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_the_latitude() {
        assert_eq!(middle_latitude("dem/N47E011.hgt"), Some(47.5));
        assert_eq!(middle_latitude("s01w079.hgt"), Some(-0.5));
        for name in ["", "N4", "N47", "tile.hgt", "NxxE011.hgt", "N99E011.hgt", "N\u{e9}7E0"] {
            assert_eq!(middle_latitude(name), None, "{name}");
        }
        let [east, south] = metres_per_degree(60.0);
        assert!((east - 55_660.0).abs() < 1.0 && south == 111_132.0);
    }
}
