use super::*;

fn two_lists() -> (Pool, Memory, [MeshHandle; 3]) {
    let (mut pool, mut memory) = pool(100);
    let meshes = [10, 20, 30].map(|data| pool.insert(&[data], &[1], data, &mut memory).unwrap());
    (pool, memory, meshes)
}

fn data_of(commands: &[DrawCommand], memory: &Memory) -> Vec<u32> {
    drawn(commands, memory).into_iter().map(|(data, _)| data).collect()
}

#[test]
fn everything_is_drawn_before_the_first_mask() {
    let (pool, memory, meshes) = two_lists();
    let mut list = DrawList::new();
    assert!(list.commands(&pool).is_empty());
    meshes.iter().for_each(|&mesh| list.insert(mesh).unwrap());
    assert_eq!(data_of(list.commands(&pool), &memory), [10, 20, 30]);
    assert_eq!(list.visible(), 3);
    let mut view = DrawView::new();
    assert_eq!(view.commands(&list, &pool).len(), 3);
    // Sorting before the first mask sorts all meshes.
    list.sort(&pool, |mesh| !u64::from(**mesh));
    assert_eq!(data_of(list.commands(&pool), &memory), [30, 20, 10]);
}

/// Meshes inserted after a mask are drawn and counted; removed ones are not.
#[test]
fn drawn_meshes_are_counted() {
    let (mut pool, mut memory, meshes) = two_lists();
    let mut list = DrawList::new();
    meshes.iter().for_each(|&mesh| list.insert(mesh).unwrap());
    list.mask(&pool, |mesh| if **mesh > 10 { PartSet::ALL } else { PartSet::EMPTY });
    assert_eq!((list.commands(&pool).len(), list.drawn()), (2, 2));
    list.insert(pool.insert(&[40], &[1], 40, &mut memory).unwrap()).unwrap();
    list.insert(pool.insert(&[50], &[1], 50, &mut memory).unwrap()).unwrap();
    pool.remove(meshes[2]).unwrap();
    assert_eq!(data_of(list.commands(&pool), &memory), [20, 40, 50]);
    assert_eq!((list.drawn(), list.visible()), (3, 2));
}

#[test]
fn a_mask_can_pass_nothing_or_everything() {
    let (pool, memory, meshes) = two_lists();
    let mut list = DrawList::new();
    meshes.iter().for_each(|&mesh| list.insert(mesh).unwrap());
    assert_eq!(list.mask(&pool, |_| PartSet::EMPTY), 0);
    assert_eq!(list.commands(&pool).len(), 0);
    assert_eq!(list.runs(&pool).0.len(), 0);
    list.sort(&pool, |mesh| u64::from(**mesh));
    assert_eq!(list.commands(&pool).len(), 0);
    assert_eq!(list.mask(&pool, |_| PartSet::ALL), 3);
    assert_eq!(data_of(list.commands(&pool), &memory), [10, 20, 30]);
    // Parts that the meshes do not have are ignored.
    list.mask(&pool, |_| PartSet::EMPTY.with(5));
    assert_eq!(list.commands(&pool).len(), 0);
}

/// Two views of one list are independent, and both reflect changes of the list.
#[test]
fn views_are_independent() {
    let (mut pool, mut memory, [a, b, c]) = two_lists();
    let mut list = DrawList::new();
    [a, b].into_iter().for_each(|mesh| list.insert(mesh).unwrap());
    let mut view = DrawView::new();
    list.mask_and_sort(&pool, |mesh| (PartSet::ALL, !u64::from(**mesh)));
    view.mask(&list, &pool, |mesh| if **mesh > 10 { PartSet::ALL } else { PartSet::EMPTY });
    let camera = list.commands(&pool).to_vec();
    let shadow = view.commands(&list, &pool);
    assert_eq!(
        (data_of(&camera, &memory), data_of(shadow, &memory)),
        (Vec::from([20, 10]), Vec::from([20]))
    );

    list.insert(c).unwrap();
    assert_eq!(data_of(list.commands(&pool), &memory), [20, 10, 30]);
    assert_eq!(data_of(view.commands(&list, &pool), &memory), [20, 30]);
    pool.remove(b).unwrap();
    assert_eq!(data_of(list.commands(&pool), &memory), [10, 30]);
    assert_eq!(data_of(view.commands(&list, &pool), &memory), [30]);
    // Another mesh in the same slot does not belong to this list.
    let d = pool.insert(&[40], &[1], 40, &mut memory).unwrap();
    assert_eq!(d.slot(), b.slot());
    assert_eq!(data_of(view.commands(&list, &pool), &memory), [30]);
    assert!(list.contains(b) && !list.contains(d));
    list.mask(&pool, |_| PartSet::ALL);
    assert!(!list.contains(b));
    assert_eq!(list.len(), 2);
}

