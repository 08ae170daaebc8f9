/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelBounds {
    /// Lowest coordinates.
    pub min: [f32; 3],
    /// Highest coordinates.
    pub max: [f32; 3],
}

impl ModelBounds {
    /// The smallest box around `positions`; `None` if there are none.
    pub(super) fn around(positions: impl IntoIterator<Item = [f32; 3]>) -> Option<Self> {
        let mut positions = positions.into_iter();
        let first = positions.next()?;
        let start = Self { min: first, max: first };
        Some(positions.fold(start, |Self { min, max }, position| Self {
            min: [0, 1, 2].map(|axis| f32::min(min[axis], position[axis])),
            max: [0, 1, 2].map(|axis| f32::max(max[axis], position[axis])),
        }))
    }

    /// Lengths of the three sides, in `f64`, where the difference of two `f32` cannot overflow.
    pub fn size(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| f64::from(self.max[axis]) - f64::from(self.min[axis]))
    }
}
