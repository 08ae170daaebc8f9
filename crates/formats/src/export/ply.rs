use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::portion::{Attributes, Face, GoOn, Palette, Portion, PortionWriter, WriteFault};
use super::scratch::Scratch;

/// Length of the header in bytes. A comment has as many dots as the numbers leave bytes.
const HEADER_BYTES: usize = 512;

/// Writer of a binary PLY file: vertices with colours, and triangles. Some readers, such as trimesh,
/// refuse faces of different lengths.
///
/// Vertices precede faces in the file, so faces are collected in a temporary file.
pub(super) struct PlyWriter {
    file: BufWriter<File>,
    faces: Scratch,
    palette: Palette,
    vertex_count: u64,
    face_count: u64,
    /// Largest number of vertices and of faces. Tests lower it.
    max_count: u64,
}

impl PlyWriter {
    pub(super) fn new(
        mut file: BufWriter<File>,
        path: &Path,
        palette: Palette,
    ) -> Result<Self, WriteFault> {
        file.write_all(&[b' '; HEADER_BYTES])?;
        let faces = Scratch::beside(path, ".faces")?;
        let max_count = u32::MAX.into();
        Ok(Self { file, faces, palette, vertex_count: 0, face_count: 0, max_count })
    }
}

impl PortionWriter for PlyWriter {
    fn attributes(&self) -> Attributes {
        Attributes { normals: false, colors: true }
    }

    fn write(&mut self, portion: &Portion) -> Result<(), WriteFault> {
        let first = self.vertex_count;
        self.vertex_count += portion.vertices.len() as u64;
        self.face_count += portion.triangle_count();
        WriteFault::check(self.vertex_count, self.max_count, "vertices")?;
        WriteFault::check(self.face_count, self.max_count, "faces")?;
        for vertex in &portion.vertices {
            let mut bytes = [0; 16];
            let numbers = vertex.position.map(f32::to_le_bytes);
            bytes[..12].copy_from_slice(numbers.as_flattened());
            bytes[12..].copy_from_slice(&self.palette.color(vertex.color));
            self.file.write_all(&bytes)?;
        }
        for triangle in portion.faces.iter().flat_map(Face::triangles) {
            // Below the limit that was checked.
            let corners = triangle.map(|corner| ((first + u64::from(corner)) as u32).to_le_bytes());
            let mut bytes = [3; 13];
            bytes[1..].copy_from_slice(corners.as_flattened());
            self.faces.write_all(&bytes)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, go_on: &mut GoOn<'_>) -> Result<Option<String>, WriteFault> {
        self.faces.copy(&mut self.file, go_on)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header(self.vertex_count, self.face_count))?;
        self.file.flush()?;
        Ok(None)
    }
}

/// Returns the header, of [`HEADER_BYTES`] bytes.
fn header(vertex_count: u64, face_count: u64) -> Vec<u8> {
    let start = "ply\nformat binary_little_endian 1.0\ncomment drystone";
    let end = format!(
        "\nelement vertex {vertex_count}\nproperty float x\nproperty float y\nproperty float z\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n\
         element face {face_count}\nproperty list uchar uint vertex_indices\nend_header\n"
    );
    let filling = HEADER_BYTES.saturating_sub(start.len() + end.len());
    [start.as_bytes(), &vec![b'.'; filling], end.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::super::portion::Vertex;
    use super::*;

    #[test]
    fn more_vertices_than_the_format_counts_are_an_error() {
        let path = std::env::temp_dir().join(format!("drystone-ply-{}", std::process::id()));
        let file = BufWriter::new(File::create(&path).unwrap());
        let mut writer = PlyWriter::new(file, &path, Palette::default()).unwrap();
        writer.max_count = 5;
        let vertex = Vertex { position: [0.0; 3], normal: [0.0; 3], color: 0 };
        let portion = Portion { vertices: vec![vertex; 3], ..Portion::default() };
        writer.write(&portion).unwrap();
        let error = writer.write(&portion).unwrap_err().in_file("a.ply".as_ref(), "");
        assert!(error.to_string().starts_with("a.ply: 6 vertices, at most 5"), "{error}");
        // Faces are counted too.
        let face = Face { corners: [0, 1, 2, 2], color: 0, is_translucent: false, direction: None };
        let portion = Portion { faces: vec![face; 3], ..Portion::default() };
        (writer.vertex_count, writer.face_count) = (0, 0);
        let error = writer.write(&portion).unwrap_err().in_file("a.ply".as_ref(), "");
        assert!(error.to_string().starts_with("a.ply: 6 faces, at most 5"), "{error}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_header_has_one_length_for_all_numbers() {
        for number in [0, 12, u32::MAX.into(), u64::MAX] {
            assert_eq!(header(number, number).len(), HEADER_BYTES);
        }
    }
}
