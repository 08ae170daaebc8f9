use drystone_store::{StoredWorld, WorldCheck};
use serde_json::json;

use crate::{AppError, cli::CheckArguments, output};

/// Verifies a stored world, and repairs it with `--repair`.
pub(crate) fn run(options: &CheckArguments) -> Result<(), AppError> {
    let (found, kept) = match options.repair {
        true => StoredWorld::repair(&options.world)?,
        false => (StoredWorld::check(&options.world)?, None),
    };
    let WorldCheck { chunks, values, levels, damage, lost, .. } = &found;
    let kept = kept.map(|path| path.display().to_string());
    let text = if options.json {
        let report = json!({
            "world": options.world.display().to_string(),
            "chunks": chunks,
            "values": values,
            "levels": levels,
            "damage": damage,
            "lost": lost.iter().map(|it| [it.x, it.y, it.z]).collect::<Vec<_>>(),
            "damaged_file": kept,
        });
        format!("{report}\n")
    } else {
        let mut text: String =
            damage.iter().map(|line| format!("damaged: {}\n", output::plain(line))).collect();
        let world = output::plain(&options.world.display().to_string());
        let levels = match levels {
            0 => ", no LOD data".to_owned(),
            _ => format!(", {levels} LOD chunks"),
        };
        let state = if damage.is_empty() { "OK" } else { "damaged" };
        text += &format!("{world}: {state}. {chunks} chunks verified{levels}.\n");
        if let Some(kept) = &kept {
            text.extend(lost.iter().map(|it| format!("lost: chunk {},{},{}\n", it.x, it.y, it.z)));
            text += &format!("repaired; the damaged file was kept as {}\n", output::plain(kept));
        }
        text
    };
    output::print(&text)?;
    match (damage.len(), kept) {
        (0, _) | (_, Some(_)) => Ok(()),
        (count, None) => Err(AppError::Damaged { world: options.world.clone(), count }),
    }
}
