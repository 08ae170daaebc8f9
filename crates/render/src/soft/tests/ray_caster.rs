//! A simple reference: for every pixel, tests every quad. It computes in `f64`, from the camera and
//! the atmosphere, and shares no code with the rasteriser.

use drystone_mesh::Quad;
use glam::{DVec2, DVec3, Vec3};

use super::{Mesh, Scene};
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
};

/// Minimum distance of an edge from a pixel's centre, in pixels, for the pixel to be certain.
/// Corners snap to 1/256; the rest is for rounding.
const SLACK_PIXELS: f64 = 1.0 / 128.0;

/// A quad's intersection with a ray.
#[derive(Clone, Copy)]
struct Hit {
    /// Distance along the ray, in units of its direction.
    t: f64,
    quad: Quad,
    /// The quad's lowest corner relative to the camera.
    low: DVec3,
    /// Side of its mesh's voxels in units.
    scale: f64,
}

pub(super) struct Ray {
    /// Relative to the camera.
    pub(super) start: DVec3,
    /// Length 1 along the view direction.
    pub(super) direction: DVec3,
    /// Direction in which the sky is seen.
    sky: DVec3,
}

/// A quad's edges in the picture, in pixels, and the smallest distance of its corners.
struct Outline {
    points: Vec<DVec2>,
    nearest: f64,
}

/// The colour of every pixel, row by row; none if an edge is so close to the pixel's centre that
/// rasterisers may differ.
pub(super) fn cast(
    scene: &Scene,
    camera: &Camera,
    air: &Atmosphere,
    [width, height]: [u32; 2],
) -> Vec<Option<[u8; 4]>> {
    let size = DVec2::new(width.into(), height.into());
    let outlines = outlines(scene, camera, size);
    let pixel = |i: u32| {
        let center = DVec2::new((i % width).into(), (i / width).into()) + 0.5;
        let picture = (center / size * 2.0 - 1.0) * DVec2::new(1.0, -1.0);
        let ray = ray(camera, size.x / size.y, picture.x, picture.y);
        let (limit, hits) = visible(scene, camera, &ray);
        let is_certain = outlines
            .iter()
            .all(|outline| outline.nearest > limit || outline.distance(center) > SLACK_PIXELS);
        is_certain.then(|| {
            let color = color(scene, air, &ray, &hits) * 255.0;
            let [r, g, b] = color.round().to_array().map(|c| c.clamp(0.0, 255.0) as u8);
            [r, g, b, 255]
        })
    };
    (0..width * height).map(pixel).collect()
}

fn outlines(scene: &Scene, camera: &Camera, size: DVec2) -> Vec<Outline> {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    let [near, far] = camera.depth_range.map(f64::from);
    let to_pixels = |at: DVec3| {
        let distance = at.dot(forward);
        let half = match camera.projection {
            Projection::Perspective { fov_y } => f64::from(fov_y / 2.0).tan() * distance,
            Projection::Orthographic { height_voxels } => f64::from(height_voxels) / 2.0,
        };
        let point = DVec2::new(at.dot(right) / (size.x / size.y), -at.dot(up)) / half;
        (point + 1.0) / 2.0 * size
    };
    let outline = |mesh: &Mesh, quad: Quad| {
        let around = [0, 1, 3, 2].map(|number| corner(mesh, camera, quad, number));
        let beyond_near = cut(&around, |at| at.dot(forward) - near);
        let cut = cut(&beyond_near, |at| far - at.dot(forward));
        let nearest = cut.iter().map(|at| at.dot(forward)).fold(f64::INFINITY, f64::min);
        Outline { points: cut.into_iter().map(to_pixels).collect(), nearest }
    };
    let meshes = scene.opaque.iter().chain(&scene.blended);
    meshes.flat_map(|mesh| mesh.quads.iter().map(move |&quad| outline(mesh, quad))).collect()
}

/// The part of a polygon that is not on the negative side.
fn cut(points: &[DVec3], distance: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut kept = Vec::new();
    for (i, &from) in points.iter().enumerate() {
        let to = points[(i + 1) % points.len()];
        let (a, b) = (distance(from), distance(to));
        if a >= 0.0 {
            kept.push(from);
        }
        if (a >= 0.0) != (b >= 0.0) {
            kept.push(from.lerp(to, a / (a - b)));
        }
    }
    kept
}

impl Outline {
    fn distance(&self, point: DVec2) -> f64 {
        let next = self.points.iter().cycle().skip(1);
        let edges = self.points.iter().zip(next).map(|(&from, &to)| {
            let along = to - from;
            let part = (point - from).dot(along) / along.length_squared().max(1e-12);
            (from + along * part.clamp(0.0, 1.0)).distance(point)
        });
        edges.fold(f64::INFINITY, f64::min)
    }
}

fn corner(mesh: &Mesh, camera: &Camera, quad: Quad, number: u32) -> DVec3 {
    let corner = quad.corner(number);
    let scale = 2f64.powi(mesh.data.level as i32);
    let world = [0, 1, 2].map(|i| f64::from(mesh.data.origin[i]) + f64::from(corner[i]) * scale);
    DVec3::from_array(world) - camera.position
}

/// The ray through a position in the picture, −1 to 1 in each direction, y up.
pub(super) fn ray(camera: &Camera, aspect: f64, x: f64, y: f64) -> Ray {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    match camera.projection {
        Projection::Perspective { fov_y } => {
            let tan = f64::from(fov_y / 2.0).tan();
            let direction = forward + right * (x * tan * aspect) + up * (y * tan);
            Ray { start: DVec3::ZERO, direction, sky: direction }
        }
        Projection::Orthographic { height_voxels } => {
            let half = f64::from(height_voxels) / 2.0;
            let start = right * (x * half * aspect) + up * (y * half);
            // The sky behind parallel rays is that of a view of height 1 at distance 1.
            let sky = forward + right * (x * 0.5 * aspect) + up * (y * 0.5);
            Ray { start, direction: forward, sky }
        }
    }
}

