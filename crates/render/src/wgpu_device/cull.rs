//! Culling of a device's pictures, by the depth that they are drawn with.

use drystone_wgpu::{CullDepth, CullList, Culler, GpuError};

use super::{WgpuGeometry, adapter::Opened};
use crate::{
    cull::{CullCounts, Culled},
    error::RenderError,
    passes::{Batch, Passes},
};

/// Culls the meshes of pictures. Created when the first frame needs it.
pub(super) struct PictureCuller {
    culler: Culler,
    /// Maximum number of commands of a call whose count is read by the GPU; 0 if the GPU reads no
    /// counts.
    pub(super) max_counted: u32,
}

/// Reason why a device cannot cull; `None` if it can.
pub(super) fn missing(opened: &Opened) -> Option<&'static str> {
    match Culler::check(&opened.gpu.device) {
        Ok(()) => None,
        Err(GpuError::Unsupported { reason, .. }) => Some(reason),
        Err(GpuError::Limit { limit: "max_compute_workgroups_per_dimension", .. }) => {
            Some("the adapter has no compute shaders")
        }
        Err(_) => Some("the adapter's compute shaders have too few buffers or lanes"),
    }
}

impl PictureCuller {
    pub(super) fn new(opened: &Opened) -> Result<Self, RenderError> {
        let culler = Culler::new(&opened.gpu.device, &opened.gpu.queue)?;
        Ok(Self { culler, max_counted: Culler::MAX_COUNTED })
    }

    /// Uploads the changes since the last frame: meshes, view, picture. Keeps what a lent picture
    /// before reads, because the caller submits it later.
    pub(super) fn prepare(
        &mut self,
        (culled, passes): (&Culled<'_, WgpuGeometry>, &Passes<'_, WgpuGeometry>),
        depth: CullDepth<'_>,
        was_lent: bool,
    ) -> Result<(), RenderError> {
        // Either the GPU reads the numbers of commands for all calls of a frame, or for none.
        let limit = self.max_counted as usize;
        let can_count = passes.batches().all(|batch: &Batch<'_, _>| batch.commands.len() <= limit);
        self.culler.set_max_counted(if can_count { self.max_counted } else { 0 });
        if was_lent {
            self.culler.renew()?;
        }
        let Culled { table, pool, view, .. } = culled;
        Ok(self.culler.prepare_by_depth(table, pool, view, depth)?)
    }

    /// Whether the GPU reads the number of commands.
    pub(super) const fn is_counted(&self) -> bool {
        self.culler.is_counted()
    }

    /// Encodes the compute pass that builds a list of commands.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        list: CullList,
    ) -> Result<(), RenderError> {
        Ok(self.culler.encode(encoder, list)?)
    }

    /// Draws a computed list with one call for each buffer.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        culled: &Culled<'_, WgpuGeometry>,
        list: CullList,
    ) -> Result<(), RenderError> {
        let drawn = self.culler.draw::<RenderError>(pass, list, |pass, buffer| {
            let geometry = culled.geometries.get(buffer as usize).copied().flatten();
            if let Some(geometry) = geometry {
                pass.set_bind_group(1, &geometry.bind_group, &[]);
            }
            Ok(geometry.is_some())
        });
        drawn.map(|_| ())
    }

    /// Encodes a copy of this frame's totals to memory that the CPU can read, unless too many
    /// frames are in flight.
    pub(super) fn encode_counts(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        frame: u64,
    ) -> Result<(), RenderError> {
        Ok(self.culler.encode_counts(encoder, frame)?)
    }

    /// Counts of the last frame whose totals have arrived. They arrive while the device is polled.
    pub(super) fn counts(&mut self) -> Option<CullCounts> {
        let drystone_wgpu::CullCounts { frame, commands, meshes, elements, .. } =
            self.culler.counts()?;
        Some(CullCounts { frame, commands, meshes, quads: elements })
    }
}

/// Checks that every mesh stays within its geometry, which the GPU does not check.
pub(super) fn check(culled: &Culled<'_, WgpuGeometry>) -> Result<(), RenderError> {
    let Culled { table, pool, .. } = *culled;
    for buffer in 0..table.buffers() {
        let geometry = culled.geometries.get(buffer).copied().flatten();
        let [quads, slots] =
            geometry.map_or([0; 2], |geometry| [geometry.capacity, geometry.slot_capacity()]);
        if !table.is_within(pool, buffer, quads, slots) {
            return Err(RenderError::Device {
                during: "checking meshes to cull",
                reason: format!("a mesh reaches outside buffer {buffer} of {quads} quads"),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
