//! Patched commands equal rebuilt ones, and few changes do not rebuild all commands.

use super::{
    twin::{PARTS, bits, key, parts},
    *,
};

/// Number of meshes of a scene.
const MESHES: u32 = 400;

/// Returns elements for some parts; most parts have some.
fn some_parts(random: &mut Random, step: u32) -> (Vec<u32>, Vec<u32>) {
    let counts: Vec<u32> = (0..PARTS).map(|_| random.below(3)).collect();
    let elements = counts.iter().sum();
    ((0..elements).map(|i| step * 100 + i).collect(), counts)
}

/// Few changes of every kind between two views of the list. A second view, which never patches,
/// must have equal commands in equal runs.
#[test]
fn patched_commands_equal_rebuilt_commands() {
    let mut patched = 0;
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let (mut pool, mut memory) = pool_with(6_000, 2 * MESHES);
        let mut list = DrawList::new();
        let grouping = [Grouping::InOrder, Grouping::ByBuffer][random.below(2) as usize];
        let mut view = DrawView::with_config(ListConfig { grouping, ..ListConfig::default() });
        let mut meshes = Vec::new();
        let max_buffers = 1 + random.below(u32::from(BUFFERS));
        let salt = random.below(97);
        for step in 0..120 {
            let changes = if step == 0 { MESHES / 4 } else { random.below(6) };
            for _ in 0..changes {
                let (elements, counts) = some_parts(&mut random, step);
                let index = random.below(meshes.len() as u32 + 1) as usize;
                let what = if step == 0 { 0 } else { random.below(5) };
                match (what, meshes.get(index).copied()) {
                    (0, _) | (_, None) => {
                        let data = random.below(1000);
                        let Ok(mesh) = pool.insert(&elements, &counts, data, &mut memory) else {
                            continue;
                        };
                        meshes.push(mesh);
                        // Others belong to another list.
                        if random.below(4) > 0 {
                            list.insert(mesh).unwrap();
                        }
                        let buffer = random.below(max_buffers) as u16;
                        pool.move_to_buffer(mesh, buffer, &mut memory);
                    }
                    (1, _) => {
                        let mesh = meshes.swap_remove(index);
                        pool.remove(mesh).unwrap();
                    }
                    (2, Some(mesh)) if random.below(8) == 0 => {
                        let was_in = list.remove(mesh);
                        if was_in && random.below(2) == 0 {
                            list.insert(mesh).unwrap();
                        }
                    }
                    (_, Some(mesh)) => {
                        let data = *pool.data(mesh).unwrap();
                        let _ = pool.replace(mesh, &elements, &counts, data, &mut memory);
                    }
                }
            }
            if step == 0 {
                view.mask(&list, &pool, |mesh| parts(bits(**mesh, salt)));
                if random.below(2) == 0 {
                    view.sort(&list, &pool, |mesh| key(**mesh, salt));
                }
            }
            let before = view.patcher.count;
            let (runs, commands) = view.runs(&list, &pool);
            let (runs, commands) = (runs.to_vec(), commands.to_vec());
            patched += view.patcher.count - before;
            let drawn = view.drawn();
            view.built = None;
            let rebuilt = view.runs(&list, &pool);
            assert_eq!((&runs[..], &commands[..]), rebuilt, "seed {seed}, step {step}");
            assert_eq!(drawn, view.drawn(), "seed {seed}, step {step}");
        }
    }
    assert!(patched > 10_000, "only {patched} of 36,000 builds were patches");
}

/// Replacing a mesh by one with more commands does not rebuild the commands of other meshes.
#[test]
fn replacing_a_mesh_rebuilds_no_other_commands() {
    let (mut pool, mut memory) = pool_with(6_000, MESHES);
    let mut list = DrawList::new();
    for data in 0..MESHES {
        list.insert(pool.insert(&[1, 2], &[1, 0, 1], data, &mut memory).unwrap()).unwrap();
    }
    list.mask_and_sort(&pool, |mesh| (PartSet::from_bits(0b111), u64::from(**mesh) % 7));
    assert_eq!(list.commands(&pool).len(), MESHES as usize);
    let (mesh, &data) = pool.iter().nth(200).unwrap();
    pool.replace(mesh, &[1, 2, 3, 4], &[1, 1, 1, 1], data, &mut memory).unwrap();
    list.commands(&pool);
    assert_eq!(list.view.patcher.count, 1);
    let drawn_elements = drawn(list.commands(&pool), &memory);
    assert_eq!(drawn_elements.iter().filter(|(of, _)| *of == data).count(), 3);
    assert_eq!(drawn_elements.len(), MESHES as usize * 2 + 1);
}
