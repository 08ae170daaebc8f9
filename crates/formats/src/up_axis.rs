use std::fmt;
use std::ops::Sub;

/// Axis that points up in a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum UpAxis {
    /// Y, as in this project, in glTF and in most programs for pictures.
    #[default]
    Y,
    /// Z, as in most programs for construction and printing. (x, y, z) becomes (x, −z, y) in an
    /// export, and (x, z, −y) when a model is read.
    Z,
}

impl UpAxis {
    /// Turns a point of a file with this axis so that Y is up.
    pub(crate) fn to_y_up<T: Copy + Default + Sub<Output = T>>(self, [x, y, z]: [T; 3]) -> [T; 3] {
        match self {
            Self::Y => [x, y, z],
            // The difference is never −0.
            Self::Z => [x, z, T::default() - y],
        }
    }
}

impl fmt::Display for UpAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Y => "y",
            Self::Z => "z",
        })
    }
}
