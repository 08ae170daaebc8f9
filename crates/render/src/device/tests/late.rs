//! A device for tests that runs frames later than they are submitted.

use std::{
    cell::{Ref, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use super::*;
use crate::{draw_data::DrawData, material_look::MaterialLook, passes::Batch, soft::SoftGeometry};

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
    /// Number of writes of per-draw data.
    pub(crate) draw_data_writes: usize,
}

/// A geometry that queued frames keep alive.
type Shared = Rc<RefCell<SoftGeometry>>;

/// The commands of a frame, in order.
enum Work {
    Copy { from: Option<Shared>, to: Shared, copy_range: CopyRange },
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
            Work::Copy { from, to, copy_range } => {
                let from = from.as_ref().map(|from| from.borrow());
                self.soft.copy(from.as_deref(), &mut to.borrow_mut(), copy_range);
            }
            Work::WriteDrawData { geometry, first, data } => {
                let data = BufferData::DrawData(&data);
                self.soft.write(&mut geometry.borrow_mut(), first, data);
            }
            Work::Draw { frame, opaque, blended, indirect } => {
                let [opaque, blended] =
                    [&opaque, &blended].map(|it| it.iter().map(borrow).collect::<Vec<_>>());
                let [opaque, blended] =
                    [&opaque, &blended].map(|it| it.iter().map(batch).collect::<Vec<_>>());
                let passes =
                    Passes { opaque: &opaque, blended: &blended, indirect, ..Passes::default() };
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
    match indices {
        Some(indices) => Batch::indexed(geometry, indices, commands),
        None => Batch::new(geometry, commands),
    }
}

fn owned(batches: &[Batch<'_, Shared>]) -> Vec<Owned> {
    let own = |it: &Batch<'_, Shared>| Owned {
        geometry: Rc::clone(it.geometry),
        indices: it.indices.map(Rc::clone),
        commands: it.commands.to_vec(),
    };
    batches.iter().map(own).collect()
}

impl sealed::Sealed for LateDevice {}

impl Output for LateDevice {
    fn describe(&self) -> String {
        "soft, late".to_owned()
    }

    fn info(&self) -> DeviceInfo {
        DeviceInfo { access: Access::Direct, ..self.soft.info() }
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

    fn set_overlay(&mut self, _: &Overlay) -> Result<(), RenderError> {
        // Frames would have to keep their overlays.
        let reason = "this backend draws no overlays".into();
        Err(RenderError::Device { during: "setting the overlay", reason })
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.soft.set_destination(destination)
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

impl Device for LateDevice {
    type Geometry = Shared;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, Shared>,
    ) -> Result<Shared, RenderError> {
        let geometry = match slots {
            DrawSlots::New(slots) => self.soft.create(kind, count, DrawSlots::New(slots))?,
            DrawSlots::SharedWith(other) => {
                self.soft.create(kind, count, DrawSlots::SharedWith(&*other.borrow()))?
            }
        };
        Ok(Rc::new(RefCell::new(geometry)))
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

    fn write(&mut self, geometry: &mut Shared, first: u32, data: BufferData<'_>) {
        let BufferData::DrawData(data) = data else {
            return self.soft.write(&mut geometry.borrow_mut(), first, data);
        };
        self.draw_data_writes += 1;
        let (geometry, data) = (Rc::clone(geometry), data.to_vec());
        self.pending.push(Work::WriteDrawData { geometry, first, data });
    }

    fn copy(&mut self, from: Option<&Shared>, to: &mut Shared, copy_range: CopyRange) {
        let (from, to) = (from.map(Rc::clone), Rc::clone(to));
        self.pending.push(Work::Copy { from, to, copy_range });
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Shared>,
    ) -> Result<Submitted, RenderError> {
        let Passes { opaque, blended, indirect, .. } = *passes;
        let (opaque, blended) = (owned(opaque), owned(blended));
        self.pending.push(Work::Draw { frame: Box::new(*frame), opaque, blended, indirect });
        self.frames.push_back(std::mem::take(&mut self.pending));
        self.submitted += 1;
        while self.frames.len() > self.frames_in_flight {
            self.run_frame();
        }
        Ok(Submitted { frame: self.submitted, shown: true })
    }

    fn progress(&mut self) -> Progress {
        Progress { completed: self.submitted - self.frames.len() as u64, culled: None }
    }
}
