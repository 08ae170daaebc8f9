//! Table `polygons`: polygons with shared vertices, compared with other ways to store them.

mod copied;
mod counted;
mod cutter;
mod drystone;
mod lists;
mod model;
#[allow(unsafe_code)]
mod raw;
mod slots;

use std::time::Instant;

use drystone_mesh::{IndexRuns, Plane};

use self::copied::VecOfVecs;
use self::counted::Counted;
use self::drystone::Drystone;
use self::lists::{ByLength, RangeRuns};
use self::model::Model;
use self::raw::RawPointers;
use self::slots::SlotMaps;
use crate::{Contender, Error, Figure, Options, Random, Table, TableEntry};

/// Entry of the table in the list of tables.
pub(crate) const ENTRY: TableEntry =
    TableEntry { name: "polygons", about: "polygons that share vertices: build, clip, churn", run };

/// Quads along a side of the model: 500,000 in total.
const SIDE: usize = 707;
const QUICK_SIDE: usize = 30;
/// Frames of a round of `clip-frame`.
const FRAMES: usize = 8;
/// Number of live temporaries in `churn`.
const TEMPORARIES: usize = 1024;
/// Number of temporaries that are replaced in a round.
const REPLACED: usize = 200_000;

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
    fn build(model: &Model) -> Self;

    /// Clips every polygon, makes temporaries of the parts, reads them and drops them.
    fn clip_frame(&mut self, planes: &[Plane]) -> VisibleParts;

    /// Replaces a temporary by another with two vertices of a polygon and two new ones.
    fn replace(&mut self, index: usize, polygon: usize, tips: [[f32; 3]; 2]);

    /// Returns the sum of the first coordinates of all temporaries' corners.
    fn sum(&self) -> f64;

    /// Makes a temporary for each polygon and its two new corners, then drops all of them. Returns
    /// the sum of the first coordinates of all corners.
    fn frame(&mut self, parts: &[(usize, [[f32; 3]; 2])]) -> f64;

    /// Returns the size of all data in bytes, without the overhead of the heap.
    fn bytes(&self) -> usize;
}

/// Lists the contenders with the same work for each.
macro_rules! contenders {
    ($work:expr) => {
        vec![
            Contender::new("drystone", || $work(<Drystone<IndexRuns> as Store>::build)),
            Contender::new("drystone-size-lists", || $work(<Drystone<ByLength> as Store>::build)),
            Contender::new("drystone-ranges", || $work(<Drystone<RangeRuns> as Store>::build)),
            Contender::new("raw-pointers", || $work(<RawPointers as Store>::build)),
            Contender::new("slotmap", || $work(<SlotMaps as Store>::build)),
            Contender::new("rc", || $work(<Counted as Store>::build)),
            Contender::new("vec-of-vecs", || $work(<VecOfVecs as Store>::build)),
        ]
    };
}

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    let model = Model::field(options.size(SIDE, QUICK_SIDE));
    let model = &model;
    table.run_case("build", options, contenders!(|make| build(make, model)))?;
    if options.selects("clip-frame") {
        let visible = expected_parts(VecOfVecs::build, model);
        let visible = &visible;
        table.run_case("clip-frame", options, contenders!(|make| clip(make, model, visible)))?;
    }
    let small = Model::field(options.size(100, QUICK_SIDE));
    let (small, count) = (&small, options.size(REPLACED, 5_000));
    table.run_case("churn", options, contenders!(|make| churn(make, small, count)))?;
    table.run_case("churn-frame", options, contenders!(|make| churn_frames(make, small, count)))?;
    Ok(table)
}

fn build<S: Store>(make: impl Fn(&Model) -> S, model: &Model) -> Result<Vec<Figure>, String> {
    let start = Instant::now();
    let mut store = make(model);
    let time = Figure::time_since(start, model.faces.len());
    // Without planes, no polygon is clipped.
    let visible = store.clip_frame(&[]);
    if visible.inside != model.faces.len() {
        return Err(format!("{} polygons of {}", visible.inside, model.faces.len()));
    }
    let bytes = store.bytes() as f64 / model.faces.len() as f64;
    Ok(vec![time, Figure::new("bytes", "bytes/polygon", bytes)])
}

