use hashbrown::HashMap;

use super::fault::{Fault, SPLIT};

/// From so many cells off, neighbouring `f32` are farther apart than a tolerance.
const FARTHEST_CELL: f64 = (1_u64 << 30) as f64;
/// What sums of coordinates are out by at the most, in parts of them.
const ROUNDING: f64 = f64::EPSILON * 4.0;

/// Places in space, each once: equal ones, or such as are near each other, get one number.
///
/// With a tolerance, a grid of cells twice as wide holds the places that there are. Those
/// within reach of a position lie in two cells along each axis, few in each, since no two
/// places are as near as the tolerance.
///
/// # Cost
/// A look into a hash table for each position; with a tolerance, 8.
pub(super) struct Places {
    tolerance: f64,
    positions: Vec<[f32; 3]>,
    equal: HashMap<[u32; 3], u32>,
    /// The last place of each cell, and for each place the one before it in its cell.
    cells: HashMap<[i64; 3], u32>,
    before: Vec<Option<u32>>,
}

impl Places {
    /// No places yet. The tolerance is finite and not below 0.
    pub(super) fn new(tolerance: f32) -> Self {
        Self {
            tolerance: tolerance.into(),
            positions: Vec::new(),
            equal: HashMap::new(),
            cells: HashMap::new(),
            before: Vec::new(),
        }
    }

    /// The number of a finite position's place: from 0 on, a new one if none is near.
    pub(super) fn number(&mut self, position: [f32; 3]) -> Result<u32, Fault> {
        // Adding zero makes one of the two zeros.
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

    /// Where the place of a number is; the origin for numbers that were not given.
    pub(super) fn position(&self, number: u32) -> [f32; 3] {
        self.positions.get(number as usize).copied().unwrap_or_default()
    }

    /// The first of the places that are as near as the tolerance.
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
                        next = self.before.get(number as usize).copied().flatten();
                    }
                }
            }
        }
        first
    }

    /// The cell along an axis in which a number is, moved by an offset.
    fn cell(&self, number: f32, offset: f64) -> i64 {
        let cell = |number: f64| (number / (2.0 * self.tolerance)).floor();
        match cell(number.into()).abs() < FARTHEST_CELL {
            true => cell(f64::from(number) + offset) as i64,
            // Far off only equal numbers are near: each has a cell of its own.
            false => i64::from(number.to_bits()) | 1 << 60,
        }
    }

    fn push(&mut self, position: [f32; 3]) -> Result<u32, Fault> {
        let number = u32::try_from(self.positions.len()).map_err(|_| no_memory())?;
        self.positions.try_reserve(1).map_err(|_| no_memory())?;
        self.positions.push(position);
        if self.tolerance > 0.0 {
            self.before.try_reserve(1).map_err(|_| no_memory())?;
            self.cells.try_reserve(1).map_err(|_| no_memory())?;
            let cell = position.map(|number| self.cell(number, 0.0));
            self.before.push(self.cells.insert(cell, number));
        }
        Ok(number)
    }
}

/// Whether two positions are no farther apart than the tolerance.
fn is_near(a: [f32; 3], b: [f32; 3], tolerance: f64) -> bool {
    let apart = [0, 1, 2].map(|axis| f64::from(a[axis]) - f64::from(b[axis]));
    apart.iter().map(|n| n * n).sum::<f64>() <= tolerance * tolerance
}

pub(super) fn no_memory() -> Fault {
    Fault::with_advice("the model", "no memory for it", SPLIT)
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use super::*;

    /// Numbers as [`Places`] gives them, by comparing with each place.
    fn one_by_one(positions: &[[f32; 3]], tolerance: f32) -> Vec<u32> {
        let mut places: Vec<[f32; 3]> = Vec::new();
        let number = |&position: &[f32; 3]| {
            let near = |place: &[f32; 3]| is_near(*place, position, tolerance.into());
            let number = places.iter().position(near).unwrap_or(places.len());
            if number == places.len() {
                places.push(position);
            }
            number as u32
        };
        positions.iter().map(number).collect()
    }

    fn numbers(positions: &[[f32; 3]], tolerance: f32) -> Vec<u32> {
        let mut places = Places::new(tolerance);
        positions.iter().map(|&position| places.number(position).unwrap()).collect()
    }

    /// Positions in a cube of a few steps, most of them near others.
    fn crowd(count: u32, step: f32, around: f32) -> Vec<[f32; 3]> {
        let mut random = Random::new(1);
        let mut number = || random.below(1000) as f32 / 1000.0 * 12.0 * step + around;
        (0..count).map(|_| [number(), number(), number()]).collect()
    }

    #[test]
    fn the_grid_finds_what_comparing_all_finds() {
        for (step, around) in [(1.0, 0.0), (1e-3, -0.004), (1e-30, 0.0), (1e30, 1e30), (1.0, 3e6)] {
            let positions = crowd(1500, step, around);
            for tolerance in [0.0, step * 0.1, step * 0.3, step, step * 5.0] {
                let twin = one_by_one(&positions, tolerance);
                assert_eq!(numbers(&positions, tolerance), twin, "{step} {around} {tolerance}");
            }
        }
    }

    /// From where on cells are single numbers, below and beyond.
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
    fn a_row_of_near_ones_does_not_collapse() {
        let row: Vec<[f32; 3]> = (0..10).map(|n| [n as f32, 0.0, 0.0]).collect();
        assert_eq!(numbers(&row, 1.0), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(numbers(&row, f32::MAX), [0; 10]);
    }

    #[test]
    fn the_two_zeros_are_one_place() {
        assert_eq!(numbers(&[[0.0; 3], [-0.0; 3], [0.0, -0.0, f32::MIN_POSITIVE]], 0.0), [0, 0, 1]);
    }
}
