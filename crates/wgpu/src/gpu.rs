use std::{
    iter::once,
    pin::pin,
    task::{Context, Poll, Waker},
};

use crate::error::GpuError;

/// A device of the caller with its queue. Both are handles: a clone refers to the same device.
///
/// Handlers of errors and of the loss of the device stay the caller's. Errors of the calls below are
/// caught in error scopes and returned, so that no handler receives them.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// The queue.
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// Refers to a device and its queue.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        Self { device: device.clone(), queue: queue.clone() }
    }

    /// Creates a buffer of `size_bytes` bytes, which must be a multiple of 4.
    ///
    /// In a browser errors are reported later: the buffer is returned, and the caller's handlers
    /// receive the error.
    ///
    /// # Errors
    /// `Limit` beyond the device's limits, `OutOfMemory`, `Lost` or `Refused`.
    pub fn buffer(
        &self,
        what: &'static str,
        size_bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.create(what, size_bytes, usage)?;
        // wgpu reports the loss of a device to a handler only, and calls on a lost device do nothing.
        // But staging memory is not created then.
        if !usage.contains(wgpu::BufferUsages::COPY_DST) || size_bytes < 4 {
            return Ok(buffer);
        }
        match self.write(what, &buffer, 0, once(&[0; 4][..])) {
            Err(GpuError::Lost { .. } | GpuError::Refused { .. }) => Err(GpuError::Lost { what }),
            _ => Ok(buffer),
        }
    }

    /// Creates a buffer within the limits. On a lost device it is an invalid one.
    fn create(
        &self,
        what: &'static str,
        size_bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let (limit, allowed) = max_buffer_bytes(&self.device.limits(), usage);
        if size_bytes > allowed {
            return Err(GpuError::Limit { limit, what, needed: size_bytes, allowed });
        }
        self.scope((what, size_bytes), || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(what),
                size: size_bytes,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// Creates a buffer with these bytes, whose number must be a multiple of 4.
    ///
    /// # Errors
    /// The errors of [`buffer`](Self::buffer).
    pub fn filled_buffer(
        &self,
        what: &'static str,
        bytes: &[u8],
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create(what, bytes.len() as u64, usage)?;
        self.write(what, &buffer, 0, once(bytes))?;
        Ok(buffer)
    }

    /// Writes `parts` one after another to `offset_bytes` of a buffer, in queue order.
    ///
    /// # Errors
    /// `Lost`; `OutOfMemory` without staging memory; `Refused` beyond the end of the buffer.
    pub fn write<'a>(
        &self,
        what: &'static str,
        buffer: &wgpu::Buffer,
        offset_bytes: u64,
        parts: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<(), GpuError> {
        let size_bytes = parts.clone().map(|part| part.len() as u64).sum();
        let Some(size) = wgpu::BufferSize::new(size_bytes) else { return Ok(()) };
        let is_written = self.scope((what, size_bytes), || {
            let view = self.queue.write_buffer_with(buffer, offset_bytes, size);
            let Some(mut view) = view else { return false };
            let mut start = 0;
            for part in parts {
                view.slice(start..start + part.len()).copy_from_slice(part);
                start += part.len();
            }
            true
        })?;
        if is_written { Ok(()) } else { Err(GpuError::Lost { what }) }
    }

    /// Whether one indirect call can draw many commands that pass their slots to shaders.
    ///
    /// On Direct3D 12 indirect commands reach shaders without base vertex and first instance unless
    /// wgpu rewrites them, which costs more than it saves. Browsers have no multi-draw, and validate
    /// each indirect command in its own compute pass.
    pub fn draws_indirectly(&self) -> bool {
        Self::draws_indirectly_on(&self.device)
    }

    pub(crate) fn draws_indirectly_on(device: &wgpu::Device) -> bool {
        let single_calls = [wgpu::Backend::Dx12, wgpu::Backend::BrowserWebGpu];
        device.features().contains(wgpu::Features::INDIRECT_FIRST_INSTANCE)
            && !single_calls.contains(&device.adapter_info().backend)
    }

    /// Runs calls that create or write `what`, of `size_bytes` bytes, in error scopes. In a browser
    /// there are no scopes, because their results arrive too late: the caller's handlers receive errors.
    ///
    /// # Errors
    /// `OutOfMemory` or `Refused`, the first error that the calls caused.
    pub fn scope<T>(
        &self,
        (what, size_bytes): (&'static str, u64),
        calls: impl FnOnce() -> T,
    ) -> Result<T, GpuError> {
        if cfg!(target_arch = "wasm32") {
            return Ok(calls());
        }
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let done = calls();
        let refused = now(validation.pop());
        if now(memory.pop()).is_some() {
            return Err(GpuError::OutOfMemory { what, requested_bytes: size_bytes });
        }
        match refused {
            Some(error) => Err(GpuError::Refused { what, reason: one_line(&error.to_string()) }),
            None => Ok(done),
        }
    }
}

/// Maximum size of a buffer with this usage, in bytes, with the name of the limit.
pub(crate) fn max_buffer_bytes(
    limits: &wgpu::Limits,
    usage: wgpu::BufferUsages,
) -> (&'static str, u64) {
    let binding = limits.max_storage_buffer_binding_size;
    if usage.contains(wgpu::BufferUsages::STORAGE) && binding < limits.max_buffer_size {
        ("max_storage_buffer_binding_size", binding)
    } else {
        ("max_buffer_size", limits.max_buffer_size)
    }
}

/// The result of an error scope, which is known at once outside of browsers.
fn now(result: impl Future<Output = Option<wgpu::Error>>) -> Option<wgpu::Error> {
    match pin!(result).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(error) => error,
        Poll::Pending => None,
    }
}

/// Joins a driver's message into one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