fn expected_parts<S: Store>(make: impl Fn(&Model) -> S, model: &Model) -> Vec<VisibleParts> {
    let mut store = make(model);
    (0..FRAMES).map(|frame| store.clip_frame(&model.view(frame))).collect()
}

fn clip<S: Store>(
    make: impl Fn(&Model) -> S,
    model: &Model,
    expected: &[VisibleParts],
) -> Result<Vec<Figure>, String> {
    let mut store = make(model);
    store.clip_frame(&model.view(0));
    let start = Instant::now();
    let visible: Vec<_> = (0..FRAMES).map(|frame| store.clip_frame(&model.view(frame))).collect();
    let time_us = start.elapsed().as_secs_f64() * 1e6 / FRAMES as f64;
    for (visible, expected) in visible.iter().zip(expected) {
        let is_same = (visible.inside, visible.parts, visible.corners)
            == (expected.inside, expected.parts, expected.corners);
        if !is_same || (visible.sum - expected.sum).abs() > 1e-3 {
            return Err(format!("{visible:?}, not {expected:?}"));
        }
    }
    Ok(vec![Figure::new("time", "us/frame", time_us)])
}

fn churn<S: Store>(
    make: impl Fn(&Model) -> S,
    model: &Model,
    count: usize,
) -> Result<Vec<Figure>, String> {
    let mut store = make(model);
    let mut random = Random::new(5);
    let mut tips = vec![[[0.0; 3]; 2]; TEMPORARIES];
    let mut polygons = vec![0; TEMPORARIES];
    let work: Vec<_> = (0..count + TEMPORARIES)
        .map(|n| {
            let index = if n < TEMPORARIES { n } else { random.below(TEMPORARIES) };
            (index, random.below(model.faces.len()), n as f32)
        })
        .collect();
    let mut start = Instant::now();
    for (n, &(index, polygon, x)) in work.iter().enumerate() {
        if n == TEMPORARIES {
            start = Instant::now();
        }
        store.replace(index, polygon, [[x, 0.5, 9.0], [x, 0.25, 9.0]]);
    }
    let time = Figure::time_since(start, count);
    for &(index, polygon, x) in &work {
        (tips[index], polygons[index]) = ([[x, 0.5, 9.0], [x, 0.25, 9.0]], polygon);
    }
    let new = tips.iter().flatten().map(|tip| f64::from(tip[0])).sum::<f64>();
    let shared = polygons.iter().flat_map(|&n| &model.faces[n][..2]);
    let expected = new + shared.map(|&n| f64::from(model.positions[n as usize][0])).sum::<f64>();
    match store.sum() == expected {
        true => Ok(vec![time]),
        false => Err(format!("the sum of the corners is {}, not {expected}", store.sum())),
    }
}

/// Runs frames with the number of temporaries of a light that moves over the model. All are dropped
/// at the end of a frame.
fn churn_frames<S: Store>(
    make: impl Fn(&Model) -> S,
    model: &Model,
    count: usize,
) -> Result<Vec<Figure>, String> {
    let mut store = make(model);
    let (faces, frames) = (model.faces.len(), count / TEMPORARIES);
    let parts: Vec<Vec<_>> = (0..=frames)
        .map(|frame| {
            let part = |n: usize| {
                let x = (frame * TEMPORARIES + n) as f32;
                ((frame * 97 + n * 3) % faces, [[x, 0.5, 9.0], [x, 0.25, 9.0]])
            };
            (0..TEMPORARIES).map(part).collect()
        })
        .collect();
    let (mut start, mut sums) = (Instant::now(), Vec::new());
    for (frame, parts) in parts.iter().enumerate() {
        if frame == 1 {
            start = Instant::now();
        }
        sums.push(store.frame(parts));
    }
    let time = Figure::time_since(start, frames * TEMPORARIES);
    for (parts, sum) in parts.iter().zip(sums) {
        let new = parts.iter().map(|(_, tips)| 2.0 * f64::from(tips[0][0])).sum::<f64>();
        let shared = parts.iter().flat_map(|&(face, _)| &model.faces[face][..2]);
        let expected =
            new + shared.map(|&n| f64::from(model.positions[n as usize][0])).sum::<f64>();
        if sum != expected {
            return Err(format!("the sum of the corners is {sum}, not {expected}"));
        }
    }
    Ok(vec![time])
}
