use super::lines::{Lines, Statement, bad, number, numbers};
use super::materials::byte;
use crate::fault::Fault;
use crate::model::builder::Builder;
use crate::model::fault::SPLIT;
use crate::model::weld::no_memory;
use crate::model::{ModelVertex, WarningKind};

/// Maximum number of material files.
const MAX_MATERIAL_FILES: usize = 256;

/// Elements that faces refer to by number.
#[derive(Default)]
pub(super) struct Numbers {
    /// Welded index of each `v`.
    pub(super) welded: Vec<u32>,
    /// Colour of each `v`; empty if no `v` has one.
    pub(super) colors: Vec<[u8; 4]>,
    /// Texture coordinates of each `vt`.
    pub(super) uvs: Vec<[f32; 2]>,
    /// Normal of each `vn`.
    pub(super) normals: Vec<ModelVertex>,
    /// Material files, with the line that names each.
    pub(super) material_files: Vec<(u64, String)>,
}

impl Numbers {
    pub(super) fn read(bytes: &[u8], builder: &mut Builder) -> Result<Self, Fault> {
        let mut read = Self::default();
        for statement in Lines::new(bytes) {
            match statement.keyword() {
                b"v" => read.read_position(&statement, builder)?,
                b"vt" => {
                    let uv = numbers::<2>(&statement, 1)?;
                    read.uvs.try_reserve(1).map_err(|_| no_memory())?;
                    read.uvs.push(uv);
                }
                b"vn" => read.read_normal(&statement, builder)?,
                b"mtllib" => read.read_file_name(&statement)?,
                _ => {}
            }
        }
        Ok(read)
    }

    fn read_position(&mut self, it: &Statement, builder: &mut Builder) -> Result<(), Fault> {
        let position = numbers::<3>(it, 3)?;
        // The fourth number is a weight, which only curves use. Three more numbers are a colour.
        let (mut more, mut color) = (0, [u8::MAX; 4]);
        for word in it.words().skip(3) {
            let number = number(word).map_err(|problem| bad(it.line, problem))?;
            if more < 3 {
                color[more] = byte(number);
            }
            more += 1;
        }
        if more >= 3 && self.colors.is_empty() {
            self.colors.try_reserve(self.welded.len() + 1).map_err(|_| no_memory())?;
            self.colors.resize(self.welded.len(), [u8::MAX; 4]);
        }
        if more >= 3 || !self.colors.is_empty() {
            self.colors.try_reserve(1).map_err(|_| no_memory())?;
            self.colors.push(if more >= 3 { color } else { [u8::MAX; 4] });
        }
        self.welded.try_reserve(1).map_err(|_| no_memory())?;
        self.welded.push(builder.weld(position)?);
        Ok(())
    }

    fn read_normal(&mut self, it: &Statement, builder: &mut Builder) -> Result<(), Fault> {
        let normal = builder.model.up.axis.to_y_up(numbers::<3>(it, 3)?);
        let normal = ModelVertex::new(Some(normal));
        if normal.normal().is_none() {
            builder.warn(WarningKind::NoDirection, format_args!("line {}", it.line));
        }
        self.normals.try_reserve(1).map_err(|_| no_memory())?;
        self.normals.push(normal);
        Ok(())
    }

    fn read_file_name(&mut self, it: &Statement) -> Result<(), Fault> {
        // Not cut: only displayed names are cut.
        let names = String::from_utf8_lossy(it.rest());
        if self.material_files.iter().any(|(_, there)| *there == names) {
            return Ok(());
        }
        if self.material_files.len() == MAX_MATERIAL_FILES {
            let problem = format!("more than {MAX_MATERIAL_FILES} material files");
            return Err(Fault::new(format_args!("line {}", it.line), problem, SPLIT));
        }
        self.material_files.push((it.line, names.into_owned()));
        Ok(())
    }
}
