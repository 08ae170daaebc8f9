use alloc::vec::Vec;
use core::marker::PhantomData;

use bytemuck::Pod;
use drystone_alloc::{Error, Handle, RangeHandle, RangeSpace, Slots};

use crate::{Backend, DrawCommand, MAX_PARTS, PartSet, PoolError};

/// How large a pool is and how its elements become indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Elements that the buffer holds. Default 65,536.
    pub capacity: u32,
    /// Meshes that the table of per-draw data holds. Default 4,096.
    pub slot_capacity: u32,
    /// Indices that draw one element. Default 6: two triangles a quad.
    pub indices_per_element: u32,
    /// Vertices that the index pattern counts per element. Default 4: a quad's corners.
    pub vertices_per_element: u32,
    /// Elements that the shared index pattern covers; longer runs become several commands.
    /// Default 98,304, the faces of a checkerboard of 32³.
    pub pattern_elements: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            capacity: 1 << 16,
            slot_capacity: 1 << 12,
            indices_per_element: 6,
            vertices_per_element: 4,
            pattern_elements: 98_304,
        }
    }
}

/// Names one mesh of a [`VertexPool`]; stale once it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshHandle(Handle<Mesh>);

/// One mesh: where it lies and where its parts end.
#[derive(Clone, Debug)]
struct Mesh {
    place: Option<RangeHandle>,
    first: u32,
    /// Where each part ends, counted from `first`. Unused parts end where the last does.
    ends: [u32; MAX_PARTS],
    /// The parts that have elements, one bit each.
    filled: u8,
}

/// Figures of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Meshes in the pool.
    pub meshes: u32,
    /// Elements in meshes.
    pub used: u32,
    /// Elements in free places.
    pub free: u32,
    /// The largest free place, in elements.
    pub largest_free: u32,
    /// Bytes of the whole element buffer.
    pub capacity_bytes: u64,
    /// Bytes of elements in meshes.
    pub used_bytes: u64,
}

/// Places meshes of elements `V` with per-draw data `D` in one buffer.
///
/// # Cost
/// Insert, replace and remove are one allocation each (see `RangeSpace`) and one copy to
/// the backend. The pool keeps `D` and a few words a mesh, never the elements.
pub struct VertexPool<V, D> {
    config: Config,
    places: RangeSpace,
    meshes: Slots<Mesh>,
    /// Per-draw data by slot.
    data: Vec<D>,
    /// Counts every change that may invalidate built commands.
    revision: u64,
    elements: PhantomData<fn(V)>,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// An empty pool. The backend's buffers must be as large as `config` says.
    ///
    /// # Errors
    /// `TooLarge` when a base vertex would not fit 31 bits.
    pub fn new(config: Config) -> Result<Self, PoolError> {
        let limit = i32::MAX as u32 / config.vertices_per_element.max(1);
        if config.capacity > limit {
            return Err(PoolError::TooLarge { capacity: config.capacity, limit });
        }
        Ok(Self {
            config: Config { pattern_elements: config.pattern_elements.max(1), ..config },
            places: RangeSpace::new(config.capacity),
            meshes: Slots::new(),
            data: Vec::new(),
            revision: 0,
            elements: PhantomData,
        })
    }

    /// How the pool was made.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Places a mesh: `elements` cut into parts of `part_counts` elements each, and its
    /// per-draw data. A mesh of no elements is a mesh that draws nothing.
    ///
    /// # Errors
    /// `Full`, `SlotsFull` or `PartsMismatch`; the pool is then as it was.
    pub fn insert(
        &mut self,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshHandle, PoolError> {
        if self.meshes.len() >= self.config.slot_capacity {
            return Err(PoolError::SlotsFull { capacity: self.config.slot_capacity });
        }
        let mesh = self.place(elements, part_counts)?;
        let first = mesh.first;
        let handle = self.meshes.insert(mesh).map_err(|mesh| {
            self.give_back(&mesh);
            PoolError::SlotsFull { capacity: self.config.slot_capacity }
        })?;
        if self.data.len() <= handle.index() as usize {
            self.data.resize(handle.index() as usize + 1, D::zeroed());
        }
        self.upload(handle, first, elements, data, backend);
        Ok(MeshHandle(handle))
    }

    /// Puts another mesh in the place of `handle`, which stays valid. The new mesh is
    /// placed before the old one is given up, so that nothing is lost when it does not fit.
    ///
    /// # Errors
    /// `Stale`, `Full` or `PartsMismatch`; the old mesh then stays.
    pub fn replace(
        &mut self,
        handle: MeshHandle,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        self.meshes.get(handle.0).ok_or(PoolError::Stale)?;
        let mesh = self.place(elements, part_counts)?;
        let first = mesh.first;
        if let Some(slot) = self.meshes.get_mut(handle.0) {
            let old = core::mem::replace(slot, mesh);
            self.give_back(&old);
        }
        self.upload(handle.0, first, elements, data, backend);
        Ok(())
    }

    /// Removes a mesh; draw lists drop it by themselves.
    ///
    /// # Errors
    /// `Stale` when it was removed before.
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        let mesh = self.meshes.remove(handle.0).ok_or(PoolError::Stale)?;
        self.give_back(&mesh);
        self.revision += 1;
        Ok(())
    }

