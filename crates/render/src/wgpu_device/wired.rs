//! Triangles with lines along their edges.
//!
//! ```text
//! commands ─► table: first index, first vertex, slot ─┐
//! a call a command, its number as instance ───────────┴─► corner: its triangle's three indices
//! ```
//! A pixel belongs to a line if it is near an edge, so each corner needs the other two corners. It
//! reads all three indices from the index buffer as a storage buffer.

use bytemuck::{Pod, Zeroable};

use super::{WgpuGeometry, adapter::Opened, pipelines::WiredTriangles};
use crate::{error::RenderError, passes::Batch};

/// Data of a draw, which the shader reads by the draw's number.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct WiredDraw {
    first_index: u32,
    first_vertex: u32,
    slot: u32,
    unused: u32,
}

const _: () = assert!(size_of::<WiredDraw>() == 16);

/// Table of a frame's draws of triangles, reused for its memory. It does not refer to geometries:
/// indices are bound in their own group, so that they are freed with their geometry.
pub(super) struct WiredDraws {
    table: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl WiredDraws {
    /// Uploads the draws of a frame's batches of triangles, and grows the table if needed.
    ///
    /// # Errors
    /// `TooLarge`, `OutOfMemory` or `Lost`.
    pub(super) fn prepare<'a>(
        kept: &mut Option<Self>,
        opened: &Opened,
        pipelines: &WiredTriangles,
        batches: impl Iterator<Item = &'a Batch<'a, WgpuGeometry>>,
    ) -> Result<(), RenderError> {
        let draws: Vec<WiredDraw> = batches.flat_map(draws).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&draws);
        let size = bytes.len().max(size_of::<WiredDraw>()).next_power_of_two() as u64;
        let wired = match kept.take().filter(|it| it.table.size() >= size) {
            Some(wired) => wired,
            None => Self::new(opened, pipelines, size)?,
        };
        opened.gpu.queue.write_buffer(&wired.table, 0, bytes);
        *kept = Some(wired);
        Ok(())
    }

    fn new(opened: &Opened, pipelines: &WiredTriangles, size: u64) -> Result<Self, RenderError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let table = opened.buffer("draws with lines", size, usage)?;
        let group = opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("draws with lines"),
            layout: &pipelines.draws_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: table.as_entire_binding() }],
        });
        Ok(Self { table, group })
    }

    /// Draws a batch whose first draw has the number `next`. Returns the number for the next batch.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        batch: &Batch<'_, WgpuGeometry>,
        indices: &WgpuGeometry,
        mut next: u32,
    ) -> u32 {
        pass.set_bind_group(2, &indices.bind_group, &[]);
        pass.set_bind_group(3, &self.group, &[]);
        for command in batch.commands {
            for _ in 0..command.instance_count {
                pass.draw(0..command.index_count, next..next + 1);
                next += 1;
            }
        }
        next
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
