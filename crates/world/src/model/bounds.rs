/// A box that is parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelBounds {
    /// The lowest corner.
    pub min: [f32; 3],
    /// The highest corner.
    pub max: [f32; 3],
}

impl ModelBounds {
    /// The smallest one around `positions`; `None` without any.
    pub(super) fn around(positions: impl IntoIterator<Item = [f32; 3]>) -> Option<Self> {
        let mut positions = positions.into_iter();
        let first = positions.next()?;
        let start = Self { min: first, max: first };
        Some(positions.fold(start, |Self { min, max }, position| Self {
            min: [0, 1, 2].map(|axis| f32::min(min[axis], position[axis])),
            max: [0, 1, 2].map(|axis| f32::max(max[axis], position[axis])),
        }))
    }

    /// Its three sides, in `f64`, where no difference of two `f32` is too large.
    pub fn size(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| f64::from(self.max[axis]) - f64::from(self.min[axis]))
    }
}
