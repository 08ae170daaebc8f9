//! Reports of commands, as text and as JSON.

use std::{borrow::Cow, collections::BTreeMap, fmt, path::PathBuf};

use drystone::scene::{self, ChunkQuads};
use drystone::{Amounts, CameraOptions, Framed, ViewOptions};
use drystone_formats::VoxSummary;
use drystone_mesh::Quad;
use drystone_render::{Cull, DrawStats, HeldStats};
use drystone_voxel::{Material, MaterialKind, MaterialTable};
use drystone_world::{LodCount, World};
use glam::DVec3;
use serde_json::{Value, json};

use crate::output::plain;

/// Milliseconds that each stage of a picture took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageTimes {
    /// Reading or generating voxels.
    pub(crate) load_ms: f64,
    /// Voxels to quads.
    pub(crate) mesh_ms: f64,
    /// Opening the backend.
    pub(crate) open_ms: f64,
    /// Quads to the backend.
    pub(crate) upload_ms: f64,
    /// Drawing, and reading the picture back.
    pub(crate) draw_ms: f64,
    /// Encoding and writing the PNG.
    pub(crate) write_ms: f64,
}

impl StageTimes {
    pub(crate) fn to_json(self) -> Value {
        json!({
            "load": self.load_ms,
            "mesh": self.mesh_ms,
            "open": self.open_ms,
            "upload": self.upload_ms,
            "draw": self.draw_ms,
            "write": self.write_ms,
        })
    }
}

impl fmt::Display for StageTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { load_ms, mesh_ms, open_ms, upload_ms, draw_ms, write_ms } = self;
        write!(
            f,
            "ms: load {load_ms:.0}, mesh {mesh_ms:.0}, open {open_ms:.0}, \
             upload {upload_ms:.0}, draw {draw_ms:.0}, write {write_ms:.0}"
        )
    }
}

/// The box of a scene and a camera that looks at it, in voxels or the model's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    corners: (DVec3, DVec3),
    camera: CameraOptions,
}

impl Place {
    /// The camera of pictures with these options.
    pub(crate) fn new(framed: &Framed, options: &ViewOptions) -> Self {
        let camera = framed.view(options).camera;
        let distance = framed.target_distance(&camera, options);
        let (corners, camera) = (framed.option_corners(), framed.camera_options(&camera, distance));
        Self { corners, camera }
    }

    /// Returns a report with the box and the camera.
    pub(crate) fn added_to(&self, mut report: Value) -> Value {
        let (min, max) = self.corners;
        let [eye, target] = self.camera.rounded();
        report["box"] = json!({ "min": min.to_array(), "max": max.to_array() });
        report["camera"] = json!({
            "eye": eye,
            "look": target,
            "orthographic": self.camera.orthographic,
            "options": self.camera.to_string(),
        });
        report
    }
}

/// Report of `shot`.
#[derive(Debug)]
pub(crate) struct ShotReport {
    pub(crate) output: PathBuf,
    pub(crate) renderer: &'static str,
    pub(crate) backend: String,
    pub(crate) cull: Cull,
    pub(crate) place: Place,
    pub(crate) amounts: Amounts,
    pub(crate) drawn: DrawStats,
    pub(crate) held: HeldStats,
    pub(crate) times: StageTimes,
}

impl ShotReport {
    /// Returns lines for the log: the drawn share of all commands, meshes and quads, and the
    /// meshes of each level of detail. Empty for a polygon model.
    pub(crate) fn details(&self) -> Vec<String> {
        let Self { drawn, held, cull, .. } = self;
        let Amounts::Voxels { quads, levels, .. } = &self.amounts else { return Vec::new() };
        let share = format!(
            "drew {} of {} commands, {} of {} meshes, {} of {quads} quads; culled on the {}",
            drawn.commands,
            held.commands,
            drawn.meshes,
            held.meshes,
            drawn.quads,
            cull.name(),
        );
        let levels = levels.iter().map(|LodCount { level, nodes, meshes, quads, .. }| {
            let bytes = quads * size_of::<Quad>() as u64;
            format!(
                "level {level}: {nodes} chunks, {meshes} with a mesh, {quads} quads, {bytes} bytes"
            )
        });
        [share].into_iter().chain(levels).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { drawn, held, .. } = self;
        let mut report = json!({
            "output": self.output.display().to_string(),
            "renderer": self.renderer,
            "backend": self.backend,
            "cull": self.cull.name(),
            "draw_commands": drawn.commands,
            "draw_commands_of_all": held.commands,
            "meshes": held.meshes,
            "meshes_drawn": drawn.meshes,
            "vertex_bytes": held.used_bytes,
            "vertex_bytes_reserved": held.reserved_bytes,
            "ms": self.times.to_json(),
        });
        let amounts = match &self.amounts {
            Amounts::Voxels { chunks, quads, levels } => json!({
                "chunks": chunks,
                "quads": quads,
                "quads_drawn": drawn.quads,
                "levels": levels.iter().map(level_json).collect::<Vec<_>>(),
            }),
            Amounts::Model { polygons, triangles, vertices } => json!({
                "polygons": polygons,
                "triangles": triangles,
                "triangles_drawn": drawn.triangles,
                "vertices": vertices,
            }),
        };
        if let (Some(report), Value::Object(amounts)) = (report.as_object_mut(), amounts) {
            report.extend(amounts);
        }
        self.place.added_to(report)
    }
}

