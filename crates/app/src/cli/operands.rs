use std::ffi::OsString;

use clap::{Command, CommandFactory};

use super::Options;

/// Moves the operands of `drystone import` behind its options. If the first of two operands is
/// optional, clap takes an operand before an option for the last one.
pub(super) fn operands_last(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter();
    let mut sorted: Vec<OsString> = words.by_ref().take(2).collect();
    if sorted.get(1).is_none_or(|word| word != "import") {
        sorted.extend(words);
        return sorted;
    }
    let options = Options::command();
    let import = options.find_subcommand("import");
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word.to_str() {
            // All that follows are operands; clap reads only the last one after `--`.
            Some("--") => {
                operands.extend(words.by_ref());
                operands.insert(operands.len().saturating_sub(1), word);
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                let has_value = import.is_some_and(|import| takes_next(import, text));
                sorted.push(word);
                sorted.extend(words.by_ref().take(usize::from(has_value)));
            }
            _ => operands.push(word),
        }
    }
    sorted.extend(operands);
    sorted
}

/// Whether the argument after the option `text` is its value.
fn takes_next(command: &Command, text: &str) -> bool {
    let argument = command.get_arguments().find(|argument| {
        let is_long = argument.get_long().is_some_and(|long| text.strip_prefix("--") == Some(long));
        let mut short = text.strip_prefix('-').unwrap_or_default().chars();
        is_long || (short.next() == argument.get_short() && short.next().is_none())
    });
    argument.is_some_and(|argument| argument.get_action().takes_values())
}
