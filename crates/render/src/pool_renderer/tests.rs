use drystone_mesh::{Face, Quad};
use drystone_testing::Random;

use super::*;
use crate::{draw_data::DrawData, soft::SoftDevice};

mod faults;
#[cfg(feature = "wgpu")]
mod flight;
mod owned_mesh;
mod same_view;
#[cfg(feature = "wgpu")]
mod table;
