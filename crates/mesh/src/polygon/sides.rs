use alloc::vec::Vec;

use super::blocks::Verdict;
use super::plane::Plane;
use super::vertices::Vertices;
use crate::error::{Error, full};

/// Maximum number of planes with cached sides.
pub(super) const MAX_PLANES: usize = 15;
const ALL_PLANES: u32 = (1 << MAX_PLANES) - 1;
/// Bit that marks the sides of a coordinate as computed.
const COMPUTED: u32 = 1 << 31;
/// Cached sides of coordinates relative to the planes of a clip: for each plane one bit for
/// outside, and above them one bit for inside. A coordinate in a plane has neither. The sides are
/// computed when they are first needed.
#[derive(Default)]
pub(super) struct Sides {
    of_coordinates: Vec<u32>,
}

impl Sides {
    /// Starts a clip with other planes, for coordinates below `end`.
    pub(super) fn start(&mut self, end: u32) -> Result<(), Error> {
        self.of_coordinates.clear();
        let no_memory = |_| full(end as usize * size_of::<u32>());
        self.of_coordinates.try_reserve(end as usize).map_err(no_memory)?;
        self.of_coordinates.resize(end as usize, 0);
        Ok(())
    }

    /// Classifies a polygon without cutting it.
    #[inline]
    pub(super) fn classify<T>(
        &mut self,
        list: &[u32],
        planes: &[Plane],
        vertices: &Vertices<T>,
    ) -> Verdict {
        let mut any = 0;
        for &vertex in list {
            let Some(at) = vertices.coordinate_of(vertex) else { return Verdict::Unknown };
            let Some(sides) = self.of_coordinates.get_mut(at as usize) else {
                return Verdict::Unknown;
            };
            if *sides == 0 {
                let Some(position) = vertices.position_at(at) else { return Verdict::Unknown };
                *sides = sides_of(position, planes);
            }
            any |= *sides;
        }
        let all_planes = (1 << planes.len()) - 1;
        let (outside, inside) = (any & all_planes, any >> MAX_PLANES & all_planes);
        match (outside & !inside, inside == all_planes) {
            // All corners are outside of one of the planes or in it.
            (1.., _) => Verdict::Outside,
            (0, true) if outside == 0 => Verdict::Inside,
            _ => Verdict::Unknown,
        }
    }
}

/// Returns the sides of a position. Stops at the first plane that the position is outside of. It
/// then counts as inside of all later planes, so a polygon outside of one of those stays undecided,
/// and is cut.
#[inline]
fn sides_of(position: [f32; 3], planes: &[Plane]) -> u32 {
    let mut sides = COMPUTED;
    for (n, plane) in planes.iter().enumerate() {
        let distance = plane.distance(position);
        if distance < 0.0 {
            let after = ALL_PLANES << (n + 1) & ALL_PLANES;
            return sides | 1 << n | after << MAX_PLANES;
        }
        sides |= u32::from(distance > 0.0) << (n + MAX_PLANES);
    }
    sides
}
