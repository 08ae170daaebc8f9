use std::path::{Path, PathBuf};

use drystone_voxel::{ChunkPos, Material, MaterialTable};

use super::database::{Access, DATABASE, Store, damaged};
use super::salvage;
use super::survey::Survey;
use super::{StoredWorld, beside, id, publish};
use crate::WorldError;

/// What a check of a stored world found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldCheck {
    /// Chunks that are whole: their checksums are right, and they unpack.
    pub chunks: u64,
    /// Values that were read, of eight chunks each at the most.
    pub values: u64,
    /// Bytes of these, before the database's pages round them up.
    pub value_bytes: u64,
    /// Chunks of larger voxels that are whole.
    pub levels: u64,
    /// What is damaged, a line each: the place and the problem.
    pub damage: Vec<String>,
    /// The chunks that are lost by that, as far as it is known which there were. What else is
    /// damaged can be made anew of what is whole.
    pub lost: Vec<ChunkPos>,
}

impl StoredWorld {
    /// Reads all of a stored world, verifies every checksum and unpacks every chunk.
    ///
    /// # Cost
    /// Reads the whole file on one core, some 20 µs a chunk, those of larger voxels too.
    ///
    /// # Errors
    /// What cannot be opened at all, as [`open`](Self::open) says; damage beyond that is no
    /// error but a line of [`WorldCheck::damage`].
    pub fn check(path: &Path) -> Result<WorldCheck, WorldError> {
        if !Self::is_stored(path) {
            drop(Self::open_read_only(path)?);
        }
        let survey = Survey::of(path, Access::Read, &mut |_, _| Ok(()));
        let survey = survey.map_err(|error| match salvage::cut(path) {
            Some(problem) => damaged(path, DATABASE, problem),
            None => error,
        })?;
        Ok(survey.report())
    }

    /// Makes a damaged world whole again: every chunk that is whole goes into a new file,
    /// which then takes the damaged one's name, while that is kept as the path returned, with
    /// `.damaged` behind its name. The index is made anew, and so are larger voxels where there
    /// were any; where materials are lost, they get numbers for names, and where its
    /// [`id`](Self::id) is lost, a new one. A world that is not
    /// damaged is left as it is.
    ///
    /// # Cost
    /// A [`check`](Self::check), and where something is damaged writing the whole file.
    ///
    /// # Errors
    /// As [`check`](Self::check), and what cannot be written. Of a file that cannot be opened
    /// since it was cut short what is left is saved; of which nothing can be read, that is
    /// said.
    pub fn repair(path: &Path) -> Result<(WorldCheck, Option<PathBuf>), WorldError> {
        if !Self::is_stored(path) {
            drop(Self::open_read_only(path)?);
        }
        // Who changes it meanwhile would be misjudged, and go on in a file without a name.
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
        let kept = beside(path, "damaged");
        let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
        if kept.exists() {
            return Err(WorldError::Unreadable {
                path: kept,
                problem: std::io::ErrorKind::AlreadyExists.into(),
            });
        }
        let new = publish::reserve(path).map_err(unreadable)?;
        let id = survey.id.or_else(|| survey.head.is_none().then(id::random));
        let repaired = Self::fill(&new, name, id, &materials, None)
            .and_then(|()| copy_whole((path, access), &new, has_levels))
            .and_then(|()| publish::replace(new, path, &kept).map_err(unreadable));
        drop(held);
        repaired?;
        Ok((report, Some(kept)))
    }
}

/// All of a file looked at, how it could be opened, and the highest material.
fn survey(path: &Path) -> Result<(Survey, Access, u16), WorldError> {
    let mut highest = 0;
    let mut look = |access: Access| {
        Survey::of(path, access, &mut |_, chunk| {
            chunk.for_each_row(|_, _, row| {
                highest = row.iter().fold(highest, |highest, it| it.0.max(highest));
            });
            Ok(())
        })
    };
    let problem = match look(Access::Read) {
        Err(WorldError::BadStored { problem, .. }) => problem,
        looked => return looked.map(|survey| (survey, Access::Read, highest)),
    };
    let lost = |problem| WorldError::Unrepairable { path: path.into(), problem };
    let Some(cut) = salvage::cut(path) else { return Err(lost(problem)) };
    let survey = look(Access::ReadCut).map_err(|_| lost(cut))?;
    Ok((survey, Access::ReadCut, highest))
}

/// Puts every chunk that is whole into another world, and makes larger voxels where asked.
fn copy_whole(
    (path, access): (&Path, Access),
    to: &Path,
    has_levels: bool,
) -> Result<(), WorldError> {
    let world = StoredWorld::open(to)?;
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

/// Materials up to and with `highest`: those that are missing are magenta.
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
