//! Tests of the whole rasteriser: pictures of small scenes, compared with a ray caster, with
//! results computed by hand, and with each other.

mod hostile;
mod levels;
mod oracle;
mod panes;
mod passes;
mod ray_caster;
mod seam;
mod triangles;

use drystone_mesh::{Face, Quad};
use drystone_pool::DrawCommand;

use super::SoftDevice;
use crate::{
    atmosphere::Atmosphere,
    buffers::{BufferData, BufferKind, DrawSlots},
    camera::Camera,
    device::{Device, Output},
    draw_data::DrawData,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    passes::{Batch, Passes},
};

/// Quads and their position.
#[derive(Clone)]
struct Mesh {
    data: DrawData,
    quads: Vec<Quad>,
}

/// The contents of a picture, in drawing order.
#[derive(Clone, Default)]
struct Scene {
    palette: Vec<[u8; 4]>,
    /// Materials instead of the palette, unless it is empty.
    looks: Vec<MaterialLook>,
    opaque: Vec<Mesh>,
    blended: Vec<Mesh>,
}

impl Mesh {
    fn at(origin: [i32; 3], quads: Vec<Quad>) -> Self {
        Self { data: DrawData { origin, level: 0, extent: 64, sort_rank: 0 }, quads }
    }

    /// The six sides of a box of voxels, seen from outside.
    fn cuboid(origin: [i32; 3], low: [u32; 3], size: [u32; 3], material: u16) -> Self {
        let sides = Face::ALL.map(|face| {
            let mut position = low;
            if face.is_positive() {
                position[face.axis()] += size[face.axis()] - 1;
            }
            Quad::new(position, face.span_axes().map(|axis| size[axis]), face, material)
        });
        Self::at(origin, sides.to_vec())
    }

    /// The six sides of a cuboid of `side` voxels, seen from within, each with its own material.
    fn inside_of_cuboid(origin: [i32; 3], side: u32) -> Self {
        let sides = Face::ALL.map(|face| {
            let mut position = [1; 3];
            position[face.axis()] = if face.is_positive() { 0 } else { side + 1 };
            Quad::new(position, [side; 2], face, face.index() as u16)
        });
        Self::at(origin, sides.to_vec())
    }
}

impl Scene {
    /// Returns the appearance of a material.
    fn look(&self, material: u16) -> MaterialLook {
        let look = self.looks.get(usize::from(material)).copied();
        look.unwrap_or_else(|| self.palette[usize::from(material)].into())
    }

    fn for_each_mesh(&mut self, change: impl FnMut(&mut Mesh)) {
        self.opaque.iter_mut().chain(&mut self.blended).for_each(change);
    }

    /// Adds ambient occlusion, different for each quad.
    fn darken(&mut self) {
        let mut shade = 0u8;
        self.for_each_mesh(|mesh| {
            for quad in &mut mesh.quads {
                shade = shade.wrapping_mul(5).wrapping_add(93);
                *quad = quad.with_ambient_occlusion(shade);
            }
        });
    }

    fn draw(&self, camera: &Camera, atmosphere: &Atmosphere, [width, height]: [u32; 2]) -> Image {
        self.draw_frame(&Frame::new(camera, atmosphere, width, height), [width, height])
    }

    fn draw_frame(&self, frame: &Frame, [width, height]: [u32; 2]) -> Image {
        let mut device = SoftDevice::new(width, height).unwrap();
        match self.looks.is_empty() {
            true => device.set_palette(&self.palette).unwrap(),
            false => device.set_materials(&self.looks).unwrap(),
        }
        let [opaque, blended] = [&self.opaque, &self.blended].map(|meshes| {
            let quad_count: usize = meshes.iter().map(|mesh| mesh.quads.len()).sum();
            let mut geometry = device
                .create(BufferKind::Quads, quad_count as u32, DrawSlots::New(meshes.len() as u32))
                .unwrap();
            let (mut commands, mut first) = (Vec::new(), 0);
            for (slot, mesh) in (0u32..).zip(meshes) {
                let count = mesh.quads.len() as u32;
                device.write(&mut geometry, first, BufferData::Quads(&mesh.quads));
                device.write(&mut geometry, slot, BufferData::DrawData(&[mesh.data]));
                commands.push(command(first, count, slot));
                first += count;
            }
            (geometry, commands)
        });
        let [opaque, blended] =
            [&opaque, &blended].map(|(geometry, commands)| [Batch::new(geometry, &commands[..])]);
        let passes =
            Passes { opaque: &opaque, blended: &blended, indirect: false, ..Passes::default() };
        device.draw(frame, &passes).unwrap();
        device.finish().unwrap();
        device.read_image().unwrap()
    }
}

/// Draws `count` quads from `first` on.
fn command(first: u32, count: u32, slot: u32) -> DrawCommand {
    DrawCommand {
        index_count: count * 6,
        instance_count: 1,
        first_index: 0,
        base_vertex: first as i32 * 4,
        first_instance: slot,
    }
}

/// A hilly landscape of unit quads, `side` voxels in x and z, with a lake.
fn landscape(side: u32) -> Scene {
    let height = |x: i32, z: i32| {
        let (x, z) = (x as f32, z as f32);
        (9.0 + 5.0 * (x * 0.21).sin() * (z * 0.17).cos() + 3.0 * (x * 0.5 + z * 0.4).sin()) as u32
    };
    let mut scene = Scene {
        palette: vec![[90, 150, 70, 255], [130, 126, 120, 255], [40, 90, 190, 130]],
        ..Scene::default()
    };
    let (mut land, mut lake) = (Vec::new(), Vec::new());
    for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
        let own = height(x as i32, z as i32);
        land.push(Quad::new([x, own, z], [1, 1], Face::PosY, 0));
        for face in [Face::NegX, Face::NegZ, Face::PosX, Face::PosZ] {
            let [dx, _, dz] = face.normal();
            for y in height(x as i32 + dx, z as i32 + dz) + 1..=own {
                land.push(Quad::new([x, y, z], [1, 1], face, 1));
            }
        }
        if own < 7 {
            lake.push(Quad::new([x, 7, z], [1, 1], Face::PosY, 2));
        }
    }
    assert!(!lake.is_empty() && land.len() > (side * side) as usize);
    scene.opaque.push(Mesh::at([-16, 0, -16], land));
    scene.blended.push(Mesh::at([-16, 0, -16], lake));
    scene
}
