//! Table `polygons`: polygons with shared vertices, compared with other ways to store them.

mod copied;
mod counted;
mod cutter;
mod drystone;
mod frame;
mod lists;
#[allow(unsafe_code)]
mod raw;
mod slots;

use std::time::Instant;

use drystone_mesh::{IndexRuns, Lifetime, Plane, portal};

use self::{
    copied::VecOfVecs,
    counted::Counted,
    cutter::Scratch,
    drystone::Drystone,
    lists::{ByLength, RangeRuns},
    raw::RawPointers,
    slots::SlotMaps,
};
use crate::{
    Contender, Error, Figure, Random, Run,
    rounds::{Round, elapsed_ns},
};

/// Quads along a side of the model: 500,000 in total.
const SIDE: usize = 707;
const QUICK_SIDE: usize = 30;
/// Tiles along a side of a wall in `frame`: 26,784 polygons in two rooms.
const WALL_SIDE: usize = 48;
const QUICK_WALL_SIDE: usize = 8;
/// Frames of a round of `clip-frame`.
const FRAMES: usize = 8;
/// Number of live temporaries in `churn`.
const TEMPORARIES: usize = 1024;
/// Number of temporaries that are replaced in a round.
const REPLACED: usize = 200_000;

/// Positions of the two new corners of a temporary.
type Tips = [[f32; 3]; 2];

/// Visible part of a frame, which must be the same for every contender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct VisibleParts {
    inside: usize,
    parts: usize,
    corners: usize,
    /// Sum of the first coordinates of all corners of parts.
    sum: f64,
}

/// A way to store polygons. They are numbered in the order of insertion.
trait Store {
    type Polygon;

    fn build(model: &Model) -> Self;

    /// Clips every polygon, makes temporaries of the parts, reads them and drops them.
    fn clip_frame(
        &mut self,
        planes: &[Plane],
        scratch: &mut Scratch<Self::Polygon>,
    ) -> VisibleParts;

    /// Makes a temporary of two vertices of a polygon and two new ones. The caller removes kept
    /// ones with [`remove`](Self::remove), others with [`end_frame`](Self::end_frame).
    fn temporary(&mut self, polygon: usize, tips: Tips, lifetime: Lifetime) -> Self::Polygon;

    fn remove(&mut self, polygon: Self::Polygon);

    /// Removes all temporaries of a frame.
    fn end_frame(&mut self, temporaries: &mut Vec<Self::Polygon>) {
        while let Some(polygon) = temporaries.pop() {
            self.remove(polygon);
        }
    }

    /// Iterates over the first coordinates of a polygon's corners.
    fn coordinates(&self, polygon: &Self::Polygon) -> impl Iterator<Item = f32>;

    /// Returns the size of all data in bytes, without the overhead of the heap.
    fn bytes(&self) -> usize;
}

/// A field of quads with hills.
struct Model {
    positions: Vec<[f32; 3]>,
    faces: Vec<[u32; 4]>,
    side: usize,
}

impl Model {
    /// Creates a field of `side` × `side` quads.
    fn field(side: usize) -> Self {
        let line = side + 1;
        let position = |n: usize| {
            let (x, y) = ((n % line) as f32, (n / line) as f32);
            [x, y, (x * 0.1).sin() + (y * 0.13).cos()]
        };
        let face = |n: usize| {
            let at = n / side * line + n % side;
            [at, at + 1, at + line + 1, at + line].map(|n| n as u32)
        };
        let positions = (0..line * line).map(position).collect();
        Self { positions, faces: (0..side * side).map(face).collect(), side }
    }

    /// Returns the planes of the view of a camera that flies over the field. At most a quarter of
    /// the field is visible.
    fn view(&self, frame: usize) -> Vec<Plane> {
        let side = self.side as f32;
        let [x, y] = [0.3, 0.35].map(|at| side * (at + 0.04 * frame as f32));
        let (half, height) = (side * 0.21, side * 0.5);
        let base = [[-1.0, -1.0], [1.0, -0.9], [1.1, 1.0], [-1.0, 1.05]]
            .map(|[dx, dy]| [x + half * dx, y + half * dy, 4.0]);
        let mut planes = Vec::new();
        // An invalid plane would clip nothing, which the comparison of the frames detects.
        let _ = portal([x, y, height], &base, &mut planes);
        planes.extend(Plane::new([0.0, 0.0, 1.0], 100.0));
        planes
    }
}

