use bytemuck::Pod;
use drystone_pool::VertexPool;

use super::{CullTable, Source};
use crate::{cull::bounds::CullRecord, error::GpuError};

/// Copy of a table's records that is updated by the table's changes, like the records of a device. For tests
/// of programs that update a table.
#[derive(Debug, Default)]
pub struct CullMirror {
    buffers: Vec<Records>,
}

#[derive(Debug, Default)]
struct Records {
    records: Vec<CullRecord>,
    revision: u64,
}

impl CullMirror {
    /// Copies the records that have changed since the last call.
    ///
    /// # Errors
    /// `OtherPool`.
    pub fn update<V: Pod, D: Pod>(
        &mut self,
        table: &CullTable<D>,
        pool: &VertexPool<V, D>,
    ) -> Result<(), GpuError> {
        table.read(pool, |source| {
            self.buffers.resize_with(table.buffers(), Records::default);
            for (buffer, Records { records, revision }) in self.buffers.iter_mut().enumerate() {
                records.resize(source.entries.records(buffer), CullRecord::empty(u32::MAX));
                source.write_changes(buffer, *revision, |first, changed| {
                    records[first..first + changed.len()].copy_from_slice(changed);
                    Ok(())
                })?;
                *revision = source.entries.revision(buffer);
            }
            Ok(())
        })
    }

    /// Verifies that each copied record is the current one of its mesh.
    ///
    /// # Errors
    /// A description of the first difference.
    pub fn validate<V: Pod, D: Pod>(
        &self,
        table: &CullTable<D>,
        pool: &VertexPool<V, D>,
    ) -> Result<(), &'static str> {
        let is_current = |source: &Source<'_>| {
            self.records().all(|(buffer, index, record)| *record == source.record(buffer, index))
        };
        match table.read(pool, |source| Ok(is_current(source))) {
            Ok(true) => Ok(()),
            Ok(false) => Err("a mesh has changed in the pool and not in the table"),
            Err(_) => Err("the table has meshes of another pool"),
        }
    }

    /// The records, each with its buffer and its index.
    pub(crate) fn records(&self) -> impl Iterator<Item = (usize, usize, &CullRecord)> {
        let buffers = self.buffers.iter().enumerate();
        buffers.flat_map(|(buffer, Records { records, .. })| {
            records.iter().enumerate().map(move |(index, record)| (buffer, index, record))
        })
    }
}
