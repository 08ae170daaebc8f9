//! A device that refuses the renderer's requests for memory: every refusal is an error, and no cube
//! is lost.

use std::{cell::Cell, rc::Rc};

use drystone_mesh::Cube;

use super::*;
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::{Destination, Progress, sealed::Sealed},
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    samples::Samples,
    soft::SoftGeometry,
};

/// Counts the requests for memory, and limits them.
#[derive(Clone, Default)]
struct RequestLimit {
    /// Number of requests that will still be granted.
    left: Rc<Cell<u32>>,
    /// Number of requests made.
    requested: Rc<Cell<u32>>,
}

impl RequestLimit {
    fn request(&self) -> Result<(), RenderError> {
        self.requested.set(self.requested.get() + 1);
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let reason = "the test grants no more".into();
                Err(RenderError::OutOfMemory { requested_bytes: 1, reason })
            }
        }
    }
}

/// The software rasteriser, which checks the limit before it allocates.
struct Refusing {
    soft: SoftDevice,
    limit: RequestLimit,
}

impl Sealed for Refusing {}

impl Output for Refusing {
    fn describe(&self) -> String {
        self.soft.describe()
    }

    fn info(&self) -> DeviceInfo {
        self.soft.info()
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.soft.set_materials(materials)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.soft.resize(width, height)
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.soft.set_samples(samples)
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.soft.set_overlay(overlay)
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.soft.set_destination(destination)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.soft.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.soft.read_image()
    }
}

impl Device for Refusing {
    type Geometry = SoftGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, SoftGeometry>,
    ) -> Result<SoftGeometry, RenderError> {
        self.limit.request()?;
        self.soft.create(kind, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut SoftGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.limit.request()?;
        self.soft.resize_draw_data(sharing, slots)
    }

    fn write(&mut self, geometry: &mut SoftGeometry, first: u32, data: BufferData<'_>) {
        self.soft.write(geometry, first, data);
    }

    fn copy(&mut self, from: Option<&SoftGeometry>, to: &mut SoftGeometry, copy_range: CopyRange) {
        self.soft.copy(from, to, copy_range);
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, SoftGeometry>,
    ) -> Result<Submitted, RenderError> {
        self.soft.draw(frame, passes)
    }

    fn progress(&mut self) -> Progress {
        self.soft.progress()
    }
}

/// A renderer whose device grants `left` requests, and the remaining limit.
fn refusing(left: u32) -> (InstancedRenderer<Refusing>, RequestLimit) {
    let limit = RequestLimit::default();
    limit.left.set(left);
    let device = Refusing { soft: SoftDevice::new(160, 120).unwrap(), limit: limit.clone() };
    let mut renderer = InstancedRenderer::new(device, SlotPolicy::Lowest).unwrap();
    renderer.set_palette(&PALETTE).unwrap();
    (renderer, limit)
}

fn image(renderer: &mut InstancedRenderer<Refusing>) -> Image {
    renderer.draw(&close_view()).unwrap();
    renderer.read_image().unwrap()
}

/// A cube that `close_view` sees.
fn seen(region: RegionId) -> Cube {
    Cube::new([20, 20, 20], FaceSet::ALL, 1, region.slot())
}

fn is_out_of_memory<T>(result: &Result<T, RenderError>) -> bool {
    matches!(result, Err(RenderError::OutOfMemory { .. }))
}

/// The first cube is refused; a later one is not.
#[test]
fn a_first_cube_that_is_refused_leaves_nothing() {
    let (mut renderer, limit) = refusing(0);
    let region = renderer.insert_region(data_at(0)).unwrap();
    assert!(is_out_of_memory(&renderer.insert_cube(seen(region))));
    assert!(renderer.cubes.is_empty() && renderer.cubes.validate().is_ok());
    assert_eq!(renderer.held().reserved_bytes, 0);
    let sky = image(&mut renderer);
    // The region contains no cube without a known id.
    renderer.remove_region(region).unwrap();
    limit.left.set(1);
    let region = renderer.insert_region(data_at(0)).unwrap();
    renderer.insert_cube(seen(region)).unwrap();
    assert!(sky.difference(&image(&mut renderer), 2).unwrap().pixels > 20);
}

