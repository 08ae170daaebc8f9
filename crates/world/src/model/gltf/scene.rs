use gltf::json::{Index, Node, Root};

use super::affine::Affine;
use crate::model::fault::{Fault, name_of};

/// A mesh where a node shows it.
pub(super) struct Instance {
    /// None where the file has meshes but no nodes.
    node: Option<usize>,
    pub(super) mesh: usize,
    pub(super) name: String,
    pub(super) transform: Affine,
    /// Whether bones move it.
    pub(super) has_skin: bool,
}

impl Instance {
    /// For messages.
    pub(super) fn place(&self) -> String {
        match self.node {
            Some(node) => format!("node {node}"),
            None => format!("mesh {}", self.mesh),
        }
    }
}

/// What the scene shows, node by node from the roots down, children in order.
pub(super) fn instances(root: &Root) -> Result<Vec<Instance>, Fault> {
    if root.nodes.is_empty() {
        return Ok((0..root.meshes.len()).map(|mesh| alone(root, mesh)).collect());
    }
    let mut instances = Vec::new();
    let mut is_visited = vec![false; root.nodes.len()];
    let roots = roots(root)?;
    let mut next: Vec<(Index<Node>, Affine)> =
        roots.into_iter().rev().map(|index| (index, Affine::IDENTITY)).collect();
    while let Some((index, outer)) = next.pop() {
        let number = index.value();
        let Some(node) = root.nodes.get(number) else {
            let problem = format!("there are {}", root.nodes.len());
            return Err(Fault::new(format!("node {number}"), problem));
        };
        if std::mem::replace(&mut is_visited[number], true) {
            let problem = "it is there twice, below two nodes or below itself";
            return Err(Fault::new(format!("node {number}"), problem));
        }
        let transform = outer.after(&Affine::of(node));
        instances.extend(instance(root, number, node, transform));
        let children = node.children.iter().flatten().rev();
        next.extend(children.map(|&child| (child, transform)));
    }
    Ok(instances)
}

/// The mesh of a node. Bones alone say where a mesh with a skin is, not its node.
fn instance(root: &Root, number: usize, node: &Node, transform: Affine) -> Option<Instance> {
    let mesh = node.mesh?.value();
    let has_skin = node.skin.is_some();
    let mesh_name = || root.meshes.get(mesh).and_then(|mesh| mesh.name.as_deref());
    let name = node.name.as_deref().or_else(mesh_name).unwrap_or_default();
    Some(Instance {
        node: Some(number),
        mesh,
        name: name_of(name.as_bytes()),
        transform: if has_skin { Affine::IDENTITY } else { transform },
        has_skin,
    })
}

fn alone(root: &Root, mesh: usize) -> Instance {
    let name = root.meshes.get(mesh).and_then(|mesh| mesh.name.as_deref());
    let name = name_of(name.unwrap_or_default().as_bytes());
    Instance { node: None, mesh, name, transform: Affine::IDENTITY, has_skin: false }
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
