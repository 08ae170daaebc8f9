//! A device for tests that runs frames later than they are submitted.

use std::{
    cell::{Ref, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use super::*;
use crate::{SoftDevice, SoftGeometry};

/// The software rasteriser behind a queue. Frames run late, while elements are written at once, so
/// that frames that have not run yet see them. A picture that differs from the plain rasteriser's
/// shows that a range was reused too early.
///
/// All frames run before a table of per-draw data is resized.
pub(crate) struct LateDevice {
    soft: SoftDevice,
    frames_in_flight: usize,
    pending: Vec<Work>,
    frames: VecDeque<Vec<Work>>,
    submitted: u64,
    /// The pictures of the frames that have run.
    pub(crate) pictures: Vec<Image>,
    /// Number of calls of [`write_draw_data`](Device::write_draw_data).
    pub(crate) draw_data_writes: usize,
}

/// A geometry that queued frames keep alive.
type Shared = Rc<RefCell<SoftGeometry>>;

/// The commands of a frame, in order.
enum Work {
    Copy { from: (Shared, u32), to: (Shared, u32), count: u32 },
    WriteDrawData { geometry: Shared, first: u32, data: Vec<DrawData> },
    Draw { frame: Box<Frame>, opaque: Vec<Owned>, blended: Vec<Owned>, indirect: bool },
}

/// A batch that owns its commands.
struct Owned {
    geometry: Shared,
    indices: Option<Shared>,
    commands: Vec<DrawCommand>,
}

impl LateDevice {
    pub(crate) fn new(width: u32, height: u32, frames_in_flight: usize) -> Self {
        Self {
            soft: SoftDevice::new(width, height).unwrap(),
            frames_in_flight,
            pending: Vec::new(),
            frames: VecDeque::new(),
            submitted: 0,
            pictures: Vec::new(),
            draw_data_writes: 0,
        }
    }

    fn run_frame(&mut self) {
        for work in self.frames.pop_front().into_iter().flatten() {
            self.run(work);
        }
    }

    fn run(&mut self, work: Work) {
        match work {
            Work::Copy { from: (from, from_first), to: (to, to_first), count } => {
                if Rc::ptr_eq(&from, &to) {
                    let geometry = &mut to.borrow_mut();
                    self.soft.copy_quads_within(geometry, from_first, to_first, count);
                } else {
                    let (from, to) = (from.borrow(), &mut to.borrow_mut());
                    self.soft.copy_quads(&from, from_first, to, to_first, count);
                }
            }
            Work::WriteDrawData { geometry, first, data } => {
                self.soft.write_draw_data(&mut geometry.borrow_mut(), first, &data);
            }
            Work::Draw { frame, opaque, blended, indirect } => {
                let [opaque, blended] =
                    [&opaque, &blended].map(|it| it.iter().map(borrow).collect::<Vec<_>>());
                let [opaque, blended] =
                    [&opaque, &blended].map(|it| it.iter().map(batch).collect::<Vec<_>>());
                let passes = Passes { opaque: &opaque, blended: &blended, indirect };
                self.soft.draw(&frame, &passes).unwrap();
                self.pictures.push(self.soft.read_image().unwrap());
            }
        }
    }
}

/// A batch whose geometries are borrowed.
type Borrowed<'a> = (Ref<'a, SoftGeometry>, Option<Ref<'a, SoftGeometry>>, &'a [DrawCommand]);

fn borrow(batch: &Owned) -> Borrowed<'_> {
    let indices = batch.indices.as_ref().map(|indices| indices.borrow());
    (batch.geometry.borrow(), indices, &batch.commands)
}

fn batch<'a>((geometry, indices, commands): &'a Borrowed<'a>) -> Batch<'a, SoftGeometry> {
    let geometry: &SoftGeometry = geometry;
    Batch { indices: indices.as_deref(), ..Batch::new(geometry, commands) }
}

fn owned(batches: &[Batch<'_, Shared>]) -> Vec<Owned> {
    let own = |it: &Batch<'_, Shared>| Owned {
        geometry: Rc::clone(it.geometry),
        indices: it.indices.map(Rc::clone),
        commands: it.commands.to_vec(),
    };
    batches.iter().map(own).collect()
}