/// A full segment: one more cube is refused. Existing cubes remain, can be changed and removed, and
/// their slots are reused.
#[test]
fn a_full_segment_keeps_its_cubes() {
    let (mut renderer, limit) = refusing(1);
    let region = renderer.insert_region(data_at(0)).unwrap();
    let hidden = Cube::new([0; 3], FaceSet::EMPTY, 1, region.slot());
    let first = renderer.insert_cube(seen(region)).unwrap();
    let capacity = renderer.held().reserved_bytes / size_of::<Cube>() as u64;
    for _ in 1..capacity {
        renderer.insert_cube(hidden).unwrap();
    }
    let before = image(&mut renderer);
    for _ in 0..3 {
        assert!(is_out_of_memory(&renderer.insert_cube(seen(region))));
    }
    assert_eq!((u64::from(renderer.cubes.len()), renderer.cubes.validate()), (capacity, Ok(())));
    assert!(image(&mut renderer) == before);
    // A removed cube's slot is reused.
    assert_eq!(renderer.remove_cube(first).unwrap(), seen(region));
    assert!(image(&mut renderer) != before);
    renderer.insert_cube(seen(region)).unwrap();
    assert!(image(&mut renderer) == before);
    // When the device has memory again, cubes can be inserted.
    limit.left.set(1);
    renderer.insert_cube(hidden).unwrap();
    assert_eq!(renderer.held().reserved_bytes, 2 * capacity * 8);
    assert!(image(&mut renderer) == before);
}

/// A mesh whose last cubes do not fit is not inserted partially. A failed replacement leaves the
/// old mesh unchanged.
#[test]
fn a_mesh_that_does_not_fit_changes_nothing() {
    let (mut renderer, limit) = refusing(1);
    let quads = [Quad::new([8, 20, 8], [24, 24], Face::PosY, 1)];
    let small = [Quad::new([8, 20, 8], [24, 23], Face::PosY, 2)];
    let mesh = |quads| MeshData {
        quads,
        counts: [0, 0, 0, 0, 1, 0],
        draw_data: data_at(0),
        layer: Layer::Opaque,
    };
    let id = renderer.insert(&mesh(&small)).unwrap();
    let region = renderer.insert_region(data_at(9000)).unwrap();
    let capacity = renderer.held().reserved_bytes / size_of::<Cube>() as u64;
    while u64::from(renderer.cubes.len()) < capacity - 5 {
        renderer.insert_cube(seen(region)).unwrap();
    }
    let (before, held) = (image(&mut renderer), renderer.held());
    assert!(is_out_of_memory(&renderer.insert(&mesh(&quads))));
    assert!(is_out_of_memory(&renderer.replace(id, &mesh(&quads))));
    assert_eq!((renderer.held(), renderer.cubes.validate()), (held, Ok(())));
    assert!(image(&mut renderer) == before);
    limit.left.set(1);
    renderer.replace(id, &mesh(&quads)).unwrap();
    assert!(image(&mut renderer) != before);
    renderer.remove(id).unwrap();
}

/// The table of regions cannot grow: the new region is refused, and all others keep their origins.
#[test]
fn a_region_that_is_refused_leaves_the_others() {
    let (mut renderer, limit) = refusing(1);
    let first = renderer.insert_region(data_at(0)).unwrap();
    renderer.insert_cube(seen(first)).unwrap();
    let before = image(&mut renderer);
    let mut count = 1;
    let refused = loop {
        match renderer.insert_region(data_at(9000)) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(is_out_of_memory::<()>(&Err(refused)) && count > 1);
    assert!(image(&mut renderer) == before);
    // A mesh needs its own region.
    let quads = [Quad::new([8, 20, 8], [24, 24], Face::PosY, 1)];
    let (counts, layer) = ([0, 0, 0, 0, 1, 0], Layer::Opaque);
    let mesh = MeshData { quads: &quads, counts, draw_data: data_at(0), layer };
    assert!(is_out_of_memory(&renderer.insert(&mesh)));
    assert_eq!((renderer.cubes.len(), renderer.held().meshes), (1, 0));
    assert!(image(&mut renderer) == before);
    limit.left.set(1);
    let next = renderer.insert_region(data_at(0)).unwrap();
    assert_eq!(next.slot(), count);
    assert!(image(&mut renderer) == before, "the table that came keeps the capacity");
}

/// Translucent meshes have their own buffers.
#[test]
fn a_translucent_mesh_that_is_refused_leaves_nothing() {
    let (mut renderer, limit) = refusing(0);
    let quads = [Quad::new([8, 20, 8], [24, 24], Face::PosY, 1)];
    let (counts, layer) = ([0, 0, 0, 0, 1, 0], Layer::Blended);
    let mesh = MeshData { quads: &quads, counts, draw_data: data_at(0), layer };
    let refused = renderer.insert(&mesh);
    assert!(refused.is_err() && limit.requested.get() > 0);
    assert_eq!(renderer.held().meshes, 0);
    let sky = image(&mut renderer);
    limit.left.set(9);
    renderer.insert(&mesh).unwrap();
    assert!(image(&mut renderer) != sky);
}
