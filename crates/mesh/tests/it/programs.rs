use drystone_mesh::{
    Clipped, Corner, Error, IndexRuns, Lifetime, PartCorner, Plane, PolygonStore, Projected,
    VertexLists,
};
use proptest::prelude::*;

use crate::lists::{ByLength, RangeRuns};
use crate::naive::{Copied, Half, clip};

#[derive(Clone, Debug)]
enum Op {
    /// A regular polygon, or a star.
    Add {
        axis: usize,
        count: usize,
        at: [i8; 3],
        is_star: bool,
    },
    /// A triangle on an edge of a polygon.
    AddAtEdge {
        polygon: usize,
        edge: usize,
        at: [i8; 3],
    },
    /// A triangle on an edge of a polygon, as a part of it.
    AddPart {
        polygon: usize,
        edge: usize,
        at: [i8; 3],
        is_kept: bool,
    },
    /// A copy of a polygon with other texture coordinates.
    AddAtCoordinates {
        polygon: usize,
    },
    Share(usize),
    Remove(usize),
    Clip {
        polygon: usize,
        halves: Vec<Half>,
        is_kept: bool,
    },
    Transform(usize),
    EndFrame,
}

fn half() -> impl Strategy<Value = Half> {
    // Small whole numbers: corners in the plane and polygons in the plane are frequent.
    let numbers = (prop::array::uniform3(-2i8..=2), -12i8..=12);
    numbers.prop_filter_map("no normal", |(normal, offset)| {
        let normal = normal.map(f32::from);
        (normal != [0.0; 3]).then(|| Half { normal, offset: offset.into() })
    })
}

fn op() -> impl Strategy<Value = Op> {
    let at = || prop::array::uniform3(-8i8..=8);
    let which = any::<usize>;
    prop_oneof![
        4 => (0..3usize, prop_oneof![8 => 3..9usize, 1 => 18..40usize], at(), any::<bool>())
            .prop_map(|(axis, count, at, is_star)| Op::Add { axis, count, at, is_star }),
        3 => (which(), which(), at()).prop_map(|(polygon, edge, at)| Op::AddAtEdge { polygon, edge, at }),
        4 => (which(), which(), at(), any::<bool>())
            .prop_map(|(polygon, edge, at, is_kept)| Op::AddPart { polygon, edge, at, is_kept }),
        2 => which().prop_map(|polygon| Op::AddAtCoordinates { polygon }),
        2 => which().prop_map(Op::Share),
        6 => which().prop_map(Op::Remove),
        8 => (which(), prop::collection::vec(half(), 1..6), any::<bool>())
            .prop_map(|(polygon, halves, is_kept)| Op::Clip { polygon, halves, is_kept }),
        2 => which().prop_map(Op::Transform),
        1 => Just(Op::EndFrame),
    ]
}

/// Texture coordinates and data that depend on the position alone, and evenly: so must
/// those of cuts.
fn uv_at([x, y, z]: [f32; 3], more: f32) -> [f32; 2] {
    [x + 2.0 * y + more, y - z]
}

fn data_at([x, y, z]: [f32; 3]) -> [f32; 1] {
    [x - y + 0.5 * z]
}

fn corner_at(position: [f32; 3]) -> Corner<[f32; 1]> {
    Corner::New { position, uv: uv_at(position, 0.0), data: data_at(position) }
}

#[derive(Default)]
struct Program<L: VertexLists> {
    store: PolygonStore<[f32; 1], L>,
    /// All polygons that ever existed.
    naive: Vec<Copied>,
}

