//! Flattens the graph of transforms, groups and shapes to a list of instances.
//!
//! A malicious graph can contain cycles, or nest groups so that the number of instances grows
//! exponentially. The first pass visits each node once and finds cycles. The second pass visits
//! every instance, up to a limit. Neither pass recurses.
//!
//! ```text
//!  ScopeStack  [ nodes, children, hidden layers [ path, states           ]   cycles
//!              [                                [ pending visits, names  ]   flattening
//! ```
//! All tables are in a scope stack: the nodes' tables in the outer scope, each pass's tables in an
//! inner one. Their maximum sizes follow from the file.

use std::collections::HashSet;

use dot_vox::{DotVoxData, SceneNode};
use drystone_memory::{Error, Region, Scope, ScopeStack};

use super::node::{Node, Nodes, child_count, is_marked, nodes, nodes_bytes};
use super::outline::{Numbered, Outline};
use super::placement::Instance;
use super::transform::Transform;
use super::{VoxLayer, VoxSummary};
use super::{expect_frame, node_fault};
use crate::fault::Fault;

/// Maximum number of visited nodes, counted once per instance.
const MAX_VISITS: u64 = 1 << 20;

/// Layers that the file describes.
pub(super) fn layers(layers: &[dot_vox::Layer], outline: &Outline) -> Vec<VoxLayer> {
    let describe = |(layer, chunk): (&dot_vox::Layer, &Numbered)| VoxLayer {
        id: chunk.id,
        name: layer.name().filter(|name| !name.is_empty()),
        hidden: is_marked(&layer.attributes, "_hidden"),
    };
    layers.iter().zip(&outline.layers).map(describe).collect()
}

/// All visible instances in the frame of `summary`, in scene order. Adds hidden counts, names and the
/// number of frames to `summary`, which must contain the layers.
pub(super) fn instances(
    data: &DotVoxData,
    outline: &Outline,
    summary: &mut VoxSummary,
) -> Result<Vec<Instance>, Fault> {
    let region = Region::heap(tables_bytes(&data.scenes, summary.layers.len()))?;
    ScopeStack::new(region).scope(|scope| {
        let found = (data.models.len(), summary.frame);
        let nodes = nodes(&data.scenes, &outline.nodes, found, scope)?;
        summary.frame_count = nodes.frame_count();
        expect_frame(summary)?;
        hide_layers(nodes.nodes, &summary.layers, scope)?;
        // The root has number 0 in files of MagicaVoxel. Other programs at least write it first.
        let root = nodes.nodes.iter().position(|node| node.id == 0).unwrap_or(0);
        scope.scope(|scope| check_cycles(&nodes, root, scope))?;
        scope.scope(|scope| shown(data, &nodes, root, summary, scope))
    })
}

/// Maximum size of all tables at one time, in bytes.
fn tables_bytes(scene: &[SceneNode], layer_count: usize) -> usize {
    /// Padding between tables; there are fewer than eight.
    const PADDING_BYTES: usize = 8 * align_of::<Visit>();
    let rings = scene.len() * (size_of::<State>() + size_of::<(usize, usize)>());
    let unfolding = scene.len() * size_of::<bool>() + (child_count(scene) + 1) * size_of::<Visit>();
    let around = nodes_bytes(scene) + layer_count * size_of::<u32>();
    around + rings.max(unfolding) + PADDING_BYTES
}

