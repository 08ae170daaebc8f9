use drystone_render::RenderError;
use drystone_voxel::{Material, MaterialTable, VoxelPos};
use drystone_world::{Edit, EditHistory, VoxelBox, VoxelRay, VoxelShape, WorldError};

use super::EditScene;

mod aim;
mod keeper;

use aim::aim;
pub use keeper::{EditKeeper, KeptBy, SaveState};

/// What an edit sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brush {
    /// Of what form. Default: one voxel.
    pub form: BrushForm,
    /// Voxels on each side of the middle one, 0 to [`MAX_RADIUS`](Self::MAX_RADIUS); a single
    /// voxel has none. Default 2.
    pub radius_voxels: u32,
    /// What is placed. Default: the first that is not air.
    pub material: Material,
}

/// The form of a brush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrushForm {
    /// One voxel.
    #[default]
    Voxel,
    /// A cube.
    Cube,
    /// A ball.
    Ball,
}

impl Default for Brush {
    fn default() -> Self {
        Self { form: BrushForm::Voxel, radius_voxels: 2, material: Material(1) }
    }
}

impl Brush {
    /// The largest radius, in voxels: such an edit takes a few frames.
    pub const MAX_RADIUS: u32 = 24;

    /// What it covers, put there.
    pub fn shape_at(&self, center: VoxelPos) -> VoxelShape {
        let radius_voxels = self.radius_voxels.min(Self::MAX_RADIUS);
        match self.form {
            BrushForm::Voxel => VoxelShape::voxel(center),
            BrushForm::Cube => VoxelShape::cube(center, radius_voxels),
            BrushForm::Ball => VoxelShape::Sphere { center, radius_voxels },
        }
    }

    /// The next form: voxel, cube, ball.
    pub const fn next_form(&mut self) {
        self.form = match self.form {
            BrushForm::Voxel => BrushForm::Cube,
            BrushForm::Cube => BrushForm::Ball,
            BrushForm::Ball => BrushForm::Voxel,
        };
    }

    /// Larger or smaller by so many voxels on each side.
    pub fn grow(&mut self, by: i32) {
        self.radius_voxels = self.radius_voxels.saturating_add_signed(by).min(Self::MAX_RADIUS);
    }

    /// So many materials on in the palette, round about, air left out.
    pub fn step_material(&mut self, materials: &MaterialTable, by: i32) {
        let count = materials.len() as i64 - 1;
        if count > 0 {
            let place = i64::from(self.material.0) - 1 + i64::from(by);
            self.material = Material(place.rem_euclid(count) as u16 + 1);
        }
    }

    /// In words, as "ball of 5 stone".
    pub fn describe(&self, materials: &MaterialTable) -> String {
        let name = materials.get(self.material).map_or("nothing", |kind| kind.name.as_str());
        let across = 2 * self.radius_voxels + 1;
        match self.form {
            BrushForm::Voxel => format!("voxel of {name}"),
            BrushForm::Cube => format!("cube of {across} {name}"),
            BrushForm::Ball => format!("ball of {across} {name}"),
        }
    }
}

/// What is to be done with the voxels that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// They become air.
    Remove,
    /// What lies before them becomes the brush's material.
    Place,
    /// The brush takes their material.
    Pick,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// So many voxels changed.
    Voxels(u64),
    /// The brush is of this now.
    Picked(Material),
    /// There is no voxel, as far as is looked for one.
    OutOfReach,
    /// What there may be is farther than is looked: see [`EditScene::reach_voxels`].
    TooFar,
    /// Nothing changed: all was so already, or lies outside of the world.
    Nothing,
}

/// Why an edit was not done, or not shown.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is too large.
    #[error(transparent)]
    World(#[from] WorldError),
    /// It is done, but could not be shown.
    #[error("the edit is done but not all of it is shown: {0}")]
    Render(#[from] RenderError),
}

/// Edits a scene, by rays from the eye: brush, history, and what becomes of the edits. It has
/// no window; a viewer maps its keys and clicks to it.
///
/// ```text
///  ray ─► voxel ─► brush's shape ─► Edit ─┬► scene: voxels and meshes, at once
///                                         ├► history: undo, redo
///                                         └► keeper ─► stored world, a while later
/// ```
///
/// # Examples
/// ```
/// use drystone::scene::{
///     BackendKind, EditAction, EditKeeper, Edited, Editor, KeptBy, RendererKind, Scene, Size,
///     mesh_world, open_renderer,
/// };
/// use drystone_voxel::{MaterialTable, VoxelPos};
/// use drystone_world::{VoxelRay, World};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut world = World::new("a stone", materials);
/// world.set(VoxelPos::new(0, 0, 0), stone);
/// let (quads, size) = (mesh_world(&world), Size { width: 64, height: 64 });
/// let renderer = open_renderer(RendererKind::Pool, BackendKind::Soft, size, &quads)?;
/// let mut scene = Scene::new(world, &quads, renderer)?;
///
/// let mut editor = Editor::new(EditKeeper::new(KeptBy::Nobody));
/// let down = VoxelRay { origin: [0.5, 9.0, 0.5], direction: [0.0, -1.0, 0.0] };
/// assert_eq!(editor.act(&mut scene, EditAction::Place, &down)?, Edited::Voxels(1));
/// assert_eq!(scene.world().get(VoxelPos::new(0, 1, 0)), stone);
/// editor.undo(&mut scene)?;
/// assert_eq!(scene.world().solid_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    /// What is set.
    pub brush: Brush,
    history: EditHistory,
    keeper: EditKeeper,
    touched: Option<VoxelBox>,
}

