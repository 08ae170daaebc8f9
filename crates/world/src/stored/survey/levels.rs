use redb::ReadableTable;

use super::Survey;
use crate::stored::database::Store;
use crate::stored::group::{Group, GroupPos, SLOTS};
use crate::stored::levels::{node_of_place, place_text};
use crate::stored::pages::{LEVELS, Values};
use crate::stored::record;

impl Survey {
    /// Verifies the chunks of larger voxels: what is wrong there can be made anew.
    pub(super) fn read_levels(&mut self, store: &Store) {
        let read = store.read(|transaction| {
            let Some(table) = Values::open(transaction, LEVELS)? else { return Ok(()) };
            for entry in table.values.iter()? {
                let (key, value) = entry?;
                let value = table.joined(key.value(), value.value(), None)?;
                self.take_levels(GroupPos::of_key(*key.value()), &value);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.damaged_levels += 1;
            self.damage.push(format!("levels: {error}"));
        }
    }

    fn take_levels(&mut self, position: GroupPos, value: &[u8]) {
        let mut wrong = |place: String, problem: &str| {
            self.damaged_levels += 1;
            self.damage.push(format!("{place}: {problem}; it can be made anew"));
        };
        let Some(first) = node_of_place(position.chunk(0)) else {
            return wrong("levels".into(), "a group of no level");
        };
        let group = match Group::parse(position, value) {
            Ok(group) => group,
            Err(problem) => return wrong(format!("group of {}", place_text(first)), problem),
        };
        for slot in 0..SLOTS {
            let Some(record) = group.record(slot) else { continue };
            let node = node_of_place(position.chunk(slot));
            match record.and_then(record::decode) {
                Err(problem) => wrong(place_text(node.unwrap_or(first)), problem),
                Ok(_) => self.level_count += 1,
            }
        }
    }
}
