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
    drystone::{Meshes, PoolList},
};
use super::MASK_ORDER;
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};

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

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(MASK_ORDER.name);
    for (case, parts, quick) in CASES {
        if (quick || !options.quick) && options.selects(case) {
            run_case(&mut table, options, case, parts)?;
        }
    }
    pictures::run(&mut table, options)?;
    Ok(table)
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

fn run_case(table: &mut Table, options: &Options, case: &str, parts: usize) -> Result<(), Error> {
    let crowd = Crowd::new(parts);
    let name = table.name().to_owned();
    let failed = |contender: &str, message: String| {
        let [case, contender] = [case, contender].map(str::to_owned);
        Error::Contender { table: name.clone(), case, contender, message }
    };
    let pool_list = |meshes, contender: &str| {
        PoolList::new(&crowd, meshes).map_err(|message| failed(contender, message))
    };
    let lists: [(&str, Box<dyn CommandList>); 3] = [
        ("drystone", Box::new(pool_list(Meshes::Chunks, "drystone")?)),
        ("drystone-single", Box::new(pool_list(Meshes::Parts, "drystone-single")?)),
        ("article", Box::new(ArticleList::new(&crowd))),
    ];
    let mut at_once = pool_list(Meshes::Chunks, "drystone-at-once")?;
    let mut contenders: Vec<_> = lists
        .into_iter()
        .map(|(name, mut list)| {
            let crowd = &crowd;
            Contender::new(name, move || round(crowd, list.as_mut(), parts))
        })
        .collect();
    contenders
        .push(Contender::new("drystone-at-once", || run_combined(&crowd, &mut at_once, parts)));
    table.run_case(case, options, contenders)
}

fn frames_of(parts: usize) -> usize {
    let [min, max] = ROUND_FRAMES;
    (ROUND_PARTS / parts).clamp(min, max)
}

/// Runs frames of a camera that circles around the crowd. The figure of a stage is the median over
/// all frames, and `cpu` is the sum of the three stages.
fn round(crowd: &Crowd, list: &mut dyn CommandList, parts: usize) -> Result<Vec<Figure>, String> {
    let frames = frames_of(parts);
    let mut stages = [const { Vec::new() }; 3];
    for frame in 0..frames {
        let viewpoint = Viewpoint::on_circle(frame, frames);
        let start = Instant::now();
        list.mask(&viewpoint);
        let masked = Instant::now();
        list.order(&viewpoint);
        let ordered = Instant::now();
        list.upload();
        let end = Instant::now();
        for (times, (from, to)) in
            stages.iter_mut().zip([(start, masked), (masked, ordered), (ordered, end)])
        {
            times.push((to - from).as_secs_f64() * 1e6);
        }
        if frame + 1 == frames {
            check(crowd, &viewpoint, &list.drawn())?;
        }
    }
    let [mask, order, upload] = stages.map(median);
    let figures = [("mask", mask), ("order", order), ("upload", upload)];
    let cpu = ("cpu", mask + order + upload);
    Ok(figures.into_iter().chain([cpu]).map(|(name, us)| figure(name, us)).collect())
}

/// Runs frames of a list with mask and sort in one pass. Only the sum with the upload is known.
fn run_combined(crowd: &Crowd, list: &mut PoolList, parts: usize) -> Result<Vec<Figure>, String> {
    let frames = frames_of(parts);
    let mut times = Vec::new();
    for frame in 0..frames {
        let viewpoint = Viewpoint::on_circle(frame, frames);
        let start = Instant::now();
        list.mask_and_order(&viewpoint);
        list.upload();
        times.push(elapsed_ns(start) / 1e3);
        if frame + 1 == frames {
            check(crowd, &viewpoint, &list.drawn())?;
        }
    }
    Ok(vec![figure("cpu", median(times))])
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
