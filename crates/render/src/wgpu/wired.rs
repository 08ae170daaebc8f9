//! Triangles with lines along their edges.
//!
//! ```text
//!  commands ─► table: first index, first vertex, slot ─┐
//!  a call a command, its number as instance ───────────┴─► corner: its triangle's three indices
//! ```
//! A line is where a pixel is near an edge, so a corner has to know the other two: it reads all
//! three indices from the buffer that triangles are else drawn by.

use bytemuck::{Pod, Zeroable};

use super::{WgpuGeometry, adapter::Opened, geometry, pipelines::WiredTriangles};
use crate::{Batch, RenderError};

/// A draw as the shader finds it by its number.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct WiredDraw {
    first_index: u32,
    first_vertex: u32,
    slot: u32,
    unused: u32,
}

const _: () = assert!(size_of::<WiredDraw>() == 16);

/// What a frame's triangles are found by. Kept for its memory.
pub(super) struct WiredDraws {
    table: wgpu::Buffer,
    /// For each batch, in order.
    groups: Vec<wgpu::BindGroup>,
}

/// The next batch, and the number of its first draw.
#[derive(Clone, Copy, Default)]
pub(super) struct WiredCursor {
    batch: usize,
    draw: u32,
}

impl WiredDraws {
    /// Uploads what a frame's batches of triangles need, making room if there is too little.
    ///
    /// # Errors
    /// `TooLarge`, `OutOfMemory` or `Lost`.
    pub(super) fn prepare<'a>(
        kept: &mut Option<Self>,
        opened: &Opened,
        pipelines: &WiredTriangles,
        batches: impl Iterator<Item = &'a Batch<'a, WgpuGeometry>> + Clone,
    ) -> Result<(), RenderError> {
        let draws: Vec<WiredDraw> = batches.clone().flat_map(draws).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&draws);
        let size = bytes.len().max(size_of::<WiredDraw>()).next_power_of_two() as u64;
        let mut wired = match kept.take().filter(|it| it.table.size() >= size) {
            Some(wired) => wired,
            None => {
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
                let table = geometry::buffer(opened, "draws with lines", size, usage)?;
                Self { table, groups: Vec::new() }
            }
        };
        opened.queue.write_buffer(&wired.table, 0, bytes);
        let indices = batches.filter_map(|batch| batch.indices);
        let group = |indices: &WgpuGeometry| {
            opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("wired triangles"),
                layout: &pipelines.layout,
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: indices.binding() },
                    wgpu::BindGroupEntry { binding: 1, resource: wired.table.as_entire_binding() },
                ],
            })
        };
        wired.groups = indices.map(group).collect();
        *kept = Some(wired);
        Ok(())
    }

    /// Draws the next of the batches that were prepared for.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        batch: &Batch<'_, WgpuGeometry>,
        cursor: &mut WiredCursor,
    ) {
        let Some(group) = self.groups.get(cursor.batch) else { return };
        cursor.batch += 1;
        pass.set_bind_group(2, group, &[]);
        for command in batch.commands {
            for _ in 0..command.instance_count {
                pass.draw(0..command.index_count, cursor.draw..cursor.draw + 1);
                cursor.draw += 1;
            }
        }
    }
}

/// The draws of a batch.
fn draws<'a>(batch: &'a Batch<'a, WgpuGeometry>) -> impl Iterator<Item = WiredDraw> {
    batch.commands.iter().flat_map(|command| {
        (0..command.instance_count).map(|instance| WiredDraw {
            first_index: command.first_index,
            first_vertex: command.base_vertex as u32,
            slot: command.first_instance + instance,
            unused: 0,
        })
    })
}