impl Editor {
    /// An editor whose edits `keeper` keeps.
    pub fn new(keeper: EditKeeper) -> Self {
        let (brush, history) = (Brush::default(), EditHistory::default());
        Self { brush, history, keeper, touched: None }
    }

    /// The same with the edits that can be taken back so far, and room for more.
    #[must_use]
    pub fn with_history(self, history: EditHistory) -> Self {
        Self { history, ..self }
    }

    /// The edits that can be taken back.
    pub const fn history(&self) -> &EditHistory {
        &self.history
    }

    /// A box around all that was ever changed here: the world may reach so far now. `None`
    /// where nothing was.
    pub const fn touched(&self) -> Option<VoxelBox> {
        self.touched
    }

    /// What became of the edits so far.
    pub fn keeper_state(&self) -> SaveState {
        self.keeper.state()
    }

    /// What keeps the edits.
    pub const fn keeper(&mut self) -> &mut EditKeeper {
        &mut self.keeper
    }

    /// Does something with what the ray meets.
    ///
    /// # Cost
    /// O(voxels of the chunks that the brush touches), and meshing these.
    ///
    /// # Errors
    /// When it cannot be shown: then it is done all the same, and kept.
    pub fn act(
        &mut self,
        scene: &mut dyn EditScene,
        action: EditAction,
        ray: &VoxelRay,
    ) -> Result<Edited, EditError> {
        let hit = match aim(scene, ray) {
            Ok(hit) => hit,
            Err(none) => return Ok(none),
        };
        let (center, material) = match action {
            EditAction::Pick => {
                self.brush.material = hit.material;
                return Ok(Edited::Picked(hit.material));
            }
            EditAction::Remove => (hit.voxel, Material::AIR),
            EditAction::Place => match hit.beside() {
                Some(beside) => (beside, self.brush.material),
                None => return Ok(Edited::Nothing),
            },
        };
        self.fill(scene, &self.brush.shape_at(center), material)
    }

    /// Sets all voxels of a shape.
    ///
    /// # Errors
    /// As [`act`](Self::act), or when the shape is too large.
    pub fn fill(
        &mut self,
        scene: &mut dyn EditScene,
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Edited, EditError> {
        let edit = Edit::fill(scene.voxels(), shape, material)?;
        if edit.is_empty() {
            return Ok(Edited::Nothing);
        }
        let shown = self.apply(scene, &edit);
        let count = edit.voxel_count();
        self.history.push(edit);
        shown.map(|()| Edited::Voxels(count))
    }

    /// Takes the last edit back. Returns how many voxels that changed; 0 where there is none.
    ///
    /// # Errors
    /// As [`act`](Self::act).
    pub fn undo(&mut self, scene: &mut dyn EditScene) -> Result<u64, EditError> {
        let Some(edit) = self.history.undo() else { return Ok(0) };
        self.apply(scene, &edit).map(|()| edit.voxel_count())
    }

    /// Does again what was taken back last. Returns how many voxels that changed.
    ///
    /// # Errors
    /// As [`act`](Self::act).
    pub fn redo(&mut self, scene: &mut dyn EditScene) -> Result<u64, EditError> {
        let Some(edit) = self.history.redo() else { return Ok(0) };
        self.apply(scene, &edit).map(|()| edit.voxel_count())
    }

    fn apply(&mut self, scene: &mut dyn EditScene, edit: &Edit) -> Result<(), EditError> {
        let shown = scene.apply(edit);
        self.keeper.take(scene.voxels(), edit);
        let boxes = edit.chunks().map(|(_, bounds)| bounds).chain(self.touched);
        self.touched = boxes.reduce(VoxelBox::union);
        Ok(shown?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brushes_step_through_forms_sizes_and_materials() {
        let mut materials = MaterialTable::new();
        for name in ["stone", "grass", "water"] {
            materials.insert(name, [1, 2, 3, 255]).unwrap();
        }
        let mut brush = Brush::default();
        assert_eq!(brush.describe(&materials), "voxel of stone");
        brush.next_form();
        brush.grow(1);
        brush.step_material(&materials, -1);
        assert_eq!(brush.describe(&materials), "cube of 7 water");
        brush.step_material(&materials, 1);
        brush.next_form();
        brush.grow(-9);
        assert_eq!(brush.describe(&materials), "ball of 1 stone");
        brush.grow(1_000);
        assert_eq!(brush.radius_voxels, Brush::MAX_RADIUS);
        brush.next_form();
        assert_eq!(brush.form, BrushForm::Voxel);
        // A palette of nothing has nothing to step to.
        let mut brush = Brush::default();
        brush.step_material(&MaterialTable::new(), 1);
        assert_eq!(brush.describe(&MaterialTable::new()), "voxel of nothing");
    }
}
