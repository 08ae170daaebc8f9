//! The work of a frame, from polygons to triangles of a vertex buffer.

use drystone_mesh::{
    Error, Lifetime, Plane, PolygonHandle, PolygonStore, Triangulator, frustum, portal,
};

use super::rooms::Rooms;
use super::view::{Spot, View};

/// Time of transforming vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Transforms {
    /// Once in a frame, for all polygons that share them. The store stamps each coordinate with the
    /// frame.
    #[default]
    Once,
    /// For each polygon again, without storing the result.
    PerPolygon,
}

/// Time of dividing polygons into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Triangulation {
    /// After clipping and lighting.
    #[default]
    Late,
    /// Before the first frame. Clipped triangles with more corners are divided again.
    Early,
}

/// Lifetime of the lit parts of the stationary lamp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum LampParts {
    /// Until the lamp moves.
    #[default]
    Kept,
    /// For a frame.
    EveryFrame,
}

/// Ways of doing the work of a frame. All give the same picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EngineOptions {
    pub(crate) transforms: Transforms,
    pub(crate) triangulation: Triangulation,
    pub(crate) lamp_parts: LampParts,
}

/// Vertex of a triangle in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScreenVertex {
    pub(crate) position: [f32; 2],
    pub(crate) color: [f32; 3],
}

/// Number of batches: far room, its lit parts, near room, its lit parts.
pub(crate) const BATCHES: usize = 4;
/// Brightness of the batches.
const BRIGHTNESS: [f32; BATCHES] = [0.35, 1.1, 0.5, 1.3];

/// Triangles in the sequence in which they are drawn. Convex rooms and a portal need no depth
/// buffer: only lit parts cover something, and they are drawn later.
#[derive(Default)]
pub(crate) struct VertexBuffer {
    pub(crate) vertices: Vec<ScreenVertex>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Number of triangles up to the end of each batch.
    pub(crate) batch_ends: [usize; BATCHES],
}

impl VertexBuffer {
    /// Returns the area of each batch in pixels.
    pub(crate) fn areas(&self) -> [f64; BATCHES] {
        let area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|n| self.vertices[n as usize].position.map(f64::from));
            // Rows of pixels go down, so that counter-clockwise triangles have a negative area.
            ((c[0] - a[0]) * (b[1] - a[1]) - (b[0] - a[0]) * (c[1] - a[1])) / 2.0
        };
        let mut start = 0;
        self.batch_ends.map(|end| {
            let batch = start..std::mem::replace(&mut start, end).max(end);
            self.triangles[batch].iter().map(area).sum()
        })
    }
}

/// Draws the rooms.
pub(crate) struct Engine {
    pub(crate) rooms: Rooms,
    options: EngineOptions,
    lamp: Spot,
    /// Lit parts of the far room.
    lamp_parts: Vec<PolygonHandle>,
    /// Polygons of each batch that are drawn in the frame.
    batches: [Vec<PolygonHandle>; BATCHES],
    planes: Vec<Plane>,
    /// Visible part of the door.
    opening: Vec<[f32; 3]>,
    triangulator: Triangulator,
    pub(crate) buffer: VertexBuffer,
    /// Number of transformed positions of the frame.
    pub(crate) transform_count: u32,
}

impl Engine {
    /// Creates an engine with `side` × `side` tiles on each wall.
    pub(crate) fn new(side: usize, lamp: Spot, options: EngineOptions) -> Result<Self, Error> {
        let mut engine = Self {
            rooms: Rooms::new(side, options.triangulation)?,
            options,
            lamp,
            lamp_parts: Vec::new(),
            batches: Default::default(),
            planes: Vec::new(),
            opening: Vec::new(),
            triangulator: Triangulator::new(),
            buffer: VertexBuffer::default(),
            transform_count: 0,
        };
        engine.set_lamp(lamp)?;
        Ok(engine)
    }

    /// Moves the stationary lamp. Removes the lit parts that were kept, and makes new ones.
    pub(crate) fn set_lamp(&mut self, lamp: Spot) -> Result<(), Error> {
        self.lamp = lamp;
        if self.options.lamp_parts == LampParts::Kept {
            // Polygons that are lit as a whole have the lamp as another owner, and stay.
            for part in self.lamp_parts.drain(..) {
                self.rooms.store.remove(part)?;
            }
            self.light_far_room(Lifetime::Kept)?;
        }
        Ok(())
    }

