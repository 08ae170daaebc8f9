//! From the graph of transforms, groups and shapes to a list of models with places.
//!
//! A file may lie about its graph: form rings, or repeat a group within a group until more
//! models are shown than there are atoms. So the graph is first walked once, each node
//! once, to find rings; then it is unfolded, with a bound on the steps. Neither walk
//! recurses.

use std::collections::HashSet;

use dot_vox::DotVoxData;

use super::fault::Fault;
use super::node::{Node, is_hidden, nodes};
use super::outline::{Numbered, Outline};
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
    let mut nodes = nodes(&data.scenes, &outline.nodes, data.models.len())?;
    let hidden: HashSet<u32> = summary.layers.iter().filter(|l| l.hidden).map(|l| l.id).collect();
    for node in &mut nodes {
        node.hidden |= node.layer.is_some_and(|layer| hidden.contains(&layer));
    }
    // MagicaVoxel calls the root 0; other programs at least write it first.
    let root = nodes.iter().position(|node| node.id == 0).unwrap_or(0);
    check_rings(&nodes, root)?;
    let mut instances = Vec::new();
    let mut names = Names { seen: vec![false; nodes.len()], known: HashSet::new() };
    unfold(&nodes, root, |visit| {
        let node = &nodes[visit.node];
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
struct Names<'a> {
    seen: Vec<bool>,
    known: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn is_new(&mut self, node: usize, name: &'a str) -> bool {
        !std::mem::replace(&mut self.seen[node], true) && self.known.insert(name)
    }
}

/// Finds a ring below `root`, visiting each node once.
fn check_rings(nodes: &[Node], root: usize) -> Result<(), Fault> {
    #[derive(Clone, Copy)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    // The way from the root to here: each node and how many children have been seen.
    let mut way = vec![(root, 0)];
    while let Some((node, seen)) = way.last_mut() {
        let node = *node;
        states[node] = State::Open;
        let Some(&child) = nodes[node].children.get(*seen) else {
            states[node] = State::Done;
            way.pop();
            continue;
        };
        *seen += 1;
        match states[child] {
            State::Done => {}
            State::New => way.push((child, 0)),
            State::Open => {
                let problem = format!("it lies below itself, through node {}", nodes[node].id);
                return Err(Fault::node(nodes[child].id, problem));
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
fn unfold(nodes: &[Node], root: usize, mut visit_node: impl FnMut(Visit)) -> Result<(), Fault> {
    let mut stack = vec![Visit { node: root, transform: Transform::TO_Y_UP, hidden: false }];
    let mut visits = 0;
    while let Some(mut visit) = stack.pop() {
        let node = &nodes[visit.node];
        visits += 1;
        // What waits will be visited too and counts already, which bounds the stack.
        let known = visits + (stack.len() + node.children.len()) as u64;
        if known > MAX_VISITS {
            return Err(Fault::too_much("nodes shown", known, MAX_VISITS));
        }
        visit.transform = node.transform.then(visit.transform);
        visit.hidden |= node.hidden;
        visit_node(visit);
        // The last is taken first, so the first child is pushed last.
        stack.extend(node.children.iter().rev().map(|&node| Visit { node, ..visit }));
    }
    Ok(())
}
