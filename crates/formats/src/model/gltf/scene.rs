use gltf::json::{Index, Node, Root};

use super::affine::Affine;
use crate::fault::Fault;
use crate::model::fault::malformed;

/// An instance of a mesh, placed by a node.
pub(super) struct Instance<'a> {
    /// `None` if the file has meshes but no nodes.
    node: Option<usize>,
    pub(super) mesh: usize,
    pub(super) name: &'a str,
    pub(super) transform: Affine,
    /// Whether the node has a skin.
    pub(super) has_skin: bool,
}

impl Instance<'_> {
    /// Text for messages.
    pub(super) fn location(&self) -> String {
        match self.node {
            Some(node) => format!("node {node}"),
            None => format!("mesh {}", self.mesh),
        }
    }
}

/// Calls `show` with every instance of the scene, depth first, children in order. `show` can return
/// an error to stop before memory is allocated for the rest.
pub(super) fn for_each_instance<'a>(
    root: &'a Root,
    mut show: impl FnMut(&Instance<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if root.nodes.is_empty() {
        return (0..root.meshes.len()).try_for_each(|mesh| show(&alone(root, mesh)));
    }
    let roots = roots(root)?;
    let mut is_visited = vec![false; root.nodes.len()];
    // Unvisited siblings of the nodes above. Empty lists are dropped, so that a long chain of
    // nodes takes no memory.
    let mut above = vec![(roots.iter(), Affine::IDENTITY)];
    while let Some((mut siblings, outer)) = above.pop() {
        let Some(&index) = siblings.next() else { continue };
        if siblings.len() > 0 {
            above.push((siblings, outer));
        }
        let number = index.value();
        let node = visit(root, number, &mut is_visited)?;
        let transform = outer.after(&Affine::of(node));
        if let Some(instance) = instance(root, number, node, transform) {
            show(&instance)?;
        }
        above.extend(node.children.as_ref().map(|children| (children.iter(), transform)));
    }
    Ok(())
}

/// The node with this number, which must exist and not have been visited.
fn visit<'a>(root: &'a Root, number: usize, is_visited: &mut [bool]) -> Result<&'a Node, Fault> {
    let bad = |problem: String| Err(malformed(format!("node {number}"), problem));
    match (root.nodes.get(number), is_visited.get_mut(number)) {
        (Some(node), Some(is_visited)) if !*is_visited => {
            *is_visited = true;
            Ok(node)
        }
        (Some(_), _) => bad("it has two parents or is its own ancestor".into()),
        (None, _) => bad(format!("out of range, the file has {}", root.nodes.len())),
    }
}

/// The mesh of a node. A mesh with a skin ignores the node's transform.
fn instance<'a>(
    root: &'a Root,
    number: usize,
    node: &'a Node,
    transform: Affine,
) -> Option<Instance<'a>> {
    let mesh = node.mesh?.value();
    let has_skin = node.skin.is_some();
    let name = node.name.as_deref().or_else(|| mesh_name(root, mesh)).unwrap_or_default();
    let transform = if has_skin { Affine::IDENTITY } else { transform };
    Some(Instance { node: Some(number), mesh, name, transform, has_skin })
}

fn alone(root: &Root, mesh: usize) -> Instance<'_> {
    let name = mesh_name(root, mesh).unwrap_or_default();
    Instance { node: None, mesh, name, transform: Affine::IDENTITY, has_skin: false }
}

fn mesh_name(root: &Root, mesh: usize) -> Option<&str> {
    root.meshes.get(mesh)?.name.as_deref()
}

/// Root nodes of the scene that the file names, or of its first scene. Without scenes: all nodes
/// without a parent.
fn roots(root: &Root) -> Result<Vec<Index<Node>>, Fault> {
    let named = root.scene.map(|scene| scene.value());
    match (root.scenes.get(named.unwrap_or(0)), named) {
        (Some(scene), _) => Ok(scene.nodes.clone()),
        (None, Some(scene)) => {
            let problem = format!("out of range, the file has {}", root.scenes.len());
            Err(malformed(format!("scene {scene}"), problem))
        }
        (None, None) => {
            let mut is_root = vec![true; root.nodes.len()];
            for child in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
                if let Some(is_root) = is_root.get_mut(child.value()) {
                    *is_root = false;
                }
            }
            let roots = (0..).zip(is_root).filter(|(_, is_root)| *is_root);
            Ok(roots.map(|(number, _)| Index::new(number)).collect())
        }
    }
}
