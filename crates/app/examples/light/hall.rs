//! The hall, its lamp and its pictures.

use drystone_mesh::{
    Clipped, Corner, Error, Lifetime, Plane, PolygonHandle, PolygonStats, PolygonStore,
    Triangulator, pyramid,
};
use drystone_render::{
    Atmosphere, Camera, Image, Layer, RenderError, Renderer, TriangleMesh, TriangleTransform,
    TriangleVertex, TrianglesId, View,
};
use glam::{DVec3, Vec3};

/// Frames per turn of the lamp.
pub(crate) const TURN_FRAMES: u32 = 500;
/// Sides of the pyramid that approximates the light's cone.
const SIDES: u32 = 16;
/// Fraction of its distance that a lit portion is moved towards the camera.
pub(crate) const NEARER: f32 = 1.0 / 1024.0;
/// Brightness of parts that the lamp does not reach.
const DIM: f32 = 0.22;

/// Polygons of the hall, and the lit ones of the current frame.
pub(crate) struct Hall {
    store: PolygonStore,
    polygons: Vec<(PolygonHandle, Vec3)>,
    planes: Vec<Plane>,
    lamp: Lamp,
    lit: Vec<(PolygonHandle, Vec3)>,
}

/// Spot light: its position, and the base of the pyramid that it lights.
#[derive(Clone, Copy)]
pub(crate) struct Lamp {
    position: Vec3,
    base: [Vec3; SIDES as usize],
}

/// Statistics of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Number of lit portions that were created and freed.
    pub(crate) portions: u64,
    /// Bytes used in the store, before and after.
    pub(crate) bytes: u64,
    /// Bytes reserved by the store since the lamp's first turn.
    pub(crate) reserved_bytes: u64,
}

impl Lamp {
    /// Returns the lamp in a frame: it circles under the ceiling and shines ahead.
    pub(crate) fn at(frame: u32) -> Self {
        let turn = (frame % TURN_FRAMES) as f32 / TURN_FRAMES as f32 * std::f32::consts::TAU;
        let (sin, cos) = turn.sin_cos();
        let position = Vec3::new(4.0 * cos, 9.0, 4.0 * sin);
        let sight = (Vec3::new(9.0 * sin, -1.0, -9.0 * cos) - position).normalize();
        let right = sight.cross(Vec3::Y).normalize();
        let up = right.cross(sight);
        let base = std::array::from_fn(|n| {
            let (sin, cos) = (n as f32 / SIDES as f32 * std::f32::consts::TAU).sin_cos();
            position + sight * 10.0 + (right * cos + up * sin) * 4.5
        });
        Self { position, base }
    }

    /// Returns the brightness at a point: it falls with distance and grazing angle.
    fn light(&self, position: Vec3, normal: Vec3) -> f32 {
        let to = self.position - position;
        let angle = normal.dot(to.normalize_or_zero()).max(0.0);
        DIM + (1.0 - DIM) * (0.35 + 0.65 * angle) / (1.0 + to.length_squared() / 500.0)
    }
}

