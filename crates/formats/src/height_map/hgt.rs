//! Tiles of the Shuttle Radar Topography Mission: big-endian samples without a header.

use super::grid::{Decoded, Grid};
use super::place::{Head, Place, Unit};
use crate::fault::{Fault, GET_AGAIN};

/// Sizes of tiles of one degree: 3 arc seconds, 1 arc second, and 1 by 2 beyond 50° north and
/// south.
const SIZES: [[usize; 2]; 3] = [[1201, 1201], [3601, 3601], [1801, 3601]];
/// Value of samples without a height.
const VOID: i16 = i16::MIN;

/// Decodes a tile. Its name gives the latitude, and thereby the distance of samples.
pub(super) fn decode(bytes: &[u8], name: &str) -> Result<Decoded, Fault> {
    let Head { size: [width, height], place } = head(bytes.len() as u64, name)?;
    let numbers = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]]));
    let metres = numbers.map(|n| if n == VOID { f32::NAN } else { f32::from(n) }).collect();
    let metres_per_sample = place.and_then(|place| place.metres_per_sample(height));
    let format = "SRTM tile".into();
    Ok(Decoded { grid: Grid::new(width, metres), format, metres_per_sample })
}

/// Returns the size of a tile by the length of its file, and its position by its name.
pub(super) fn head(file_bytes: u64, name: &str) -> Result<Head, Fault> {
    let Some([width, height]) = SIZES.into_iter().find(|[w, h]| (w * h * 2) as u64 == file_bytes)
    else {
        let problem = format!(
            "{file_bytes} bytes, not the size of a tile: 1201 x 1201, 3601 x 3601 or 1801 x 3601 samples"
        );
        return Err(Fault::new("file", problem, GET_AGAIN));
    };
    let place = corner(name).map(|[west, south]| Place {
        first: [west, south + 1.0],
        // The first and last samples of a row are one degree apart.
        step: [width, height].map(|side| 1.0 / (side - 1) as f64),
        unit: Unit::Degrees,
        system: None,
    });
    Ok(Head { size: [width, height], place })
}

/// Longitude and latitude of the south-western corner of a tile, from a name like `N47E011.hgt`.
fn corner(name: &str) -> Option<[f64; 2]> {
    let file = name.rsplit(['/', '\\']).next()?;
    let number = |at: usize, past: usize, positive: [u8; 2], negative: [u8; 2], end: u16| {
        let digits = file.get(at + 1..past)?;
        let number: u16 =
            digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse())?.ok()?;
        let number = (number <= end).then_some(f64::from(number))?;
        let letter = file.as_bytes()[at];
        match positive.contains(&letter) {
            true => Some(number),
            false => negative.contains(&letter).then_some(-number),
        }
    };
    Some([number(3, 7, *b"Ee", *b"Ww", 180)?, number(0, 3, *b"Nn", *b"Ss", 90)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_the_corner() {
        assert_eq!(corner("dem/N47E011.hgt"), Some([11.0, 47.0]));
        assert_eq!(corner("s01w079.hgt"), Some([-79.0, -1.0]));
        for name in [
            "",
            "N4",
            "N47",
            "N47E01",
            "tile.hgt",
            "NxxE011.hgt",
            "N99E011.hgt",
            "N\u{e9}7E0",
            "N+1E011",
        ] {
            assert_eq!(corner(name), None, "{name}");
        }
    }
}
