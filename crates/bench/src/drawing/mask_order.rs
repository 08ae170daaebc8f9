//! Table `mask-order`: the cost of selecting and sorting the meshes to draw, in CPU time and in
//! frames.

mod article;
mod crowd;
mod drystone;
mod pictures;

use std::time::Instant;

use self::{
    article::ArticleList,
    crowd::{Crowd, Drawn, Viewpoint},
    drystone::{Meshes, PoolList, Threads},
};
use crate::{Contender, Error, Figure, Run, error::By, rounds::Round};

/// Cases of CPU time: name, parts, and whether a quick run includes it. A chunk has six parts.
const CASES: [(&str, usize, bool); 4] = [
    ("parts-162", 162, true),
    ("parts-750", 750, true),
    ("parts-6000", 6_000, true),
    ("parts-1000000", 1_000_000, false),
];

/// Number of parts per round, over all frames.
const ROUND_PARTS: usize = 4_000_000;
/// Smallest and largest number of frames of a round.
const ROUND_FRAMES: [usize; 2] = [5, 2_000];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, parts, quick) in CASES {
        if quick || !run.options.quick {
            run_case(run, case, parts)?;
        }
    }
    pictures::run(run)
}

/// A draw list that masks, sorts and uploads commands.
trait CommandList {
    /// Selects the parts that are visible from `viewpoint`.
    fn mask(&mut self, viewpoint: &Viewpoint);
    /// Sorts the selected parts, nearest first.
    fn order(&mut self, viewpoint: &Viewpoint);
    /// Writes the commands to the memory of a backend.
    fn upload(&mut self);
    /// Returns the runs that the written commands draw, in their order.
    fn drawn(&self) -> Drawn;
}

fn run_case(run: &mut Run<'_>, case: &str, parts: usize) -> Result<(), Error> {
    let crowd = std::cell::OnceCell::new();
    run.case(case, || {
        let crowd = crowd.get_or_init(|| Crowd::new(parts));
        let mut chunks = PoolList::new(crowd, Meshes::Chunks).by("drystone")?;
        let mut single = PoolList::new(crowd, Meshes::Parts).by("drystone-single")?;
        let mut article = ArticleList::new(crowd);
        let mut at_once = PoolList::new(crowd, Meshes::Chunks).by("drystone-at-once")?;
        let mut on_threads = PoolList::new(crowd, Meshes::Chunks).by("drystone-threads")?;
        Ok(vec![
            Contender::new("drystone", move || staged_round(crowd, &mut chunks, parts)),
            Contender::new("drystone-single", move || staged_round(crowd, &mut single, parts)),
            Contender::new("article", move || staged_round(crowd, &mut article, parts)),
            Contender::new("drystone-at-once", move || {
                round_at_once(crowd, &mut at_once, (parts, Threads::One))
            }),
            Contender::new("drystone-threads", move || {
                round_at_once(crowd, &mut on_threads, (parts, Threads::All))
            }),
        ])
    })
}

fn frames_of(parts: usize) -> usize {
    let [min, max] = ROUND_FRAMES;
    (ROUND_PARTS / parts).clamp(min, max)
}

/// Runs frames of a camera that circles around the crowd, and checks the last one. `time` returns
/// the times of a frame's stages in microseconds. Returns their medians over all frames.
fn medians<L: CommandList, const N: usize>(
    crowd: &Crowd,
    list: &mut L,
    parts: usize,
    time: impl Fn(&mut L, &Viewpoint) -> [f64; N],
) -> Result<[f64; N], String> {
    let frames = frames_of(parts);
    let mut stages = [const { Vec::new() }; N];
    for frame in 0..frames {
        let viewpoint = Viewpoint::on_circle(frame, frames);
        let times = time(list, &viewpoint);
        stages.iter_mut().zip(times).for_each(|(stage, us)| stage.push(us));
        if frame + 1 == frames {
            check(crowd, &viewpoint, &list.drawn())?;
        }
    }
    Ok(stages.map(median))
}

fn us(from: Instant, to: Instant) -> f64 {
    (to - from).as_secs_f64() * 1e6
}

/// Measures the three stages. `cpu` is the sum of their medians.
fn staged_round(crowd: &Crowd, list: &mut impl CommandList, parts: usize) -> Round {
    let [mask, order, upload] = medians(crowd, list, parts, |list, viewpoint| {
        let start = Instant::now();
        list.mask(viewpoint);
        let masked = Instant::now();
        list.order(viewpoint);
        let ordered = Instant::now();
        list.upload();
        [us(start, masked), us(masked, ordered), us(ordered, Instant::now())]
    })?;
    let figures = [("mask", mask), ("order", order), ("upload", upload)];
    let cpu = ("cpu", mask + order + upload);
    Ok(figures.into_iter().chain([cpu]).map(|(name, us)| figure(name, us)).collect())
}

/// Measures mask and sort in one pass. Only the sum with the upload is known.
fn round_at_once(crowd: &Crowd, list: &mut PoolList, (parts, threads): (usize, Threads)) -> Round {
    let [cpu] = medians(crowd, list, parts, |list, viewpoint| {
        let start = Instant::now();
        list.mask_and_order(viewpoint, threads);
        list.upload();
        [us(start, Instant::now())]
    })?;
    Ok(vec![figure("cpu", cpu)])
}

fn figure(metric: &'static str, us: f64) -> Figure {
    Figure::new(metric, "us/frame", us)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Checks that the commands draw the same as a naive sort of the visible parts.
fn check(crowd: &Crowd, viewpoint: &Viewpoint, drawn: &Drawn) -> Result<(), String> {
    let expected = crowd.expected(viewpoint);
    if *drawn == expected {
        return Ok(());
    }
    let at = drawn.iter().zip(&expected).take_while(|(a, b)| a == b).count();
    Err(format!(
        "run {at} of quads is {:?}, expected {:?} ({} runs, expected {})",
        drawn.get(at),
        expected.get(at),
        drawn.len(),
        expected.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(crowd: &Crowd) -> Vec<(&'static str, Box<dyn CommandList>)> {
        vec![
            ("chunks", Box::new(PoolList::new(crowd, Meshes::Chunks).unwrap())),
            ("parts", Box::new(PoolList::new(crowd, Meshes::Parts).unwrap())),
            ("article", Box::new(ArticleList::new(crowd))),
        ]
    }

    /// A full circle, so that each face direction is masked in some frames, with fewer than six
    /// parts in the last chunk.
    #[test]
    fn all_lists_draw_what_a_naive_sort_does() {
        for parts in [1, 6, 7, 161, 1000] {
            let crowd = Crowd::new(parts);
            for (name, mut list) in lists(&crowd) {
                for step in 0..12 {
                    let viewpoint = Viewpoint::on_circle(step, 12);
                    list.mask(&viewpoint);
                    list.order(&viewpoint);
                    list.upload();
                    check(&crowd, &viewpoint, &list.drawn())
                        .unwrap_or_else(|error| panic!("{name}, {parts} parts: {error}"));
                }
            }
        }
    }

    /// Commands in another order are detected.
    #[test]
    fn a_wrong_order_is_an_error() {
        let crowd = Crowd::new(600);
        for (name, mut list) in lists(&crowd) {
            let [viewpoint, other] = [Viewpoint::on_circle(1, 40), Viewpoint::on_circle(2, 40)];
            list.mask(&viewpoint);
            list.order(&viewpoint);
            list.upload();
            assert!(check(&crowd, &other, &list.drawn()).is_err(), "{name}");
        }
    }
}
