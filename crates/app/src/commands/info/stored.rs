use std::fmt;

use drystone_formats::Source;
use drystone_store::{StoredSummary, StoredWorld};
use drystone_voxel::ChunkBox;
use serde_json::{Value, json};

use crate::{output::plain, report::MaterialVoxels};

/// Contents of a stored world, for `info`, read without loading it.
pub(super) struct StoredReport<'a> {
    pub(super) world: &'a StoredWorld,
    pub(super) summary: StoredSummary,
}

impl StoredReport<'_> {
    fn bytes_per_chunk(&self) -> u64 {
        self.summary.file_bytes / self.summary.chunk_count.max(1)
    }

    fn materials(&self) -> MaterialVoxels<'_> {
        MaterialVoxels { table: self.world.materials(), counts: (&self.summary.voxels).into() }
    }

    fn voxel_count(&self) -> u64 {
        self.summary.voxels.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn to_json(&self) -> Value {
        let StoredSummary { version, revision, chunk_count, extent, file_bytes, lost, .. } =
            &self.summary;
        json!({
            "source": self.world.name(),
            "file": self.world.path().display().to_string(),
            "version": version,
            "revision": revision,
            "chunks": chunk_count,
            "chunks_damaged": lost,
            "size_chunks": extent.map_or([0; 3], |extent| extent.size_chunks()),
            "file_bytes": file_bytes,
            "bytes_per_chunk": self.bytes_per_chunk(),
            "voxels": self.voxel_count(),
            "materials": self.materials().to_json(),
        })
    }
}

impl fmt::Display for StoredReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoredSummary { version, revision, chunk_count, extent, file_bytes, lost, .. } =
            &self.summary;
        let [x, y, z] = extent.as_ref().map_or([0; 3], ChunkBox::size_chunks);
        writeln!(f, "{}", plain(self.world.name()))?;
        writeln!(f, "  file      {}", plain(&self.world.path().display().to_string()))?;
        writeln!(f, "  version   {version}, revision {revision}")?;
        writeln!(f, "  size      {x} x {y} x {z} chunks")?;
        writeln!(f, "  chunks    {chunk_count}, {lost} damaged")?;
        writeln!(f, "  disk      {file_bytes} bytes, {} per chunk", self.bytes_per_chunk())?;
        writeln!(f, "  voxels    {}", self.voxel_count())?;
        self.materials().fmt(f)
    }
}
