//! Inserts and removes runs in each kind of vertex lists and compares their content.

use drystone_mesh::{IndexRuns, VertexLists};
use std::collections::VecDeque;

use crate::lists::{ByLength, RangeRuns};

/// Lists of all kinds of lengths: empty, short, the longest with a free list, longer.
fn vertices(n: u32) -> Vec<u32> {
    let length = [0, 3, 4, 5, 20, 21, 400, 7][n as usize % 8];
    (0..length).map(|at| n * 1000 + at).collect()
}

fn inserted_runs_keep_their_content<L: VertexLists>() {
    let mut lists = L::default();
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
    inserted_runs_keep_their_content::<ByLength>();
}

#[test]
fn runs_of_indices_keep_their_content() {
    inserted_runs_keep_their_content::<IndexRuns>();
}

#[test]
fn runs_in_ranges_keep_their_content() {
    inserted_runs_keep_their_content::<RangeRuns>();
}