    /// Makes the triangles of a frame.
    pub(crate) fn draw(&mut self, frame: u32) -> Result<(), Error> {
        let view = View::at(frame);
        if self.options.lamp_parts == LampParts::EveryFrame {
            self.light_far_room(Lifetime::Frame)?;
        }
        self.find_visible(&view)?;
        self.light_near_room(&Spot::moving(frame))?;
        self.buffer.vertices.clear();
        self.buffer.triangles.clear();
        self.transform_count = 0;
        for (batch, brightness) in BRIGHTNESS.into_iter().enumerate() {
            for n in 0..self.batches[batch].len() {
                self.push(self.batches[batch][n], &view, brightness)?;
            }
            self.buffer.batch_ends[batch] = self.buffer.triangles.len();
        }
        self.rooms.store.end_frame();
        Ok(())
    }

    /// Clips the near room to the camera's frustum, and the far room to what is visible through the
    /// door.
    fn find_visible(&mut self, view: &View) -> Result<(), Error> {
        let Self { rooms: Rooms { store, near, far, door }, planes, opening, .. } = self;
        let [far_batch, lamp_batch, near_batch, _] = &mut self.batches;
        planes.clear();
        frustum(&view.matrix, planes)?;
        clip_into(near_batch, store, near, planes, Lifetime::Frame)?;

        far_batch.clear();
        lamp_batch.clear();
        let visible = store.clip(*door, planes, Lifetime::Frame)?.remaining(*door);
        let Some(visible) = visible else { return Ok(()) };
        opening.clear();
        opening.extend(store.corners(visible)?.map(|corner| corner.position()));
        planes.clear();
        match portal(view.eye, opening, planes) {
            // An opening that has no plane is too thin to be seen through.
            Err(Error::NoPlane) => return Ok(()),
            found => found?,
        }
        clip_into(far_batch, store, far, planes, Lifetime::Frame)?;
        clip_into(lamp_batch, store, &self.lamp_parts, planes, Lifetime::Frame)
    }

    /// Number of polygons that the last frame drew.
    pub(crate) fn polygon_count(&self) -> usize {
        self.batches.iter().map(Vec::len).sum()
    }

    /// Finds the parts of the far room that the lamp lights.
    fn light_far_room(&mut self, lifetime: Lifetime) -> Result<(), Error> {
        let Self { rooms: Rooms { store, far, .. }, planes, lamp_parts, .. } = self;
        planes.clear();
        self.lamp.planes(planes)?;
        clip_into(lamp_parts, store, far, planes, lifetime)
    }

    /// Finds the visible parts of the near room that the moving light lights.
    fn light_near_room(&mut self, light: &Spot) -> Result<(), Error> {
        let [.., near_batch, light_batch] = &mut self.batches;
        self.planes.clear();
        light.planes(&mut self.planes)?;
        let store = &mut self.rooms.store;
        clip_into(light_batch, store, near_batch, &self.planes, Lifetime::Frame)
    }

    /// Appends the triangles of a polygon.
    fn push(&mut self, polygon: PolygonHandle, view: &View, brightness: f32) -> Result<(), Error> {
        let Self { rooms: Rooms { store, .. }, transform_count, triangulator, .. } = self;
        let VertexBuffer { vertices, triangles, .. } = &mut self.buffer;
        let is_once = self.options.transforms == Transforms::Once;
        let mut project = |position| {
            *transform_count += 1;
            view.project(position)
        };
        if is_once {
            store.transform(polygon, &mut project)?;
        }
        let (first_vertex, first_triangle) = (vertices.len() as u32, triangles.len());
        for corner in store.corners(polygon)? {
            let projected = match is_once {
                true => corner.projected().ok_or(Error::Stale)?,
                false => project(corner.position()),
            };
            let color = corner.data().map(|channel| channel * brightness);
            vertices.push(ScreenVertex { position: projected.screen, color });
        }
        triangulator.triangulate(store, polygon, &[], triangles)?;
        for corner in triangles[first_triangle..].as_flattened_mut() {
            *corner += first_vertex;
        }
        Ok(())
    }
}

/// Clips polygons and replaces `parts` by what is inside.
fn clip_into(
    parts: &mut Vec<PolygonHandle>,
    store: &mut PolygonStore<[f32; 3]>,
    polygons: &[PolygonHandle],
    planes: &[Plane],
    lifetime: Lifetime,
) -> Result<(), Error> {
    parts.clear();
    store.clip_all(polygons, planes, lifetime, |polygon, clipped| {
        parts.extend(clipped.remaining(polygon));
    })
}