impl<L: VertexLists> Program<L> {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Add { axis, count, at, is_star } => self.add(*axis, *count, *at, *is_star),
            Op::AddAtEdge { polygon, edge, at } => self.add_at_edge(*polygon, *edge, *at),
            Op::AddPart { polygon, edge, at, is_kept } => {
                self.add_part(*polygon, *edge, *at, *is_kept);
            }
            Op::AddAtCoordinates { polygon } => self.add_at_coordinates(*polygon),
            Op::Clip { polygon, halves, is_kept } => self.clip(*polygon, halves, *is_kept),
            Op::Share(n) | Op::Remove(n) | Op::Transform(n) => self.apply_to(*n, op),
            Op::EndFrame => {
                self.store.end_frame();
                for copied in &mut self.naive {
                    let counted = u32::from(core::mem::take(&mut copied.is_of_frame));
                    copied.owners = copied.owners.saturating_sub(counted);
                }
            }
        }
    }

    fn add(&mut self, axis: usize, count: usize, at: [i8; 3], is_star: bool) {
        let position = |n: usize| {
            let angle = std::f32::consts::TAU * n as f32 / count as f32;
            let radius = if is_star && n % 2 == 1 { 2.0 } else { 5.0 };
            let mut position = at.map(f32::from);
            position[axis] += radius * angle.cos();
            position[(axis + 1) % 3] += radius * angle.sin();
            position
        };
        let positions: Vec<_> = (0..count).map(position).collect();
        let corners: Vec<_> = positions.iter().map(|&position| corner_at(position)).collect();
        let handle = self.store.insert(&corners).unwrap();
        self.naive.push(Copied {
            handle,
            corners: positions,
            owners: 1,
            is_of_frame: false,
            uv_more: 0.0,
        });
    }

    /// A polygon that was inserted, if there is one. It may be removed since.
    fn pick(&self, n: usize) -> Option<usize> {
        n.checked_rem(self.naive.len())
    }

    fn add_at_edge(&mut self, n: usize, edge: usize, at: [i8; 3]) {
        let Some(n) = self.pick(n) else { return };
        let Copied { handle, owners, uv_more, .. } = self.naive[n];
        let Ok(corners) = self.store.corners(handle) else { return assert_eq!(owners, 0) };
        let edge = edge % corners.len();
        let ends: Vec<_> = corners.clone().cycle_from(edge).take(2).collect();
        let positions = [ends[1].position(), ends[0].position(), at.map(f32::from)];
        let [b, a] = [ends[1].vertex().unwrap(), ends[0].vertex().unwrap()];
        let corners = [Corner::Shared(b), Corner::Shared(a), corner_at(positions[2])];
        match self.store.insert(&corners) {
            // One corner does not determine the offset of texture coordinates.
            Ok(handle) if uv_more != 0.0 => assert!(self.store.remove(handle).unwrap()),
            Ok(handle) => {
                let corners = positions.to_vec();
                self.naive.push(Copied { handle, corners, owners: 1, is_of_frame: false, uv_more });
            }
            Err(error) => assert!(matches!(error, Error::RepeatedCorner { .. }), "{error}"),
        }
    }

    fn add_part(&mut self, n: usize, edge: usize, at: [i8; 3], is_kept: bool) {
        let Some(n) = self.pick(n) else { return };
        let Copied { handle, owners, uv_more, .. } = self.naive[n];
        let lifetime = if is_kept { Lifetime::Kept } else { Lifetime::Frame };
        let ends = self.store.corners(handle).map_or(Vec::new(), |corners| {
            let edge = edge % corners.len();
            corners.cycle_from(edge).take(2).map(|corner| corner.position()).collect()
        });
        let count = self.store.corners(handle).map_or(3, |corners| corners.len());
        let position = at.map(f32::from);
        let (uv, data) = (uv_at(position, uv_more), data_at(position));
        let [a, b] = [edge % count, (edge % count + 1) % count].map(|n| PartCorner::Kept(n as u32));
        let corners = [a, b, PartCorner::New { position, uv, data }];
        let handle = match self.store.insert_part(handle, &corners, lifetime) {
            Ok(handle) => handle,
            Err(error) => return assert_eq!((error, owners), (Error::Stale, 0)),
        };
        let corners = vec![ends[0], ends[1], position];
        self.naive.push(Copied { handle, corners, owners: 1, is_of_frame: !is_kept, uv_more });
    }

    fn add_at_coordinates(&mut self, n: usize) {
        let Some(n) = self.pick(n) else { return };
        let Copied { handle, owners, uv_more, .. } = self.naive[n];
        let Ok(corners) = self.store.corners(handle) else { return assert_eq!(owners, 0) };
        let uv_more = uv_more + 16.0;
        let positions: Vec<_> = corners.clone().map(|corner| corner.position()).collect();
        let corners: Vec<_> = corners
            .map(|corner| Corner::At {
                coordinate: corner.coordinate().unwrap(),
                uv: uv_at(corner.position(), uv_more),
                data: *corner.data(),
            })
            .collect();
        let before = self.store.stats().coordinates;
        // If a cut is on a corner, two corners have the same position.
        let Ok(handle) = self.store.insert(&corners) else { return };
        assert_eq!(self.store.stats().coordinates, before);
        let corners = positions;
        self.naive.push(Copied { handle, corners, owners: 1, is_of_frame: false, uv_more });
    }

    fn clip(&mut self, n: usize, halves: &[Half], is_kept: bool) {
        let Some(n) = self.pick(n) else { return };
        let original = self.naive[n].clone();
        let planes: Vec<_> =
            halves.iter().map(|half| Plane::new(half.normal, half.offset).unwrap()).collect();
        let lifetime = if is_kept { Lifetime::Kept } else { Lifetime::Frame };
        let clipped = self.store.clip(original.handle, &planes, lifetime);
        if original.owners == 0 {
            return assert_eq!(clipped, Err(Error::Stale));
        }
        let corners = clip(&original.corners, halves);
        match clipped.unwrap() {
            Clipped::Outside => assert!(corners.is_empty(), "{corners:?} is left"),
            Clipped::Inside => {
                assert_eq!(original.corners, corners);
                self.naive[n].owners += u32::from(is_kept);
            }
            Clipped::Part(handle) => {
                let is_of_frame = !is_kept;
                self.naive.push(Copied { handle, corners, owners: 1, is_of_frame, ..original });
            }
        }
    }

    fn apply_to(&mut self, n: usize, op: &Op) {
        let Some(n) = self.pick(n) else { return };
        let copied = &mut self.naive[n];
        let is_live = copied.owners > 0;
        match op {
            Op::Share(_) => {
                assert_eq!(self.store.share(copied.handle).is_ok(), is_live);
                copied.owners += u32::from(is_live);
            }
            Op::Remove(_) => {
                let is_last = is_live.then_some(copied.owners == 1).ok_or(Error::Stale);
                assert_eq!(self.store.remove(copied.handle), is_last);
                copied.owners = copied.owners.saturating_sub(1);
            }
            _ => {
                let project = |position: [f32; 3]| Projected {
                    position: position.map(|n| n + 1.0),
                    screen: [position[0], position[1]],
                };
                assert_eq!(self.store.transform(copied.handle, project).is_ok(), is_live);
                let corners = self.store.corners(copied.handle).into_iter().flatten();
                for corner in corners {
                    assert_eq!(corner.projected(), Some(project(corner.position())));
                }
            }
        }
    }

    /// Compares all polygons with the naive store's.
    fn compare(&self) {
        assert_eq!(self.store.validate(), Ok(()));
        for copied in &self.naive {
            assert_eq!(self.store.owners(copied.handle), copied.owners);
            let Ok(corners) = self.store.corners(copied.handle) else { continue };
            let positions: Vec<_> = corners.clone().map(|corner| corner.position()).collect();
            assert_eq!(positions, copied.corners);
            for corner in corners {
                let expected = uv_at(corner.position(), copied.uv_more);
                let found = corner.uv().into_iter().chain(*corner.data());
                for (found, expected) in
                    found.zip(expected.into_iter().chain(data_at(corner.position())))
                {
                    assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
                }
            }
        }
        let live = self.naive.iter().filter(|copied| copied.owners > 0).count();
        assert_eq!(self.store.len() as usize, live);
    }

    /// Removes everything and checks that the store is empty.
    fn finish(&mut self) {
        self.store.end_frame();
        let left: Vec<_> = self.store.polygons().collect();
        for polygon in left {
            while !self.store.remove(polygon).unwrap() {}
        }
        let stats = self.store.stats();
        assert_eq!((stats.polygons, stats.vertices, stats.coordinates), (0, 0, 0));
        assert_eq!((stats.corners, stats.bytes, self.store.validate()), (0, 0, Ok(())));
    }
}

