//! Edits of a source, for `info`.

use drystone_formats::EditStore;
use drystone_store::EditedSource;
use serde_json::{Value, json};

use crate::output;

pub(super) fn to_json(edited: &EditedSource) -> Value {
    json!({
        "file": edited.path().display().to_string(),
        "chunks": edited.edited_count(),
        "revision": edited.revision(),
    })
}

pub(super) fn to_text(edited: &EditedSource) -> String {
    let file = output::plain(&edited.path().display().to_string());
    let (chunks, revision) = (edited.edited_count(), edited.revision());
    format!("  edits     {chunks} chunks, saved {revision} times, in {file}\n")
}
