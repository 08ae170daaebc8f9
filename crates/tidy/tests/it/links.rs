//! Relative links of the documents resolve: the target file is tracked and has the heading that
//! the anchor names.

use crate::document_size::lines_outside_code;
use crate::offence::Offence;
use crate::repository::{TextFile, resolve};

/// Checks the links of one Markdown file. `paths` are all files of the repository, including
/// binary ones.
pub(crate) fn check(file: &TextFile, files: &[TextFile], paths: &[String]) -> Vec<Offence> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let mut offences = Vec::new();
    for (line, text) in lines_outside_code(&file.text) {
        for target in targets(&without_code(text)) {
            let advice = fault(&target, file, files, paths);
            offences.extend(advice.map(|advice| Offence::new(&file.path, line, advice)));
        }
    }
    offences
}

/// Describes the fault of a link, if it has one.
fn fault(target: &str, from: &TextFile, files: &[TextFile], paths: &[String]) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || is_rust_path(target, from) {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = path.replace("%20", " ");
    let path = if path.is_empty() { from.path.clone() } else { resolve(&from.path, &path) };
    let folder = format!("{}/", path.trim_end_matches('/'));
    if !paths.iter().any(|it| *it == path || it.starts_with(&folder)) {
        return Some(format!("no tracked file for `{target}`; fix the path"));
    }
    let document = files.iter().find(|it| it.path == path && path.ends_with(".md"))?;
    if anchor.is_empty() || anchors(&document.text).iter().any(|it| it == anchor) {
        return None;
    }
    Some(format!("`{target}`: {path} has no such heading; fix the anchor"))
}

/// Whether a link names a Rust item. Documents under `src/` are part of a crate's docs, where
/// rustdoc checks such links.
fn is_rust_path(target: &str, from: &TextFile) -> bool {
    from.path.contains("/src/") && (target.contains("::") || !target.contains(['.', '/', '#']))
}

/// Returns the line without its code spans.
fn without_code(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].bytes().take_while(|b| *b == b'`').count();
        let body = &rest[start + ticks..];
        let Some(end) = body.find(&"`".repeat(ticks)) else { break };
        kept.push_str(&rest[..start]);
        rest = &body[end + ticks..];
    }
    kept + rest
}

/// Returns the targets of the links, images and link definitions of a line.
fn targets(line: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        for (at, _) in line.match_indices(opening) {
            let rest = &line[at + opening.len()..];
            targets.extend(rest.find(closing).map(|end| &rest[..end]));
        }
    }
    let definition = line.trim_start().strip_prefix('[').and_then(|it| it.split_once("]: "));
    targets.extend(definition.map(|(_, target)| target));
    // A title may follow, and `<>` may surround the target.
    let clean =
        |it: &str| it.split_whitespace().next().map(|it| it.trim_matches(['<', '>']).into());
    targets.into_iter().filter_map(clean).collect()
}

/// Returns the anchors of a document: those GitHub makes for headings, and HTML ones.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in lines_outside_code(text) {
        for attribute in ["id=\"", "name=\""] {
            let values = line.split(attribute).skip(1).filter_map(|it| it.split('"').next());
            anchors.extend(values.map(str::to_owned));
        }
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let slug = slug(heading.trim());
            let same = anchors.iter().filter(|it| base(it) == slug).count();
            anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
        }
    }
    anchors
}

/// Returns an anchor without the number that makes a repeated heading unique.
fn base(anchor: &str) -> &str {
    match anchor.rsplit_once('-') {
        Some((base, number)) if number.parse::<u32>().is_ok() => base,
        _ => anchor,
    }
}

/// Returns the anchor of a heading: lower case, without punctuation, with `-` for spaces.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // The anchor contains the text of a link, not its target.
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "# The guide\n## Cost & `Limits`\n## [A](b.md) link\n## Twice\n## Twice\n\
                         <a id=\"own\"></a>\n```\n# Hidden\n```\n#hash";

    fn faults(from: &str, text: &str) -> Vec<(usize, String)> {
        let files = [TextFile::new(from, text), TextFile::new("docs/guide.md", GUIDE)];
        let paths = [from, "docs/guide.md", "docs/gallery/a b.png"].map(str::to_owned);
        let offences = check(&files[0], &files, &paths);
        offences.into_iter().map(|offence| (offence.line, offence.advice)).collect()
    }

    #[test]
    fn links_that_resolve_pass() {
        for target in [
            "docs/guide.md",
            "docs/",
            "docs/gallery",
            "docs/gallery/a%20b.png \"Title\"",
            "https://example.com/gone.md",
            "#here",
            "docs/guide.md#the-guide",
            "docs/guide.md#cost--limits",
            "docs/guide.md#a-link",
            "docs/guide.md#twice-1",
            "docs/guide.md#own",
        ] {
            let text = format!("# Here\n[a]({target})\n[b]: {target}");
            assert_eq!(faults("README.md", &text), [], "{target}");
        }
        assert_eq!(faults("docs/b.md", "![a](gallery/a%20b.png) [b](../docs/guide.md)"), []);
        assert_eq!(faults("crates/a/src/b.md", "[a](crate::A) [b](Pool)"), []);
        assert_eq!(faults("a.md", "`[a](gone.md)`\n```\n[a](gone.md)\n```"), []);
    }

    #[test]
    fn links_that_do_not_are_found() {
        for target in ["gone.md", "guide.md", "docs/guide.md#hidden", "docs/guide.md#hash", "#no"] {
            for text in [format!("[a]({target})"), format!("<img src=\"{target}\">")] {
                let found = faults("README.md", &format!("# Here\n\n{text}"));
                assert_eq!(found.len(), 1, "{text}");
                assert!(found[0].0 == 3 && found[0].1.contains(&format!("`{target}`")));
            }
        }
        assert_eq!(faults("crates/a/src/b.md", "[a](c.md)").len(), 1);
        assert_eq!(faults("a.rs", "//! [a](gone.md)"), []);
    }
}
