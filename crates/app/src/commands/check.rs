use drystone_formats::{Format, Input};
use drystone_store::{PackedWorld, StoredWorld, WorldCheck};
use serde_json::json;

use crate::{AppError, address, cli::CheckArguments, output};

/// Verifies a stored or packed world, and repairs a stored one with `--repair`.
pub(crate) fn run(options: &CheckArguments) -> Result<(), AppError> {
    let address = address::of(&options.world);
    let is_packed =
        address.is_some() || Format::of(Input::Path(&options.world)) == Some(Format::Packed);
    let (found, kept) = match (is_packed, options.repair) {
        (true, true) => {
            let problem =
                "a packed world cannot be repaired: copy or download it again, or pack it again";
            return Err(AppError::File { path: options.world.clone(), problem: problem.into() });
        }
        (true, false) => match address {
            Some(address) => (address::open(address)?.verify()?, None),
            None => (PackedWorld::check(&options.world)?, None),
        },
        (false, true) => StoredWorld::repair(&options.world)?,
        (false, false) => (StoredWorld::check(&options.world)?, None),
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
        (count, None) if is_packed => {
            Err(AppError::DamagedPacked { world: options.world.clone(), count })
        }
        (count, None) => Err(AppError::Damaged { world: options.world.clone(), count }),
    }
}
