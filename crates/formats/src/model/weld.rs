use hashbrown::HashMap;

use super::fault::SPLIT;
use crate::fault::Fault;

/// Cell number from which on neighbouring `f32` are farther apart than the tolerance.
const MAX_CELL: f64 = (1_u64 << 30) as f64;
/// Bound for the relative rounding error of sums of coordinates.
const ROUNDING: f64 = f64::EPSILON * 4.0;

/// Welds vertex positions: equal or near positions get the same index.
///
/// With a tolerance, a grid holds the distinct positions, in cells of twice the tolerance. All
/// positions within the tolerance are in at most two cells along each axis. Each cell holds few
/// positions, since no two of them are within the tolerance.
///
/// # Cost
/// One hash lookup per position; with a tolerance, up to 8 more.
pub(super) struct VertexWelder {
    tolerance: f64,
    positions: Vec<[f32; 3]>,
    equal: HashMap<[u32; 3], u32>,
    /// Newest position of each cell, and for each position the previous one in its cell.
    cells: HashMap<[i64; 3], u32>,
    previous: Vec<Option<u32>>,
}

impl VertexWelder {
    /// Creates a welder. The tolerance must be finite and not negative.
    pub(super) fn new(tolerance: f32) -> Self {
        Self {
            tolerance: tolerance.into(),
            positions: Vec::new(),
            equal: HashMap::new(),
            cells: HashMap::new(),
            previous: Vec::new(),
        }
    }

    /// The index of a finite position; a new index if no earlier position is near.
    pub(super) fn weld(&mut self, position: [f32; 3]) -> Result<u32, Fault> {
        // Adding zero turns −0 into 0.
        let position = position.map(|number| number + 0.0);
        let key = position.map(f32::to_bits);
        if let Some(&number) = self.equal.get(&key) {
            return Ok(number);
        }
        let near = if self.tolerance > 0.0 { self.near(position) } else { None };
        let number = match near {
            Some(number) => number,
            None => self.push(position)?,
        };
        self.equal.try_reserve(1).map_err(|_| no_memory())?;
        self.equal.insert(key, number);
        Ok(number)
    }

    /// The position of an index; the origin for an unknown index.
    pub(super) fn position(&self, number: u32) -> [f32; 3] {
        self.positions.get(number as usize).copied().unwrap_or_default()
    }

    /// The lowest index of a position within the tolerance.
    fn near(&self, position: [f32; 3]) -> Option<u32> {
        let mut first: Option<u32> = None;
        let [xs, ys, zs] = position.map(|number| {
            let reach = self.tolerance + f64::from(number).abs() * ROUNDING;
            self.cell(number, -reach)..=self.cell(number, reach)
        });
        for x in xs {
            for y in ys.clone() {
                for z in zs.clone() {
                    let mut next = self.cells.get(&[x, y, z]).copied();
                    while let Some(number) = next {
                        if is_near(self.position(number), position, self.tolerance) {
                            first = Some(first.map_or(number, |first| first.min(number)));
                        }
                        next = self.previous.get(number as usize).copied().flatten();
                    }
                }
            }
        }
        first
    }

    /// The cell of `number + offset` along one axis.
    fn cell(&self, number: f32, offset: f64) -> i64 {
        let cell = |number: f64| (number / (2.0 * self.tolerance)).floor();
        match cell(number.into()).abs() < MAX_CELL {
            true => cell(f64::from(number) + offset) as i64,
            // Here only equal numbers are within the tolerance: each gets a cell of its own.
            false => i64::from(number.to_bits()) | 1 << 60,
        }
    }

    fn push(&mut self, position: [f32; 3]) -> Result<u32, Fault> {
        let number = u32::try_from(self.positions.len()).map_err(|_| no_memory())?;
        self.positions.try_reserve(1).map_err(|_| no_memory())?;
        self.positions.push(position);
        if self.tolerance > 0.0 {
            self.previous.try_reserve(1).map_err(|_| no_memory())?;
            self.cells.try_reserve(1).map_err(|_| no_memory())?;
            let cell = position.map(|number| self.cell(number, 0.0));
            self.previous.push(self.cells.insert(cell, number));
        }
        Ok(number)
    }
}

/// Whether the distance of two positions is at most the tolerance.
fn is_near(a: [f32; 3], b: [f32; 3], tolerance: f64) -> bool {
    let apart = [0, 1, 2].map(|axis| f64::from(a[axis]) - f64::from(b[axis]));
    apart.iter().map(|n| n * n).sum::<f64>() <= tolerance * tolerance
}

pub(super) fn no_memory() -> Fault {
    Fault::new("the model", "out of memory", SPLIT)
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use super::*;

    /// The indices that [`VertexWelder`] should return, from comparing with each position.
    fn one_by_one(positions: &[[f32; 3]], tolerance: f32) -> Vec<u32> {
        let mut distinct: Vec<[f32; 3]> = Vec::new();
        let number = |&position: &[f32; 3]| {
            let near = |other: &[f32; 3]| is_near(*other, position, tolerance.into());
            let number = distinct.iter().position(near).unwrap_or(distinct.len());
            if number == distinct.len() {
                distinct.push(position);
            }
            number as u32
        };
        positions.iter().map(number).collect()
    }

    fn numbers(positions: &[[f32; 3]], tolerance: f32) -> Vec<u32> {
        let mut welder = VertexWelder::new(tolerance);
        positions.iter().map(|&position| welder.weld(position).unwrap()).collect()
    }

    /// Random positions in a cube of 12 steps, most of them near others.
    fn crowd(count: u32, step: f32, around: f32) -> Vec<[f32; 3]> {
        let mut random = Random::new(1);
        let mut number = || random.below(1000) as f32 / 1000.0 * 12.0 * step + around;
        (0..count).map(|_| [number(), number(), number()]).collect()
    }

    #[test]
    fn the_grid_finds_the_same_positions_as_comparing_all() {
        for (step, around) in [(1.0, 0.0), (1e-3, -0.004), (1e-30, 0.0), (1e30, 1e30), (1.0, 3e6)] {
            let positions = crowd(1500, step, around);
            for tolerance in [0.0, step * 0.1, step * 0.3, step, step * 5.0] {
                let twin = one_by_one(&positions, tolerance);
                assert_eq!(numbers(&positions, tolerance), twin, "{step} {around} {tolerance}");
            }
        }
    }

    /// Positions below and above the cell number from which on each number has a cell.
    #[test]
    fn tolerances_far_smaller_than_the_coordinates() {
        for tolerance in [1e-45, 1e-20, 1e-8] {
            let mut positions = crowd(300, 1e-7, 1.0);
            positions.extend(crowd(300, 1e30, -1e30));
            positions.extend(positions.clone());
            let twin = one_by_one(&positions, tolerance);
            assert_eq!(numbers(&positions, tolerance), twin);
        }
    }

    #[test]
    fn a_row_of_near_positions_does_not_collapse() {
        let row: Vec<[f32; 3]> = (0..10).map(|n| [n as f32, 0.0, 0.0]).collect();
        assert_eq!(numbers(&row, 1.0), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(numbers(&row, f32::MAX), [0; 10]);
    }

    #[test]
    fn negative_zero_equals_zero() {
        assert_eq!(numbers(&[[0.0; 3], [-0.0; 3], [0.0, -0.0, f32::MIN_POSITIVE]], 0.0), [0, 0, 1]);
    }
}