/// A view used with another list than it was masked with starts over.
#[test]
fn a_view_detects_another_list() {
    let (pool, memory, [a, b, c]) = two_lists();
    let (mut first, mut second) = (DrawList::new(), DrawList::new());
    first.insert(a).unwrap();
    second.insert(b).unwrap();
    let mut view = DrawView::new();
    view.mask(&first, &pool, |_| PartSet::EMPTY);
    assert_eq!(data_of(view.commands(&second, &pool), &memory), [20]);
    // The same number of changes as the other list.
    view.mask(&first, &pool, |_| PartSet::ALL);
    assert_eq!(data_of(view.commands(&second, &pool), &memory), [20]);
    second.insert(c).unwrap();
    assert_eq!(data_of(view.commands(&second, &pool), &memory), [20, 30]);
}

/// One mesh in two lists, moved from one to the other while it stays in the pool.
#[test]
fn lists_share_a_pool() {
    let (pool, memory, [a, b, c]) = two_lists();
    let (mut opaque, mut blended) = (DrawList::new(), DrawList::new());
    [a, b].into_iter().for_each(|mesh| opaque.insert(mesh).unwrap());
    [b, c].into_iter().for_each(|mesh| blended.insert(mesh).unwrap());
    opaque.mask(&pool, |_| PartSet::ALL);
    assert!(opaque.remove(b) && !opaque.remove(b) && !opaque.remove(c));
    blended.insert(b).unwrap();
    assert_eq!(data_of(opaque.commands(&pool), &memory), [10]);
    assert_eq!(data_of(blended.commands(&pool), &memory), [20, 30]);
    assert_eq!((opaque.len(), blended.len()), (1, 2));
    // Inserted again before the next mask: drawn once.
    opaque.insert(b).unwrap();
    assert_eq!(data_of(opaque.commands(&pool), &memory), [10, 20]);
}

#[test]
fn all_meshes_of_a_list_belong_to_one_pool() {
    let (pool, memory, [a, ..]) = two_lists();
    let (mut other, mut elsewhere) = super::pool(10);
    let stranger = other.insert(&[7], &[1], 70, &mut elsewhere).unwrap();
    assert_eq!(stranger.mesh, a.mesh);
    let mut list = DrawList::new();
    list.insert(a).unwrap();
    assert_eq!(list.insert(stranger), Err(PoolError::Stale));
    assert_eq!(pool.data(stranger), None);
    assert_eq!(other.remove(a), Err(PoolError::Stale));
    assert_eq!(list.mask(&other, |_| PartSet::ALL), 0);
    assert_eq!(list.commands(&other).len(), 0);
    // The failed insertion changed nothing.
    assert_eq!(list.mask(&pool, |_| PartSet::ALL), 1);
    assert_eq!(data_of(list.commands(&pool), &memory), [10]);
    list.clear();
    list.insert(stranger).unwrap();
    assert_eq!(data_of(list.commands(&other), &elsewhere), [70]);
}

#[test]
fn masks_and_comparators_see_counts_and_location() {
    let (mut pool, mut memory) = pool(10);
    let mut list = DrawList::new();
    let counts = [[4, 1], [0, 3], [2, 4], [0, 0]];
    let meshes = counts.map(|parts: [u32; 2]| {
        let elements = alloc::vec![7; (parts[0] + parts[1]) as usize];
        let mesh = pool.insert(&elements, &parts, elements.len() as u32, &mut memory).unwrap();
        list.insert(mesh).unwrap();
        mesh
    });
    let mut seen = Vec::new();
    list.mask(&pool, |mesh| {
        let range = mesh.range();
        seen.push((mesh.handle(), mesh.element_count(), range));
        assert_eq!(mesh.data(), &mesh.element_count());
        let is_second_buffer_or_large = range.buffer == 1 || range.part_counts[0] > 3;
        if is_second_buffer_or_large { PartSet::ALL } else { PartSet::EMPTY }
    });
    for (at, (handle, count, range)) in seen.iter().enumerate() {
        assert_eq!((*handle, *count), (meshes[at], counts[at].iter().sum()));
        assert_eq!(range.part_counts[..2], counts[at]);
        assert!(*count == 0 || pool.ranges_of(*handle).eq([*range]));
    }
    assert_eq!(list.visible(), 2);
    // The mesh that starts later in its buffer is drawn first.
    list.mask(&pool, |_| PartSet::ALL);
    list.sort_by(&pool, |a, b| {
        let [a, b] = [a, b].map(|it| (it.range().buffer, it.range().first));
        b.cmp(&a)
    });
    let order = |list: &mut DrawList| -> Vec<u32> {
        list.commands(&pool).iter().map(|it| it.first_instance).collect()
    };
    let expected = [2, 1, 0].map(|at: usize| meshes[at].slot());
    assert_eq!(order(&mut list), [expected[0], expected[0], expected[1], expected[2], expected[2]]);
}
