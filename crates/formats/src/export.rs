use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, MaterialCounts, MaterialTable, NodePos, VoxelBox};

use crate::error::SourceError;
use crate::model::Model;
use crate::source::Source;

mod closing;
mod glb;
mod models;
mod obj;
mod options;
mod ply;
mod portion;
mod scratch;
mod stl;
mod stream;
mod texture;
mod vox;
mod voxels;

use glb::GlbWriter;
use models::ModelPortions;
use obj::ObjWriter;
pub use options::{ExportFormat, ExportNodes, ExportOptions, FaceColors};
use ply::PlyWriter;
use portion::{GoOn, Palette, Placement, Portion, PortionWriter, WriteFault};
use stl::StlWriter;
use stream::Stream;
use texture::{Atlas, Texture};
use vox::{VoxColors, VoxWriter};
use voxels::{MergedColors, MeshOptions, VoxelPortions};

/// Voxels to export: chunks of one level.
pub struct ExportVoxels<'a> {
    /// Materials that voxels refer to.
    pub materials: &'a MaterialTable,
    /// Level of the chunks; 0 is full detail.
    pub level: u8,
    /// Positions of chunks of this level, each once. Chunks that are all air may be included.
    pub chunks: Vec<ChunkPos>,
    /// Voxels of level 0 to which the export is limited. Voxels of higher levels that touch the box
    /// are exported.
    pub bounds: Option<VoxelBox>,
    /// Returns the chunk of a node, and those of its 26 neighbours, several times. A cache of recently used
    /// chunks makes the export faster.
    pub read: Box<ReadNode<'a>>,
}

/// Function that returns the chunk of a node. Nodes without voxels are all air.
pub type ReadNode<'a> = dyn Fn(NodePos) -> Result<Chunk, SourceError> + Sync + 'a;

impl<'a> ExportVoxels<'a> {
    /// Returns all voxels of a source in full detail. Chunks are not cached.
    pub fn of_source(source: &'a dyn Source) -> Self {
        Self {
            materials: source.materials(),
            level: 0,
            chunks: source.chunk_positions(),
            bounds: None,
            read: Box::new(|node| source.chunk(node.chunk)),
        }
    }
}

impl std::fmt::Debug for ExportVoxels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chunks = self.chunks.len();
        f.debug_struct("ExportVoxels").field("chunks", &chunks).finish_non_exhaustive()
    }
}

/// Progress of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportProgress {
    /// Number of finished steps.
    pub done: u64,
    /// Number of all steps: one for each chunk, or two if colours have to be counted first; one for
    /// each part of a model.
    pub total: u64,
}

/// Function that is called with the progress of an export, and may stop it. While a file is
/// completed, it is called several times with the last number.
pub type OnProgress<'a> = dyn FnMut(ExportProgress) -> ControlFlow<()> + 'a;

/// Content of an exported file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportSummary {
    /// Number of vertices. A format may store one several times.
    pub vertices: u64,
    /// Number of triangles; a rectangle is two.
    pub triangles: u64,
    /// Number of voxels of a voxel file.
    pub voxels: u64,
    /// Number of materials whose colour was replaced by the nearest one, because the format has
    /// fewer colours.
    pub changed_colors: usize,
    /// Text of the material file of an `.obj` file. The caller writes it beside the file.
    pub material_text: Option<String>,
}

