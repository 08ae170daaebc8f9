use drystone_voxel::Material;
use drystone_world::{VoxelHit, VoxelRay, VoxelShape};

use super::aim::aim;
use super::job::{CopyMode, Job, Task};
use super::{EditAction, EditError, EditTool, Edited, Editor, MirrorPlanes, VoxelScene};
use crate::scene::outline::OutlinePart;

/// Editing by selection. Each edit can be undone.
impl Editor {
    /// Handles a click: as [`act`](Self::act) with the brush, or as the tool of the selection requires. A
    /// pick is one with every tool.
    ///
    /// # Errors
    /// Errors of [`act`](Self::act).
    pub fn click(
        &mut self,
        scene: &mut VoxelScene,
        action: EditAction,
        ray: &VoxelRay,
    ) -> Result<Edited, EditError> {
        let tool = self.selection.tool();
        if action == EditAction::Pick || tool == EditTool::Brush {
            return self.act(scene, action, ray);
        }
        if tool == EditTool::Paste {
            return self.paste(scene, ray);
        }
        let hit = match aim(scene.data(), scene.bounds(), scene.reach_voxels(), ray) {
            Ok(hit) => hit,
            Err(none) => return Ok(none),
        };
        match tool {
            EditTool::Select => Ok(self.click_corner(action, &hit)),
            EditTool::Replace => self.replace(scene, [hit.material, self.brush.material]),
            _ => {
                self.brush.mirror.through = hit.voxel;
                self.brush.mirror.planes = MirrorPlanes::X;
                self.selection.set_tool(EditTool::Brush);
                Ok(Edited::Tool(EditTool::Brush))
            }
        }
    }

    fn click_corner(&mut self, action: EditAction, hit: &VoxelHit) -> Edited {
        let voxel = match action {
            EditAction::Place => hit.beside().unwrap_or(hit.voxel),
            EditAction::Remove | EditAction::Pick => hit.voxel,
        };
        let selected = self.selection.take_corner(voxel);
        selected.map_or(Edited::Corner, |bounds| Edited::Selected(bounds.size_voxels()))
    }

    /// Moves the upper side of the selected box. Returns how far the selection is: the box, its first
    /// corner, or the tool.
    pub(crate) fn raise_selection(&mut self, voxels: i32) -> Edited {
        self.selection.raise(voxels);
        match (self.selection.bounds(), self.selection.bounds_to(None)) {
            (Some(bounds), _) => Edited::Selected(bounds.size_voxels()),
            (None, Some(_)) => Edited::Corner,
            (None, None) => Edited::Tool(EditTool::Select),
        }
    }

    /// Changes what clicks do, or back to the brush if they do that already.
    pub fn switch_tool(&mut self, tool: EditTool) -> Edited {
        let new = if self.selection.tool() == tool { EditTool::Brush } else { tool };
        match new {
            EditTool::Paste if self.is_copying() => Edited::Busy,
            EditTool::Paste if self.selection.clipboard().is_none() => Edited::NothingCopied,
            EditTool::Replace if self.selection.bounds().is_none() => Edited::NothingSelected,
            _ => {
                self.selection.set_tool(new);
                Edited::Tool(new)
            }
        }
    }

    /// Sets all voxels of the selection.
    ///
    /// # Errors
    /// Errors of [`fill`](Self::fill).
    pub fn fill_selection(
        &mut self,
        scene: &mut VoxelScene,
        material: Material,
    ) -> Result<Edited, EditError> {
        let Some(bounds) = self.selection.bounds() else { return Ok(Edited::NothingSelected) };
        self.fill(scene, &VoxelShape::Box(bounds), material)
    }

    /// Sets the voxels of the selection that have one material to another.
    ///
    /// # Errors
    /// Errors of [`fill`](Self::fill).
    pub fn replace(
        &mut self,
        scene: &mut VoxelScene,
        materials: [Material; 2],
    ) -> Result<Edited, EditError> {
        let Some(bounds) = self.selection.bounds() else { return Ok(Edited::NothingSelected) };
        self.enqueue(scene, Task::Replace { shape: VoxelShape::Box(bounds), materials })
    }