fn level_json(count: &LodCount) -> Value {
    json!({
        "level": count.level,
        "chunks": count.nodes,
        "meshes": count.meshes,
        "quads": count.quads,
        "bytes": count.quads * size_of::<Quad>() as u64,
    })
}

impl fmt::Display for ShotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { drawn, held, times, renderer, backend, .. } = self;
        write!(f, "{}: ", plain(&self.output.display().to_string()))?;
        let vertices = match &self.amounts {
            Amounts::Voxels { chunks, quads, .. } => {
                write!(f, "{chunks} chunks, {quads} quads")?;
                "vertices"
            }
            Amounts::Model { polygons, triangles, .. } => {
                write!(f, "{polygons} polygons, {triangles} triangles")?;
                "vertices and indices"
            }
        };
        write!(
            f,
            ", {} draw commands, {} bytes of {vertices}; {times}; {renderer} on {backend}",
            drawn.commands, held.used_bytes,
        )
    }
}

/// Contents of a source, for `info`.
#[derive(Debug)]
pub(crate) struct InfoReport<'a> {
    world: &'a World,
    vox: Option<&'a VoxSummary>,
    size_voxels: [u32; 3],
    opaque_quads: u64,
    translucent_quads: u64,
}

impl<'a> InfoReport<'a> {
    pub(crate) fn new(world: &'a World, quads: &[ChunkQuads], vox: Option<&'a VoxSummary>) -> Self {
        let opaque = |chunk: &ChunkQuads| chunk.mesh.opaque.len() + chunk.mesh.shapes.len();
        let opaque_quads = quads.iter().map(|chunk| opaque(chunk) as u64).sum();
        Self {
            world,
            vox,
            size_voxels: world.bounds().map_or([0; 3], |bounds| bounds.size_voxels()),
            opaque_quads,
            translucent_quads: scene::quad_count(quads) - opaque_quads,
        }
    }

    fn vertex_bytes(&self) -> u64 {
        (self.opaque_quads + self.translucent_quads) * size_of::<Quad>() as u64
    }

    /// Counts the chunks by storage kind.
    fn storages(&self) -> BTreeMap<String, usize> {
        let mut storages = BTreeMap::new();
        for (_, chunk) in self.world.iter() {
            *storages.entry(chunk.storage().to_string()).or_default() += 1;
        }
        storages
    }

    fn materials(&self) -> MaterialVoxels<'_> {
        let counts = self.world.count_by_material();
        MaterialVoxels { table: self.world.materials(), counts: counts.into() }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut report = json!({
            "source": self.world.name(),
            "size_voxels": self.size_voxels,
            "min": self.world.bounds().map_or([0; 3], |bounds| bounds.min.to_array()),
            "chunk_side": self.world.side(),
            "chunks": self.world.chunk_count(),
            "voxels": self.world.solid_count(),
            "materials": self.materials().to_json(),
            "quads": {"opaque": self.opaque_quads, "see_through": self.translucent_quads},
            "vertex_bytes": self.vertex_bytes(),
            "chunk_bytes": self.world.size_bytes(),
            "chunk_storages": self.storages(),
        });
        if let Some(vox) = self.vox {
            let layers: Vec<Value> = vox
                .layers
                .iter()
                .map(|l| json!({"id": l.id, "name": l.name, "hidden": l.hidden}))
                .collect();
            report["vox"] = json!({
                "version": vox.version,
                "frames": vox.frame_count,
                "frame": vox.frame,
                "models": vox.model_count,
                "instances": vox.instance_count,
                "hidden": vox.hidden_count,
                "names": vox.names,
                "layers": layers,
            });
        }
        report
    }
}

