//! Each program is a string of bytes, so that property tests and fuzz targets run the same
//! ones. Running one panics at the first step where a structure and its shadow differ.

pub(crate) mod chunk;