/// Work of a case.
#[derive(Clone, Copy)]
enum Work<'w> {
    Build,
    /// Clips frames with these results.
    Clip(&'w [VisibleParts]),
    /// Replaces this number of temporaries one by one.
    Churn(usize),
    /// Replaces this number of temporaries in frames.
    ChurnFrames(usize),
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    let model = &Model::field(options.size(SIDE, QUICK_SIDE));
    let small = &Model::field(options.size(100, QUICK_SIDE));
    let count = options.size(REPLACED, 5_000);
    let expected = match options.selects("clip-frame") {
        true => Bench::<VecOfVecs>::new(model).clip_frames(),
        false => Vec::new(),
    };
    for (case, model, work) in [
        ("build", model, Work::Build),
        ("clip-frame", model, Work::Clip(&expected)),
        ("churn", small, Work::Churn(count)),
        ("churn-frame", small, Work::ChurnFrames(count)),
    ] {
        run.case(case, || {
            Ok(vec![
                contender::<Drystone<IndexRuns>>("drystone", model, work),
                contender::<Drystone<ByLength>>("drystone-size-lists", model, work),
                contender::<Drystone<RangeRuns>>("drystone-ranges", model, work),
                contender::<RawPointers>("raw-pointers", model, work),
                contender::<SlotMaps>("slotmap", model, work),
                contender::<Counted>("rc", model, work),
                contender::<VecOfVecs>("vec-of-vecs", model, work),
            ])
        })?;
    }
    run.case("frame", || frame::contenders(options.size(WALL_SIDE, QUICK_WALL_SIDE)))
}

fn contender<'w, S: Store>(name: &str, model: &'w Model, work: Work<'w>) -> Contender<'w> {
    Contender::new(name, move || {
        let start = Instant::now();
        let mut bench = Bench::<S>::new(model);
        let built = Figure::time_since(start, model.faces.len());
        match work {
            Work::Build => bench.built(built),
            Work::Clip(expected) => bench.clip(expected),
            Work::Churn(count) => bench.churn(count),
            Work::ChurnFrames(count) => bench.churn_frames(count),
        }
    })
}

/// A store with the polygons of a model.
struct Bench<'m, S: Store> {
    model: &'m Model,
    store: S,
    scratch: Scratch<S::Polygon>,
}

impl<'m, S: Store> Bench<'m, S> {
    fn new(model: &'m Model) -> Self {
        Self { model, store: S::build(model), scratch: Scratch::default() }
    }

    /// Checks a new store.
    fn built(&mut self, time: Figure) -> Round {
        let count = self.model.faces.len();
        // Without planes, no polygon is clipped.
        let visible = self.store.clip_frame(&[], &mut self.scratch);
        if visible.inside != count {
            return Err(format!("{} polygons of {count}", visible.inside).into());
        }
        let bytes = self.store.bytes() as f64 / count as f64;
        Ok(vec![time, Figure::new("bytes", "bytes/polygon", bytes)])
    }

    fn clip_frames(&mut self) -> Vec<VisibleParts> {
        let Self { model, store, scratch } = self;
        (0..FRAMES).map(|frame| store.clip_frame(&model.view(frame), scratch)).collect()
    }

    fn clip(&mut self, expected: &[VisibleParts]) -> Round {
        self.store.clip_frame(&self.model.view(0), &mut self.scratch);
        let start = Instant::now();
        let visible = self.clip_frames();
        let time_us = elapsed_ns(start) / 1e3 / FRAMES as f64;
        for (visible, expected) in visible.iter().zip(expected) {
            let is_same = (visible.inside, visible.parts, visible.corners)
                == (expected.inside, expected.parts, expected.corners);
            if !is_same || (visible.sum - expected.sum).abs() > 1e-3 {
                return Err(format!("{visible:?}, not {expected:?}").into());
            }
        }
        Ok(vec![Figure::new("time", "us/frame", time_us)])
    }

