//! Table `remote`: a packed world of 16 km × 16 km × 512 voxels behind a line of 20 Mbit/s with a round trip of
//! 50 ms, beside the same file on this machine.
//!
//! - `first` opens the world as the viewer does. `time` ends when the default camera sees a picture without
//!   a hole.
//! - `near` opens it with a camera near the ground, as a link does. `time` ends when the picture is complete: when
//!   its nodes are those of the local file's picture, from a run before. Both pictures are then equal.
//! - `near-around` opens the same view. `time` ends when everything is shown in all detail that the camera
//!   resolves, also around the camera.
//! - `near-shot` opens the same view as `drystone shot` does, with shadows and sky light: `time` ends when the
//!   picture is complete. It equals that of the local file with everything around the camera.
//! - `flight` is the flight of table `world`. `p50` and `p99` are CPU times of the thread that draws.
//!
//! - `viewers` are 1,000 viewers of one server without a limit of its line, one after the other, each with a camera
//!   at a random place above the land. `first-…` are their means until they see a picture without a hole, and
//!   `fine-…` those of every twentieth until everything is shown in all detail that the camera resolves.
//!
//! `received` is the content that the server has sent meanwhile, and `requests` the number of its answers.
//! Packing takes minutes; `DRYSTONE_PACKED` names a file that was written by
//! `drystone pack --chunks 512x16x512 --relief 512 -o FILE` before.

use std::{
    env, fs,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use drystone::{
    Content, Framed, LevelsFor, LoadOptions, LodLimits, Progress, ViewOptions,
    scene::{MemoryBudget, Shade, VoxelScene, lod_camera},
};
use drystone_formats::Source;
use drystone_render::{Image, PoolRenderer, SoftDevice, View};
use drystone_store::{PackOptions, PackedWorld, RemoteOptions, open_remote, pack};
use drystone_testing::{
    Random,
    http::{FileServer, Line},
};
use drystone_voxel::NodePos;
use drystone_world::{LodData, LodTree};
use glam::DVec3;

use super::{flight, input::Scratch, vast};
use crate::{
    Contender, Error, Failure, Figure, Run,
    rounds::{Round, elapsed_ns},
};

const LINE: Line = Line { round_trip: Duration::from_millis(50), bytes_per_s: 20_000_000 / 8 };
/// Camera near the ground, and its target.
const NEAR: [DVec3; 2] = [DVec3::new(8_000.0, 330.0, 8_000.0), DVec3::new(9_000.0, 250.0, 8_700.0)];
/// Rest of a frame in which something is missing.
const REST: Duration = Duration::from_millis(4);
/// Longest time until a picture is complete.
const PATIENCE: Duration = Duration::from_secs(120);
/// Part of the pixels of a picture that threads may decide: faces at one depth.
const UNDECIDED: f64 = 0.001;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let input = &Input::new().map_err(|failure| run.error("first", failure))?;
    let places = [Place::Local, Place::Remote];
    run.case("first", || {
        let contender =
            |place: Place| Contender::new(place.name(), move || first(&input.at(place)));
        Ok(places.map(contender).into())
    })?;
    let whole: Complete = |scene, view, _| update(scene, view, LodTree::is_settled);
    let shown: Complete = |scene, view, expected| {
        update(scene, view, |tree| nodes_in_picture(tree, view) == *expected)
    };
    let drawn: Complete = |scene, view, _| Ok(scene.settle_picture(view, vast::SIZE, |_| {})?);
    let plain: Change = |view| view;
    let lit: Change = |view| View { shadows: true, sky_light: true, ..view };
    let cases = [("near", plain, shown), ("near-around", plain, whole), ("near-shot", lit, drawn)];
    for (case, change, complete) in cases {
        run.case(case, || {
            let expected = Arc::new(near(&input.at(Place::Local), change, &[], whole)?);
            let contender = |place: Place| {
                let expected = Arc::clone(&expected);
                let round = move || {
                    let got = near(&input.at(place), change, &expected.nodes, complete)?;
                    same(got, &expected.picture)
                };
                Contender::new(place.name(), round)
            };
            Ok(places.map(contender).into())
        })?;
    }
    if run.options.selects("viewers") {
        let figures = viewers(&input.path, run.options.size(1_000, 40));
        for figure in figures.map_err(|failure| run.error("viewers", failure))? {
            run.push_once("viewers", Place::Remote.name(), figure);
        }
    }
    if !run.options.selects("flight") {
        return Ok(());
    }
    for place in places {
        let seconds = run.options.size(60, 2);
        let figures = fly(&input.at(place), seconds);
        for figure in figures.map_err(|failure| run.error("flight", failure))? {
            run.push_once("flight", place.name(), figure);
        }
    }
    Ok(())
}