impl fmt::Display for InfoReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.size_voxels;
        writeln!(f, "{}", plain(self.world.name()))?;
        writeln!(f, "  size      {x} x {y} x {z} voxels")?;
        let (chunks, side) = (self.world.chunk_count(), self.world.side());
        let bytes = self.world.size_bytes();
        writeln!(f, "  chunks    {chunks} of {side}^3, {bytes} bytes")?;
        let storages = self.storages();
        let storages: Vec<_> = storages.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let each = bytes / (chunks as u64).max(1);
        writeln!(f, "  storage   {each} bytes per chunk: {}", plain(&storages.join(", ")))?;
        if let Some(vox) = self.vox {
            let (models, instances) = (vox.model_count, vox.instance_count);
            if vox.frame_count > 1 {
                let last = vox.frame_count - 1;
                writeln!(f, "  frames    {}, 0 to {last}; this is {}", vox.frame_count, vox.frame)?;
            }
            writeln!(
                f,
                "  models    {models} in {instances} instances, {} hidden",
                vox.hidden_count
            )?;
            if !vox.names.is_empty() {
                writeln!(f, "  names     {}", plain(&vox.names.join(", ")))?;
            }
            for layer in vox.layers.iter().filter(|layer| layer.hidden) {
                let name = plain(layer.name.as_deref().unwrap_or("unnamed"));
                writeln!(f, "  hidden    layer {} ({name})", layer.id)?;
            }
        }
        let (opaque, glass) = (self.opaque_quads, self.translucent_quads);
        writeln!(f, "  quads     {opaque} opaque, {glass} translucent")?;
        writeln!(f, "  vertices  {} bytes", self.vertex_bytes())?;
        writeln!(f, "  voxels    {}", self.world.solid_count())?;
        self.materials().fmt(f)
    }
}

/// Voxel counts of the materials that occur.
pub(crate) struct MaterialVoxels<'a> {
    pub(crate) table: &'a MaterialTable,
    pub(crate) counts: Cow<'a, [(Material, u64)]>,
}

impl MaterialVoxels<'_> {
    pub(crate) fn to_json(&self) -> Value {
        let json = |(kind, count): (Cow<'_, MaterialKind>, u64)| {
            let mut json = json!({"name": kind.name, "rgba": kind.color, "voxels": count});
            if let Some(faces) = kind.faces {
                json["faces"] = json!(faces);
            }
            if kind.emission > 0 {
                json["emission"] = json!(kind.emission);
            }
            if let Some(shape) = &kind.shape {
                let boxes = shape.boxes().iter().map(|it| [it.min, it.max]);
                json["boxes"] = boxes.collect();
            }
            if let Some(fluid) = kind.fluid.and_then(|fluid| self.table.get(fluid)) {
                json["fluid"] = json!(fluid.name);
            }
            json
        };
        self.iter().map(json).collect()
    }

    /// Returns the properties and the voxel count of each material.
    fn iter(&self) -> impl Iterator<Item = (Cow<'_, MaterialKind>, u64)> {
        self.counts.iter().map(|&(material, count)| match self.table.get(material) {
            Some(kind) => (Cow::Borrowed(kind), count),
            None => (Cow::Owned(MaterialKind::new("unknown", [255, 0, 255, 255])), count),
        })
    }
}

impl fmt::Display for MaterialVoxels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(kind, count)| {
            material_line(f, count, kind.color, &format!("{}{}", kind.name, extras(&kind)))
        })
    }
}

/// Describes the face colours and the emission of a material; empty for one without them.
fn extras(kind: &MaterialKind) -> String {
    let mut text = String::new();
    if let Some(faces) = kind.faces {
        text += "  faces";
        for [red, green, blue] in faces {
            text += &format!(" #{red:02x}{green:02x}{blue:02x}");
        }
    }
    if kind.emission > 0 {
        text += &format!("  emission {}", kind.emission);
    }
    text
}

/// Writes the line of one material: a count, its colour and its name.
pub(crate) fn material_line(
    f: &mut fmt::Formatter<'_>,
    count: u64,
    [r, g, b, a]: [u8; 4],
    name: &str,
) -> fmt::Result {
    writeln!(f, "    {count:>10}  #{r:02x}{g:02x}{b:02x}{a:02x}  {}", plain(name))
}
