//! Sides from which scenes are shown.

use std::f32::consts::{FRAC_PI_2, PI};
use std::str::FromStr;

/// The side from which a whole scene is shown. Default: the south-east, from above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// A side by name instead of the default one. Objects are seen exactly from there; landscapes are
    /// seen from above from the front, the back, the left and the right.
    pub name: Option<ViewSide>,
    /// Turn around the scene from that side, in degrees, counterclockwise as seen from above. The
    /// top and the bottom are not turned.
    pub turn_degrees: f64,
}

impl Side {
    /// Returns a side by name.
    pub const fn named(name: ViewSide) -> Self {
        Self { name: Some(name), turn_degrees: 0.0 }
    }

    /// Returns the default side, turned around the scene.
    pub const fn around(turn_degrees: f64) -> Self {
        Self { name: None, turn_degrees }
    }
}

/// Side from which a camera looks at a scene or at the target of its orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewSide {
    /// From the south, to the north.
    Front,
    /// From the north, to the south.
    Back,
    /// From the east, to the west.
    Right,
    /// From the west, to the east.
    Left,
    /// From above, with north at the top of the picture.
    Top,
    /// From below, with south at the top of the picture.
    Bottom,
}

impl ViewSide {
    /// All sides.
    pub const ALL: [Self; 6] =
        [Self::Front, Self::Back, Self::Right, Self::Left, Self::Top, Self::Bottom];

    /// Returns yaw and pitch of the camera, in radians.
    pub(crate) const fn angles(self) -> [f32; 2] {
        match self {
            Self::Front => [0.0, 0.0],
            Self::Back => [PI, 0.0],
            Self::Right => [FRAC_PI_2, 0.0],
            Self::Left => [-FRAC_PI_2, 0.0],
            Self::Top => [0.0, -FRAC_PI_2],
            Self::Bottom => [0.0, FRAC_PI_2],
        }
    }
}

impl FromStr for ViewSide {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "front" => Ok(Self::Front),
            "back" => Ok(Self::Back),
            "right" => Ok(Self::Right),
            "left" => Ok(Self::Left),
            "top" => Ok(Self::Top),
            "bottom" => Ok(Self::Bottom),
            _ => Err("a side is front, back, right, left, top or bottom"),
        }
    }
}
