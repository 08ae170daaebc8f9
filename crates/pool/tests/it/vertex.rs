use bytemuck::{Pod, Zeroable};
use drystone_pool::{Access, Config, DrawList, PartSet, Placement, SimulatedGpu, VertexPool};

/// The article's vertex: 40 bytes, four of them and six indices a quad.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: [f32; 4],
}

const _: () = assert!(size_of::<Vertex>() == 40);

/// What the article masks and orders by: the facing and the chunk's position.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Group {
    position: [f32; 3],
    facing: u32,
}

/// The vertices of `quads` quads.
fn vertices(quads: u32, facing: u32) -> Vec<Vertex> {
    let corner = |n: u32| Vertex {
        position: [(n / 4) as f32, (n % 4) as f32, facing as f32],
        normal: [1.0, 0.0, 0.0],
        color: [0.5, 0.25, facing as f32, 1.0],
    };
    (0..quads * 4).map(corner).collect()
}

/// The article's pool: a bucket a facing, each a mesh, in mapped memory; one list for all.
/// Elements are vertices, drawn as points here, since the pool leaves indices to patterns
/// of whole elements.
#[test]
fn the_articles_vertex_fits_as_it_is() {
    let config = Config {
        placement: Placement::Buckets { elements: 2_400 },
        least_buffer_elements: 2_400 * 12,
        indices_per_element: 1,
        vertices_per_element: 1,
        ..Config::default()
    };
    let mut gpu = SimulatedGpu::new(Access::Direct, 2);
    let mut pool = VertexPool::<Vertex, Group>::new(config).unwrap();
    let mut list = DrawList::new();
    for chunk in 0..2 {
        for facing in 0..6 {
            let data = Group { position: [chunk as f32, 0.0, 0.0], facing };
            // The article's way: reserve a whole bucket, fill, give back what is left over.
            let mut writer = pool.writer(2_400, &mut gpu).unwrap();
            for vertex in vertices(10 + facing, facing) {
                writer.push(vertex).unwrap();
            }
            list.insert(writer.finish(data).unwrap()).unwrap();
        }
    }
    assert_eq!(pool.stats().used_bytes, 2 * (10 + 11 + 12 + 13 + 14 + 15) * 4 * 40);
    list.mask(&pool, |group| if group.facing % 2 == 1 { PartSet::ALL } else { PartSet::EMPTY });
    list.order(&pool, |group| u64::from(group.position[0] as u32 * 8 + group.facing));
    let (runs, commands) = list.runs(&pool);
    assert_eq!((runs.len(), commands.len()), (1, 6));
    pool.frame_submitted(gpu.submit(&pool, &[(runs, commands)]));
    gpu.finish();
    let (_, picture) = gpu.completed_picture().unwrap();
    let drawn: Vec<(Group, Vertex)> = (0..picture.len())
        .map(|nth| picture.drawn(nth))
        .map(|(data, element)| {
            (bytemuck::pod_read_unaligned(data), bytemuck::pod_read_unaligned(element))
        })
        .collect();
    let mut expected = Vec::new();
    for chunk in 0..2 {
        for facing in [1, 3, 5] {
            let data = Group { position: [chunk as f32, 0.0, 0.0], facing };
            expected.extend(vertices(10 + facing, facing).into_iter().map(|v| (data, v)));
        }
    }
    assert_eq!(drawn, expected);
}
