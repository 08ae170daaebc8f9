//! A GPU simulated in memory: the pool's buffers, and a painter that reads draw commands.

use std::collections::BTreeMap;

use bytemuck::Zeroable;
use drystone_pool::{Access, Backend, BackendError, CommandRun, DrawCommand};
use drystone_render::Image;

use super::park::{Sprite, Thing, View};

/// The colour of grass.
const GROUND: [u8; 4] = [104, 142, 78, 255];

/// The pool's buffers and a picture.
pub(crate) struct Painter {
    elements: BTreeMap<u32, Vec<Sprite>>,
    table: Vec<Thing>,
    picture: Image,
}

impl Painter {
    /// A picture of grass.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let picture = Image::new(width, height, GROUND);
        Self { elements: BTreeMap::new(), table: Vec::new(), picture }
    }

    /// The painted picture.
    #[cfg(test)]
    pub(crate) fn image(&self) -> Image {
        self.picture.clone()
    }

    /// The painted picture, when painting is finished.
    pub(crate) fn into_image(self) -> Image {
        self.picture
    }

    /// Fills the picture with grass.
    pub(crate) fn clear(&mut self) {
        self.picture = Image::new(self.picture.width(), self.picture.height(), GROUND);
    }

    /// Draws like a GPU: a command's base vertex is the start of its quads, and its first instance
    /// selects the thing.
    pub(crate) fn paint(&mut self, runs: &[CommandRun], commands: &[DrawCommand], view: &View) {
        for run in runs {
            let Some(elements) = self.elements.remove(&run.buffer) else { continue };
            for command in &commands[run.commands.clone()] {
                let first = command.base_vertex as usize / 4;
                let count = command.index_count as usize / 6;
                let thing = self.table[command.first_instance as usize];
                for sprite in &elements[first..first + count] {
                    self.sprite(sprite, &thing, view);
                }
            }
            self.elements.insert(run.buffer, elements);
        }
    }

    /// Blends one sprite, an ellipse with a soft edge, over the picture.
    pub(crate) fn sprite(&mut self, sprite: &Sprite, thing: &Thing, view: &View) {
        let size = [self.picture.width(), self.picture.height()];
        let [x, y] = [0, 1].map(|axis| {
            let middle = thing.at[axis] - view.corner[axis] + i32::from(sprite.middle[axis]);
            let half = i32::from(sprite.half[axis]);
            let first = (middle - half).clamp(0, size[axis] as i32);
            (middle, half as f32, first..(middle + half + 1).clamp(first, size[axis] as i32))
        });
        let edge = x.1.min(y.1) * 0.5;
        for row in y.2.clone() {
            for column in x.2.clone() {
                let (dx, dy) = ((column - x.0) as f32 / x.1, (row - y.0) as f32 / y.1);
                let cover = ((1.0 - dx * dx - dy * dy) * edge).clamp(0.0, 1.0);
                let alpha = (f32::from(sprite.rgba[3]) * cover) as u32;
                let at = (row as usize * size[0] as usize + column as usize) * 4;
                let pixel = &mut self.picture.rgba_mut()[at..at + 3];
                for (under, over) in pixel.iter_mut().zip(sprite.rgba) {
                    let mixed = u32::from(over) * alpha + u32::from(*under) * (255 - alpha);
                    *under = ((mixed + 127) / 255) as u8;
                }
            }
        }
    }

    fn bytes_of(&mut self, buffer: u32) -> &mut [u8] {
        self.elements.get_mut(&buffer).map_or(&mut [], |it| bytemuck::cast_slice_mut(it))
    }
}

impl Backend for Painter {
    /// The painter is synchronous: no frame is running during writes.
    fn access(&self) -> Access {
        Access::Staged
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        let count = size_bytes as usize / size_of::<Sprite>();
        self.elements.insert(buffer, vec![Sprite::zeroed(); count]);
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.elements.remove(&buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let start = offset_bytes as usize;
        self.bytes_of(buffer)[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let start = from.1 as usize;
        let moved = self.bytes_of(from.0)[start..start + size_bytes as usize].to_vec();
        self.write_elements(to.0, to.1, &moved)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        self.table = vec![Thing::zeroed(); slots as usize];
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        let start = slot as usize * size_of::<Thing>();
        let table: &mut [u8] = bytemuck::cast_slice_mut(&mut self.table);
        table[start..start + bytes.len()].copy_from_slice(bytes);
    }
}
