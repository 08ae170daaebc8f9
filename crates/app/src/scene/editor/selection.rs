use std::sync::Arc;

use drystone_voxel::{VoxelBox, VoxelPos};
use drystone_world::{Axis, Clipboard, Orientation, PasteAir, Placement, VoxelHit};

/// Effect of clicks while editing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditTool {
    /// Clicks edit with the brush.
    #[default]
    Brush,
    /// Clicks set the corners of a selection.
    Select,
    /// Clicks place the copied voxels.
    Paste,
    /// Clicks replace the material of the hit voxel in the selection by that of the brush.
    Replace,
    /// Clicks set the middle of the mirror of the brush.
    Mirror,
}

impl EditTool {
    /// Describes what the next click does.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Brush => "clicks edit with the brush",
            Self::Select => "select: click the first corner; right click takes the air before it",
            Self::Paste => "click to place; , . turns, [ ] tips over, B mirrors, Escape ends",
            Self::Replace => "replace: click a voxel of the material to replace",
            Self::Mirror => "mirror: click the voxel to mirror the brush about",
        }
    }
}

/// Selected box, copied voxels, how they are placed, and what clicks do.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    bounds: Option<VoxelBox>,
    /// First corner of a box whose second corner follows the pointer.
    corner: Option<VoxelPos>,
    tool: EditTool,
    clipboard: Option<Arc<Clipboard>>,
    orientation: Orientation,
    /// Effect of copied air where it is placed.
    pub air: PasteAir,
}

impl Selection {
    /// Selects the box between two corners, which are in it. Voxels with the highest coordinate on an axis
    /// are in no box.
    pub fn select(&mut self, a: VoxelPos, b: VoxelPos) {
        self.bounds = Some(VoxelBox::of(a).union(VoxelBox::of(b)));
        self.corner = None;
    }

    /// Selects nothing. What was copied stays.
    pub const fn clear(&mut self) {
        (self.bounds, self.corner) = (None, None);
    }

    /// Moves the upper side of the selected box, which stays at least one voxel high.
    pub fn raise(&mut self, voxels: i32) {
        if let Some(bounds) = &mut self.bounds {
            bounds.max.y = bounds.max.y.saturating_add(voxels).max(bounds.min.y.saturating_add(1));
        }
    }

    /// Returns the selected box.
    pub const fn bounds(&self) -> Option<VoxelBox> {
        self.bounds
    }

    /// Returns the selected box, or the one that a second corner at `voxel` would select.
    pub fn bounds_to(&self, voxel: Option<VoxelPos>) -> Option<VoxelBox> {
        let Some(corner) = self.corner else { return self.bounds };
        Some(VoxelBox::of(corner).union(VoxelBox::of(voxel.unwrap_or(corner))))
    }

    /// Takes a clicked corner. Returns the box after the second.
    pub(super) fn take_corner(&mut self, voxel: VoxelPos) -> Option<VoxelBox> {
        match self.corner {
            Some(first) => self.select(first, voxel),
            None => (self.bounds, self.corner) = (None, Some(voxel)),
        }
        self.bounds
    }

    /// Returns what clicks do.
    pub const fn tool(&self) -> EditTool {
        self.tool
    }

    /// Changes what clicks do. A box with one corner is dropped.
    pub const fn set_tool(&mut self, tool: EditTool) {
        self.tool = tool;
        self.corner = None;
    }

    /// Leaves the tool; or else clears the selection. Returns whether there was any of both.
    pub fn cancel(&mut self) -> bool {
        let is_any = self.tool != EditTool::Brush || self.bounds.is_some();
        if matches!(self.tool, EditTool::Brush | EditTool::Select) {
            self.clear();
        }
        self.set_tool(EditTool::Brush);
        is_any
    }

    /// Returns the copied voxels.
    pub const fn clipboard(&self) -> Option<&Arc<Clipboard>> {
        self.clipboard.as_ref()
    }

    pub(super) fn set_clipboard(&mut self, clipboard: Clipboard) {
        (self.clipboard, self.orientation) = (Some(clipboard.into()), Orientation::default());
    }

    /// Turns the copied voxels by quarter turns about an axis, before they are placed.
    pub const fn turn(&mut self, axis: Axis, quarter_turns: i32) {
        self.orientation = self.orientation.turned(axis, quarter_turns);
    }

    /// Mirrors the copied voxels along an axis, before they are placed.
    pub const fn mirror(&mut self, axis: Axis) {
        self.orientation = self.orientation.mirrored(axis);
    }

    /// Returns the rotation of the copied voxels.
    pub const fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Returns the size of the copied voxels after the rotation.
    pub fn paste_size(&self) -> Option<[u32; 3]> {
        Some(self.orientation.size(self.clipboard.as_ref()?.size_voxels()))
    }

    /// Returns where the copied voxels are placed by a click. `None` without any, or at the end of the
    /// coordinate range.
    pub(super) fn placement(&self, hit: &VoxelHit) -> Option<Placement> {
        let at = placed_at(hit, self.paste_size()?)?;
        Some(Placement { at, orientation: self.orientation, air: self.air })
    }
}

/// Returns the lowest voxel of a box that is placed on a hit face: its lower side is at the height of the
/// voxel before the face, and the box is centred otherwise.
pub(super) fn placed_at(hit: &VoxelHit, size: [u32; 3]) -> Option<VoxelPos> {
    let beside = hit.beside()?.to_array();
    let [x, y, z] = std::array::from_fn(|axis| {
        let last = size[axis].saturating_sub(1);
        let below = match (axis == hit.face.axis(), axis) {
            (true, _) if !hit.face.is_positive() => last,
            (true, _) | (false, 1) => 0,
            (false, _) => last / 2,
        };
        beside[axis].saturating_sub_unsigned(below)
    });
    Some(VoxelPos::new(x, y, z))
}
