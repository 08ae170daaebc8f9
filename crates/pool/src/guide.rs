//! Guide to pools in four pages with drawings. Each example runs as a test.
//!
//! 1. [How the pool works](how_it_works): from a mesh to a draw command.
//! 2. [How fences hold](fences): why nothing is overwritten while it is drawn.
//! 3. [How to choose a policy](policies): placement, access, draw order, and their costs.
//! 4. [How to size a pool from a real scene](sizing): what to count, and what to add.
//!
//! The tables behind the figures are in `BENCHMARKS.md`.

#[doc = include_str!("guide/how_it_works.md")]
pub mod how_it_works {}

#[doc = include_str!("guide/fences.md")]
pub mod fences {}

#[doc = include_str!("guide/policies.md")]
pub mod policies {}

#[doc = include_str!("guide/sizing.md")]
pub mod sizing {}