/// Marks the nodes on hidden layers as hidden.
fn hide_layers(
    nodes: &mut [Node<'_>],
    layers: &[VoxLayer],
    scope: &Scope<'_, '_>,
) -> Result<(), Fault> {
    let mut ids = layers.iter().filter(|layer| layer.hidden).map(|layer| layer.id);
    let count = ids.clone().count();
    let hidden = scope.alloc_slice_with(count, |_| ids.next().unwrap_or_default())?;
    hidden.sort_unstable();
    for node in nodes {
        node.hidden |= node.layer.is_some_and(|layer| hidden.binary_search(&layer).is_ok());
    }
    Ok(())
}

/// The visible instances. The graph must have no cycles.
fn shown(
    data: &DotVoxData,
    nodes: &Nodes<'_, '_>,
    root: usize,
    summary: &mut VoxSummary,
    scope: &Scope<'_, '_>,
) -> Result<Vec<Instance>, Fault> {
    let mut instances = Vec::new();
    let seen = scope.alloc_slice_with(nodes.nodes.len(), |_| false)?;
    let mut names = Names { seen, known: HashSet::new() };
    unfold(nodes, root, scope, |visit| {
        let node = &nodes.nodes[visit.node];
        if let (Some(name), false) = (node.name, visit.hidden)
            && names.is_new(visit.node, name)
        {
            summary.names.push(name.into());
        }
        let Some(model) = node.model else { return };
        if visit.hidden {
            summary.hidden_count += 1;
            return;
        }
        let size = data.models[model].size;
        let pivot = [size.x, size.y, size.z].map(|side| -i64::from(side / 2));
        let transform = Transform::shift(pivot).then(visit.transform);
        instances.push(Instance { model, transform });
    })?;
    Ok(instances)
}

/// Names found so far. Each node is checked once, however often it is instanced.
struct Names<'s, 'a> {
    seen: &'s mut [bool],
    known: HashSet<&'a str>,
}

impl<'a> Names<'_, 'a> {
    fn is_new(&mut self, node: usize, name: &'a str) -> bool {
        !std::mem::replace(&mut self.seen[node], true) && self.known.insert(name)
    }
}

/// Progress of the search for cycles at a node.
#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done,
}

/// Returns an error if there is a cycle below `root`. Visits each node once.
fn check_cycles(nodes: &Nodes<'_, '_>, root: usize, scope: &Scope<'_, '_>) -> Result<(), Fault> {
    let count = nodes.nodes.len();
    let states = scope.alloc_slice_with(count, |_| State::New)?;
    // Path from the root: nodes and the number of their visited children. Contains each node at
    // most once.
    let mut path = FixedStack::new(scope.alloc_slice_with(count, |_| (0, 0))?);
    path.push((root, 0))?;
    while let Some((node, seen)) = path.pop() {
        states[node] = State::Open;
        let Some(&child) = nodes.below(node).get(seen) else {
            states[node] = State::Done;
            continue;
        };
        path.push((node, seen + 1))?;
        match states[child] {
            State::Done => {}
            State::New => path.push((child, 0))?,
            State::Open => {
                let [id, child] = [node, child].map(|index| nodes.nodes[index].id);
                let problem = format!("it is its own ancestor, through node {id}");
                return Err(node_fault(child, problem));
            }
        }
    }
    Ok(())
}

/// An instance of a node, with inherited and own attributes.
#[derive(Clone, Copy)]
struct Visit {
    node: usize,
    transform: Transform,
    hidden: bool,
}

/// Visits every node below `root`, once per instance, in scene order.
fn unfold(
    nodes: &Nodes<'_, '_>,
    root: usize,
    scope: &Scope<'_, '_>,
    mut visit_node: impl FnMut(Visit),
) -> Result<(), Fault> {
    let first = Visit { node: root, transform: Transform::TO_Y_UP, hidden: false };
    // Pending nodes are children of nodes on one path, which contains each node at most once.
    let mut pending = FixedStack::new(scope.alloc_slice_with(nodes.child_count() + 1, |_| first)?);
    pending.push(first)?;
    let mut visits = 0;
    while let Some(mut visit) = pending.pop() {
        let node = &nodes.nodes[visit.node];
        let children = nodes.below(visit.node);
        visits += 1;
        // Pending nodes will be visited too, so they count already.
        let known = visits + (pending.len() + children.len()) as u64;
        if known > MAX_VISITS {
            return Err(Fault::too_much("nodes shown", known, MAX_VISITS));
        }
        visit.transform = node.transform.then(visit.transform);
        visit.hidden |= node.hidden;
        visit_node(visit);
        // Reversed, so that the first child is popped first.
        for &node in children.iter().rev() {
            pending.push(Visit { node, ..visit })?;
        }
    }
    Ok(())
}

/// A stack in a slice of fixed length.
struct FixedStack<'s, T> {
    slots: &'s mut [T],
    len: usize,
}

impl<'s, T: Copy> FixedStack<'s, T> {
    /// Creates an empty stack with the capacity of `slots`.
    fn new(slots: &'s mut [T]) -> Self {
        Self { slots, len: 0 }
    }

    fn push(&mut self, value: T) -> Result<(), Error> {
        let full = Error::Full { requested: 1, largest_free: 0, total_free: 0 };
        *self.slots.get_mut(self.len).ok_or(full)? = value;
        self.len += 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        Some(self.slots[self.len])
    }

    fn len(&self) -> usize {
        self.len
    }
}
