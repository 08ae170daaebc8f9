//! Data that the panels show.

use drystone::{CameraKind, Session, Stage, scene::BackendKind};
use drystone_pool::VertexPool;

use super::{
    overlay::{EditFacts, Facts, LISTED},
    status::Status,
};
use crate::settings::Settings;

/// Returns the data that panels show; `None` without a device.
pub(super) fn facts<'a>(
    session: &'a mut Session,
    (status, settings): (&'a Status, &'a Settings),
    (backend_kind, save_text): (BackendKind, String),
    needs_ranges: bool,
) -> Option<Facts<'a>> {
    let [name, backend] = status.names();
    let (renderer, has_levels) = (session.requested_renderer(), session.has_levels());
    let (view, camera) = (*session.camera().view(), session.camera());
    let (camera_kind, hour) = (camera.kind(), camera.look().hour);
    let speed_text = (camera_kind == CameraKind::Fly).then(|| camera.speed_text());
    let editing = session.editing();
    let (is_on, editor) = (editing.is_on(), editing.editor());
    let (brush, history) = (editor.brush, editor.history());
    let selection = editor.selection.clone();
    let undo_list = history.undo_list().take(LISTED).collect();
    let redo_list = history.redo_list().take(LISTED).collect();
    let (drawn, costs) = (session.drawn(), session.costs().copied());
    let drawing = session.stage()?.renderer();
    let (held, cull) = (drawing.held(), drawing.cull());
    let samples = drawing.output().info().samples;
    let pool = drawing.pool();
    let ranges = needs_ranges.then(|| pool.map_or(Vec::new(), VertexPool::ranges));
    let pool = pool.map(VertexPool::stats);
    let edit = session.stage().and_then(Stage::voxel_scene).map(|scene| EditFacts {
        is_on,
        brush,
        selection,
        undo_list,
        redo_list,
        save_text,
        materials: scene.data().materials(),
    });
    Some(Facts {
        name,
        backend,
        backend_kind,
        renderer,
        drawn,
        held,
        pool,
        ranges,
        view,
        cull,
        samples,
        costs,
        has_levels,
        camera_kind,
        speed_text,
        hour,
        settings,
        edit,
    })
}
