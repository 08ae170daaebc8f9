//! One chunk of voxels through the whole pipeline, step by step: voxels, quads, the vertex pool, draw
//! commands, a picture. It needs no GPU.
//!
//! ```text
//! cargo run --release -p drystone --example one_chunk -- chunk.png
//! ```

use drystone_render::{
    Camera, DrawData, Layer, MeshData, PoolRenderer, Renderer, SoftDevice, View,
};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, PaddedChunk,
};
use glam::DVec3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "chunk.png".into());

    // 1. Voxels: 32³ of them, a hill with a band of grass on it.
    let mut materials = MaterialTable::new();
    let stone = materials.insert("stone", [128, 124, 120, 255]).ok_or("no number left")?;
    let grass = materials.insert("grass", [96, 150, 70, 255]).ok_or("no number left")?;
    let height =
        |x: u8, z: u8| 11.0 + 9.0 * (f32::from(x) * 0.2).sin() * (f32::from(z) * 0.13).sin();
    let chunk =
        Chunk::from_fn(Chunk::SIDE, |LocalPos { x, y, z }| match height(x, z) - f32::from(y) {
            depth if depth < 0.0 => Material::AIR,
            depth if depth < 1.5 => grass,
            _ => stone,
        });

    // 2. Quads: the mesher reads the chunk and one layer of each neighbour, which is air here.
    let mut padded = PaddedChunk::new();
    padded.fill(&chunk, |_neighbor| None);
    let mut mesh = ChunkMesh::new();
    GreedyMesher::new().mesh(&padded, &materials, &mut mesh);

    // 3. The pool: one allocation for the quads, sorted by face direction, 8 bytes each.
    let mut renderer = PoolRenderer::new(SoftDevice::new(800, 500)?, 0, 1)?;
    renderer.set_palette(&materials.iter().map(|(_, kind)| kind.color).collect::<Vec<_>>())?;
    let draw_data = DrawData { origin: [0, 0, 0], level: 0, extent: Chunk::SIDE, sort_rank: 0 };
    let quads = &mesh.opaque;
    renderer.insert(&MeshData {
        quads: quads.quads(),
        counts: quads.counts(),
        draw_data,
        layer: Layer::Opaque,
    })?;

    // 4. Commands: a mask drops back faces; the rest is one indirect call.
    let camera = Camera::look_at(DVec3::new(44.0, 36.0, 50.0), DVec3::new(16.0, 7.0, 16.0));
    let drawn = renderer.draw(&View::new(camera))?;

    // 5. A picture.
    let picture = renderer.read_image()?;
    picture.save_png(std::path::Path::new(&path))?;
    println!(
        "{}: {} voxels, {} quads, {} draw commands",
        path.to_string_lossy(),
        chunk.solid_count(),
        quads.len(),
        drawn.commands,
    );
    Ok(())
}