    /// Copies the voxels of the selection.
    ///
    /// # Cost
    /// That of [`Clipboard::copy`](drystone_world::Clipboard::copy). A large copy is only started.
    ///
    /// # Errors
    /// If the box is too large, or its voxels take more than half of the memory for edits. The voxels copied
    /// before stay then.
    pub fn copy(&mut self, scene: &mut VoxelScene) -> Result<Edited, EditError> {
        self.enqueue_copy(scene, CopyMode::Copy)
    }

    /// Copies the voxels of the selection, and removes them.
    ///
    /// # Errors
    /// Errors of [`copy`](Self::copy), and nothing is removed then; or errors of [`fill`](Self::fill).
    pub fn cut(&mut self, scene: &mut VoxelScene) -> Result<Edited, EditError> {
        self.enqueue_copy(scene, CopyMode::Cut)
    }

    /// Whether a copy is in progress or waiting.
    fn is_copying(&self) -> bool {
        let is_copy = |task: &Task| matches!(task, Task::Copy { .. });
        matches!(self.job, Some(Job::Copying { .. })) || self.queue.iter().any(is_copy)
    }

    fn enqueue_copy(
        &mut self,
        scene: &mut VoxelScene,
        mode: CopyMode,
    ) -> Result<Edited, EditError> {
        let Some(bounds) = self.selection.bounds() else { return Ok(Edited::NothingSelected) };
        self.enqueue(scene, Task::Copy { bounds, mode })
    }

    /// Places the copied voxels on the face that the ray hits.
    ///
    /// # Errors
    /// Errors of [`fill`](Self::fill).
    pub fn paste(&mut self, scene: &mut VoxelScene, ray: &VoxelRay) -> Result<Edited, EditError> {
        let (orientation, air) = (self.selection.orientation(), self.selection.air);
        self.enqueue(scene, Task::Paste { ray: *ray, orientation, air })
    }

    /// Changes the mirror of the brush: none, along X, along Z, along both. The first one needs a click on
    /// the voxel in the middle.
    pub fn next_mirror(&mut self) -> Edited {
        let mirror = &mut self.brush.mirror;
        match mirror.planes {
            MirrorPlanes::None => return self.switch_tool(EditTool::Mirror),
            MirrorPlanes::X => mirror.planes = MirrorPlanes::Z,
            MirrorPlanes::Z => mirror.planes = MirrorPlanes::Both,
            MirrorPlanes::Both => mirror.planes = MirrorPlanes::None,
        }
        Edited::Tool(EditTool::Brush)
    }

    /// Returns the shapes to outline if the pointer is at a voxel.
    pub(super) fn outlined(&self, hit: Option<&VoxelHit>) -> Vec<(VoxelShape, OutlinePart)> {
        let selection = &self.selection;
        let selected = selection.bounds_to(hit.map(|hit| hit.voxel));
        let selected = selected.map(|bounds| (VoxelShape::Box(bounds), OutlinePart::Selection));
        let mut shapes: Vec<_> = selected.into_iter().collect();
        let Some(hit) = hit else { return shapes };
        let voxel = VoxelShape::voxel(hit.voxel);
        match selection.tool() {
            EditTool::Brush => {
                let brushes = self.brush.shapes_at(hit.voxel);
                let brushes = brushes.into_iter().filter(|brush| *brush != voxel);
                shapes.extend(brushes.map(|brush| (brush, OutlinePart::Brush)));
            }
            EditTool::Paste => {
                let size = selection.clipboard().map_or([0; 3], |it| it.size_voxels());
                let bounds = selection.placement(hit).map(|placement| placement.bounds(size));
                shapes.extend(bounds.map(|it| (VoxelShape::Box(it), OutlinePart::Paste)));
                return shapes;
            }
            EditTool::Select | EditTool::Replace | EditTool::Mirror => {}
        }
        shapes.push((voxel, OutlinePart::Voxel));
        shapes
    }
}
