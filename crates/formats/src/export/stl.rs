use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use super::portion::{Attributes, Face, GoOn, Portion, PortionWriter, WriteFault};

/// First bytes. Readers take a file that begins with `solid` as text.
const HEADER: &[u8; 80] = &{
    let text = b"binary STL by drystone";
    let mut header = [b' '; 80];
    let mut at = 0;
    while at < text.len() {
        header[at] = text[at];
        at += 1;
    }
    header
};

/// Writer of a binary STL file: triangles without colours.
///
/// ```text
///  80 bytes of text │ count u32 │ per triangle: normal, 3 corners (f32 × 12), u16 0
/// ```
pub(super) struct StlWriter {
    file: BufWriter<File>,
    count: u64,
    /// Largest number of triangles. Tests lower it.
    max_count: u64,
}

impl StlWriter {
    pub(super) fn new(mut file: BufWriter<File>) -> Result<Self, WriteFault> {
        file.write_all(HEADER)?;
        file.write_all(&[0; 4])?;
        Ok(Self { file, count: 0, max_count: u32::MAX.into() })
    }
}

impl PortionWriter for StlWriter {
    fn attributes(&self) -> Attributes {
        Attributes { normals: false, colors: false }
    }

    fn write(&mut self, portion: &Portion) -> Result<(), WriteFault> {
        self.count += portion.triangle_count();
        WriteFault::check(self.count, self.max_count, "triangles")?;
        for triangle in portion.faces.iter().flat_map(Face::triangles) {
            let corners = portion.positions(triangle);
            let mut bytes = [0; 50];
            let numbers = normal(corners).into_iter().chain(corners.into_iter().flatten());
            for (target, number) in bytes.chunks_exact_mut(4).zip(numbers) {
                target.copy_from_slice(&number.to_le_bytes());
            }
            self.file.write_all(&bytes)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &mut GoOn<'_>) -> Result<Option<String>, WriteFault> {
        self.file.seek(SeekFrom::Start(HEADER.len() as u64))?;
        self.file.write_all(&(self.count as u32).to_le_bytes())?;
        self.file.flush()?;
        Ok(None)
    }
}

/// Returns the unit normal of a triangle; zero, as the format allows, if it has no area.
fn normal(corners: [[f32; 3]; 3]) -> [f32; 3] {
    let [a, b, c] = corners.map(|corner| corner.map(f64::from));
    let [u, v] = [b, c].map(|end| [end[0] - a[0], end[1] - a[1], end[2] - a[2]]);
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = cross.iter().map(|c| c * c).sum::<f64>().sqrt();
    if length > 0.0 { cross.map(|c| (c / length) as f32) } else { [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::super::portion::Vertex;
    use super::*;

    #[test]
    fn more_triangles_than_the_format_counts_are_an_error() {
        let path = std::env::temp_dir().join(format!("drystone-stl-{}", std::process::id()));
        let mut writer = StlWriter::new(BufWriter::new(File::create(&path).unwrap())).unwrap();
        writer.max_count = 5;
        let vertex = Vertex { position: [0.0; 3], normal: [0.0; 3], color: 0 };
        let corners = [0, 0, 0, 0];
        let face = Face { corners, color: 0, is_translucent: false, direction: None };
        let portion = Portion { vertices: vec![vertex], faces: vec![face], ..Portion::default() };
        assert!(writer.write(&portion).is_ok() && writer.write(&portion).is_ok());
        let error = writer.write(&portion).unwrap_err().in_file("a.stl".as_ref(), "");
        assert!(error.to_string().starts_with("a.stl: 6 triangles, at most 5"), "{error}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_triangle_without_area_has_no_normal() {
        assert_eq!(normal([[1.0, 2.0, 3.0]; 3]), [0.0; 3]);
        assert_eq!(normal([[0.0; 3], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]), [1.0, 0.0, 0.0]);
    }
}
