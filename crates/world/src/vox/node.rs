//! The nodes of the scene, each looked at once however often it is shown.

use std::collections::HashMap;

use dot_vox::{Dict, Frame, SceneNode, ShapeModel};

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
    /// Places in the list of nodes.
    pub(super) children: Vec<usize>,
}

/// All nodes of a file. dot_vox takes a node's place in the file for its number, which
/// holds for MagicaVoxel's own files only, so the numbers come from the chunks.
///
/// # Errors
/// Names the node that names what does not exist, or says what cannot be read.
pub(super) fn nodes<'a>(
    scene: &'a [SceneNode],
    chunks: &[Numbered],
    model_count: usize,
) -> Result<Vec<Node<'a>>, Fault> {
    let mut places = HashMap::with_capacity(chunks.len());
    for (place, chunk) in chunks.iter().enumerate() {
        if places.insert(chunk.id, place).is_some() {
            return Err(Fault::node(chunk.id, "two nodes have this number".into()));
        }
    }
    let read = |(node, chunk): (&'a SceneNode, &Numbered)| {
        let mut read = Node::read(node, chunk.id, model_count)?;
        for &child in below(node) {
            let place = places.get(&child).copied().ok_or_else(|| {
                Fault::node(chunk.id, format!("it names node {child}, which does not exist"))
            })?;
            read.children.push(place);
        }
        Ok(read)
    };
    scene.iter().zip(chunks).map(read).collect()
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
    /// Everything but the children.
    fn read(node: &'a SceneNode, id: u32, model_count: usize) -> Result<Self, Fault> {
        let (SceneNode::Transform { attributes, .. }
        | SceneNode::Group { attributes, .. }
        | SceneNode::Shape { attributes, .. }) = node;
        let mut read = Self {
            id,
            transform: Transform::shift([0; 3]),
            layer: None,
            hidden: is_hidden(attributes),
            name: attributes.get("_name").map(String::as_str).filter(|name| !name.is_empty()),
            model: None,
            children: Vec::new(),
        };
        match node {
            SceneNode::Transform { frames, layer_id, .. } => {
                read.transform = first_frame(frames, id)?;
                read.layer = Some(*layer_id);
            }
            SceneNode::Group { .. } => {}
            SceneNode::Shape { models, .. } => read.model = first_model(models, id, model_count)?,
        }
        Ok(read)
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