    /// The mesh's per-draw data, or `None` when the handle is stale.
    #[inline]
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.meshes.get(handle.0)?;
        self.data.get(handle.0.index() as usize)
    }

    /// The figures.
    pub fn stats(&self) -> PoolStats {
        let places = self.places.stats();
        let size_bytes = size_of::<V>() as u64;
        PoolStats {
            meshes: self.meshes.len(),
            used: places.used,
            free: places.free,
            largest_free: places.largest_free,
            capacity_bytes: u64::from(places.capacity) * size_bytes,
            used_bytes: u64::from(places.used) * size_bytes,
        }
    }

    /// Rises with every change that may invalidate masks, orders and commands made before.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Hands each run of the mesh's `parts` to `emit` as a command; does nothing for a
    /// stale handle.
    ///
    /// A run goes from a visible part to before the next hidden one; empty parts are
    /// neither. So there is one step a run, not one a part.
    #[inline]
    pub(crate) fn emit_commands(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        mut emit: impl FnMut(DrawCommand),
    ) {
        let Some(mesh) = self.meshes.get(handle.0) else { return };
        let mut visible = u32::from(mesh.filled & parts.bits());
        let hidden = u32::from(mesh.filled & !parts.bits()) | 1 << MAX_PARTS;
        while visible != 0 {
            let first = visible.trailing_zeros();
            let passed = !0 << first;
            let stop = (hidden & passed).trailing_zeros();
            let start = if first == 0 { 0 } else { mesh.ends[first as usize - 1] };
            self.emit_run(mesh.first, start..mesh.ends[stop as usize - 1], handle, &mut emit);
            visible &= !0 << stop;
        }
    }

    /// One command for elements `run` of the mesh at `first`, or several where the index
    /// pattern is shorter.
    #[inline]
    fn emit_run(
        &self,
        first: u32,
        mut run: core::ops::Range<u32>,
        handle: MeshHandle,
        emit: &mut impl FnMut(DrawCommand),
    ) {
        while !run.is_empty() {
            let count = (run.end - run.start).min(self.config.pattern_elements);
            emit(DrawCommand {
                index_count: count * self.config.indices_per_element,
                instance_count: 1,
                first_index: 0,
                base_vertex: ((first + run.start) * self.config.vertices_per_element) as i32,
                first_instance: handle.0.index(),
            });
            run.start += count;
        }
    }

    fn place(&mut self, elements: &[V], part_counts: &[u32]) -> Result<Mesh, PoolError> {
        let counted: u64 = part_counts.iter().map(|&count| u64::from(count)).sum();
        if part_counts.len() > MAX_PARTS || counted != elements.len() as u64 {
            let (elements, parts) = (elements.len(), part_counts.len());
            return Err(PoolError::PartsMismatch { elements, counted, parts });
        }
        let Ok(size) = u32::try_from(counted) else {
            return Err(full(self.places.stats().full(counted)));
        };
        let mut mesh = Mesh { place: None, first: 0, ends: [size; MAX_PARTS], filled: 0 };
        let mut end = 0;
        for (part, &count) in part_counts.iter().enumerate() {
            end += count;
            mesh.ends[part] = end;
            mesh.filled |= u8::from(count > 0) << part;
        }
        if size > 0 {
            let place = self.places.allocate(size).map_err(full)?;
            mesh.first = self.places.range(place).map_or(0, |range| range.start);
            mesh.place = Some(place);
        }
        Ok(mesh)
    }

    fn give_back(&mut self, mesh: &Mesh) {
        if let Some(place) = mesh.place {
            let freed = self.places.free(place);
            debug_assert!(freed.is_ok(), "a live mesh owns its place");
        }
    }

    fn upload(
        &mut self,
        handle: Handle<Mesh>,
        first: u32,
        elements: &[V],
        data: D,
        backend: &mut impl Backend,
    ) {
        self.data[handle.index() as usize] = data;
        if !elements.is_empty() {
            let offset_bytes = u64::from(first) * size_of::<V>() as u64;
            backend.write_elements(offset_bytes, bytemuck::cast_slice(elements));
        }
        backend.write_draw_data(handle.index(), bytemuck::bytes_of(&data));
        self.revision += 1;
    }
}

/// The range space's refusal in the pool's words.
fn full(error: Error) -> PoolError {
    match error {
        Error::Full { requested, largest_free, total_free } => {
            PoolError::Full { requested, largest_free, total_free }
        }
        _ => PoolError::Full { requested: 0, largest_free: 0, total_free: 0 },
    }
}