/// The nearest opaque quad, if any, then the blended ones in front of it, the farthest first; and the
/// distance at which the view ends.
fn visible(scene: &Scene, camera: &Camera, ray: &Ray) -> (f64, Vec<Hit>) {
    let mut seen = Vec::new();
    let opaque = scene.opaque.iter().flat_map(|mesh| hits(mesh, camera, ray));
    seen.extend(opaque.reduce(|a, b| if b.t < a.t { b } else { a }));
    let limit = seen.first().map_or(f64::INFINITY, |hit| hit.t);
    let blended = scene.blended.iter().flat_map(|mesh| hits(mesh, camera, ray));
    let mut blended: Vec<Hit> = blended.filter(|hit| hit.t <= limit).collect();
    blended.sort_by(|a, b| b.t.total_cmp(&a.t));
    seen.extend(blended);
    (limit, seen)
}

fn color(scene: &Scene, air: &Atmosphere, ray: &Ray, hits: &[Hit]) -> DVec3 {
    hits.iter().fold(background(air, ray.sky), |below, hit| {
        let (color, opacity) = surface(scene, air, ray, hit);
        below.lerp(color, opacity)
    })
}

/// The quads of a mesh that face the ray and that it meets in the camera's depth range.
fn hits(mesh: &Mesh, camera: &Camera, ray: &Ray) -> impl Iterator<Item = Hit> {
    let [near, far] = camera.depth_range.map(f64::from);
    let scale = 2f64.powi(mesh.data.level as i32);
    mesh.quads.iter().filter_map(move |&quad| {
        let face = quad.face().unwrap();
        let [low, high] = [0, 3].map(|number| corner(mesh, camera, quad, number));
        let axis = face.axis();
        let towards = ray.direction[axis] * f64::from(face.normal()[axis]);
        let t = (low[axis] - ray.start[axis]) / ray.direction[axis];
        let point = ray.start + ray.direction * t;
        let within =
            face.span_axes().into_iter().all(|i| point[i] >= low[i] && point[i] <= high[i]);
        (towards < 0.0 && within && t >= near && t <= far).then_some(Hit { t, quad, low, scale })
    })
}

fn surface(scene: &Scene, air: &Atmosphere, ray: &Ray, hit: &Hit) -> (DVec3, f64) {
    let (look, face) = (scene.look(hit.quad.material()), hit.quad.face().unwrap());
    let [r, g, b, a] = look.faces[face.index()].map(|c| f64::from(c) / 255.0);
    let emission = f64::from(look.emission) / 255.0;
    let normal = face.normal().map(|c| c as f32);
    let light = air.light(Vec3::from_array(normal)).as_dvec3().lerp(DVec3::ONE, emission);
    let point = ray.start + ray.direction * hit.t;
    let lost = f64::from(air.ambient_occlusion) * (1.0 - emission);
    let shade = 1.0 - lost * darkness(hit, point);
    let lit = (DVec3::new(r, g, b) * light).min(DVec3::ONE) * shade;
    let [start, end] = [air.haze_start, air.haze_end].map(f64::from);
    let part =
        if end > start { ((point.length() - start) / (end - start)).clamp(0.0, 1.0) } else { 0.0 };
    let haze = f64::from(air.haze_density) * ease(part);
    (lit.lerp(sky(air, point.normalize()), haze), a)
}

/// Ambient occlusion at a point, interpolated between the corners; on a long edge only the low end
/// counts.
fn darkness(hit: &Hit, point: DVec3) -> f64 {
    let (quad, face) = (hit.quad, hit.quad.face().unwrap());
    let corners = (0..4).map(|number| {
        let near = [0, 1].map(|i| {
            let axis = face.span_axes()[i];
            let low = quad.position()[axis];
            let is_low = quad.corner(number)[axis] == low;
            match quad.size()[i] {
                1 if is_low => 1.0 - (point[axis] - hit.low[axis]) / hit.scale,
                1 => (point[axis] - hit.low[axis]) / hit.scale,
                _ => f64::from(is_low),
            }
        });
        f64::from(quad.ambient_occlusion() >> (2 * number) & 3) * near[0] * near[1]
    });
    corners.sum()
}

fn background(air: &Atmosphere, direction: DVec3) -> DVec3 {
    let direction = direction.normalize();
    let towards = direction.dot(air.sun_direction.as_dvec3().normalize());
    let rim = 1.25f64.to_radians().cos();
    let disc = ease(((towards - rim) / (0.25 * (1.0 - rim))).clamp(0.0, 1.0));
    sky(air, direction).lerp(air.sun.as_dvec3(), disc)
}

fn sky(air: &Atmosphere, direction: DVec3) -> DVec3 {
    let [zenith, horizon, ground, sun] =
        [air.zenith, air.horizon, air.ground, air.sun].map(Vec3::as_dvec3);
    let height = (direction.y / 0.6).clamp(0.0, 1.0);
    let above = zenith.lerp(horizon, (1.0 - height).powi(2));
    let base = above.lerp(ground, ease((-direction.y / 0.25).clamp(0.0, 1.0)));
    let towards = direction.dot(air.sun_direction.as_dvec3().normalize()).max(0.0);
    base + sun * 0.22 * towards.powi(32)
}

fn ease(part: f64) -> f64 {
    part * part * (3.0 - 2.0 * part)
}
