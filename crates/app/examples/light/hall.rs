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

/// Frames in which the lamp goes round once.
pub(crate) const TURN_FRAMES: u32 = 500;
/// Sides of the pyramid that stands for the cone.
const SIDES: u32 = 16;
/// By what part of its distance a lit portion is drawn nearer to the eye.
pub(crate) const NEARER: f32 = 1.0 / 1024.0;
/// How bright what the lamp does not reach is.
const DIM: f32 = 0.22;

/// Polygons, and those of them that are lit in this frame.
pub(crate) struct Hall {
    store: PolygonStore,
    polygons: Vec<(PolygonHandle, Vec3)>,
    planes: Vec<Plane>,
    lamp: Lamp,
    lit: Vec<(PolygonHandle, Vec3)>,
}

/// A spot light: where it is, and the base of the pyramid that it lights.
#[derive(Clone, Copy)]
pub(crate) struct Lamp {
    place: Vec3,
    base: [Vec3; SIDES as usize],
}

/// What frames took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Lit portions that were made and dropped.
    pub(crate) portions: u64,
    /// Bytes in the store, before and after.
    pub(crate) bytes: u64,
    /// Bytes that it has reserved since the lamp's first turn.
    pub(crate) reserved_bytes: u64,
}

impl Lamp {
    /// The lamp in a frame: it circles under the ceiling, and its light before it.
    pub(crate) fn at(frame: u32) -> Self {
        let turn = (frame % TURN_FRAMES) as f32 / TURN_FRAMES as f32 * std::f32::consts::TAU;
        let (sin, cos) = turn.sin_cos();
        let place = Vec3::new(4.0 * cos, 9.0, 4.0 * sin);
        let sight = (Vec3::new(9.0 * sin, -1.0, -9.0 * cos) - place).normalize();
        let right = sight.cross(Vec3::Y).normalize();
        let up = right.cross(sight);
        let base = std::array::from_fn(|n| {
            let (sin, cos) = (n as f32 / SIDES as f32 * std::f32::consts::TAU).sin_cos();
            place + sight * 10.0 + (right * cos + up * sin) * 4.5
        });
        Self { place, base }
    }

