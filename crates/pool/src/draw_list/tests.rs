use super::*;
use crate::{Backend, Config, PoolError};

/// A GPU's memory: elements and per-draw data as the shader would read them.
struct Memory {
    elements: Vec<u32>,
    data: Vec<u32>,
}

impl Backend for Memory {
    fn write_elements(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let start = offset_bytes as usize;
        bytemuck::cast_slice_mut::<u32, u8>(&mut self.elements)[start..start + bytes.len()]
            .copy_from_slice(bytes);
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        self.data[slot as usize] = bytemuck::pod_read_unaligned(bytes);
    }
}

type Pool = VertexPool<u32, u32>;

fn pool(capacity: u32) -> (Pool, Memory) {
    let config = Config { capacity, slot_capacity: 64, pattern_elements: 4, ..Config::default() };
    let memory = Memory { elements: alloc::vec![0; capacity as usize], data: alloc::vec![0; 64] };
    (Pool::new(config).unwrap(), memory)
}

/// The elements that the commands draw, with the data of their draw.
fn drawn(commands: &[DrawCommand], memory: &Memory) -> Vec<(u32, u32)> {
    let mut drawn = Vec::new();
    for command in commands {
        assert_eq!((command.instance_count, command.first_index), (1, 0));
        assert!(command.index_count > 0 && command.index_count <= 4 * 6);
        let first = command.base_vertex as usize / 4;
        let data = memory.data[command.first_instance as usize];
        let run = &memory.elements[first..first + command.index_count as usize / 6];
        drawn.extend(run.iter().map(|&element| (data, element)));
    }
    drawn
}

