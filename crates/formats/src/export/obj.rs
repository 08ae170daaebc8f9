use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};

use drystone_mesh::Face as Direction;

use super::ExportOptions;
use super::portion::{Attributes, GoOn, Palette, Placement, Portion, PortionWriter, WriteFault};

/// Writer of a Wavefront OBJ file. Vertices and faces of each portion follow each other, so that
/// nothing is collected.
///
/// `s off` means flat shading. Many readers ignore it and smooth faces that share vertices, so voxel
/// faces refer to one of six normals too: `f 1//4 2//4 3//4 4//4`.
pub(super) struct ObjWriter {
    file: BufWriter<File>,
    palette: Palette,
    placement: Placement,
    used: BTreeSet<u32>,
    vertex_count: u64,
    /// Whether the six normals are in the file.
    has_normals: bool,
}

impl ObjWriter {
    /// Creates a writer. Control characters in the name of the material file, which would end the
    /// line, become `_`.
    pub(super) fn new(
        mut file: BufWriter<File>,
        palette: Palette,
        options: &ExportOptions,
    ) -> Result<Self, WriteFault> {
        let material_file = options.material_file.replace(char::is_control, "_");
        write!(file, "# drystone\nmtllib {material_file}\ns off\n")?;
        let placement = super::placement(options);
        let used = BTreeSet::new();
        Ok(Self { file, palette, placement, used, vertex_count: 0, has_normals: false })
    }

    /// Writes the normals of all face directions, in the order of their indices.
    fn write_normals(&mut self) -> Result<(), WriteFault> {
        for direction in Direction::ALL {
            let [x, y, z] = self.placement.turned(direction.normal().map(|c| c as f32));
            writeln!(self.file, "vn {x} {y} {z}")?;
        }
        self.has_normals = true;
        Ok(())
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
        if !self.has_normals && portion.faces.iter().any(|face| face.direction.is_some()) {
            self.write_normals()?;
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
                if let Some(direction) = face.direction {
                    write!(self.file, "//{}", direction.index() + 1)?;
                }
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
            let emission = f32::from(self.palette.emission(index)) / f32::from(u8::MAX);
            if emission > 0.0 {
                let [red, green, blue] = [red, green, blue].map(|channel| channel * emission);
                let _ = writeln!(text, "Ke {red} {green} {blue}");
            }
        }
        Ok(Some(text))
    }
}

/// Returns the text as one word: other characters than letters, digits, `-` and `.` become `_`.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}