/// Writes voxels to a file, chunk by chunk.
///
/// ```text
///  chunks ─► window ─► chunk + neighbours ──► quads ──► polygons ──► writer ──► file
///            of some,  on all cores           merged    closed       in order
/// ```
/// In a mesh format, faces of one material are merged to rectangles. Each rectangle has a corner
/// wherever another one ends beside it, so the surface of an opaque source is closed, over chunks
/// too. In an `.stl` file, all materials are one solid.
///
/// The file is created or overwritten. After an error it is incomplete: write under another name,
/// and rename the file when this function returns.
///
/// # Cost
/// The source's time for each chunk and its neighbours, and about 1 ms per chunk of land. Memory: as
/// set in the options, 12 bytes for each chunk, and one unfinished chunk for each thread. `.ply` and `.glb` files need their size again on disk while they are written.
///
/// # Errors
/// * Errors of `voxels.read`.
/// * [`SourceError::Unwritable`]: the system's error, such as a full disk.
/// * [`SourceError::TooLarge`]: the format cannot number the content (`.glb` and `.vox` have at most
///   4 GiB), or a baked texture is too large.
/// * [`SourceError::Stopped`] if `each` breaks, [`SourceError::Empty`] without any visible face.
///
/// # Limits
/// Coordinates in meshes are `f32`: exact up to 2²⁴ voxels from the origin.
pub fn export_voxels(
    mut voxels: ExportVoxels<'_>,
    path: &Path,
    options: &ExportOptions,
    each: &mut OnProgress<'_>,
) -> Result<ExportSummary, SourceError> {
    let mut chunks = std::mem::take(&mut voxels.chunks);
    chunks.retain(|chunk| {
        let node = NodePos::new(voxels.level, *chunk);
        voxels.bounds.is_none_or(|bounds| !voxels::is_outside(node, bounds))
    });
    let written = match options.format {
        ExportFormat::Vox => write_vox(&voxels, chunks, path, options, each),
        _ => write_mesh(&voxels, chunks, path, options, each),
    };
    written.map_err(|fault| {
        fault.in_file(path, "export a smaller box, a higher level, or another format")
    })
}

/// Writes the triangles of a polygon model to a file, part by part.
///
/// # Cost
/// Memory: about 16 MiB, whatever the model's size. Large parts are written in pieces.
///
/// # Errors
/// [`SourceError::IsModel`] for `.vox`, which needs voxels ([`VoxelModel`](crate::VoxelModel)), and
/// the errors of [`export_voxels`].
pub fn export_model(
    model: &Model,
    path: &Path,
    options: &ExportOptions,
    each: &mut OnProgress<'_>,
) -> Result<ExportSummary, SourceError> {
    if options.format == ExportFormat::Vox {
        return Err(SourceError::IsModel { path: model.name.clone().into() });
    }
    write_model(model, path, options, each)
        .map_err(|fault| fault.in_file(path, "export to another format"))
}

