//! Compares a mesh rebuilt by layers with a mesh of the whole chunk, with and without ambient
//! occlusion.

use drystone_mesh::{Face, FaceSet, Quad};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, MesherOptions, PaddedChunk,
    Remesher, mesh_skirt,
};

use crate::scenes::{Random, table};

/// A chunk and its neighbours, as listed by [`PaddedChunk::NEIGHBORS`].
#[derive(Clone)]
struct Around {
    center: Chunk,
    neighbors: Vec<Option<Chunk>>,
}

impl Around {
    fn new(side: u32, random: &mut Random) -> Self {
        let mut chunk = || {
            let (pattern, density) = (random.below(5), 1 + random.below(9));
            Chunk::from_fn(side, |at| {
                let [x, y, z] = [at.x, at.y, at.z].map(u32::from);
                let any = random.below(10);
                Material(match pattern {
                    0 => 0,
                    1 => 2,
                    2 if y < side / 2 => 1 + ((x / 3 + z / 5) % 4) as u16,
                    3 => ((x / 4 + y / 3 + z / 2) % 5) as u16,
                    4 if any < density => 1 + (any % 4) as u16,
                    _ => 0,
                })
            })
        };
        let center = chunk();
        let mut neighbor = || Some(chunk()).filter(|it| it.get(LocalPos::new(0, 0, 0)).0 != 1);
        let neighbors = PaddedChunk::NEIGHBORS.map(|_| neighbor()).to_vec();
        Self { center, neighbors }
    }

    fn neighbor(&self, offset: [i32; 3]) -> Option<&Chunk> {
        let at = PaddedChunk::NEIGHBORS.iter().position(|&it| it == offset)?;
        self.neighbors[at].as_ref()
    }

    fn padded(&self) -> PaddedChunk {
        let mut padded = PaddedChunk::new();
        padded.fill(&self.center, |offset| self.neighbor(offset));
        padded
    }

    fn mesh(&self, table: &MaterialTable, options: MesherOptions) -> ChunkMesh {
        let mut mesh = ChunkMesh::new();
        GreedyMesher::with_options(options).mesh(&self.padded(), table, &mut mesh);
        mesh
    }

    /// Sets a box of voxels, where chunks exist.
    fn set(&mut self, [low, high]: [[i32; 3]; 2], mut material: impl FnMut() -> Material) {
        let n = self.center.side() as i32;
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let at = [x, y, z];
                    let chunk = at.map(|c| c.div_euclid(n));
                    let local = at.map(|c| c.rem_euclid(n) as u8);
                    let neighbor = PaddedChunk::NEIGHBORS.iter().position(|&it| it == chunk);
                    let chunk = match neighbor {
                        None if chunk == [0; 3] => Some(&mut self.center),
                        None => None,
                        Some(at) => self.neighbors[at].as_mut(),
                    };
                    if let Some(chunk) = chunk {
                        chunk.set(LocalPos::new(local[0], local[1], local[2]), material());
                    }
                }
            }
        }
    }
}

fn quads(mesh: &ChunkMesh) -> [&[Quad]; 2] {
    [mesh.opaque.quads(), mesh.translucent.quads()]
}

/// Returns a box that may extend out of the chunk or be outside it.
fn any_box(side: u32, random: &mut Random) -> [[i32; 3]; 2] {
    let (max_size, beyond) = (1 + random.below(3), 1 + random.below(8) / 7);
    let all = [(); 3].map(|()| {
        let low = random.below(side + 2 * beyond) as i32 - beyond as i32;
        (low, low + random.below(max_size))
    });
    [all.map(|(low, _)| low), all.map(|(_, high)| high)]
}

#[test]
fn rebuilt_layers_equal_those_of_the_whole_chunk() {
    rebuilt_layers_equal_whole_chunks(MesherOptions::default());
}

#[test]
fn rebuilt_layers_with_ambient_occlusion_and_steps_equal_those_of_the_whole_chunk() {
    let options = MesherOptions::default().with_ambient_occlusion().with_steps();
    rebuilt_layers_equal_whole_chunks(options);
}

fn rebuilt_layers_equal_whole_chunks(options: MesherOptions) {
    let mut random = Random::new(11);
    let tables = [0, 0b1000, 0b1010, 0b1111, 1 << 10, 0b1000 | 1 << 9 | 1 << 11].map(table);
    let mut remesher = Remesher::with_options(options);
    let mut mesh = ChunkMesh::new();
    let (mut changed_count, mut skirt_count, mut is_shaded) = (0, 0, false);
    for round in 0..240 {
        let side = [1, 2, 5, 16, 17, 32, 33, 64][round % 8];
        let table = &tables[random.below(tables.len() as u32) as usize];
        let mut around = Around::new(side, &mut random);
        let mut old = around.mesh(table, options);
        // Each edit is applied to the mesh after the previous one.
        for _ in 0..6 {
            let changed = any_box(side, &mut random);
            let one = random.below(2) == 0;
            let material = Material(random.below(5) as u16);
            around.set(changed, || if one { material } else { Material(random.below(5) as u16) });
            let skirts = FaceSet::from_bits(random.below(64) as u8);
            remesher.fill(&around.center, |offset| around.neighbor(offset), changed, skirts);
            remesher.remesh(&old, table, &mut mesh);
            let whole = around.mesh(table, options);
            assert!(quads(&mesh) == quads(&whole), "round {round}, side {side}, {changed:?}");
            for face in Face::ALL {
                let counts = [&mesh, &whole]
                    .map(|mesh| [mesh.opaque.count(face), mesh.translucent.count(face)]);
                assert_eq!(counts[0], counts[1]);
                let [mut skirt, mut expected] = [ChunkMesh::new(), ChunkMesh::new()];
                mesh_skirt(&around.padded(), face, options, table, &mut expected);
                remesher.mesh_skirt(face, table, &mut skirt);
                if !skirts.contains(face) {
                    assert!(skirt.is_empty());
                } else {
                    assert!(quads(&skirt) == quads(&expected), "round {round}, {face:?}");
                    skirt_count += usize::from(!skirt.is_empty());
                    is_shaded |= skirt.iter().any(|(quad, _)| quad.ambient_occlusion() != 0);
                }
            }
            changed_count += usize::from(quads(&old) != quads(&whole));
            old = mesh.clone();
        }
    }
    assert!(changed_count > 600 && skirt_count > 600, "{changed_count}, {skirt_count}");
    assert_eq!(is_shaded, options.ambient_occlusion);
}

#[test]
fn rebuilding_layers_is_cheaper_for_few_planes() {
    let all = [[0; 3], [31; 3]];
    let shaded = MesherOptions::default().with_ambient_occlusion();
    // A wide change in a neighbour affects its border only, except for ambient occlusion.
    let beside = [[-1, 0, 5], [-1, 31, 5]];
    assert!(Remesher::new().is_cheaper(32, beside));
    assert!(!Remesher::with_options(shaded).is_cheaper(32, beside));
    for (changed, pays) in [
        ([[5; 3], [5; 3]], true),
        ([[-1, 5, 5], [-1, 30, 30]], true),
        ([[5; 3], [7; 3]], true),
        ([[5; 3], [20; 3]], false),
        (all, false),
        ([[i32::MIN; 3], [i32::MAX; 3]], false),
        // The change is outside the chunk.
        ([[i32::MIN; 3], [-2; 3]], true),
        ([[32, 40, 5], [i32::MAX; 3]], true),
    ] {
        assert_eq!(Remesher::new().is_cheaper(32, changed), pays, "{changed:?}");
    }
}
