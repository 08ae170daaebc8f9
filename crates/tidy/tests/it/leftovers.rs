//! Macros of drafts (`todo!`, `unimplemented!`, `dbg!`) are not committed.

use proc_macro2::TokenTree;

use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::{is_punct, line, tokens_of, walk};

const DRAFT_MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    walk(tokens_of(file), &mut |rest| {
        let [TokenTree::Ident(name), mark, TokenTree::Group(_), ..] = rest else { return };
        let name = name.to_string();
        if is_punct(Some(mark), '!') && DRAFT_MACROS.contains(&name.as_str()) {
            let advice = format!("`{name}!` is a draft; write the code or return an error");
            offences.push(Offence::new(&file.path, line(&rest[0]), advice));
        }
    });
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_macros_are_found_and_similar_code_passes() {
        let bad = "fn f() {\n todo!()\n}\nfn g() { m!(dbg!(1)); std::unimplemented![]; }";
        let offences = check(&TextFile::new("a.rs", bad));
        let lines: Vec<usize> = offences.iter().map(|offence| offence.line).collect();
        assert_eq!(lines, [2, 4, 4]);

        let good =
            "// todo!()\nfn f(todo: u8) -> bool { dbg(); todo != (1) && \"dbg!(1)\".is_empty() }";
        assert_eq!(check(&TextFile::new("a.rs", good)), []);
    }
}