impl Hall {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut hall = Self {
            store: PolygonStore::new(),
            polygons: Vec::new(),
            planes: Vec::new(),
            lamp: Lamp::at(0),
            lit: Vec::new(),
        };
        let [stone, brick, wood] =
            [[0.75, 0.74, 0.70], [0.72, 0.42, 0.34], [0.55, 0.44, 0.30]].map(Vec3::from);
        // The floor and two walls, in tiles that share their corners.
        hall.add_grid(Vec3::new(-10.0, 0.0, -10.0), [Vec3::Z * 2.0, Vec3::X * 2.0], stone)?;
        hall.add_grid(Vec3::new(-10.0, 0.0, -10.0), [Vec3::X * 2.0, Vec3::Y], brick)?;
        hall.add_grid(Vec3::new(-10.0, 0.0, -10.0), [Vec3::Y, Vec3::Z * 2.0], brick)?;
        for [x, z] in [[-5.0, -5.0], [5.0, -4.0], [-3.0, 4.0]] {
            hall.add_pillar(Vec3::new(x, 0.0, z), 7, [1.2, 6.0], stone)?;
        }
        hall.add_pillar(Vec3::new(4.0, 0.0, 3.0), 4, [1.8, 1.5], wood)?;
        Ok(hall)
    }

    /// Adds ten by ten tiles.
    fn add_grid(&mut self, corner: Vec3, [u, v]: [Vec3; 2], color: Vec3) -> Result<(), Error> {
        const TILES: usize = 10;
        let mut row: Vec<Option<PolygonHandle>> = vec![None; TILES];
        for down in 0..TILES {
            let mut left: Option<PolygonHandle> = None;
            for (across, above) in row.iter_mut().enumerate() {
                let position =
                    |a: usize, b: usize| corner + u * (across + a) as f32 + v * (down + b) as f32;
                let corners = [
                    self.corner(*above, 3, position(0, 0))?,
                    self.corner(*above, 2, position(1, 0))?,
                    Corner::New { position: position(1, 1).to_array(), uv: [0.0; 2], data: () },
                    self.corner(left, 2, position(0, 1))?,
                ];
                // The first tile of a row shares corners above it, tiles of the first row share
                // corners to the left.
                let corners = match (above.is_none(), left) {
                    (true, Some(_)) => {
                        [self.corner(left, 1, position(0, 0))?, corners[1], corners[2], corners[3]]
                    }
                    _ => corners,
                };
                let tile = self.store.insert(&corners)?;
                let checker = if (across + down) % 2 == 0 { 1.0 } else { 0.8 };
                self.polygons.push((tile, color * checker));
                (*above, left) = (Some(tile), Some(tile));
            }
        }
        Ok(())
    }

    /// Returns the corner of a neighbouring polygon, or a new one without a neighbour.
    fn corner(
        &self,
        other: Option<PolygonHandle>,
        number: usize,
        position: Vec3,
    ) -> Result<Corner<()>, Error> {
        let new = Corner::New { position: position.to_array(), uv: [0.0; 2], data: () };
        let Some(other) = other else { return Ok(new) };
        let vertex = self.store.corners(other)?.nth(number).and_then(|corner| corner.vertex());
        Ok(vertex.map_or(new, Corner::Shared))
    }

    /// Adds a prism on the floor.
    fn add_pillar(
        &mut self,
        foot: Vec3,
        sides: u32,
        [radius, height]: [f32; 2],
        color: Vec3,
    ) -> Result<(), Error> {
        let rim = |n: u32, y: f32| {
            let (sin, cos) = (n as f32 / sides as f32 * std::f32::consts::TAU).sin_cos();
            foot + Vec3::new(radius * cos, y, radius * sin)
        };
        let new =
            |position: Vec3| Corner::New { position: position.to_array(), uv: [0.0; 2], data: () };
        let top: Vec<_> = (0..sides).rev().map(|n| new(rim(n, height))).collect();
        let top = self.store.insert(&top)?;
        self.polygons.push((top, color));
        for n in 0..sides {
            let next = (n + 1) % sides;
            // The top has the corners of the rim in reverse order.
            let at_top = |n: u32| (sides - 1 - n) as usize;
            let corners = [
                new(rim(next, 0.0)),
                new(rim(n, 0.0)),
                self.corner(Some(top), at_top(n), rim(n, height))?,
                self.corner(Some(top), at_top(next), rim(next, height))?,
            ];
            let side = self.store.insert(&corners)?;
            self.polygons.push((side, color));
        }
        Ok(())
    }

    /// Finds the lit polygons: whole ones, and temporary portions of those that cross the pyramid's
    /// rim.
    pub(crate) fn light(&mut self, lamp: &Lamp) -> Result<(), Error> {
        self.lamp = *lamp;
        self.planes.clear();
        let base = lamp.base.map(|position| position.to_array());
        pyramid(lamp.position.to_array(), &base, &mut self.planes)?;
        self.lit.clear();
        for &(polygon, color) in &self.polygons {
            let (normal, position) = plane_of(&self.store, polygon)?;
            if normal.dot(lamp.position - position) <= 0.0 {
                continue;
            }
            match self.store.clip(polygon, &self.planes, Lifetime::Frame)? {
                Clipped::Outside => {}
                Clipped::Inside => self.lit.push((polygon, color)),
                Clipped::Part(part) => self.lit.push((part, color)),
            }
        }
        Ok(())
    }

    /// Returns the polygons lit by the last lamp.
    pub(crate) fn lit(&self) -> &[(PolygonHandle, Vec3)] {
        &self.lit
    }

    /// Frees the temporary portions.
    pub(crate) fn end_frame(&mut self) {
        self.lit.clear();
        self.store.end_frame();
    }

    pub(crate) fn stats(&self) -> PolygonStats {
        self.store.stats()
    }

    /// Turns the lamp for some frames.
    ///
    /// # Panics
    /// If a frame leaks polygons, or if the store reserves more memory after the lamp's first turn.
    pub(crate) fn turn_for(&mut self, frames: u32) -> Result<Report, Error> {
        let before = self.stats();
        let (mut portions, mut reserved_bytes) = (0, 0);
        for frame in 0..frames {
            self.light(&Lamp::at(frame))?;
            portions += u64::from(self.stats().temporaries);
            self.end_frame();
            let after = self.stats();
            if frame < TURN_FRAMES {
                reserved_bytes = after.reserved_bytes;
            }
            let mut empty = after;
            empty.reserved_bytes = before.reserved_bytes;
            assert_eq!(empty, before, "frame {frame} has left something");
            assert_eq!(after.reserved_bytes, reserved_bytes, "frame {frame} has grown the store");
        }
        Ok(Report { portions, bytes: before.bytes, reserved_bytes })
    }
}

