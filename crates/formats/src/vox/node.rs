//! Nodes of the scene. Each is read once, however often it is instanced.

use std::ops::Range;

use dot_vox::{Dict, Frame, SceneNode};
use drystone_memory::Scope;

use super::node_fault;
use super::outline::Numbered;
use super::transform::Transform;
use crate::fault::Fault;

/// A transform, group or shape.
pub(super) struct Node<'a> {
    pub(super) id: u32,
    /// Transform from the space of its children to that of its parent, in the frame.
    pub(super) transform: Transform,
    pub(super) layer: Option<u32>,
    pub(super) hidden: bool,
    pub(super) name: Option<&'a str>,
    /// Model of a shape in the frame.
    pub(super) model: Option<usize>,
    /// Number of the last frame that has a key.
    last_frame: u32,
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

    /// Number of frames up to the last one that has a key; at least 1.
    pub(super) fn frame_count(&self) -> u32 {
        1 + self.nodes.iter().map(|node| node.last_frame).max().unwrap_or(0)
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

/// Reads all nodes of a file, as they are in `frame`. dot_vox takes a node's index in the file as its number. That is
/// correct only for MagicaVoxel's own files, so the numbers are read from the chunks.
///
/// # Errors
/// A node that names a missing node, or that cannot be read.
pub(super) fn nodes<'s, 'a>(
    scene: &'a [SceneNode],
    chunks: &[Numbered],
    (model_count, frame): (usize, u32),
    scope: &Scope<'s, 'a>,
) -> Result<Nodes<'s, 'a>, Fault> {
    let indices = indices(chunks, scope)?;
    let children = scope.alloc_slice_with(child_count(scene), |_| 0)?;
    let (mut child_count, mut fault) = (0, None);
    let nodes = scope.alloc_slice_with(scene.len().min(chunks.len()), |index| {
        let (node, id) = (&scene[index], chunks[index].id);
        let mut read = Node::empty(id);
        if let Err(problem) = read.read(node, model_count, frame) {
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
            last_frame: 0,
            children: 0..0,
        }
    }

    /// Reads all attributes of `node` in `frame`, except its children.
    fn read(&mut self, node: &'a SceneNode, model_count: usize, frame: u32) -> Result<(), Fault> {
        let (SceneNode::Transform { attributes, .. }
        | SceneNode::Group { attributes, .. }
        | SceneNode::Shape { attributes, .. }) = node;
        self.hidden = is_marked(attributes, "_hidden");
        self.name = attributes.get("_name").map(String::as_str).filter(|name| !name.is_empty());
        let time = Time { frame, is_loop: is_marked(attributes, "_loop"), node: self.id };
        match node {
            SceneNode::Transform { frames, layer_id, .. } => {
                let (key, last_frame) = time.key(frames, |key| &key.attributes)?;
                if let Some(key) = key {
                    self.transform = transform(key, self.id)?;
                }
                (self.layer, self.last_frame) = (Some(*layer_id), last_frame);
            }
            SceneNode::Group { .. } => {}
            SceneNode::Shape { models, .. } => {
                let (key, last_frame) = time.key(models, |key| &key.attributes)?;
                let model = key.map(|key| key.model_id as usize);
                if let Some(model) = model.filter(|&model| model >= model_count) {
                    let problem = format!("it shows model {model}, but the file has {model_count}");
                    return Err(node_fault(self.id, problem));
                }
                (self.model, self.last_frame) = (model, last_frame);
            }
        }
        Ok(())
    }
}

/// A frame, for a node that is animated by keys.
#[derive(Clone, Copy)]
struct Time {
    frame: u32,
    /// Whether the keys repeat after the last one.
    is_loop: bool,
    /// Number of the node.
    node: u32,
}

impl Time {
    /// Returns the last key at or before the frame, else the first one, and the number of the last
    /// frame that has a key. Of two keys with one number, the first one counts.
    fn key<T>(
        self,
        keys: &[T],
        attributes: impl Fn(&T) -> &Dict,
    ) -> Result<(Option<&T>, u32), Fault> {
        let number = |key: &T| frame_number(attributes(key), self.node);
        let (mut first, mut last) = (u32::MAX, 0);
        for key in keys {
            let number = number(key)?;
            (first, last) = (first.min(number), last.max(number));
        }
        let mut frame = self.frame.max(first);
        if self.is_loop && frame > last {
            frame = first + (frame - first) % (last - first + 1);
        }
        let mut found: Option<(u32, &T)> = None;
        for key in keys {
            let number = number(key)?;
            if number <= frame && found.is_none_or(|(found, _)| number > found) {
                found = Some((number, key));
            }
        }
        Ok((found.map(|(_, key)| key), last))
    }
}

/// Returns the frame of a key. A key without a number is at frame 0.
fn frame_number(key: &Dict, node: u32) -> Result<u32, Fault> {
    /// Largest number of a frame. At 30 frames a second, this is over half an hour.
    const MAX_FRAME: u32 = 65_535;
    let Some(text) = key.get("_f") else { return Ok(0) };
    let number = text.trim().parse().ok().filter(|number| *number <= MAX_FRAME);
    let not = format!("not a number from 0 to {MAX_FRAME}");
    number.ok_or_else(|| bad(node, "frame", text, &not))
}

/// Whether an attribute is 1.
pub(super) fn is_marked(attributes: &Dict, name: &str) -> bool {
    attributes.get(name).is_some_and(|value| value == "1")
}

/// Rotation and translation of a key.
fn transform(key: &Frame, node: u32) -> Result<Transform, Fault> {
    let mut transform = Transform::shift([0; 3]);
    if let Some(text) = key.attributes.get("_r") {
        let rotation = text.trim().parse().ok().and_then(Transform::from_byte);
        transform = rotation.ok_or_else(|| bad(node, "rotation", text, "not one of the 48"))?;
    }
    if let Some(text) = key.attributes.get("_t") {
        let numbers: Result<Vec<i32>, _> = text.split_whitespace().map(str::parse).collect();
        let Ok(&[x, y, z]) = numbers.as_deref() else {
            return Err(bad(node, "translation", text, "not three whole numbers"));
        };
        transform = transform.then(Transform::shift([x, y, z].map(i64::from)));
    }
    Ok(transform)
}

/// A problem with the text of a node's attribute.
fn bad(node: u32, what: &str, text: &str, not: &str) -> Fault {
    let shown: String = text.chars().take(40).collect();
    node_fault(node, format!("its {what} {shown:?} is {not}"))
}
