use super::*;

/// Creates meshes with these data, in buffer `data % 10`.
fn in_buffers(data: &[u32], config: ListConfig) -> (Pool, Memory, DrawList) {
    let (mut pool, mut memory) = pool(100);
    let mut list = DrawList::with_config(config);
    for &data in data {
        let mesh = pool.insert(&[data; 3], &[1, 1, 1], data, &mut memory).unwrap();
        let buffer = data % 10;
        assert_eq!(pool.move_to_buffer(mesh, buffer as u16, &mut memory), buffer);
        list.insert(mesh).unwrap();
    }
    (pool, memory, list)
}

fn runs(list: &mut DrawList, pool: &Pool) -> Vec<(u32, usize)> {
    list.runs(pool).0.iter().map(|run| (run.buffer, run.commands.len())).collect()
}

const DATA: [u32; 7] = [10, 21, 32, 41, 51, 60, 72];

#[test]
fn an_unsorted_list_has_one_run_per_buffer() {
    let (pool, _, mut list) = in_buffers(&DATA, ListConfig::default());
    assert_eq!(runs(&mut list, &pool), [(0, 2), (1, 3), (2, 2)]);
    list.mask(&pool, |mesh| if **mesh % 10 == 1 { PartSet::EMPTY } else { PartSet::ALL });
    assert_eq!(runs(&mut list, &pool), [(0, 2), (2, 2)]);
}

#[test]
fn a_sorted_list_starts_a_run_where_the_buffer_changes() {
    let (pool, memory, mut list) = in_buffers(&DATA, ListConfig::default());
    list.sort(&pool, |mesh| !u64::from(**mesh));
    assert_eq!(runs(&mut list, &pool), [(2, 1), (0, 1), (1, 2), (2, 1), (1, 1), (0, 1)]);
    let order: Vec<u32> = drawn_in_runs(list.runs(&pool), &memory).iter().map(|d| d.0).collect();
    assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
}

#[test]
fn grouping_by_buffer_gives_one_run_per_buffer() {
    let config = ListConfig { grouping: Grouping::ByBuffer, ..ListConfig::default() };
    let (pool, memory, mut list) = in_buffers(&DATA, config);
    list.sort(&pool, |mesh| !u64::from(**mesh));
    assert_eq!(runs(&mut list, &pool), [(0, 2), (1, 3), (2, 2)]);
    let mut order: Vec<u32> =
        drawn_in_runs(list.runs(&pool), &memory).iter().map(|d| d.0).collect();
    order.dedup();
    assert_eq!(order, [60, 10, 51, 41, 21, 72, 32]);
}

#[test]
fn hidden_parts_can_have_commands_that_draw_nothing() {
    let config = ListConfig { hidden: HiddenCommands::Zeroed, ..ListConfig::default() };
    let (pool, _, mut list) = in_buffers(&[10, 20], config);
    list.mask(&pool, |mesh| PartSet::from_bits(if **mesh == 10 { 0b101 } else { 0 }));
    let counts: Vec<u32> = list.commands(&pool).iter().map(|c| c.index_count).collect();
    assert_eq!(counts, [6, 6, 0, 0, 0, 0]);
    let offsets: Vec<i32> = list.commands(&pool).iter().map(|c| c.base_vertex / 4).collect();
    assert_eq!(offsets, [0, 2, 1, 3, 4, 5]);
}
