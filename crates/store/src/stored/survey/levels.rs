use redb::ReadableTable;

use super::Survey;
use crate::stored::database::Store;
use crate::stored::group::{Group, GroupPos, SLOTS};
use crate::stored::levels::{location_of_node, node_at_stored_position};
use crate::stored::pages::{LEVELS, Values};
use crate::stored::record;

impl Survey {
    /// Verifies the LOD chunks. Damaged ones can be rebuilt.
    pub(super) fn read_levels(&mut self, store: &Store) {
        let read = store.read(|transaction| {
            let Some(table) = Values::open(transaction, LEVELS)? else { return Ok(()) };
            for entry in table.values.iter()? {
                let (key, value) = entry?;
                let value = table.joined(key.value(), value.value(), None)?;
                self.verify_level_group(GroupPos::of_key(*key.value()), &value);
            }
            Ok(())
        });
        if let Err(error) = read {
            self.damaged_levels += 1;
            self.damage.push(format!("levels: {error}"));
        }
    }

    fn verify_level_group(&mut self, position: GroupPos, value: &[u8]) {
        let mut wrong = |location: String, problem: &str| {
            self.damaged_levels += 1;
            self.damage.push(format!("{location}: {problem}; it can be rebuilt"));
        };
        let Some(first) = node_at_stored_position(position.chunk(0)) else {
            return wrong("levels".into(), "a group that belongs to no level");
        };
        let group = match Group::parse(position, value) {
            Ok(group) => group,
            Err(problem) => {
                return wrong(format!("group of {}", location_of_node(first)), problem);
            }
        };
        for slot in 0..SLOTS {
            let Some(record) = group.record(slot) else { continue };
            let node = node_at_stored_position(position.chunk(slot));
            match record.and_then(record::decode) {
                Err(problem) => wrong(location_of_node(node.unwrap_or(first)), problem),
                Ok(_) => self.level_count += 1,
            }
        }
    }
}
