use drystone::scene::{ModelTriangles, Shade};
use drystone_formats::Model;
use drystone_pool::{
    Access, Backend, IndexedBackend, IndexedPool, MeshHandle, NullBackend, PoolConfig,
};
use drystone_render::{RenderError, TriangleVertex};
use serde_json::json;

use super::{
    names,
    numbers::{Numbers, Unit},
    picture::Map,
    write,
};
use crate::{AppError, cli::PoolMapOptions, output};

/// Mapped memory for vertices and indices whose contents are dropped.
struct NullIndexedBackend;

impl IndexedBackend for NullIndexedBackend {
    fn vertices(&mut self) -> impl Backend {
        NullBackend(Access::Direct)
    }

    fn indices(&mut self) -> impl Backend {
        NullBackend(Access::Direct)
    }
}

/// Fills a pool with the parts of a polygon model, as in the viewer, and draws the layout: vertices
/// above, indices below.
pub(super) fn run(options: &PoolMapOptions, model: &Model) -> Result<(), AppError> {
    let model = ModelTriangles::new(model, Shade::default())?;
    let pool = filled(options.buffer_kib, &model)?;
    let ranges = pool.ranges();
    let [vertices, indices] = pool.stats();
    let numbers = [
        Numbers::new(&model.name, Unit::VERTICES, vertices, &ranges[0]),
        Numbers::new(&model.name, Unit::INDICES, indices, &ranges[1]),
    ];
    let maps = [0, 1].map(|kind| Map { numbers: &numbers[kind], ranges: &ranges[kind] });
    write(&options.output, &maps, |mesh| describe(&pool, mesh))?;
    let [of_vertices, of_indices] = &numbers;
    let report = if options.json {
        let pools = json!({
            "vertices": of_vertices.to_json(),
            "indices": of_indices.to_json(),
        });
        let output = options.output.display().to_string();
        json!({"output": output, "source": model.name, "pools": pools}).to_string()
    } else {
        let [output, source] = names(options, of_vertices);
        format!("{output}: {source}: {of_vertices}; {of_indices}")
    };
    output::print(&format!("{report}\n"))
}

/// Returns a pool with all parts of a model, by number. Parts larger than a buffer are split.
fn filled(
    buffer_kib: u32,
    model: &ModelTriangles,
) -> Result<IndexedPool<TriangleVertex, u32>, RenderError> {
    let max_bytes = u64::from(buffer_kib) << 10;
    let config = |unit: Unit| {
        let max_elements = u32::try_from(max_bytes / unit.bytes).unwrap_or(u32::MAX);
        let defaults = PoolConfig::default();
        let min_buffer_elements = defaults.min_buffer_elements.min(max_elements);
        defaults
            .with_max_buffer_elements(max_elements)
            .with_min_buffer_elements(min_buffer_elements)
            .with_max_buffers(u16::MAX)
    };
    let mut pool = IndexedPool::new(config(Unit::VERTICES), config(Unit::INDICES))?;
    for (number, part) in model.parts.iter().enumerate() {
        for piece in part.clone().split(max_bytes) {
            let counts = [piece.indices.len() as u32];
            let backend = &mut NullIndexedBackend;
            pool.insert(&piece.vertices, &piece.indices, &counts, number as u32, backend)?;
        }
    }
    Ok(pool)
}

fn describe(pool: &IndexedPool<TriangleVertex, u32>, mesh: MeshHandle) -> String {
    match pool.data(mesh) {
        Some(part) => format!("mesh {} of part {part}", mesh.slot()),
        None => "nothing".into(),
    }
}
