//! Serialization of choices by their names on the command line.

use std::str::FromStr;

use drystone::{
    CameraKind,
    scene::{BackendKind, RendererKind},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Choice with a name that can be parsed.
pub(super) trait Named: Copy + FromStr<Err: std::fmt::Display> {
    /// Returns the name.
    fn name(self) -> &'static str;
}

impl Named for RendererKind {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Named for BackendKind {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Named for CameraKind {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

pub(super) fn serialize<T: Named, S: Serializer>(choice: &T, to: S) -> Result<S::Ok, S::Error> {
    choice.name().serialize(to)
}

pub(super) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}