fn write_model(
    model: &Model,
    path: &Path,
    options: &ExportOptions,
    each: &mut OnProgress<'_>,
) -> Result<ExportSummary, WriteFault> {
    let texture = Texture::Palette(models::palette(model));
    let mut writer = open_writer(path, options, models::palette(model), texture)?;
    let mut portions = ModelPortions::new(model, writer.attributes(), placement(options));
    let mut summary = ExportSummary::default();
    let total = model.parts.len() as u64;
    let mut go_on = |done| match each(ExportProgress { done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(WriteFault::Stopped),
    };
    for (done, part) in (0..).zip(&model.parts) {
        portions.make(part, |portion| {
            summary.take(writer.as_mut(), &portion)?;
            go_on(done)
        })?;
        go_on(done + 1)?;
    }
    summary.finish(writer, &mut || go_on(total))
}

impl ExportSummary {
    /// Writes a portion and counts it.
    fn take(
        &mut self,
        writer: &mut dyn PortionWriter,
        portion: &Portion,
    ) -> Result<(), WriteFault> {
        if portion.faces.is_empty() {
            return Ok(());
        }
        self.vertices += portion.vertices.len() as u64;
        self.triangles += portion.triangle_count();
        writer.write(portion)
    }

    /// Completes the file.
    fn finish(
        mut self,
        writer: Box<dyn PortionWriter>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, WriteFault> {
        if self.triangles == 0 {
            return Err(WriteFault::Empty);
        }
        self.material_text = writer.finish(go_on)?;
        Ok(self)
    }
}

/// Opens the writer of a mesh format.
fn open_writer(
    path: &Path,
    options: &ExportOptions,
    palette: Palette,
    texture: Texture,
) -> Result<Box<dyn PortionWriter>, WriteFault> {
    let file = create(path)?;
    Ok(match options.format {
        ExportFormat::Obj => Box::new(ObjWriter::new(file, palette, options)?),
        ExportFormat::Ply => Box::new(PlyWriter::new(file, path, palette)?),
        ExportFormat::Stl => Box::new(StlWriter::new(file)?),
        ExportFormat::Glb | ExportFormat::Vox => {
            Box::new(GlbWriter::new(file, path, texture, options.nodes)?)
        }
    })
}

fn placement(options: &ExportOptions) -> Placement {
    Placement { scale: options.scale, up: options.up }
}

fn create(path: &Path) -> Result<BufWriter<File>, WriteFault> {
    Ok(BufWriter::with_capacity(1 << 16, File::create(path)?))
}

fn write_mesh(
    voxels: &ExportVoxels<'_>,
    mut chunks: Vec<ChunkPos>,
    path: &Path,
    options: &ExportOptions,
    each: &mut OnProgress<'_>,
) -> Result<ExportSummary, WriteFault> {
    // Columns of 16² chunks, so that few neighbours are read again after they left a cache.
    chunks.sort_unstable_by_key(|at| (at.x >> 4, at.z >> 4, at.x, at.z, at.y));
    let palette = voxels::face_palette(voxels.materials);
    let colors = match (options.format, options.colors) {
        (ExportFormat::Stl, _) => MergedColors::All,
        (ExportFormat::Glb, FaceColors::Baked) => MergedColors::Baked,
        _ => MergedColors::None,
    };
    let texture = match colors {
        MergedColors::Baked => {
            let max_bytes = options.memory_bytes / 4;
            let width = Atlas::width_for(chunks.len(), max_bytes);
            Texture::Atlas(Atlas::new(palette.clone(), width, max_bytes))
        }
        _ => Texture::Palette(palette.clone()),
    };
    let mut writer = open_writer(path, options, palette, texture)?;
    let (attributes, placement) = (writer.attributes(), placement(options));
    let portions = VoxelPortions::new(voxels, MeshOptions { colors, attributes, placement });
    let mut summary = ExportSummary::default();
    let mut stream = Stream::new(options, chunks.len() as u64, each);
    stream.run(
        &chunks,
        |chunk| portions.make(NodePos::new(voxels.level, chunk)),
        Portion::size_bytes,
        |portion| summary.take(writer.as_mut(), &portion),
    )?;
    summary.finish(writer, &mut || stream.go_on())
}

fn write_vox(
    voxels: &ExportVoxels<'_>,
    mut chunks: Vec<ChunkPos>,
    path: &Path,
    options: &ExportOptions,
    each: &mut OnProgress<'_>,
) -> Result<ExportSummary, WriteFault> {
    /// Upper bound for the memory of a chunk and its counts.
    const CHUNK_BYTES: u64 = 128 << 10;
    chunks.sort_unstable_by_key(|chunk| (VoxWriter::block(*chunk), *chunk));
    let palette = voxels::palette(voxels.materials);
    let is_counted = VoxColors::are_too_many(&palette);
    let total = chunks.len() as u64 * if is_counted { 2 } else { 1 };
    let mut stream = Stream::new(options, total, each);
    let read = |chunk| voxels.chunk(NodePos::new(voxels.level, chunk));
    let mut counts = None;
    if is_counted {
        let mut sum = MaterialCounts::default();
        let count = |chunk| {
            let mut counts = MaterialCounts::default();
            counts.add_chunk(&read(chunk)?);
            Ok(Some(counts))
        };
        stream.run(
            &chunks,
            count,
            |_| CHUNK_BYTES,
            |counts| {
                sum = std::mem::take(&mut sum).merged(counts);
                Ok(())
            },
        )?;
        counts = Some(sum);
    }
    let colors = VoxColors::new(&palette, counts);
    let mut summary =
        ExportSummary { changed_colors: colors.changed_count, ..ExportSummary::default() };
    let mut writer = VoxWriter::new(create(path)?, colors)?;
    let solid = |position| {
        let chunk = read(position)?;
        Ok((!chunk.is_empty()).then_some((position, chunk)))
    };
    stream.run(
        &chunks,
        solid,
        |_| CHUNK_BYTES,
        |(position, chunk)| {
            summary.voxels += u64::from(chunk.solid_count());
            writer.write(position, chunk)
        },
    )?;
    if summary.voxels == 0 {
        return Err(WriteFault::Empty);
    }
    writer.finish()?;
    Ok(summary)
}
