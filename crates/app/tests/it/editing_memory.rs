//! Unsaved edits have a memory limit: edits beyond it are refused, and none is lost.

use std::sync::Arc;

use drystone::scene::{EditError, EditSaver, Edited, Editor, SaveState, VoxelScene};
use drystone_formats::Source;
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{
    Edit, GeneratedWorld, GeneratorConfig, LodData, VoxelAccess, VoxelShape, World,
};

use crate::editing_parts::{editor_of, full_scene, lod_scene};
use crate::program::scratch;

const LIMIT_BYTES: usize = 1 << 20;

fn generated() -> Box<dyn Source> {
    let config = GeneratorConfig::default().with_size_chunks([12, 4, 12]);
    Box::new(GeneratedWorld::new(config).unwrap())
}

fn ball(n: i32) -> VoxelShape {
    let center = VoxelPos::new(20 + n * 37 % 340, 100, 20 + n * 53 % 340);
    VoxelShape::Sphere { center, radius_voxels: 6 }
}

/// Edits until the limit is reached, with some undos in between; returns the number of edits.
fn edit_until_full(editor: &mut Editor, scene: &mut VoxelScene, twin: &mut World) -> i32 {
    let mut max_undo = 0;
    for n in 0..1_000 {
        let shape = ball(n);
        let edit = Edit::fill(&*twin, &shape, Material(2)).unwrap();
        match editor.fill(scene, &shape, Material(2)) {
            Ok(Edited::Voxels(count)) => assert_eq!(count, edit.voxel_count()),
            Err(EditError::Full { held_bytes, more_bytes, limit_bytes, .. }) => {
                assert_eq!((limit_bytes, held_bytes), (LIMIT_BYTES, editor.saver().held_bytes()));
                assert!(held_bytes + more_bytes > limit_bytes && held_bytes <= limit_bytes);
                assert!(n > 8, "{n}");
                // Old history was dropped before an edit was refused.
                assert!(editor.history().undo_count() < max_undo.max(2), "{n}");
                return n;
            }
            other => panic!("{other:?}"),
        }
        twin.apply(&edit);
        max_undo = max_undo.max(editor.history().undo_count());
        let taken = editor.saver().held_bytes() + editor.history().size_bytes();
        assert!(taken <= LIMIT_BYTES, "{taken} bytes after {n}");
    }
    panic!("never refused");
}

fn is_same(scene: &VoxelScene, twin: &World) {
    for (at, chunk) in twin.iter() {
        assert!(scene.data().chunk_at(at).unwrap().iter().eq(chunk.iter()), "{at:?}");
    }
}

#[test]
fn unsaved_edits_are_refused_at_the_limit_until_saved() {
    let mut twin = World::load(generated().as_ref()).unwrap();
    let source = EditedSource::open(generated(), &EditOptions::default()).unwrap();
    let data = Arc::new(LodData::new(Box::new(source), 16 << 20));
    let saver = EditSaver::new(Arc::clone(&data));
    let mut editor = Editor::new(saver).with_memory(LIMIT_BYTES);
    let mut scene = lod_scene(data);
    let done = edit_until_full(&mut editor, &mut scene, &mut twin);
    is_same(&scene, &twin);
    // The remaining history can be undone and redone.
    let undone = editor.undo(&mut scene).unwrap();
    let again = editor.redo(&mut scene);
    match again {
        Err(EditError::Full { .. }) => assert_eq!(editor.history().redo_count(), 1, "try again"),
        again => assert_eq!(again.unwrap(), undone),
    }
    // Once saved to a file, edits need no memory.
    let path = scratch("editing-memory").join("edits.drystone");
    editor.saver().save_at(&path).unwrap();
    editor.saver().save().unwrap();
    assert_eq!((editor.save_state(), editor.saver().held_bytes()), (SaveState::Saved, 0));
    editor.redo(&mut scene).unwrap();
    is_same(&scene, &twin);
    for n in done..done + 20 {
        editor.fill(&mut scene, &ball(n), Material(3)).unwrap();
    }
    editor.saver().save().unwrap();
    let saved =
        EditedSource::open(generated(), &EditOptions::at(&path).with_access(EditAccess::Read))
            .unwrap();
    let saved = World::load(&saved).unwrap();
    for (at, chunk) in saved.iter() {
        assert!(scene.data().chunk_at(at).unwrap().iter().eq(chunk.iter()), "{at:?}");
    }
}

#[test]
fn edits_in_full_detail_are_refused_at_the_limit() {
    let mut twin = World::load(generated().as_ref()).unwrap();
    let mut scene = full_scene(generated());
    let mut editor = editor_of(&scene).with_memory(LIMIT_BYTES);
    edit_until_full(&mut editor, &mut scene, &mut twin);
    is_same(&scene, &twin);
}