/// Returns a polygon's normal and one of its corners.
fn plane_of(store: &PolygonStore, polygon: PolygonHandle) -> Result<(Vec3, Vec3), Error> {
    let mut positions = store.corners(polygon)?.map(|corner| Vec3::from(corner.position()));
    let Some(first) = positions.next() else { return Ok((Vec3::Y, Vec3::ZERO)) };
    let (mut sum, mut last) = (Vec3::ZERO, Vec3::ZERO);
    for position in positions {
        sum += last.cross(position - first);
        last = position - first;
    }
    Ok((sum.normalize_or_zero(), first))
}

/// A hall with the renderer that shows it.
pub(crate) struct Pictured {
    renderer: Box<dyn Renderer>,
    view: View,
    lit: TrianglesId,
    triangulator: Triangulator,
    /// Fraction of its distance that a lit portion is moved towards the camera.
    pub(crate) nearer: f32,
}

/// Buffers for triangulation.
#[derive(Default)]
struct Cut {
    vertices: Vec<TriangleVertex>,
    indices: Vec<u32>,
}

impl Cut {
    fn mesh(&self) -> TriangleMesh<'_> {
        let Self { vertices, indices } = self;
        let transform = TriangleTransform::default();
        TriangleMesh { vertices, indices, transform, layer: Layer::Opaque, is_textured: false }
    }
}

impl Pictured {
    pub(crate) fn new(hall: &Hall, mut renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        let eye = DVec3::new(11.0, 10.0, 13.0);
        let camera = Camera::look_at(eye, DVec3::new(-2.0, 2.0, -2.0));
        // Constant light: the colours are computed here.
        let atmosphere = Atmosphere {
            sun: Vec3::ZERO,
            ambient: Vec3::splat(1.1),
            zenith: Vec3::splat(0.02),
            horizon: Vec3::splat(0.05),
            ground: Vec3::splat(0.03),
            ..Atmosphere::default()
        };
        let view = View { atmosphere, ..View::new(camera) };
        let mut triangulator = Triangulator::new();
        let mut dim = Cut::default();
        for &(polygon, color) in &hall.polygons {
            let bright = |_| DIM * color;
            cut(&hall.store, polygon, bright, &mut triangulator, &mut dim);
        }
        renderer.insert_triangles(&dim.mesh())?;
        let lit = renderer.insert_triangles(&Cut::default().mesh())?;
        Ok(Self { renderer, view, lit, triangulator, nearer: NEARER })
    }

    /// Draws the hall with its lit portions.
    pub(crate) fn draw(&mut self, hall: &Hall) -> Result<Image, RenderError> {
        let mut portions = Cut::default();
        let eye = self.view.camera.position.as_vec3();
        for &(polygon, color) in hall.lit() {
            let Ok((normal, position)) = plane_of(&hall.store, polygon) else { continue };
            // Back faces are hidden; moved nearer, their rim might show.
            if normal.dot(eye - position) <= 0.0 {
                continue;
            }
            let bright = |position| hall.lamp.light(position, normal) * color;
            cut(&hall.store, polygon, bright, &mut self.triangulator, &mut portions);
        }
        for vertex in &mut portions.vertices {
            let position = Vec3::from(vertex.position);
            vertex.position = (position + (eye - position) * self.nearer).to_array();
        }
        self.renderer.replace_triangles(self.lit, &portions.mesh())?;
        self.renderer.draw(&self.view)?;
        self.renderer.read_image()
    }
}

/// Appends a polygon's triangles; a removed polygon has none.
fn cut(
    store: &PolygonStore,
    polygon: PolygonHandle,
    bright: impl Fn(Vec3) -> Vec3,
    triangulator: &mut Triangulator,
    cut: &mut Cut,
) {
    let (Ok(corners), Ok((normal, _))) = (store.corners(polygon), plane_of(store, polygon)) else {
        return;
    };
    let first = cut.vertices.len() as u32;
    cut.vertices.extend(corners.map(|corner| {
        let color = bright(corner.position().into()).clamp(Vec3::ZERO, Vec3::ONE) * 255.0;
        let [red, green, blue] = color.to_array().map(|channel| channel.round() as u8);
        TriangleVertex::new(corner.position(), normal.to_array(), [red, green, blue, 255])
    }));
    let mut triangles = Vec::new();
    if triangulator.triangulate(store, polygon, &[], &mut triangles).is_ok() {
        cut.indices.extend(triangles.as_flattened().iter().map(|corner| first + corner));
    }
}
