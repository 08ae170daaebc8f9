use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::options::ExportNodes;
use super::portion::{Attributes, Face, GoOn, Portion, PortionWriter, Vertex, WriteFault};
use super::scratch::Scratch;
use super::texture::Texture;

mod json;

use json::{Document, Mesh};

/// Bytes of a vertex: position, normal and texture coordinates.
const VERTEX_BYTES: usize = 32;

/// Writer of a binary glTF file.
///
/// ```text
///  header │ JSON: nodes, meshes, accessors │ vertices │ opaque indices │ translucent ones │ PNG
///                                            └─ from temporary files ──────────────────┘
/// ```
/// The JSON contains counts and precedes the vertices, so all three kinds of data are collected in
/// temporary files. Each mesh has at most two primitives, with one material each. Memory: 80 bytes
/// for each node.
pub(super) struct GlbWriter {
    file: BufWriter<File>,
    /// Vertices, opaque indices, translucent indices.
    data: [Scratch; 3],
    /// The texture as a PNG file.
    image: Scratch,
    texture: Texture,
    nodes: ExportNodes,
    meshes: Vec<Mesh>,
    /// Names of the meshes, each terminated by a line feed.
    names: String,
    /// Largest length of the file in bytes. Tests lower it.
    max_bytes: u64,
}

impl GlbWriter {
    pub(super) fn new(
        file: BufWriter<File>,
        path: &Path,
        texture: Texture,
        nodes: ExportNodes,
    ) -> Result<Self, WriteFault> {
        let scratch = |name| Scratch::beside(path, name);
        let data = [scratch(".vertices")?, scratch(".opaque")?, scratch(".translucent")?];
        let image = scratch(".image")?;
        let (meshes, names, max_bytes) = (Vec::new(), String::new(), u32::MAX.into());
        Ok(Self { file, data, image, texture, nodes, meshes, names, max_bytes })
    }

    fn append(&mut self, kind: usize, bytes: &[u8]) -> Result<(), WriteFault> {
        let length = self.lengths().iter().sum::<u64>() + bytes.len() as u64;
        WriteFault::check(length, self.max_bytes, "bytes")?;
        Ok(self.data[kind].write_all(bytes)?)
    }

    /// Returns the lengths of the data in bytes.
    fn lengths(&self) -> [u64; 3] {
        self.data.each_ref().map(Scratch::len)
    }

    /// Returns the texture coordinates of each vertex, in texels.
    fn texels(&mut self, portion: &Portion) -> Result<Vec<[f32; 2]>, WriteFault> {
        match &mut self.texture {
            Texture::Palette(palette) => {
                let middle = |color| Texture::middle(palette, color);
                Ok(portion.vertices.iter().map(|vertex| middle(vertex.color)).collect())
            }
            Texture::Atlas(atlas) => {
                let patches = portion.patches.iter();
                let origins: Result<Vec<[u32; 2]>, _> =
                    patches.map(|it| atlas.insert(it)).collect();
                let origins = origins?;
                let vertices = portion.vertices.iter().zip(&portion.texels);
                let texel = |(vertex, [u, v]): (&Vertex, &[f32; 2])| {
                    let [x, y] = origins[vertex.color as usize].map(|c| c as f32);
                    [x + u, y + v]
                };
                Ok(vertices.map(texel).collect())
            }
        }
    }

