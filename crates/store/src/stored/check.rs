use std::path::{Path, PathBuf};

use drystone_formats::SourceError;
use drystone_voxel::{ChunkPos, Material, MaterialTable};

use super::database::{Access, DATABASE, Store, damaged};
use super::open::{NewWorld, check_signature};
use super::options::StoreOptions;
use super::salvage;
use super::survey::Survey;
use super::{StoredWorld, id, with_suffix};
use crate::publish;

/// Result of checking a stored world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorldCheck {
    /// Number of intact chunks: their checksums are correct and they decompress.
    pub chunks: u64,
    /// Number of values that were read. A value holds at most eight chunks.
    pub values: u64,
    /// Total length of these values, in bytes, without the database's overhead.
    pub value_bytes: u64,
    /// Number of intact LOD chunks.
    pub levels: u64,
    /// One line per problem: location and problem.
    pub damage: Vec<String>,
    /// Lost chunks, as far as they can be determined. All other damage can be rebuilt from intact
    /// data.
    pub lost: Vec<ChunkPos>,
}

/// Reads and checks a whole file.
pub(super) fn check(path: &Path) -> Result<WorldCheck, SourceError> {
    check_signature(path.into())?;
    let survey = Survey::of(path, Access::Read, &mut |_, _| Ok(()));
    let survey = survey.map_err(|error| match salvage::cut(path) {
        Some(problem) => damaged(path, DATABASE, problem),
        None => error,
    })?;
    Ok(survey.report())
}

/// Repairs a damaged file.
pub(super) fn repair(path: &Path) -> Result<(WorldCheck, Option<PathBuf>), SourceError> {
    check_signature(path.into())?;
    // A writer would keep changing the damaged file, which loses its name here.
    let held = Store::hold(path)?;
    let (survey, access, highest) = survey(path)?;
    let mut report = survey.report();
    if let (Access::ReadCut, Some(problem)) = (&access, salvage::cut(path)) {
        report.damage.insert(0, format!("{}: {problem}", path.display()));
    }
    if report.damage.is_empty() {
        return Ok((report, None));
    }
    let name = survey.head.as_ref().map_or("repaired world", |head| &head.name);
    let materials = with_numbers(survey.materials.clone().unwrap_or_default(), highest);
    let has_levels = survey.level_count + survey.damaged_levels > 0;
    let kept = with_suffix(path, "damaged");
    let unreadable = |problem| SourceError::Unreadable { path: path.into(), problem };
    if kept.exists() {
        return Err(SourceError::Unreadable {
            path: kept,
            problem: std::io::ErrorKind::AlreadyExists.into(),
        });
    }
    let new = publish::reserve(path).map_err(unreadable)?;
    let id = survey.id.or_else(|| survey.head.is_none().then(id::random));
    let new_world = NewWorld { name, id, materials: &materials, import: None };
    let repaired = new_world
        .fill(&new)
        .and_then(|()| copy_intact((path, access), &new, has_levels))
        .and_then(|()| publish::replace(new, path, &kept).map_err(unreadable));
    drop(held);
    repaired?;
    Ok((report, Some(kept)))
}

/// Surveys a whole file. Returns the access mode that worked, and the highest material number.
fn survey(path: &Path) -> Result<(Survey, Access, u16), SourceError> {
    let mut highest = 0;
    let mut read_all = |access: Access| {
        Survey::of(path, access, &mut |_, chunk| {
            chunk.for_each_row(|_, _, row| {
                highest = row.iter().fold(highest, |highest, it| it.0.max(highest));
            });
            Ok(())
        })
    };
    let problem = match read_all(Access::Read) {
        Err(SourceError::BadStored { problem, .. }) => problem,
        result => return result.map(|survey| (survey, Access::Read, highest)),
    };
    let lost = |problem| SourceError::Unrepairable { path: path.into(), problem };
    let Some(cut) = salvage::cut(path) else { return Err(lost(problem)) };
    let survey = read_all(Access::ReadCut).map_err(|_| lost(cut))?;
    Ok((survey, Access::ReadCut, highest))
}

/// Copies every intact chunk into another world, and makes LOD chunks if requested.
fn copy_intact(
    (path, access): (&Path, Access),
    to: &Path,
    has_levels: bool,
) -> Result<(), SourceError> {
    let world = StoredWorld::open(to, &StoreOptions::default())?;
    Survey::of(path, access, &mut |at, chunk| world.put([(at, chunk)]))?;
    if has_levels {
        world.derive_levels(&mut |_, _| {})?;
    }
    Ok(world.close()?)
}

impl Survey {
    fn report(&self) -> WorldCheck {
        WorldCheck {
            chunks: self.found.chunk_count(),
            values: self.value_count,
            value_bytes: self.value_bytes,
            levels: self.level_count,
            damage: self.damage.clone(),
            lost: self.lost.iter().copied().collect(),
        }
    }
}

/// Fills the table with magenta materials up to number `highest`.
fn with_numbers(mut materials: MaterialTable, highest: u16) -> MaterialTable {
    const LOST: [u8; 4] = [255, 0, 255, 255];
    while materials.len() <= usize::from(highest) {
        let name = format!("lost material {}", materials.len());
        if materials.insert(&name, LOST) == Some(Material(u16::MAX)) {
            break;
        }
    }
    materials
}
