use bytemuck::{Pod, Zeroable};
use drystone_pool::{Access, DrawList, PartSet, Placement, PoolConfig, SimulatedGpu, VertexPool};

/// Vertex of the article: 40 bytes, with four vertices and six indices per quad.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: [f32; 4],
}

const _: () = assert!(size_of::<Vertex>() == 40);

/// Per-draw data of the article, for masking and sorting: the face direction and the chunk's
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Group {
    position: [f32; 3],
    direction: u32,
}

/// Creates the vertices of `quads` quads.
fn vertices(quads: u32, direction: u32) -> Vec<Vertex> {
    let corner = |n: u32| Vertex {
        position: [(n / 4) as f32, (n % 4) as f32, direction as f32],
        normal: [1.0, 0.0, 0.0],
        color: [0.5, 0.25, direction as f32, 1.0],
    };
    (0..quads * 4).map(corner).collect()
}

/// Uses the pool as in the article: one mesh and one bucket per face direction, in mapped memory,
/// and one list for all. Elements are vertices here and are drawn as points, since the pool's index
/// patterns need whole elements.
#[test]
fn the_articles_vertex_format_can_be_stored() {
    let config = PoolConfig::default()
        .with_placement(Placement::Buckets { elements: 2_400 })
        .with_min_buffer_elements(2_400 * 12)
        .with_indices_per_element(1)
        .with_vertices_per_element(1);
    let mut gpu = SimulatedGpu::new(Access::Direct, 2);
    let mut pool = VertexPool::<Vertex, Group>::new(config).unwrap();
    let mut list = DrawList::new();
    for chunk in 0..2 {
        for direction in 0..6 {
            let data = Group { position: [chunk as f32, 0.0, 0.0], direction };
            // As in the article: reserve a whole bucket, fill it, release the unused rest.
            let mut writer = pool.writer(2_400, &mut gpu).unwrap();
            for vertex in vertices(10 + direction, direction) {
                writer.push(vertex).unwrap();
            }
            list.insert(writer.finish(data).unwrap()).unwrap();
        }
    }
    assert_eq!(pool.stats().used_bytes, 2 * (10 + 11 + 12 + 13 + 14 + 15) * 4 * 40);
    list.mask(&pool, |group| if group.direction % 2 == 1 { PartSet::ALL } else { PartSet::EMPTY });
    list.sort(&pool, |group| u64::from(group.position[0] as u32 * 8 + group.direction));
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
        for direction in [1, 3, 5] {
            let data = Group { position: [chunk as f32, 0.0, 0.0], direction };
            expected.extend(vertices(10 + direction, direction).into_iter().map(|v| (data, v)));
        }
    }
    assert_eq!(drawn, expected);
}

/// Elements are quads, triangles, lines and points; vertices are numbered from 0 in a buffer.
#[test]
fn commands_count_the_indices_and_vertices_of_any_primitive() {
    for (indices, vertices) in [(6, 4), (3, 3), (2, 2), (1, 1)] {
        let config = PoolConfig::fixed(100, 10)
            .with_indices_per_element(indices)
            .with_vertices_per_element(vertices);
        let mut gpu = SimulatedGpu::new(Access::Staged, 1);
        let mut pool = VertexPool::<u64, u32>::new(config).unwrap();
        let mut list = DrawList::new();
        for count in [7_u32, 5] {
            let elements: Vec<u64> = (0..count.into()).collect();
            list.insert(pool.insert(&elements, &[2, count - 2], count, &mut gpu).unwrap()).unwrap();
        }
        list.mask(&pool, |_| PartSet::EMPTY.with(1));
        let commands = list.commands(&pool);
        let expected = [(5 * indices, 2 * vertices), (3 * indices, 9 * vertices)];
        let expected = expected.map(|(count, base)| (count, base as i32));
        assert!(commands.iter().map(|it| (it.index_count, it.base_vertex)).eq(expected));
    }
}