fn shared(geometry: Result<SoftGeometry, RenderError>) -> Result<Shared, RenderError> {
    geometry.map(|it| Rc::new(RefCell::new(it)))
}

impl Device for LateDevice {
    type Geometry = Shared;

    fn describe(&self) -> String {
        "soft, late".to_owned()
    }

    fn access(&self) -> Access {
        Access::Direct
    }

    fn submitted(&self) -> u64 {
        self.submitted
    }

    fn completed(&mut self) -> u64 {
        self.submitted - self.frames.len() as u64
    }

    fn max_quads(&self) -> u32 {
        self.soft.max_quads()
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.soft.set_palette(colors)
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<Shared, RenderError> {
        shared(self.soft.create_geometry(quads, slots))
    }

    fn create_cubes(&mut self, cubes: u32, slots: u32) -> Result<Shared, RenderError> {
        shared(self.soft.create_cubes(cubes, slots))
    }

    fn create_vertices(&mut self, vertices: u32, slots: u32) -> Result<Shared, RenderError> {
        shared(self.soft.create_vertices(vertices, slots))
    }

    fn create_indices(&mut self, indices: u32) -> Result<Shared, RenderError> {
        shared(self.soft.create_indices(indices))
    }

    fn create_sharing(&mut self, other: &Shared, quads: u32) -> Result<Shared, RenderError> {
        shared(self.soft.create_sharing(&other.borrow(), quads))
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut Shared],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.finish()?;
        let mut borrowed: Vec<_> = sharing.iter().map(|it| it.borrow_mut()).collect();
        let mut all: Vec<_> = borrowed.iter_mut().map(|it| &mut **it).collect();
        self.soft.resize_draw_data(&mut all, slots)
    }

    fn write_quads(&mut self, geometry: &mut Shared, first: u32, quads: &[Quad]) {
        self.soft.write_quads(&mut geometry.borrow_mut(), first, quads);
    }

    fn write_cubes(&mut self, geometry: &mut Shared, first: u32, cubes: &[Cube]) {
        self.soft.write_cubes(&mut geometry.borrow_mut(), first, cubes);
    }

    fn write_vertices(&mut self, geometry: &mut Shared, first: u32, vertices: &[TriangleVertex]) {
        self.soft.write_vertices(&mut geometry.borrow_mut(), first, vertices);
    }

    fn write_indices(&mut self, geometry: &mut Shared, first: u32, indices: &[u32]) {
        self.soft.write_indices(&mut geometry.borrow_mut(), first, indices);
    }

    fn copy_quads(
        &mut self,
        from: &Shared,
        from_first: u32,
        to: &mut Shared,
        to_first: u32,
        count: u32,
    ) {
        let (from, to) = ((Rc::clone(from), from_first), (Rc::clone(to), to_first));
        self.pending.push(Work::Copy { from, to, count });
    }

    fn copy_quads_within(
        &mut self,
        geometry: &mut Shared,
        from_first: u32,
        to_first: u32,
        count: u32,
    ) {
        let geometry = || Rc::clone(geometry);
        let (from, to) = ((geometry(), from_first), (geometry(), to_first));
        self.pending.push(Work::Copy { from, to, count });
    }

    fn write_draw_data(&mut self, geometry: &mut Shared, first: u32, data: &[DrawData]) {
        self.draw_data_writes += 1;
        let (geometry, data) = (Rc::clone(geometry), data.to_vec());
        self.pending.push(Work::WriteDrawData { geometry, first, data });
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.soft.resize(width, height)
    }

    fn size(&self) -> [u32; 2] {
        self.soft.size()
    }

    fn draw(&mut self, frame: &Frame, passes: &Passes<'_, Shared>) -> Result<(), RenderError> {
        let Passes { opaque, blended, indirect } = *passes;
        let (opaque, blended) = (owned(opaque), owned(blended));
        self.pending.push(Work::Draw { frame: Box::new(*frame), opaque, blended, indirect });
        self.frames.push_back(std::mem::take(&mut self.pending));
        self.submitted += 1;
        while self.frames.len() > self.frames_in_flight {
            self.run_frame();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        while !self.frames.is_empty() {
            self.run_frame();
        }
        Ok(())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.finish()?;
        self.soft.read_image()
    }
}
