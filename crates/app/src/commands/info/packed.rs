use std::fmt;

use drystone_formats::Source;
use drystone_store::{PackedLevel, PackedWorld};
use drystone_voxel::ChunkBox;
use serde_json::{Value, json};

use crate::output::plain;

/// Contents of a packed world, for `info`, from its header alone.
pub(super) struct PackedReport<'a>(pub(super) &'a PackedWorld);

impl PackedReport<'_> {
    fn bytes_per_chunk(&self) -> u64 {
        self.0.file_bytes() / self.0.chunk_count().max(1)
    }

    /// Number of materials that chunks can contain.
    fn material_count(&self) -> usize {
        self.0.materials().iter().skip(1).filter(|(_, kind)| !kind.is_placeholder()).count()
    }

    pub(super) fn to_json(&self) -> Value {
        let level = |it: PackedLevel| json!({"level": it.level, "groups": it.group_count, "bytes": it.record_bytes});
        json!({
            "source": self.0.name(),
            "file": self.0.path().display().to_string(),
            "version": self.0.version(),
            "checksum": format!("{:032x}", self.0.checksum()),
            "part": self.0.part().map(|part| [part.index(), part.count()]),
            "chunks": self.0.chunk_count(),
            "size_chunks": self.0.extent().map_or([0; 3], |extent| extent.size_chunks()),
            "file_bytes": self.0.file_bytes(),
            "bytes_before_records": self.0.front_bytes(),
            "bytes_per_chunk": self.bytes_per_chunk(),
            "levels": self.0.levels().into_iter().map(level).collect::<Vec<_>>(),
            "material_count": self.material_count(),
        })
    }
}

impl fmt::Display for PackedReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.extent().as_ref().map_or([0; 3], ChunkBox::size_chunks);
        writeln!(f, "{}", plain(self.0.name()))?;
        writeln!(f, "  file      {}", plain(&self.0.path().display().to_string()))?;
        writeln!(f, "  version   {}, checksum {:032x}", self.0.version(), self.0.checksum())?;
        if let Some(part) = self.0.part() {
            writeln!(f, "  part      {} of {}", part.index(), part.count())?;
        }
        writeln!(f, "  size      {x} x {y} x {z} chunks")?;
        writeln!(f, "  chunks    {}", self.0.chunk_count())?;
        let (bytes, front) = (self.0.file_bytes(), self.0.front_bytes());
        let each = self.bytes_per_chunk();
        writeln!(f, "  bytes     {bytes}, {each} per chunk; {front} before the records")?;
        for PackedLevel { level, group_count, record_bytes, .. } in self.0.levels() {
            writeln!(f, "  level {level:<3} {group_count} groups, {record_bytes} bytes")?;
        }
        writeln!(f, "  materials {}", self.material_count())
    }
}
