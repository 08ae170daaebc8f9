/// Length of a degree of longitude at the equator and of a degree of latitude, in metres.
const METRES_PER_DEGREE: [f64; 2] = [111_320.0, 111_132.0];

/// Size and position of a file's samples, which are known before they are decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    /// Number of samples from west to east and from north to south.
    pub(super) size: [usize; 2],
    /// `None` if the file has no position.
    pub(super) place: Option<Place>,
}

/// Position of a file's samples on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Middle of the north-western sample, eastwards and northwards, in units.
    pub(super) first: [f64; 2],
    /// Distance of samples eastwards and southwards, in units.
    pub(super) step: [f64; 2],
    pub(super) unit: Unit,
    /// Number of the coordinate system in the register of EPSG, if it is known.
    pub(super) system: Option<u16>,
}

/// Unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    /// Degrees of longitude and latitude.
    Degrees,
    /// Lengths on a projected map, in metres.
    Metres(f64),
}

impl Place {
    /// Returns the distance of samples eastwards and southwards at the middle of `rows` rows, in metres. `None` if
    /// the position is not on the Earth, or the distance is none.
    pub(super) fn metres_per_sample(&self, rows: usize) -> Option<[f64; 2]> {
        let [east, south] = self.step;
        let unit = match self.unit {
            Unit::Metres(metres) => [metres; 2],
            Unit::Degrees => {
                let middle = self.first[1] - (rows as f64 - 1.0) / 2.0 * south;
                (-90.0..=90.0).contains(&middle).then(|| metres_per_degree(middle))?
            }
        };
        let metres = [east * unit[0], south * unit[1]];
        // The same limits as for options.
        metres.iter().all(|it| (1e-6..=1e9).contains(it)).then_some(metres)
    }
}

/// Length of a degree eastwards and southwards at a latitude, in metres.
fn metres_per_degree(latitude_degrees: f64) -> [f64; 2] {
    let [along, up] = METRES_PER_DEGREE;
    // A degree of longitude has length 0 at the poles, but samples need a distance.
    [along * latitude_degrees.to_radians().cos().max(0.001), up]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_have_the_length_of_their_latitude() {
        let place = |north, south| {
            let (first, step) = ([11.0, north], [1.0, south]);
            Place { first, step, unit: Unit::Degrees, system: None }.metres_per_sample(3)
        };
        let [east, south] = place(61.0, 1.0).unwrap();
        assert!((east - 55_660.0).abs() < 1.0 && south == 111_132.0);
        assert_eq!(place(48.0, 140.0), None);
        assert_eq!(place(48.0, -1.0), None);
        let (first, step) = ([0.0; 2], [2.0, 4.0]);
        let feet = Place { first, step, unit: Unit::Metres(0.3048), system: None };
        assert_eq!(feet.metres_per_sample(9), Some([0.6096, 1.2192]));
    }
}