/// Place of the world.
#[derive(Clone, Copy)]
enum Place {
    Local,
    Remote,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// The packed world, and a server that has it.
struct Input {
    path: PathBuf,
    server: FileServer,
    _file: Option<Scratch>,
}

impl Input {
    fn new() -> Result<Self, Failure> {
        let (path, file) = match env::var_os("DRYSTONE_PACKED") {
            Some(path) => (PathBuf::from(path), None),
            None => {
                let file = Scratch::new("remote");
                pack(&vast::source()?, &file.0, &PackOptions::default(), &mut |_| {})?;
                (file.0.clone(), Some(file))
            }
        };
        // Of the box's layers, those that are all air are not packed.
        let area =
            |it: &dyn Source| it.extent().map(|all| [all.min.x, all.min.z, all.max.x, all.max.z]);
        let (world, source) = (PackedWorld::open(&path)?, vast::source()?);
        if (world.name(), area(&world)) != (source.name(), area(&source)) {
            return Err(format!("{} is another world", path.display()).into());
        }
        let server = FileServer::start(fs::read(&path)?, Some(LINE))?;
        Ok(Self { path, server, _file: file })
    }

    /// The world at a place, whose costs count from now on.
    fn at(&self, place: Place) -> Opening<'_> {
        let sent = [self.server.sent_bytes(), self.server.request_count()];
        Opening { input: self, place, sent, start: Instant::now() }
    }
}

/// A world that is to be opened, and what the server had sent before.
struct Opening<'a> {
    input: &'a Input,
    place: Place,
    sent: [u64; 2],
    start: Instant,
}

impl Opening<'_> {
    /// Opens the world as the viewer does.
    fn content(&self) -> Result<Content, Failure> {
        let opened = match self.place {
            Place::Local => PackedWorld::open(&self.input.path),
            Place::Remote => {
                let address = self.input.server.address("world.dsw");
                open_remote(&address, &RemoteOptions::default())
            }
        };
        let limits = LodLimits::from(MemoryBudget::default());
        let options = LoadOptions { levels: LevelsFor::All, limits, shade: Shade::default() };
        Ok(Content::read_voxels(Box::new(opened?), &options, &Progress::default())?)
    }

    /// Returns the time since the start, and what the server has sent since.
    fn figures(&self) -> Vec<Figure> {
        let time = Figure::new("time", "ms", elapsed_ns(self.start) / 1e6);
        let [bytes, requests] = self.sent;
        let server = &self.input.server;
        let received = (server.sent_bytes() - bytes) as f64;
        let requests = (server.request_count() - requests) as f64;
        vec![
            time,
            Figure::new("received", "bytes", received),
            Figure::new("requests", "count", requests),
        ]
    }
}

fn data_of(content: Content) -> Result<Arc<LodData>, Failure> {
    match content {
        Content::Voxels(data, _) => Ok(data),
        Content::Model(_) => Err("the world is a model".into()),
    }
}

/// Updates a scene until `is_done`.
fn update(
    scene: &mut VoxelScene,
    view: &View,
    is_done: impl Fn(&LodTree) -> bool,
) -> Result<(), Failure> {
    let start = Instant::now();
    loop {
        scene.update(view, vast::SIZE)?;
        if is_done(scene.tree()) {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err("the picture is never complete".into());
        }
        thread::sleep(REST);
    }
}

fn first(opening: &Opening<'_>) -> Round {
    let content = opening.content()?;
    let view = Framed::new(&content).view(&ViewOptions::new(vast::SIZE));
    let mut scene = vast::scene_of(data_of(content)?)?;
    update(&mut scene, &view, LodTree::is_whole)?;
    let drawn = scene.draw(&view)?;
    if drawn.quads == 0 {
        return Err("nothing is shown".into());
    }
    Ok(opening.figures())
}

/// Updates a scene until a picture is complete. Receives the expected nodes of the picture, in ascending
/// order.
type Complete = fn(&mut VoxelScene, &View, &[NodePos]) -> Result<(), Failure>;

/// Changes the options of a view.
type Change = fn(View) -> View;

/// Picture and nodes of a view near the ground, and their costs.
struct Near {
    picture: Image,
    nodes: Vec<NodePos>,
    figures: Vec<Figure>,
}