/// Cycles through an iterator, starting at its n-th item.
trait CycleFrom: Iterator + Clone + Sized {
    fn cycle_from(self, n: usize) -> impl Iterator<Item = Self::Item> {
        self.cycle().skip(n)
    }
}

impl<I: Iterator + Clone> CycleFrom for I {}

fn run<L: VertexLists>(ops: &[Op]) {
    let mut program = Program::<L>::default();
    for op in ops {
        program.apply(op);
        program.compare();
    }
    program.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn polygons_equal_those_of_a_naive_store(ops in prop::collection::vec(op(), 1..60)) {
        run::<IndexRuns>(&ops);
    }

    #[test]
    fn lists_by_length_equal_a_naive_store(ops in prop::collection::vec(op(), 1..30)) {
        run::<ByLength>(&ops);
    }

    #[test]
    fn lists_in_ranges_equal_a_naive_store(ops in prop::collection::vec(op(), 1..30)) {
        run::<RangeRuns>(&ops);
    }
}

/// A triangle on a cut edge is in the plane of the cut, except for the rounding of two corners.
/// Another cut rounds it into the plane exactly: then its face direction decides.
#[test]
fn polygons_between_rounded_cuts_equal_those_of_a_naive_store() {
    let at_edge = |polygon, edge, at| Op::AddAtEdge { polygon, edge, at };
    let half =
        |normal: [i8; 3], offset: i8| Half { normal: normal.map(f32::from), offset: offset.into() };
    let clip = |polygon, halves| Op::Clip { polygon, halves, is_kept: false };
    let cut = half([-1, 0, -1], 1);
    let ops = [
        Op::Add { axis: 1, count: 3, at: [0, 6, 4], is_star: false },
        at_edge(0, 1, [8, -2, -2]),
        at_edge(1, 2, [-3, 0, 2]),
        clip(2, vec![cut]),
        at_edge(3, 1, [-4, -3, 5]),
        clip(4, vec![half([1, 0, 1], -1), half([-1, 2, -2], -3), half([2, -1, 2], 11), cut]),
    ];
    run::<IndexRuns>(&ops);
}
