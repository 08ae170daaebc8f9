//! Each program is a string of bytes, so that property tests and fuzz targets run the
//! same ones. Each run panics at the first step where the structure and its shadow
//! differ.

pub(crate) mod address_space;
pub(crate) mod bucket_ring;
pub(crate) mod range_space;
pub(crate) mod size_classes;
pub(crate) mod slots;