    /// How bright the light is at a place: less far away and at a low angle.
    fn light(&self, place: Vec3, normal: Vec3) -> f32 {
        let to = self.place - place;
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

    /// Ten tiles by ten.
    fn add_grid(&mut self, corner: Vec3, [u, v]: [Vec3; 2], color: Vec3) -> Result<(), Error> {
        const TILES: usize = 10;
        let mut row: Vec<Option<PolygonHandle>> = vec![None; TILES];
        for down in 0..TILES {
            let mut left: Option<PolygonHandle> = None;
            for (across, above) in row.iter_mut().enumerate() {
                let place =
                    |a: usize, b: usize| corner + u * (across + a) as f32 + v * (down + b) as f32;
                let corners = [
                    self.corner(*above, 3, place(0, 0))?,
                    self.corner(*above, 2, place(1, 0))?,
                    Corner::New { position: place(1, 1).to_array(), uv: [0.0; 2], data: () },
                    self.corner(left, 2, place(0, 1))?,
                ];
                // The first of a row shares what lies above, the first row what lies left.
                let corners = match (above.is_none(), left) {
                    (true, Some(_)) => {
                        [self.corner(left, 1, place(0, 0))?, corners[1], corners[2], corners[3]]
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

    /// The corner of another polygon, or a new one where there is no other.
    fn corner(
        &self,
        other: Option<PolygonHandle>,
        number: usize,
        place: Vec3,
    ) -> Result<Corner<()>, Error> {
        let new = Corner::New { position: place.to_array(), uv: [0.0; 2], data: () };
        let Some(other) = other else { return Ok(new) };
        let vertex = self.store.corners(other)?.nth(number).and_then(|corner| corner.vertex());
        Ok(vertex.map_or(new, Corner::Shared))
    }

    /// A prism on the floor.
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
        let new = |place: Vec3| Corner::New { position: place.to_array(), uv: [0.0; 2], data: () };
        let top: Vec<_> = (0..sides).rev().map(|n| new(rim(n, height))).collect();
        let top = self.store.insert(&top)?;
        self.polygons.push((top, color));
        for n in 0..sides {
            let next = (n + 1) % sides;
            // The top counts the rim backwards.
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

    /// Finds what a lamp lights: whole polygons, and temporaries of those that its rim cuts.
    pub(crate) fn light(&mut self, lamp: &Lamp) -> Result<(), Error> {
        self.lamp = *lamp;
        self.planes.clear();
        let base = lamp.base.map(|place| place.to_array());
        pyramid(lamp.place.to_array(), &base, &mut self.planes)?;
        self.lit.clear();
        for &(polygon, color) in &self.polygons {
            let (normal, place) = plane_of(&self.store, polygon)?;
            if normal.dot(lamp.place - place) <= 0.0 {
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

    /// What the last lamp lit.
    pub(crate) fn lit(&self) -> &[(PolygonHandle, Vec3)] {
        &self.lit
    }

    /// Drops the temporaries.
    pub(crate) fn end_frame(&mut self) {
        self.lit.clear();
        self.store.end_frame();
    }

    pub(crate) fn stats(&self) -> PolygonStats {
        self.store.stats()
    }

    /// Has the lamp go round for some frames.
    ///
    /// # Panics
    /// When a frame leaves anything in the store, or when that asks for more memory after
    /// the lamp's first turn.
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
            let empty = PolygonStats { reserved_bytes: before.reserved_bytes, ..after };
            assert_eq!(empty, before, "frame {frame} has left something");
            assert_eq!(after.reserved_bytes, reserved_bytes, "frame {frame} has grown the store");
        }
        Ok(Report { portions, bytes: before.bytes, reserved_bytes })
    }
}

/// A polygon's normal and one of its corners.
fn plane_of(store: &PolygonStore, polygon: PolygonHandle) -> Result<(Vec3, Vec3), Error> {
    let mut places = store.corners(polygon)?.map(|corner| Vec3::from(corner.position()));
    let Some(first) = places.next() else { return Ok((Vec3::Y, Vec3::ZERO)) };
    let (mut sum, mut last) = (Vec3::ZERO, Vec3::ZERO);
    for place in places {
        sum += last.cross(place - first);
        last = place - first;
    }
    Ok((sum.normalize_or_zero(), first))
}

/// A hall and the renderer that shows it.
pub(crate) struct Pictured {
    renderer: Box<dyn Renderer>,
    view: View,
    lit: TrianglesId,
    triangulator: Triangulator,
    /// By what part of its distance a lit portion is drawn nearer.
    pub(crate) nearer: f32,
}

/// Triangles in the making.
#[derive(Default)]
struct Cut {
    vertices: Vec<TriangleVertex>,
    indices: Vec<u32>,
}

impl Cut {
    fn mesh(&self) -> TriangleMesh<'_> {
        let Self { vertices, indices } = self;
        let place = TriangleTransform::default();
        TriangleMesh { vertices, indices, transform: place, layer: Layer::Opaque }
    }
}

impl Pictured {
    pub(crate) fn new(hall: &Hall, mut renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        let eye = DVec3::new(11.0, 10.0, 13.0);
        let camera = Camera::look_at(eye, DVec3::new(-2.0, 2.0, -2.0));
        // Light that does not change colours much: they are lit before they come here.
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

    /// The hall with what is lit of it.
    pub(crate) fn draw(&mut self, hall: &Hall) -> Result<Image, RenderError> {
        let mut portions = Cut::default();
        let eye = self.view.camera.position.as_vec3();
        for &(polygon, color) in hall.lit() {
            let Ok((normal, place)) = plane_of(&hall.store, polygon) else { continue };
            // What looks away from the eye is hidden; moved nearer, its rim might show.
            if normal.dot(eye - place) <= 0.0 {
                continue;
            }
            let bright = |place| hall.lamp.light(place, normal) * color;
            cut(&hall.store, polygon, bright, &mut self.triangulator, &mut portions);
        }
        for vertex in &mut portions.vertices {
            let place = Vec3::from(vertex.position);
            vertex.position = (place + (eye - place) * self.nearer).to_array();
        }
        self.renderer.replace_triangles(self.lit, &portions.mesh())?;
        self.renderer.draw(&self.view)?;
        self.renderer.read_image()
    }
}

/// Appends a polygon's triangles; one that is gone has none.
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
