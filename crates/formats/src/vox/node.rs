//! Nodes of the scene. Each is read once, however often it is instanced.

use std::ops::Range;

use dot_vox::{Dict, Frame, SceneNode, ShapeModel};
use drystone_memory::Scope;

use super::node_fault;
use super::outline::Numbered;
use super::transform::Transform;
use crate::fault::Fault;

/// A transform, group or shape.
pub(super) struct Node<'a> {
    pub(super) id: u32,
    /// Transform from the space of its children to that of its parent.
    pub(super) transform: Transform,
    pub(super) layer: Option<u32>,
    pub(super) hidden: bool,
    pub(super) name: Option<&'a str>,
    /// Model of a shape.
    pub(super) model: Option<usize>,
    /// Range in [`Nodes::children`].
    children: Range<usize>,
}

/// All nodes of a file, in tables that a scope allocates.
pub(super) struct Nodes<'s, 'a> {
    pub(super) nodes: &'s mut [Node<'a>],
    /// Indices of the children of the first node, of the second, and so on.
    children: &'s mut [usize],
}

impl<'a> Nodes<'_, 'a> {
    /// Indices of a node's children.
    pub(super) fn below(&self, index: usize) -> &[usize] {
        &self.children[self.nodes[index].children.clone()]
    }

    /// Total number of children of all nodes.
    pub(super) fn child_count(&self) -> usize {
        self.children.len()
    }
}

/// Number of bytes that [`nodes`] allocates in its scope.
pub(super) fn nodes_bytes(scene: &[SceneNode]) -> usize {
    let a_node = size_of::<Node<'_>>() + size_of::<(u32, usize)>();
    scene.len() * a_node + child_count(scene) * size_of::<usize>()
}

/// Total number of children of all nodes of a file.
pub(super) fn child_count(scene: &[SceneNode]) -> usize {
    scene.iter().map(|node| below(node).len()).sum()
}

/// Reads all nodes of a file. dot_vox takes a node's index in the file as its number. That is
/// correct only for MagicaVoxel's own files, so the numbers are read from the chunks.
///
/// # Errors
/// A node that names a missing node, or that cannot be read.
pub(super) fn nodes<'s, 'a>(
    scene: &'a [SceneNode],
    chunks: &[Numbered],
    model_count: usize,
    scope: &Scope<'s, 'a>,
) -> Result<Nodes<'s, 'a>, Fault> {
    let indices = indices(chunks, scope)?;
    let children = scope.alloc_slice_with(child_count(scene), |_| 0)?;
    let (mut child_count, mut fault) = (0, None);
    let nodes = scope.alloc_slice_with(scene.len().min(chunks.len()), |index| {
        let (node, id) = (&scene[index], chunks[index].id);
        let mut read = Node::empty(id);
        if let Err(problem) = read.read(node, model_count) {
            fault.get_or_insert(problem);
        }
        let first = child_count;
        for child in below(node) {
            match indices.binary_search_by_key(child, |&(id, _)| id) {
                Ok(found) => children[child_count] = indices[found].1,
                Err(_) => {
                    let problem = format!("it names node {child}, which does not exist");
                    fault.get_or_insert(node_fault(id, problem));
                }
            }
            child_count += 1;
        }
        read.children = first..child_count;
        read
    })?;
    fault.map_or(Ok(Nodes { nodes, children }), Err)
}

/// Number and index of each node, sorted by number.
fn indices<'s>(
    chunks: &[Numbered],
    scope: &Scope<'s, '_>,
) -> Result<&'s mut [(u32, usize)], Fault> {
    let indices = scope.alloc_slice_with(chunks.len(), |index| (chunks[index].id, index))?;
    indices.sort_unstable();
    match indices.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1) {
        Some(pair) => Err(node_fault(pair[0].0, "two nodes have this number")),
        None => Ok(indices),
    }
}

/// Numbers of a node's children.
fn below(node: &SceneNode) -> &[u32] {
    match node {
        SceneNode::Transform { child, .. } => std::slice::from_ref(child),
        SceneNode::Group { children, .. } => children,
        SceneNode::Shape { .. } => &[],
    }
}

impl<'a> Node<'a> {
    /// A node without attributes and children.
    fn empty(id: u32) -> Self {
        Self {
            id,
            transform: Transform::shift([0; 3]),
            layer: None,
            hidden: false,
            name: None,
            model: None,
            children: 0..0,
        }
    }

    /// Reads all attributes of `node` except its children.
    fn read(&mut self, node: &'a SceneNode, model_count: usize) -> Result<(), Fault> {
        let (SceneNode::Transform { attributes, .. }
        | SceneNode::Group { attributes, .. }
        | SceneNode::Shape { attributes, .. }) = node;
        self.hidden = is_hidden(attributes);
        self.name = attributes.get("_name").map(String::as_str).filter(|name| !name.is_empty());
        match node {
            SceneNode::Transform { frames, layer_id, .. } => {
                self.transform = first_frame(frames, self.id)?;
                self.layer = Some(*layer_id);
            }
            SceneNode::Group { .. } => {}
            SceneNode::Shape { models, .. } => {
                self.model = first_model(models, self.id, model_count)?;
            }
        }
        Ok(())
    }
}

pub(super) fn is_hidden(attributes: &Dict) -> bool {
    attributes.get("_hidden").is_some_and(|value| value == "1")
}

/// The model of a shape. For an animated shape, the model of the first frame.
fn first_model(models: &[ShapeModel], id: u32, count: usize) -> Result<Option<usize>, Fault> {
    let first = models.iter().min_by_key(|model| model.frame_index().unwrap_or(0));
    match first.map(|model| model.model_id as usize) {
        Some(model) if model >= count => {
            Err(node_fault(id, format!("it shows model {model}, but the file has {count}")))
        }
        model => Ok(model),
    }
}

/// Rotation and translation of a transform's first frame; identity without frames.
fn first_frame(frames: &[Frame], id: u32) -> Result<Transform, Fault> {
    let mut transform = Transform::shift([0; 3]);
    let Some(frame) = frames.iter().min_by_key(|frame| frame.frame_index().unwrap_or(0)) else {
        return Ok(transform);
    };
    let bad = |what: &str, text: &str, not: &str| {
        let shown: String = text.chars().take(40).collect();
        node_fault(id, format!("its {what} {shown:?} is {not}"))
    };
    if let Some(text) = frame.attributes.get("_r") {
        let rotation = text.trim().parse().ok().and_then(Transform::from_byte);
        transform = rotation.ok_or_else(|| bad("rotation", text, "not one of the 48"))?;
    }
    if let Some(text) = frame.attributes.get("_t") {
        let numbers: Result<Vec<i32>, _> = text.split_whitespace().map(str::parse).collect();
        let Ok(&[x, y, z]) = numbers.as_deref() else {
            return Err(bad("translation", text, "not three whole numbers"));
        };
        transform = transform.then(Transform::shift([x, y, z].map(i64::from)));
    }
    Ok(transform)
}
