use bytemuck::Pod;
use drystone_mesh::{Face, Quad, QuadSink};
use drystone_pool::{MeshHandle, MeshWriter, PoolError};

/// Sink that writes the quads of a mesher into a pool: each face direction becomes one part.
///
/// ```text
///  GreedyMesher::mesh_into ──► QuadWriter ──► MeshWriter ──► mapped buffer, in place
///                                                       └──► block ──► staged writes
/// ```
/// A mesher cannot stop, so an error is kept until [`finish`](Self::finish) returns it. If the
/// reservation is too small, mesh into a [`QuadBuffer`](drystone_mesh::QuadBuffer) and insert that.
///
/// # Examples
/// ```
/// use drystone_mesh::{Face, Quad, QuadSink};
/// use drystone_pool::{Access, PoolConfig, SimulatedGpu, VertexPool};
/// use drystone_render::QuadWriter;
///
/// let mut gpu = SimulatedGpu::new(Access::Direct, 2);
/// let mut pool = VertexPool::<Quad, u32>::new(PoolConfig::default())?;
/// let mut sink = QuadWriter::new(pool.writer(100, &mut gpu)?);
/// sink.push(Quad::new([1, 2, 3], [4, 5], Face::PosY, 6));
/// let mesh = sink.finish(7)?;
/// let part = Face::PosY.index();
/// assert_eq!(pool.ranges_of(mesh).next().map(|range| range.part_counts[part]), Some(1));
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Debug)]
pub struct QuadWriter<'a, D: Pod> {
    writer: MeshWriter<'a, Quad, D>,
    error: Option<PoolError>,
}

impl<'a, D: Pod> QuadWriter<'a, D> {
    /// Creates a sink for a mesh that nothing was written to.
    pub const fn new(writer: MeshWriter<'a, Quad, D>) -> Self {
        Self { writer, error: None }
    }

    /// Finishes the mesh; see [`MeshWriter::finish`].
    ///
    /// # Errors
    /// `Overrun` if there were more quads than the writer reserved; the errors of
    /// [`MeshWriter::finish`]. The pool is then unchanged.
    pub fn finish(self, data: D) -> Result<MeshHandle, PoolError> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.finish(data),
        }
    }

    fn commit_to(&mut self, face: Face, count: usize) -> Result<(), PoolError> {
        while self.writer.part() < face.index() {
            self.writer.end_part()?;
        }
        self.writer.commit(count)
    }
}

impl<D: Pod> QuadSink for QuadWriter<'_, D> {
    fn reserve(&mut self, count: usize) -> &mut [Quad] {
        self.writer.reserve(count)
    }

    fn commit(&mut self, face: Face, count: usize) {
        if self.error.is_none() {
            self.error = self.commit_to(face, count).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_pool::{Access, PoolConfig, SimulatedGpu, VertexPool};

    use super::*;

    #[test]
    fn too_many_quads_are_an_error_at_the_end() {
        let mut gpu = SimulatedGpu::new(Access::Direct, 1);
        let mut pool = VertexPool::<Quad, u32>::new(PoolConfig::fixed(10, 2)).unwrap();
        let old = pool.insert(&[Quad::from_bits(0); 2], &[2], 1, &mut gpu).unwrap();
        for (count, fits) in [(3, true), (4, false)] {
            let mut sink = QuadWriter::new(pool.replacing_writer(old, 3, &mut gpu).unwrap());
            for face in Face::ALL.into_iter().take(count) {
                sink.push(Quad::new([0; 3], [1, 1], face, 1));
            }
            let finished = sink.finish(2);
            assert_eq!(finished.is_ok(), fits);
            assert!(fits || finished == Err(PoolError::Overrun { elements: 3 }));
            let counts = pool.ranges_of(old).next().unwrap().part_counts;
            assert_eq!(counts, [1, 1, 1, 0, 0, 0, 0, 0]);
        }
    }
}
