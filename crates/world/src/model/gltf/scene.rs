use gltf::json::{Index, Node, Root};

use super::affine::Affine;
use crate::model::fault::Fault;

/// A mesh where a node shows it.
pub(super) struct Instance<'a> {
    /// None where the file has meshes but no nodes.
    node: Option<usize>,
    pub(super) mesh: usize,
    pub(super) name: &'a str,
    pub(super) transform: Affine,
    /// Whether bones move it.
    pub(super) has_skin: bool,
}

impl Instance<'_> {
    /// For messages.
    pub(super) fn place(&self) -> String {
        match self.node {
            Some(node) => format!("node {node}"),
            None => format!("mesh {}", self.mesh),
        }
    }
}

/// Shows what the scene shows, node by node from the roots down, children in order. Each is
/// shown before the next is looked at, so that whoever counts them may stop before memory
/// is spent on the rest.
pub(super) fn for_each_instance<'a>(
    root: &'a Root,
    mut show: impl FnMut(&Instance<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if root.nodes.is_empty() {
        return (0..root.meshes.len()).try_for_each(|mesh| show(&alone(root, mesh)));
    }
    let roots = roots(root)?;
    let mut is_visited = vec![false; root.nodes.len()];
    // Children that are still to be looked at, of the nodes above: lists that came to their
    // end are left out, so that a long chain takes no memory.
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

/// The node of a number, which must be there, and not looked at yet.
fn visit<'a>(root: &'a Root, number: usize, is_visited: &mut [bool]) -> Result<&'a Node, Fault> {
    let bad = |problem: String| Err(Fault::new(format!("node {number}"), problem));
    match (root.nodes.get(number), is_visited.get_mut(number)) {
        (Some(node), Some(is_visited)) if !*is_visited => {
            *is_visited = true;
            Ok(node)
        }
        (Some(_), _) => bad("it is there twice, below two nodes or below itself".into()),
        (None, _) => bad(format!("there are {}", root.nodes.len())),
    }
}

/// The mesh of a node. Bones alone say where a mesh with a skin is, not its node.
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

/// The roots of the scene that the file names, or of its first one; without scenes, the
/// nodes that are below no other.
fn roots(root: &Root) -> Result<Vec<Index<Node>>, Fault> {
    let named = root.scene.map(|scene| scene.value());
    match (root.scenes.get(named.unwrap_or(0)), named) {
        (Some(scene), _) => Ok(scene.nodes.clone()),
        (None, Some(scene)) => {
            Err(Fault::new(format!("scene {scene}"), format!("there are {}", root.scenes.len())))
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