    /// Copies the vertices, with texture coordinates divided by the size of the texture.
    fn copy_vertices(&mut self, go_on: &mut GoOn<'_>) -> Result<(), WriteFault> {
        /// Vertices between two calls of `go_on`: 1 MiB.
        const STEP: u64 = (1 << 20) / VERTEX_BYTES as u64;

        let size = self.texture.size().map(|side| side as f32);
        let count = self.data[0].len() / VERTEX_BYTES as u64;
        let mut vertices = self.data[0].read()?;
        let mut bytes = [0; VERTEX_BYTES];
        for number in 0..count {
            if number % STEP == 0 {
                go_on()?;
            }
            vertices.read_exact(&mut bytes)?;
            for (coordinate, side) in bytes[24..].chunks_exact_mut(4).zip(size) {
                let mut texel = [0; 4];
                texel.copy_from_slice(coordinate);
                coordinate.copy_from_slice(&(f32::from_le_bytes(texel) / side).to_le_bytes());
            }
            self.file.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Writes the start of a chunk of the container. Returns the position of its length.
    fn begin_chunk(&mut self, kind: &[u8; 4]) -> Result<u64, WriteFault> {
        let start = self.file.stream_position()?;
        self.file.write_all(&[0; 4])?;
        self.file.write_all(kind)?;
        Ok(start)
    }

    /// Fills a chunk to a multiple of four bytes, and writes its length.
    fn end_chunk(&mut self, start: u64, filling: u8) -> Result<(), WriteFault> {
        let end = self.file.stream_position()?;
        let padded = end.next_multiple_of(4);
        WriteFault::check(padded, self.max_bytes, "bytes")?;
        self.file.write_all(&[filling; 4][..(padded - end) as usize])?;
        self.file.seek(SeekFrom::Start(start))?;
        self.file.write_all(&((padded - start - 8) as u32).to_le_bytes())?;
        self.file.seek(SeekFrom::Start(padded))?;
        Ok(())
    }
}

impl PortionWriter for GlbWriter {
    fn attributes(&self) -> Attributes {
        Attributes { normals: true, colors: true }
    }

    fn write(&mut self, portion: &Portion) -> Result<(), WriteFault> {
        let [vertices, opaque, translucent] = self.lengths();
        let is_joined = portion.is_continued || self.nodes == ExportNodes::Joined;
        let is_new = !is_joined || self.meshes.is_empty();
        if is_new {
            let starts = [vertices / VERTEX_BYTES as u64, opaque / 4, translucent / 4];
            self.meshes.push(Mesh::new(starts));
            let name = if self.nodes == ExportNodes::Joined { "joined" } else { &portion.name };
            self.names.extend(name.chars().filter(|c| !c.is_control()).chain(['\n']));
        }
        let Some(mesh) = self.meshes.last_mut() else { return Ok(()) };
        let first = mesh.counts[0];
        let mut counts = [portion.vertices.len() as u64, 0, 0];
        for face in &portion.faces {
            let kind = 1 + usize::from(face.is_translucent);
            counts[kind] += 3 * face.triangles().count() as u64;
        }
        mesh.extend(counts, portion.vertices.iter().map(|vertex| vertex.position));
        let texels = self.texels(portion)?;
        let mut bytes = Vec::with_capacity(portion.vertices.len() * VERTEX_BYTES);
        for (vertex, texel) in portion.vertices.iter().zip(texels) {
            let numbers = vertex.position.into_iter().chain(vertex.normal).chain(texel);
            numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        self.append(0, &bytes)?;
        for kind in [1, 2] {
            bytes.clear();
            let faces = portion.faces.iter().filter(|it| it.is_translucent == (kind == 2));
            for corner in faces.flat_map(Face::triangles).flatten() {
                // Below the limit of bytes.
                bytes.extend(((first + u64::from(corner)) as u32).to_le_bytes());
            }
            self.append(kind, &bytes)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, go_on: &mut GoOn<'_>) -> Result<Option<String>, WriteFault> {
        write_png(&self.texture, &mut self.image, go_on)?;
        self.file.write_all(b"glTF\x02\0\0\0\0\0\0\0")?;
        let json = self.begin_chunk(b"JSON")?;
        let document = Document {
            meshes: &self.meshes,
            names: &self.names,
            lengths: self.lengths(),
            image_bytes: self.image.len(),
            is_double_sided: self.texture.palette().is_double_sided,
        };
        document.write(&mut self.file)?;
        self.end_chunk(json, b' ')?;
        let binary = self.begin_chunk(b"BIN\0")?;
        self.copy_vertices(go_on)?;
        for indices in &mut self.data[1..] {
            indices.copy(&mut self.file, go_on)?;
        }
        self.image.copy(&mut self.file, go_on)?;
        self.end_chunk(binary, 0)?;
        let length = self.file.stream_position()?;
        self.file.seek(SeekFrom::Start(8))?;
        // Below the limit that was checked.
        self.file.write_all(&(length as u32).to_le_bytes())?;
        self.file.flush()?;
        Ok(None)
    }
}

/// Writes the texture as a PNG file, in steps of some rows.
fn write_png(texture: &Texture, to: &mut Scratch, go_on: &mut GoOn<'_>) -> Result<(), WriteFault> {
    /// Texels between two calls of `go_on`: 1 MiB.
    const STEP_BYTES: usize = 1 << 20;
    let ([width, height], texels) = texture.texels();
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(std::io::Error::from)?;
    let mut stream = writer.stream_writer().map_err(std::io::Error::from)?;
    for step in texels.chunks(STEP_BYTES) {
        go_on()?;
        stream.write_all(step)?;
    }
    stream.finish().map_err(std::io::Error::from)?;
    Ok(writer.finish().map_err(std::io::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::super::portion::Palette;
    use super::*;

    #[test]
    fn more_bytes_than_the_format_counts_are_an_error() {
        let path = std::env::temp_dir().join(format!("drystone-glb-{}", std::process::id()));
        let file = BufWriter::new(File::create(&path).unwrap());
        let texture = Texture::Palette(Palette::default());
        let mut writer = GlbWriter::new(file, &path, texture, ExportNodes::Joined).unwrap();
        writer.max_bytes = 5 * VERTEX_BYTES as u64;
        let vertex = Vertex { position: [0.0; 3], normal: [0.0; 3], color: 0 };
        let portion = Portion { vertices: vec![vertex; 5], ..Portion::default() };
        writer.write(&portion).unwrap();
        let error = writer.write(&portion).unwrap_err().in_file("a.glb".as_ref(), "");
        assert!(error.to_string().starts_with("a.glb: 320 bytes, at most 160"), "{error}");
        // The JSON and the texture count too.
        let error = Box::new(writer).finish(&mut || Ok(())).unwrap_err();
        assert!(matches!(error, WriteFault::TooLarge { .. }), "{error:?}");
        std::fs::remove_file(path).unwrap();
    }
}
