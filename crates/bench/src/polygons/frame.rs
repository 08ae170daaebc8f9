//! Case `frame`: the frames of the example `frame` of `drystone-mesh`, as in Jacco Bikker's article and
//! with one of its ideas left out. The triangles go into a vertex buffer; nothing is rasterised.

#[path = "../../../mesh/examples/frame/engine.rs"]
mod engine;
#[path = "../../../mesh/examples/frame/rooms.rs"]
mod rooms;
#[path = "../../../mesh/examples/frame/view.rs"]
mod view;

use drystone_mesh::{Error, Plane, PolygonHandle, frustum, portal};

use self::engine::{BATCHES, Engine, EngineOptions, LampParts, Transforms, Triangulation};
use self::rooms::Rooms;
use self::view::{SIZE, Spot, TURN_FRAMES, View};
use super::cutter::Cutter;
use crate::{
    Contender, Failure, Figure,
    rounds::{Round, timed},
};

/// Draws of each frame in a round. Frames are short, so some draws are not interrupted by other load
/// on the machine.
const TURNS: usize = 5;
/// Difference of areas that is due to rounding, as a share of the picture.
const TOLERANCE: f64 = 1e-5;

/// Returns the contenders for rooms with `side` × `side` tiles on each wall.
pub(super) fn contenders(side: usize) -> Result<Vec<Contender<'static>>, Failure> {
    let default = EngineOptions::default();
    let per_polygon = EngineOptions { transforms: Transforms::PerPolygon, ..default };
    let early = EngineOptions { triangulation: Triangulation::Early, ..default };
    let relit = EngineOptions { lamp_parts: LampParts::EveryFrame, ..default };
    [
        ("drystone", default),
        ("drystone-transform-per-polygon", per_polygon),
        ("drystone-triangulate-early", early),
        ("drystone-light-every-frame", relit),
    ]
    .into_iter()
    .map(|(name, options)| {
        let mut engine = Engine::new(side, Spot::lamp(0), options)?;
        let expected = Copies::new(&engine.rooms)?.frames()?;
        Ok(Contender::new(name, move || draw(&mut engine, &expected)))
    })
    .collect()
}

/// Draws all frames and compares each with the expected one. The comparison is not timed. Of the
/// draws of a frame the fastest counts.
fn draw(engine: &mut Engine, expected: &[Expected]) -> Round {
    let mut best_ns = vec![f64::INFINITY; expected.len()];
    let mut counts = [0; 3];
    for _ in 0..TURNS {
        counts = [0; 3];
        for ((frame, expected), best_ns) in (0..).zip(expected).zip(&mut best_ns) {
            let (drawn, frame_ns) = timed(|| engine.draw(frame));
            drawn?;
            *best_ns = best_ns.min(frame_ns);
            let buffer = &engine.buffer;
            let found = Expected { corners: buffer.vertices.len(), areas: buffer.areas() };
            if !found.is_about(expected) {
                return Err(format!("frame {frame}: {found:?}, not {expected:?}").into());
            }
            counts[0] += engine.transform_count as usize;
            counts[1] += engine.polygon_count();
            counts[2] += buffer.triangles.len();
        }
    }
    let per_frame = |sum: f64| sum / expected.len() as f64;
    let [transforms, polygons, triangles] = counts.map(|count| per_frame(count as f64));
    Ok(vec![
        Figure::new("time", "us/frame", per_frame(best_ns.iter().sum()) / 1e3),
        Figure::new("transforms", "count/frame", transforms),
        Figure::new("polygons", "count/frame", polygons),
        Figure::new("triangles", "count/frame", triangles),
    ])
}

/// Required content of a frame.
#[derive(Debug)]
struct Expected {
    /// Number of corners of all polygons.
    corners: usize,
    /// Area of each batch, in pixels.
    areas: [f64; BATCHES],
}

impl Expected {
    fn is_about(&self, other: &Self) -> bool {
        let picture = f64::from(SIZE[0] * SIZE[1]);
        let is_near = |a: f64, b: f64| (a - b).abs() < TOLERANCE * picture;
        let [far, _, near, _] = self.areas;
        let mut areas = self.areas.into_iter().zip(other.areas);
        // Closed rooms cover the picture.
        is_near(far + near, picture)
            && self.corners == other.corners
            && areas.all(|(a, b)| is_near(a, b))
    }
}

type Corners = Vec<[f32; 3]>;

/// The polygons of the rooms without a store. Each is clipped, transformed and measured by itself.
struct Copies {
    near: Vec<Corners>,
    far: Vec<Corners>,
    door: Corners,
    cutter: Cutter,
}

impl Copies {
    fn new(rooms: &Rooms) -> Result<Self, Error> {
        let copy = |&polygon: &PolygonHandle| -> Result<Corners, Error> {
            Ok(rooms.store.corners(polygon)?.map(|corner| corner.position()).collect())
        };
        let copy_all = |polygons: &[PolygonHandle]| -> Result<Vec<_>, Error> {
            polygons.iter().map(copy).collect()
        };
        Ok(Self {
            near: copy_all(&rooms.near)?,
            far: copy_all(&rooms.far)?,
            door: copy(&rooms.door)?,
            cutter: Cutter::default(),
        })
    }

    fn frames(&mut self) -> Result<Vec<Expected>, Error> {
        (0..TURN_FRAMES).map(|frame| self.frame(frame)).collect()
    }

    fn frame(&mut self, frame: u32) -> Result<Expected, Error> {
        let Self { near, far, door, cutter } = self;
        let view = View::at(frame);
        let (mut seen, mut light) = (Vec::new(), Vec::new());
        frustum(&view.matrix, &mut seen)?;
        Spot::moving(frame).planes(&mut light)?;
        let mut expected = Expected { corners: 0, areas: [0.0; BATCHES] };
        expected.add(&view, cutter, near, &[&seen], 2);
        expected.add(&view, cutter, near, &[&seen, &light], 3);
        if let Some(opening) = cutter.clip(door, &seen) {
            let (mut behind, mut lamp) = (Vec::new(), Vec::new());
            portal(view.eye, &opening, &mut behind)?;
            Spot::lamp(0).planes(&mut lamp)?;
            expected.add(&view, cutter, far, &[&behind], 0);
            expected.add(&view, cutter, far, &[&lamp, &behind], 1);
        }
        Ok(expected)
    }
}

impl Expected {
    /// Adds the polygons of a batch: what is inside of all planes.
    fn add(
        &mut self,
        view: &View,
        cutter: &mut Cutter,
        polygons: &[Corners],
        planes: &[&[Plane]],
        batch: usize,
    ) {
        let planes = planes.concat();
        for corners in polygons.iter().filter_map(|corners| cutter.clip(corners, &planes)) {
            self.corners += corners.len();
            let at = |n: usize| view.project(corners[n % corners.len()]).screen.map(f64::from);
            // Rows of pixels go down, so that counter-clockwise polygons have a negative sum.
            let cross = |n: usize| at(n)[1] * at(n + 1)[0] - at(n)[0] * at(n + 1)[1];
            self.areas[batch] += (0..corners.len()).map(cross).sum::<f64>() / 2.0;
        }
    }
}