    fn churn(&mut self, count: usize) -> Round {
        let mut random = Random::new(5);
        let work: Vec<_> = (0..count + TEMPORARIES)
            .map(|n| {
                let index = if n < TEMPORARIES { n } else { random.below(TEMPORARIES) };
                (index, random.below(self.model.faces.len()), tips(n))
            })
            .collect();
        let mut temporaries: Vec<_> = (0..TEMPORARIES).map(|_| None).collect();
        let mut start = Instant::now();
        for (n, &(index, polygon, tips)) in work.iter().enumerate() {
            if n == TEMPORARIES {
                start = Instant::now();
            }
            if let Some(old) = temporaries[index].take() {
                self.store.remove(old);
            }
            temporaries[index] = Some(self.store.temporary(polygon, tips, Lifetime::Kept));
        }
        let time = Figure::time_since(start, count);
        let mut live = [(0, [[0.0; 3]; 2]); TEMPORARIES];
        for &(index, polygon, tips) in &work {
            live[index] = (polygon, tips);
        }
        self.check_sum(self.sum(temporaries.iter().flatten()), &live)?;
        temporaries.into_iter().flatten().for_each(|polygon| self.store.remove(polygon));
        Ok(vec![time])
    }

    /// Runs frames with the number of temporaries of a light that moves over the model. All are
    /// dropped at the end of a frame.
    fn churn_frames(&mut self, count: usize) -> Round {
        let (faces, frames) = (self.model.faces.len(), count / TEMPORARIES);
        let part = |frame, n| ((frame * 97 + n * 3) % faces, tips(frame * TEMPORARIES + n));
        let parts: Vec<Vec<_>> =
            (0..=frames).map(|frame| (0..TEMPORARIES).map(|n| part(frame, n)).collect()).collect();
        let mut temporaries = Vec::new();
        let (mut start, mut sums) = (Instant::now(), Vec::new());
        for (frame, parts) in parts.iter().enumerate() {
            if frame == 1 {
                start = Instant::now();
            }
            for &(polygon, tips) in parts {
                temporaries.push(self.store.temporary(polygon, tips, Lifetime::Frame));
            }
            sums.push(self.sum(temporaries.iter()));
            self.store.end_frame(&mut temporaries);
        }
        let time = Figure::time_since(start, frames * TEMPORARIES);
        parts.iter().zip(sums).try_for_each(|(parts, sum)| self.check_sum(sum, parts))?;
        Ok(vec![time])
    }

    /// Returns the sum of the first coordinates of polygons.
    #[inline]
    fn sum<'p>(&self, polygons: impl Iterator<Item = &'p S::Polygon>) -> f64
    where
        S::Polygon: 'p,
    {
        let mut sum = 0.0;
        for polygon in polygons {
            self.store.coordinates(polygon).for_each(|x| sum += f64::from(x));
        }
        sum
    }

    /// Compares a sum with that of temporaries: their polygon and their new corners.
    fn check_sum(&self, sum: f64, temporaries: &[(usize, Tips)]) -> Result<(), String> {
        let new = temporaries.iter().flat_map(|(_, tips)| tips).map(|tip| tip[0]);
        let Model { faces, positions, .. } = self.model;
        let shared = temporaries.iter().flat_map(|&(polygon, _)| &faces[polygon][..2]);
        let shared = shared.map(|&n| positions[n as usize][0]);
        let expected = new.chain(shared).map(f64::from).sum::<f64>();
        match sum == expected {
            true => Ok(()),
            false => Err(format!("the sum of the corners is {sum}, not {expected}")),
        }
    }
}

fn tips(number: usize) -> Tips {
    [[number as f32, 0.5, 9.0], [number as f32, 0.25, 9.0]]
}
