/// Terrain of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// Height below which voxels are solid, apart from cliffs and caves.
    pub(super) ground: f32,
    /// Highest ground of the square that the column stands for. At level 0 it equals the ground.
    pub(super) highest: f32,
    /// Distance in voxels by which cliffs change the ground.
    pub(super) overhang: f32,
    /// Wetness from −1 (dry) to 1 (wet).
    pub(super) wetness: f32,
    /// Slope as height per horizontal distance, on the steeper axis.
    pub(super) slope: f32,
}

/// Returns the slope from the heights on the sides −X, +X, −Z and +Z, which are `apart` voxels
/// apart.
pub(super) fn slope([west, east, north, south]: [f32; 4], apart: f32) -> f32 {
    (east - west).abs().max((south - north).abs()) / apart
}

/// Returns 0 below `low`, 1 above `high`, and a smooth transition between.
pub(super) fn smooth_step(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
