//! The JSON of a binary glTF file.

use std::io::{self, Write};

use super::VERTEX_BYTES;

/// Counts and bounds of one mesh.
#[derive(Debug)]
pub(super) struct Mesh {
    /// First vertex, first opaque index and first translucent index.
    starts: [u64; 3],
    /// Number of vertices, opaque indices and translucent indices.
    pub(super) counts: [u64; 3],
    min: [f32; 3],
    max: [f32; 3],
}

impl Mesh {
    pub(super) fn new(starts: [u64; 3]) -> Self {
        Self { starts, counts: [0; 3], min: [f32::MAX; 3], max: [f32::MIN; 3] }
    }

    /// Adds counts, and extends the bounds to include positions.
    pub(super) fn extend(
        &mut self,
        counts: [u64; 3],
        positions: impl IntoIterator<Item = [f32; 3]>,
    ) {
        for (total, count) in self.counts.iter_mut().zip(counts) {
            *total += count;
        }
        for position in positions {
            for (axis, c) in position.into_iter().enumerate() {
                self.min[axis] = self.min[axis].min(c);
                self.max[axis] = self.max[axis].max(c);
            }
        }
    }

    /// Kinds of indices that the mesh has: 1 for opaque, 2 for translucent.
    fn kinds(&self) -> impl Iterator<Item = usize> {
        [1, 2].into_iter().filter(|kind| self.counts[*kind] > 0)
    }
}

/// Content of the JSON.
pub(super) struct Document<'a> {
    pub(super) meshes: &'a [Mesh],
    /// Names of the meshes, each terminated by a line feed.
    pub(super) names: &'a str,
    /// Bytes of vertices, opaque indices and translucent indices.
    pub(super) lengths: [u64; 3],
    pub(super) image_bytes: u64,
    /// Whether faces are visible from both sides.
    pub(super) is_double_sided: bool,
}

/// Numbers that the format defines.
const ARRAY_BUFFER: u32 = 34_962;
const ELEMENT_ARRAY_BUFFER: u32 = 34_963;
const FLOAT: u32 = 5_126;
const UNSIGNED_INT: u32 = 5_125;

impl Document<'_> {
    /// Writes the document. Nodes, meshes and accessors are streamed.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        write!(to, r#"{{"asset":{{"version":"2.0","generator":"drystone {version}"}},"#)?;
        write!(to, r#""scene":0,"scenes":[{{"nodes":["#)?;
        separated(to, 0..self.meshes.len(), |to, node| write!(to, "{node}"))?;
        write!(to, r#"]}}],"nodes":["#)?;
        separated(to, self.names.lines().enumerate(), |to, (mesh, name)| {
            write!(to, r#"{{"name":{},"mesh":{mesh}}}"#, quoted(name))
        })?;
        write!(to, r#"],"meshes":["#)?;
        let mut accessor = 0;
        separated(to, self.meshes.iter().zip(self.names.lines()), |to, (mesh, name)| {
            write!(to, r#"{{"name":{},"primitives":["#, quoted(name))?;
            let first = accessor;
            accessor += 3 + mesh.kinds().count();
            separated(to, mesh.kinds().enumerate(), |to, (rank, kind)| {
                let [position, normal, texel] = [first, first + 1, first + 2];
                let (indices, material) = (first + 3 + rank, kind - 1);
                write!(
                    to,
                    r#"{{"attributes":{{"POSITION":{position},"NORMAL":{normal},"TEXCOORD_0":{texel}}},"indices":{indices},"material":{material}}}"#
                )
            })?;
            write!(to, "]}}")
        })?;
        write!(to, r#"],"accessors":["#)?;
        separated(to, self.meshes, |to, mesh| self.write_accessors(to, mesh))?;
        write!(to, "],")?;
        self.write_buffers(to)?;
        write!(to, "}}")
    }

    fn write_accessors(&self, to: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
        let ([start, ..], [count, ..]) = (mesh.starts, mesh.counts);
        let [low, high] = [mesh.min, mesh.max].map(|[x, y, z]| format!("[{x},{y},{z}]"));
        let bounds = format!(r#","min":{low},"max":{high}"#);
        let attributes = [(0, "VEC3", bounds.as_str()), (12, "VEC3", ""), (24, "VEC2", "")];
        separated(to, attributes, |to, (offset, kind, bounds)| {
            let offset = start * VERTEX_BYTES as u64 + offset;
            write!(
                to,
                r#"{{"bufferView":0,"byteOffset":{offset},"componentType":{FLOAT},"count":{count},"type":"{kind}"{bounds}}}"#
            )
        })?;
        for kind in mesh.kinds() {
            let (offset, count) = (4 * mesh.starts[kind], mesh.counts[kind]);
            let view = self.view(kind);
            write!(
                to,
                r#",{{"bufferView":{view},"byteOffset":{offset},"componentType":{UNSIGNED_INT},"count":{count},"type":"SCALAR"}}"#
            )?;
        }
        Ok(())
    }

    /// Index of the buffer view of a kind of indices, or of the image for 3. Empty views are left
    /// out.
    fn view(&self, kind: usize) -> usize {
        self.lengths[..kind].iter().filter(|length| **length > 0).count()
    }

    /// Writes the buffer and its views, the materials and the texture.
    fn write_buffers(&self, to: &mut impl Write) -> io::Result<()> {
        let [vertices, opaque, translucent] = self.lengths;
        let total = vertices + opaque + translucent + self.image_bytes;
        write!(to, r#""buffers":[{{"byteLength":{total}}}],"bufferViews":["#)?;
        write!(
            to,
            r#"{{"buffer":0,"byteLength":{vertices},"byteStride":{VERTEX_BYTES},"target":{ARRAY_BUFFER}}}"#
        )?;
        let mut offset = vertices;
        for length in [opaque, translucent].into_iter().filter(|length| *length > 0) {
            write!(
                to,
                r#",{{"buffer":0,"byteOffset":{offset},"byteLength":{length},"target":{ELEMENT_ARRAY_BUFFER}}}"#
            )?;
            offset += length;
        }
        let (length, view) = (self.image_bytes, self.view(3));
        write!(to, r#",{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}],"#)?;
        let surface =
            r#""pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicFactor":0}"#;
        let sides = if self.is_double_sided { r#","doubleSided":true"# } else { "" };
        write!(
            to,
            r#""materials":[{{"name":"opaque",{surface}{sides}}},{{"name":"translucent",{surface}{sides},"alphaMode":"BLEND"}}],"#
        )?;
        // Nearest texels, clamped at the borders.
        write!(
            to,
            r#""textures":[{{"sampler":0,"source":0}}],"images":[{{"bufferView":{view},"mimeType":"image/png"}}],"samplers":[{{"magFilter":9728,"minFilter":9728,"wrapS":33071,"wrapT":33071}}]"#
        )
    }
}

/// Writes items with commas between them.
fn separated<W: Write, T>(
    to: &mut W,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            to.write_all(b",")?;
        }
        write(to, item)?;
    }
    Ok(())
}

/// Returns a name without control characters as a JSON string.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
