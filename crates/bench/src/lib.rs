//! The tables: drystone beside naive rendering and beside the best crates.
