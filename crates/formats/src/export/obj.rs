use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};

use super::portion::{Attributes, GoOn, Palette, Portion, PortionWriter, WriteFault};

/// Writer of a Wavefront OBJ file. Vertices and faces of each portion follow each other, so that
/// nothing is collected. `s off` means flat shading.
pub(super) struct ObjWriter {
    file: BufWriter<File>,
    palette: Palette,
    used: BTreeSet<u32>,
    vertex_count: u64,
}

impl ObjWriter {
    /// Creates a writer. `material_file` is the name of the material file. Control characters in it,
    /// which would end the line, become `_`.
    pub(super) fn new(
        mut file: BufWriter<File>,
        palette: Palette,
        material_file: &str,
    ) -> Result<Self, WriteFault> {
        let material_file = material_file.replace(char::is_control, "_");
        write!(file, "# drystone\nmtllib {material_file}\ns off\n")?;
        Ok(Self { file, palette, used: BTreeSet::new(), vertex_count: 0 })
    }

    /// Returns a name without spaces that no other material has.
    fn material_name(&self, index: u32) -> String {
        let name = self.palette.names.get(index as usize).map_or("", String::as_str);
        format!("{}_{index}", word(name))
    }
}

impl PortionWriter for ObjWriter {
    fn attributes(&self) -> Attributes {
        Attributes { normals: false, colors: false }
    }

    fn write(&mut self, portion: &Portion) -> Result<(), WriteFault> {
        if !portion.is_continued {
            writeln!(self.file, "o {}", word(&portion.name))?;
        }
        for vertex in &portion.vertices {
            let [x, y, z] = vertex.position;
            writeln!(self.file, "v {x} {y} {z}")?;
        }
        let mut faces: Vec<_> = portion.faces.iter().collect();
        faces.sort_by_key(|face| face.color);
        let mut material = None;
        for face in faces {
            if material != Some(face.color) {
                material = Some(face.color);
                self.used.insert(face.color);
                let name = self.material_name(face.color);
                writeln!(self.file, "usemtl {name}")?;
            }
            self.file.write_all(b"f")?;
            for corner in face.corners() {
                write!(self.file, " {}", self.vertex_count + u64::from(*corner) + 1)?;
            }
            self.file.write_all(b"\n")?;
        }
        self.vertex_count += portion.vertices.len() as u64;
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &mut GoOn<'_>) -> Result<Option<String>, WriteFault> {
        self.file.flush()?;
        let mut text = String::from("# drystone\n");
        for &index in &self.used {
            let [red, green, blue, alpha] =
                self.palette.color(index).map(|c| f32::from(c) / f32::from(u8::MAX));
            let name = self.material_name(index);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "newmtl {name}\nKd {red} {green} {blue}\nd {alpha}\nillum 1");
        }
        Ok(Some(text))
    }
}

/// Returns the text as one word: other characters than letters, digits, `-` and `.` become `_`.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}
