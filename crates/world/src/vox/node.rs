//! The nodes of the scene, each looked at once however often it is shown.

use std::ops::Range;

use dot_vox::{Dict, Frame, SceneNode, ShapeModel};
use drystone_alloc::memory::Scope;

use super::fault::Fault;
use super::outline::Numbered;
use super::transform::Transform;

/// What a transform, group or shape says.
pub(super) struct Node<'a> {
    pub(super) id: u32,
    /// From what lies below to what lies above.
    pub(super) transform: Transform,
    pub(super) layer: Option<u32>,
    pub(super) hidden: bool,
    pub(super) name: Option<&'a str>,
    /// The model of a shape.
    pub(super) model: Option<usize>,
    /// Which of all [`Nodes::children`].
    children: Range<usize>,
}

/// All nodes of a file, in tables that last as long as a scope.
pub(super) struct Nodes<'s, 'a> {
    pub(super) nodes: &'s mut [Node<'a>],
    /// Places in the list of nodes: the children of the first node, of the second, and so on.
    children: &'s mut [usize],
}

impl<'a> Nodes<'_, 'a> {
    /// The children of the node at a place, as places.
    pub(super) fn below(&self, place: usize) -> &[usize] {
        &self.children[self.nodes[place].children.clone()]
    }

    /// How many children all nodes have together.
    pub(super) fn child_count(&self) -> usize {
        self.children.len()
    }
}

/// Bytes that [`nodes`] takes of a scope.
pub(super) fn nodes_bytes(scene: &[SceneNode]) -> usize {
    let a_node = size_of::<Node<'_>>() + size_of::<(u32, usize)>();
    scene.len() * a_node + child_count(scene) * size_of::<usize>()
}

/// How many children all nodes of a file have together.
pub(super) fn child_count(scene: &[SceneNode]) -> usize {
    scene.iter().map(|node| below(node).len()).sum()
}

/// All nodes of a file. dot_vox takes a node's place in the file for its number, which
/// holds for MagicaVoxel's own files only, so the numbers come from the chunks.
///
/// # Errors
/// Names the node that names what does not exist, or says what cannot be read.
pub(super) fn nodes<'s, 'a>(
    scene: &'a [SceneNode],
    chunks: &[Numbered],
    model_count: usize,
    scope: &Scope<'s, 'a>,
) -> Result<Nodes<'s, 'a>, Fault> {
    let places = places(chunks, scope)?;
    let children = scope.alloc_slice_with(child_count(scene), |_| 0)?;
    let (mut child_count, mut fault) = (0, None);
    let nodes = scope.alloc_slice_with(scene.len().min(chunks.len()), |place| {
        let (node, id) = (&scene[place], chunks[place].id);
        let mut read = Node::nothing(id);
        if let Err(problem) = read.read(node, model_count) {
            fault.get_or_insert(problem);
        }
        let first = child_count;
        for child in below(node) {
            match places.binary_search_by_key(child, |&(id, _)| id) {
                Ok(found) => children[child_count] = places[found].1,
                Err(_) => {
                    let problem = format!("it names node {child}, which does not exist");
                    fault.get_or_insert(Fault::node(id, problem));
                }
            }
            child_count += 1;
        }
        read.children = first..child_count;
        read
    })?;
    fault.map_or(Ok(Nodes { nodes, children }), Err)
}

/// The nodes' numbers with their places in the file, by number.
fn places<'s>(chunks: &[Numbered], scope: &Scope<'s, '_>) -> Result<&'s mut [(u32, usize)], Fault> {
    let places = scope.alloc_slice_with(chunks.len(), |place| (chunks[place].id, place))?;
    places.sort_unstable();
    match places.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1) {
        Some(pair) => Err(Fault::node(pair[0].0, "two nodes have this number".into())),
        None => Ok(places),
    }
}

/// The numbers of the nodes below a node.
fn below(node: &SceneNode) -> &[u32] {
    match node {
        SceneNode::Transform { child, .. } => std::slice::from_ref(child),
        SceneNode::Group { children, .. } => children,
        SceneNode::Shape { .. } => &[],
    }
}

impl<'a> Node<'a> {
    /// A node that says nothing.
    fn nothing(id: u32) -> Self {
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

    /// Takes what `node` says, but for the children.
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

/// An animated shape has a model a frame; the first stands.
fn first_model(models: &[ShapeModel], id: u32, count: usize) -> Result<Option<usize>, Fault> {
    let first = models.iter().min_by_key(|model| model.frame_index().unwrap_or(0));
    match first.map(|model| model.model_id as usize) {
        Some(model) if model >= count => {
            Err(Fault::node(id, format!("it shows model {model}, the file has {count}")))
        }
        model => Ok(model),
    }
}

/// The rotation and translation of a transform's first frame; none moves nothing.
fn first_frame(frames: &[Frame], id: u32) -> Result<Transform, Fault> {
    let mut transform = Transform::shift([0; 3]);
    let Some(frame) = frames.iter().min_by_key(|frame| frame.frame_index().unwrap_or(0)) else {
        return Ok(transform);
    };
    let bad = |what: &str, text: &str, not: &str| {
        let shown: String = text.chars().take(40).collect();
        Fault::node(id, format!("its {what} {shown:?} is {not}"))
    };
    if let Some(text) = frame.attributes.get("_r") {
        let rotation = text.trim().parse().ok().and_then(Transform::from_byte);
        transform = rotation.ok_or_else(|| bad("rotation", text, "none of the 48"))?;
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
