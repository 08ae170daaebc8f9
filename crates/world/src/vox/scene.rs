//! From the graph of transforms, groups and shapes to a list of models with places.
//!
//! A file may lie about its graph: form rings, or repeat a group within a group until more
//! models are shown than there are atoms. So the graph is first walked once, each node
//! once, to find rings; then it is unfolded, with a bound on the steps. Neither walk
//! recurses.
//!
//! ```text
//!  ScopeStack  [ nodes, children, hidden layers [ ways, states ]          ]   rings
//!              [                                [ visits that wait, names ]   unfolding
//! ```
//! All tables lie in a scope stack: those of the nodes in a scope around, those of each walk
//! in one within. How large they get is known beforehand, from the file.

use std::collections::HashSet;

use dot_vox::{DotVoxData, SceneNode};
use drystone_alloc::memory::{Region, Scope, ScopeStack};

use super::fault::Fault;
use super::node::{Node, Nodes, child_count, is_hidden, nodes, nodes_bytes};
use super::outline::{Numbered, Outline};
use super::pile::Pile;
use super::placement::Instance;
use super::transform::Transform;
use super::{VoxLayer, VoxSummary};

/// The most nodes that are visited, each as often as it is shown.
const MAX_VISITS: u64 = 1 << 20;

/// The layers that the file describes.
pub(super) fn layers(layers: &[dot_vox::Layer], outline: &Outline) -> Vec<VoxLayer> {
    let describe = |(layer, chunk): (&dot_vox::Layer, &Numbered)| VoxLayer {
        id: chunk.id,
        name: layer.name().filter(|name| !name.is_empty()),
        hidden: is_hidden(&layer.attributes),
    };
    layers.iter().zip(&outline.layers).map(describe).collect()
}

/// Every model that the scene shows, in the scene's order. Adds what is hidden and named
/// to `summary`, which knows the layers.
pub(super) fn instances(
    data: &DotVoxData,
    outline: &Outline,
    summary: &mut VoxSummary,
) -> Result<Vec<Instance>, Fault> {
    let region = Region::heap(tables_bytes(&data.scenes, summary.layers.len()))?;
    ScopeStack::new(region).scope(|scope| {
        let nodes = nodes(&data.scenes, &outline.nodes, data.models.len(), scope)?;
        hide_layers(nodes.nodes, &summary.layers, scope)?;
        // MagicaVoxel calls the root 0; other programs at least write it first.
        let root = nodes.nodes.iter().position(|node| node.id == 0).unwrap_or(0);
        scope.scope(|scope| check_rings(&nodes, root, scope))?;
        scope.scope(|scope| shown(data, &nodes, root, summary, scope))
    })
}

/// Bytes that the tables of a scene take at most at a time.
fn tables_bytes(scene: &[SceneNode], layer_count: usize) -> usize {
    /// Padding between tables, of which there are less than eight.
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

/// The models that are shown, once it is known that the graph has no rings.
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

/// Names that have been met; a node that is shown often is looked at once.
struct Names<'s, 'a> {
    seen: &'s mut [bool],
    known: HashSet<&'a str>,
}

impl<'a> Names<'_, 'a> {
    fn is_new(&mut self, node: usize, name: &'a str) -> bool {
        !std::mem::replace(&mut self.seen[node], true) && self.known.insert(name)
    }
}

/// How far the search for rings is with a node.
#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done,
}

/// Finds a ring below `root`, visiting each node once.
fn check_rings(nodes: &Nodes<'_, '_>, root: usize, scope: &Scope<'_, '_>) -> Result<(), Fault> {
    let count = nodes.nodes.len();
    let states = scope.alloc_slice_with(count, |_| State::New)?;
    // The way from the root to here: each node and how many children have been seen. No
    // node is on it twice.
    let mut way = Pile::new(scope.alloc_slice_with(count, |_| (0, 0))?);
    way.push((root, 0))?;
    while let Some((node, seen)) = way.pop() {
        states[node] = State::Open;
        let Some(&child) = nodes.below(node).get(seen) else {
            states[node] = State::Done;
            continue;
        };
        way.push((node, seen + 1))?;
        match states[child] {
            State::Done => {}
            State::New => way.push((child, 0))?,
            State::Open => {
                let [id, child] = [node, child].map(|place| nodes.nodes[place].id);
                let problem = format!("it lies below itself, through node {id}");
                return Err(Fault::node(child, problem));
            }
        }
    }
    Ok(())
}

/// A node in one of the places where it is shown, with what it inherits and says itself.
#[derive(Clone, Copy)]
struct Visit {
    node: usize,
    transform: Transform,
    hidden: bool,
}

/// Visits every node below `root`, as often as it is shown, in the scene's order.
fn unfold(
    nodes: &Nodes<'_, '_>,
    root: usize,
    scope: &Scope<'_, '_>,
    mut visit_node: impl FnMut(Visit),
) -> Result<(), Fault> {
    let first = Visit { node: root, transform: Transform::TO_Y_UP, hidden: false };
    // Children wait whose parents lie on one way down, where no node is twice.
    let mut waiting = Pile::new(scope.alloc_slice_with(nodes.child_count() + 1, |_| first)?);
    waiting.push(first)?;
    let mut visits = 0;
    while let Some(mut visit) = waiting.pop() {
        let node = &nodes.nodes[visit.node];
        let children = nodes.below(visit.node);
        visits += 1;
        // What waits will be visited too and counts already.
        let known = visits + (waiting.len() + children.len()) as u64;
        if known > MAX_VISITS {
            return Err(Fault::too_much("nodes shown", known, MAX_VISITS));
        }
        visit.transform = node.transform.then(visit.transform);
        visit.hidden |= node.hidden;
        visit_node(visit);
        // The last is taken first, so the first child is pushed last.
        for &node in children.iter().rev() {
            waiting.push(Visit { node, ..visit })?;
        }
    }
    Ok(())
}
