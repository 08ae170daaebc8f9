use drystone_formats::SourceError;
use drystone_render::RenderError;
use drystone_voxel::Material;

use super::EditTool;

/// Action on the voxels that a ray hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// Replaces them with air.
    Remove,
    /// Places the brush's material next to the hit voxel.
    Place,
    /// Sets the brush's material to that of the hit voxel.
    Pick,
}

/// Result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Number of changed voxels.
    Voxels(u64),
    /// New material of the brush.
    Picked(Material),
    /// The ray hits no voxel.
    OutOfReach,
    /// The ray may hit a voxel, but beyond the reach of the scene.
    TooFar,
    /// Nothing changed: the voxels have that material already or lie outside the world, or there is
    /// nothing to undo or redo.
    Nothing,
    /// Started; [`Editor::update`](super::Editor::update) continues it, after all edits that were started before.
    Begun,
    /// Refused, since too many edits are waiting.
    Busy,
    /// Number of copied voxels that are not air.
    Copied(u64),
    /// Number of copied voxels that are not air, and of chunks that could not be read. Where those were,
    /// pasting changes nothing.
    CopiedInPart {
        /// Number of voxels.
        voxels: u64,
        /// Number of chunks.
        unreadable_chunks: usize,
    },
    /// The first corner of a selection is set; the second one follows the pointer.
    Corner,
    /// Voxels along each axis of the new selection.
    Selected([u32; 3]),
    /// The next click does something else.
    Tool(EditTool),
    /// Nothing is selected.
    NothingSelected,
    /// Nothing was copied.
    NothingCopied,
}

/// Kind of a finished action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditStep {
    /// Edit, or pick of a material.
    Edit,
    /// Undo of an edit.
    Undo,
    /// Redo of an edit.
    Redo,
    /// Edit that removes what it has copied.
    Cut,
}

impl Edited {
    /// Describes the result of `step` in words, such as "3 voxels changed".
    pub fn words(&self, step: EditStep) -> String {
        let done = match step {
            EditStep::Edit => "changed",
            EditStep::Undo => "undone",
            EditStep::Redo => "redone",
            EditStep::Cut => "cut",
        };
        match self {
            Self::Voxels(count) if step == EditStep::Cut => {
                format!("{} cut: Ctrl+V, then click to place", voxels(*count))
            }
            Self::Voxels(1) => format!("1 voxel {done}"),
            Self::Voxels(count) => format!("{count} voxels {done}"),
            Self::Picked(_) => "picked".into(),
            Self::OutOfReach => "nothing to edit under the pointer".into(),
            Self::TooFar => "too far away to edit; move closer".into(),
            Self::Nothing if matches!(step, EditStep::Edit | EditStep::Cut) => {
                "nothing changed: the voxels have this material already, or lie outside the world"
                    .into()
            }
            Self::Nothing => match step {
                EditStep::Redo => "nothing to redo".into(),
                _ => "nothing to undo".into(),
            },
            Self::Begun => "editing …".into(),
            Self::Busy => "too many edits are waiting; try again in a moment".into(),
            Self::Copied(count) => {
                format!("copied {}: Ctrl+V, then click to place", voxels(*count))
            }
            Self::CopiedInPart { voxels: count, unreadable_chunks } => format!(
                "copied {}, without {unreadable_chunks} chunks that cannot be read: Ctrl+V, then click to place",
                voxels(*count)
            ),
            Self::Corner => "first corner: click the opposite one".into(),
            Self::Selected([x, y, z]) => format!(
                "{x} x {y} x {z} voxels selected: Ctrl+C copies, Delete empties, Enter fills, [ ] change the height"
            ),
            Self::Tool(tool) => tool.words().into(),
            Self::NothingSelected => {
                "nothing is selected: press Ctrl+B and click two corners".into()
            }
            Self::NothingCopied => {
                "nothing is copied: select a box (Ctrl+B), then press Ctrl+C".into()
            }
        }
    }
}

/// Returns a number of voxels in words.
fn voxels(count: u64) -> String {
    if count == 1 { "1 voxel".into() } else { format!("{count} voxels") }
}

/// Error of an edit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Too large.
    #[error(transparent)]
    World(#[from] SourceError),
    /// The memory limit for unsaved edits and copied voxels is reached.
    #[error(
        "out of memory for this edit: {} MiB of unsaved edits{}, limit {} MiB",
        mib(*held_bytes), copies(*copied_bytes), mib(*limit_bytes)
    )]
    Full {
        /// Bytes of unsaved edits in memory.
        held_bytes: usize,
        /// Bytes of copied voxels.
        copied_bytes: usize,
        /// Estimated bytes that this edit would add.
        more_bytes: usize,
        /// Limit in bytes.
        limit_bytes: usize,
    },
    /// A copy would take more than its part of the memory for edits.
    #[error(
        "out of memory for this copy: it takes more than {} MiB, so nothing is copied or placed; select a \
         smaller box", mib(*limit_bytes)
    )]
    LargeCopy {
        /// Limit in bytes.
        limit_bytes: usize,
    },
    /// The edit was applied, but could not be shown.
    #[error("the edit was applied but not all of it is shown: {0}")]
    Render(#[from] RenderError),
}

/// Returns the memory of copied voxels in words, if there are any.
fn copies(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(" and {} MiB of copied voxels", mib(bytes)) }
}

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}