#[test]
fn runs_of_visible_parts_merge_over_empty_ones() {
    let (mut pool, mut memory) = pool(100);
    let mesh = pool.insert(&[1, 2, 3, 4], &[1, 0, 1, 1, 0, 1], 9, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(mesh);
    for (bits, runs) in [(0b000101, 1), (0b001001, 2), (0b100101, 2), (0b111111, 1), (0b010010, 0)]
    {
        list.mask(&pool, |_| PartSet::from_bits(bits));
        assert_eq!(list.commands(&pool).len(), runs, "{bits:b}");
    }
}

#[test]
fn long_runs_are_cut_to_the_pattern() {
    let (mut pool, mut memory) = pool(100);
    let elements: Vec<u32> = (0..11).collect();
    let mesh = pool.insert(&elements, &[5, 6], 0, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(mesh);
    assert_eq!(list.commands(&pool).len(), 3);
    let seen: Vec<u32> = drawn(list.commands(&pool), &memory).iter().map(|d| d.1).collect();
    assert_eq!(seen, elements);
}

#[test]
fn a_full_pool_keeps_the_old_mesh() {
    let (mut pool, mut memory) = pool(10);
    let mesh = pool.insert(&[1, 2, 3, 4, 5, 6], &[6], 1, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(mesh);
    let error = pool.replace(mesh, &[7; 5], &[5], 2, &mut memory).unwrap_err();
    assert_eq!(error, PoolError::Full { requested: 5, largest_free: 4, total_free: 4 });
    assert_eq!(drawn(list.commands(&pool), &memory)[5], (1, 6));
    pool.replace(mesh, &[7; 4], &[4], 2, &mut memory).unwrap();
    assert_eq!(drawn(list.commands(&pool), &memory), [(2, 7); 4]);
    assert_eq!(pool.stats().used, 4);
}

#[test]
fn stale_handles_and_wrong_parts_change_nothing() {
    let (mut pool, mut memory) = pool(10);
    let mesh = pool.insert(&[1], &[1], 1, &mut memory).unwrap();
    pool.remove(mesh).unwrap();
    assert_eq!(pool.remove(mesh), Err(PoolError::Stale));
    assert_eq!(pool.replace(mesh, &[2], &[1], 1, &mut memory), Err(PoolError::Stale));
    let wrong = pool.insert(&[1, 2], &[1], 1, &mut memory);
    assert!(matches!(wrong, Err(PoolError::PartsMismatch { counted: 1, .. })));
    assert!(pool.insert(&[1; 9], &[1; 9], 1, &mut memory).is_err());
    assert_eq!(pool.stats().used, 0);
    let empty = pool.insert(&[], &[], 1, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(empty);
    assert!(list.commands(&pool).is_empty());
}

#[test]
fn slots_run_out_as_a_value() {
    let (mut pool, mut memory) = pool(1000);
    for data in 0..64 {
        pool.insert(&[data], &[1], data, &mut memory).unwrap();
    }
    let refused = pool.insert(&[1], &[1], 1, &mut memory);
    assert_eq!(refused, Err(PoolError::SlotsFull { capacity: 64 }));
    assert_eq!(pool.stats().used, 64);
}

/// Random programs against a list that copies everything: what is drawn is exactly what
/// passes the mask, in order, whatever was inserted, replaced and removed in between.
#[test]
fn programs_draw_what_a_naive_list_draws() {
    for seed in 1..=400_u64 {
        let mut random = Random(seed);
        let (mut pool, mut memory) = pool(160);
        let mut list = DrawList::new();
        let mut naive: Vec<(MeshHandle, u32, Vec<Vec<u32>>)> = Vec::new();
        for step in 0..60 {
            let parts: Vec<Vec<u32>> =
                (0..6).map(|_| (0..random.below(3)).map(|i| step * 100 + i).collect()).collect();
            let flat: Vec<u32> = parts.concat();
            let counts: Vec<u32> = parts.iter().map(|p| p.len() as u32).collect();
            match random.below(5) {
                0 | 1 => {
                    let data = step;
                    if let Ok(mesh) = pool.insert(&flat, &counts, data, &mut memory) {
                        list.insert(mesh);
                        naive.push((mesh, data, parts));
                    }
                }
                2 if !naive.is_empty() => {
                    let index = random.below(naive.len() as u32) as usize;
                    let (mesh, data, old) = &mut naive[index];
                    if pool.replace(*mesh, &flat, &counts, *data, &mut memory).is_ok() {
                        *old = parts;
                    }
                }
                3 if !naive.is_empty() => {
                    let index = random.below(naive.len() as u32) as usize;
                    let (mesh, ..) = naive.swap_remove(index);
                    pool.remove(mesh).unwrap();
                }
                _ => {
                    let salt = random.below(97);
                    let bits = |data: u32| (data * 31 + salt) as u8 & 0x3f;
                    list.mask(&pool, |&data| PartSet::from_bits(bits(data)));
                    list.order(&pool, |&data| u64::from(data ^ salt));
                    let mut want: Vec<_> = naive.iter().collect();
                    want.sort_by_key(|(_, data, _)| data ^ salt);
                    let want: Vec<(u32, u32)> = want
                        .into_iter()
                        .flat_map(|(_, data, parts)| {
                            let shown = (0..6).filter(|part| bits(*data) >> part & 1 != 0);
                            shown.flat_map(|p| parts[p].clone()).map(|e| (*data, e))
                        })
                        .collect();
                    assert_eq!(drawn(list.commands(&pool), &memory), want, "seed {seed}");
                }
            }
        }
        // A change after the mask shows at once, in any order.
        let mut now = drawn(list.commands(&pool), &memory);
        now.retain(|(data, _)| !naive.iter().any(|(_, live, _)| live == data));
        assert!(now.is_empty(), "a removed mesh is drawn");
    }
}

/// A small generator (xorshift64*), so that the crate needs no dependency for it.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % u64::from(bound)) as u32
    }
}

#[test]
fn keys_order_as_distances_do() {
    assert!(sort_key(1.0, 9) < sort_key(1.5, 0));
    assert!(sort_key(1.0, 1) < sort_key(1.0, 2));
    assert!(sort_key(0.0, 0) < sort_key(f32::MIN_POSITIVE, 0));
}
