//! Inserts and removes runs in each kind of vertex lists and compares their content.

use drystone_mesh::{IndexRunOptions, IndexRuns, PolygonStore, VertexLists};
use proptest::prelude::*;
use std::collections::VecDeque;

use crate::lists::{ByLength, RangeRuns};

/// Lists of all kinds of lengths: empty, short, the longest with a free list, longer.
fn vertices(n: u32) -> Vec<u32> {
    let length = [0, 3, 4, 5, 20, 21, 400, 7][n as usize % 8];
    (0..length).map(|at| n * 1000 + at).collect()
}

fn inserted_runs_keep_their_content<L: VertexLists>(mut lists: L) {
    let mut live = VecDeque::new();
    for n in 0..4000 {
        live.push_back((n, lists.insert(&vertices(n)).unwrap()));
        if n % 3 == 0 || n > 3000 {
            live.rotate_left(n as usize % 7 % live.len());
            let (n, list) = live.pop_front().unwrap();
            assert_eq!(lists.get(&list), vertices(n));
            lists.remove(list);
        }
    }
    live.iter().for_each(|(n, list)| assert_eq!(lists.get(list), vertices(*n)));
    let reserved = lists.reserved_bytes();
    assert!(reserved > 0);
    lists.reset();
    let list = lists.insert(&vertices(3)).unwrap();
    assert_eq!((lists.get(&list), lists.reserved_bytes() <= reserved), (&vertices(3)[..], true));
}

#[test]
fn runs_by_length_keep_their_content() {
    inserted_runs_keep_their_content(ByLength::default());
}

#[test]
fn runs_of_indices_keep_their_content() {
    inserted_runs_keep_their_content(IndexRuns::default());
}

fn limited(max_len: u32) -> IndexRuns {
    IndexRuns::with_options(IndexRunOptions::default().with_max_len(max_len))
}

#[test]
fn runs_of_indices_with_any_limit_keep_their_content() {
    for max_len in [0, 2, 3, 4, 21, 399, 400, 5000, u32::MAX] {
        inserted_runs_keep_their_content(limited(max_len));
    }
}

#[test]
fn long_lists_are_counted() {
    let mut lists = limited(7);
    let mut live: VecDeque<_> =
        [3, 7, 8, 4, 50, 8].map(|len| lists.insert(&vec![1; len]).unwrap()).into();
    let counts = |lists: &IndexRuns| {
        let stats = lists.stats();
        (stats.max_len, stats.long, stats.inserted, stats.inserted_long)
    };
    assert_eq!(counts(&lists), (7, 3, 6, 3));
    live.drain(..3).for_each(|list| lists.remove(list));
    assert_eq!(counts(&lists), (7, 2, 6, 3));
    lists.reset();
    assert_eq!(counts(&lists), (7, 0, 6, 3));
    // A store reports those of its polygons.
    let mut store = PolygonStore::<()>::with_lists(limited(4));
    let corner = |n: u8| crate::shapes::new([n.into(), (n * n).into(), 0.0]);
    let polygons =
        [4, 5, 6].map(|len| store.insert(&(0..len).map(corner).collect::<Vec<_>>()).unwrap());
    assert_eq!((store.stats().long_lists, store.list_stats().inserted_long), (2, 2));
    assert!(store.remove(polygons[1]).unwrap());
    assert_eq!((store.stats().long_lists, store.list_stats().inserted_long), (1, 2));
}

proptest! {
    #[test]
    fn the_recommended_limit_makes_long_lists_rare(
        max_len in 0u32..30,
        lengths in prop::collection::vec(
            (3usize..300, prop_oneof![1usize..4, 100usize..300]),
            1..6,
        ),
    ) {
        let mut lists = limited(max_len);
        let lengths: Vec<_> =
            lengths.iter().flat_map(|&(len, count)| std::iter::repeat_n(len, count)).collect();
        for &len in &lengths {
            let list = lists.insert(&vec![0; len]).unwrap();
            lists.remove(list);
        }
        let share_is_low = |limit: u32| {
            lengths.iter().filter(|&&len| len > limit as usize).count() <= lengths.len() / 100
        };
        let limits = std::iter::once(max_len).chain((0..31).map(|log| 1 << log));
        let expected = limits.filter(|&limit| limit >= max_len).find(|&limit| share_is_low(limit));
        prop_assert_eq!(Some(lists.stats().recommended_max_len), expected);
    }
}

#[test]
fn runs_in_ranges_keep_their_content() {
    inserted_runs_keep_their_content(RangeRuns::default());
}