/// Opens the view near the ground and waits until `complete` returns.
fn near(
    opening: &Opening<'_>,
    change: Change,
    expected: &[NodePos],
    complete: Complete,
) -> Result<Near, Failure> {
    let data = data_of(opening.content()?)?;
    let [eye, target] = NEAR;
    let view = change(vast::view(&data, eye, target));
    let device = SoftDevice::new(vast::SIZE.width, vast::SIZE.height)?;
    let capacity = VoxelScene::CAPACITY;
    let renderer = PoolRenderer::new(device, capacity.quads, capacity.meshes)?;
    let tree = LodTree::new(data, drystone_world::LodConfig::default())?;
    let mut scene = VoxelScene::new(tree, Box::new(renderer))?;
    complete(&mut scene, &view, expected)?;
    let figures = opening.figures();
    let nodes = nodes_in_picture(scene.tree(), &view);
    Ok(Near { picture: scene.picture(&view)?.0, nodes, figures })
}

/// Returns the shown nodes that may be in the picture, in ascending order.
fn nodes_in_picture(tree: &LodTree, view: &View) -> Vec<NodePos> {
    let camera = lod_camera(view, vast::SIZE);
    let mut nodes: Vec<NodePos> = tree.shown().filter(|&node| camera.may_see(node)).collect();
    nodes.sort_unstable();
    nodes
}

/// Returns the figures if the picture is the expected one.
fn same(Near { picture, figures, .. }: Near, expected: &Image) -> Round {
    let different = expected.difference(&picture, 0).ok_or("the sizes differ")?.pixels;
    let most = f64::from(vast::SIZE.width * vast::SIZE.height) * UNDECIDED;
    match f64::from(different) <= most {
        true => Ok(figures),
        false => Err(format!("{different} pixels differ from the local world").into()),
    }
}

/// Costs of viewers at random places. No one has a cache.
fn viewers(path: &PathBuf, count: u32) -> Round {
    const FINE_EVERY: u32 = 20;
    const EDGE: f64 = 1_000.0;
    let server = FileServer::start(fs::read(path)?, None)?;
    let sent = || [server.sent_bytes(), server.request_count()];
    let mut random = Random::new(26);
    let (mut first, mut fine) = ([0; 2], [0; 2]);
    for viewer in 0..count {
        let before = sent();
        let options = RemoteOptions::default();
        let world = Box::new(open_remote(&server.address("world.dsw"), &options)?);
        let extent = world.extent().ok_or("the world is empty")?;
        let [width, _, depth] = extent.size_chunks().map(|chunks| (chunks * 32) as f64);
        let mut share = || f64::from(random.below(1_000_u32)) / 1e3;
        let [x, z] = [width, depth].map(|side| EDGE + (side - 2.0 * EDGE) * share());
        let eye = DVec3::new(x, 450.0, z);
        let (sin, cos) = (share() * std::f64::consts::TAU).sin_cos();
        let target = eye + DVec3::new(1_000.0 * cos, -120.0, 1_000.0 * sin);
        let data = Arc::new(LodData::new(world, MemoryBudget::default().cache_bytes()));
        let view = vast::view(&data, eye, target);
        let mut scene = vast::scene_of(data)?;
        let add = |sums: &mut [u64; 2]| {
            sums.iter_mut().zip(sent()).zip(before).for_each(|((sum, now), old)| *sum += now - old);
        };
        update(&mut scene, &view, LodTree::is_whole)?;
        add(&mut first);
        if scene.draw(&view)?.quads == 0 {
            return Err("nothing is shown".into());
        }
        if viewer % FINE_EVERY == 0 {
            update(&mut scene, &view, LodTree::is_settled)?;
            add(&mut fine);
        }
    }
    let mean = |sum: u64, count: u32| sum as f64 / f64::from(count);
    Ok(vec![
        Figure::new("first-received", "bytes", mean(first[0], count)),
        Figure::new("first-requests", "count", mean(first[1], count)),
        Figure::new("fine-received", "bytes", mean(fine[0], count / FINE_EVERY)),
        Figure::new("fine-requests", "count", mean(fine[1], count / FINE_EVERY)),
    ])
}

fn fly(opening: &Opening<'_>, seconds: u32) -> Round {
    let scene = vast::scene_of(data_of(opening.content()?)?)?;
    let flight = flight::fly(scene, seconds)?;
    let mut figures = opening.figures();
    let times = [("p50", 50), ("p99", 99)];
    let figure = |(name, percent)| Figure::new(name, "us/frame", flight.time_us(percent));
    figures.extend(times.map(figure));
    Ok(figures)
}
