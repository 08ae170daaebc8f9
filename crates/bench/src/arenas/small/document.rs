//! Splits XML into tokens. Supports only the parts that a level file uses.

/// Largest depth of nested elements. Trees are visited by recursion.
const MAX_DEPTH: usize = 64;
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A token of a document. Strings are slices of its text. Entities are not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'d> {
    /// An element begins.
    Open(&'d str),
    /// An attribute of the element that has just begun.
    Attribute { name: &'d str, value: &'d str },
    /// Text in an element, other than white space.
    Text(&'d str),
    /// The innermost open element ends.
    Close,
}

/// Returns the document as a list of tokens, in which every element is closed.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    read(text, |token| tokens.push(token))?;
    Ok(tokens)
}

/// Calls `on_token` with each token of the document, in which every element is closed.
pub(super) fn read<'d>(text: &'d str, on_token: impl FnMut(Token<'d>)) -> Result<(), String> {
    let mut reader = Reader { text, rest: text, open: Vec::new(), on_token };
    while !reader.rest.is_empty() {
        reader.step().map_err(|what| reader.error(what))?;
    }
    match reader.open.last() {
        Some(name) => Err(reader.error(&format!("<{name}> has no end tag"))),
        None => Ok(()),
    }
}

struct Reader<'d, F> {
    text: &'d str,
    rest: &'d str,
    open: Vec<&'d str>,
    on_token: F,
}

impl<'d, F: FnMut(Token<'d>)> Reader<'d, F> {
    fn error(&self, what: &str) -> String {
        format!("byte {} of the document: {what}", self.text.len() - self.rest.len())
    }

    /// Reads text up to the next mark-up, or one piece of mark-up.
    fn step(&mut self) -> Result<(), &'static str> {
        let (text, rest) = self.rest.split_at(self.rest.find('<').unwrap_or(self.rest.len()));
        if !text.trim_matches(SPACE).is_empty() {
            if self.open.is_empty() {
                return Err("text outside of any element");
            }
            (self.on_token)(Token::Text(text));
        }
        self.rest = rest;
        let markup = rest.as_bytes();
        match markup.get(1) {
            None if markup.is_empty() => Ok(()),
            None => Err("the document ends in mark-up"),
            Some(b'/') => self.close(),
            Some(b'?') => self.skip_past("?>"),
            Some(b'!') if rest.starts_with("<!--") => self.skip_past("-->"),
            Some(b'!') if rest.starts_with("<!DOCTYPE") => self.skip_doctype(),
            Some(b'!') => Err("expected a comment or a document type"),
            Some(_) => self.open(),
        }
    }

    fn skip_past(&mut self, end: &str) -> Result<(), &'static str> {
        self.rest = self.rest.split_once(end).ok_or("the end of a tag is missing")?.1;
        Ok(())
    }

    /// Skips a document type. Its own declarations are in brackets, where only comments may contain
    /// a bracket.
    fn skip_doctype(&mut self) -> Result<(), &'static str> {
        let at = self.rest.find(['[', '>']).ok_or("the end of the document type is missing")?;
        let has_declarations = self.rest[at..].starts_with('[');
        self.rest = &self.rest[at + 1..];
        if has_declarations { self.skip_declarations() } else { Ok(()) }
    }

    fn skip_declarations(&mut self) -> Result<(), &'static str> {
        loop {
            let at = self.rest.find(['<', ']']).ok_or("the end of the declarations is missing")?;
            self.rest = &self.rest[at..];
            if self.rest.starts_with(']') {
                return self.skip_past(">");
            }
            self.skip_past(if self.rest.starts_with("<!--") { "-->" } else { ">" })?;
        }
    }

    /// Reads `<name attribute="value" …>`, which may end with `/>`.
    fn open(&mut self) -> Result<(), &'static str> {
        self.rest = &self.rest[1..];
        let name = self.name()?;
        (self.on_token)(Token::Open(name));
        loop {
            self.rest = self.rest.trim_start_matches(SPACE);
            if let Some(rest) = self.rest.strip_prefix("/>") {
                self.rest = rest;
                (self.on_token)(Token::Close);
                return Ok(());
            }
            if let Some(rest) = self.rest.strip_prefix('>') {
                self.rest = rest;
                self.open.push(name);
                return if self.open.len() < MAX_DEPTH { Ok(()) } else { Err("too deep") };
            }
            let (name, value) = (self.name()?, self.value()?);
            (self.on_token)(Token::Attribute { name, value });
        }
    }

    /// Reads `</name>`.
    fn close(&mut self) -> Result<(), &'static str> {
        let (name, rest) = self.rest[2..].split_once('>').ok_or("the end of a tag is missing")?;
        if self.open.pop() != Some(name.trim_end_matches(SPACE)) {
            return Err("an end tag does not match the open element");
        }
        self.rest = rest;
        (self.on_token)(Token::Close);
        Ok(())
    }

    fn name(&mut self) -> Result<&'d str, &'static str> {
        let is_end = |c: char| SPACE.contains(&c) || "=/<>\"'".contains(c);
        let (name, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        if name.is_empty() { Err("a name is missing") } else { Ok(name) }
    }

    /// Reads `= "value"` or `= 'value'`.
    fn value(&mut self) -> Result<&'d str, &'static str> {
        let rest =
            self.rest.trim_start_matches(SPACE).strip_prefix('=').ok_or("an attribute has no =")?;
        let rest = rest.trim_start_matches(SPACE);
        let quote = rest
            .chars()
            .next()
            .filter(|c| ['"', '\''].contains(c))
            .ok_or("an attribute value has no quote")?;
        let (value, rest) =
            rest[1..].split_once(quote).ok_or("the closing quote of a value is missing")?;
        self.rest = rest;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_split_into_tokens() {
        let text = "<?xml version='1.0'?>\n<!DOCTYPE a [<!-- ]> -->\n<!ELEMENT a (b)*>\n] >\
                    <a x=\"1\" y = '2\"'> t &amp;\n<!-- <c> --> <b/><b z=''>u</b >\n</a>\n";
        let attribute = |name, value| Token::Attribute { name, value };
        let expected = [
            Token::Open("a"),
            attribute("x", "1"),
            attribute("y", "2\""),
            Token::Text(" t &amp;\n"),
            Token::Open("b"),
            Token::Close,
            Token::Open("b"),
            attribute("z", ""),
            Token::Text("u"),
            Token::Close,
            Token::Close,
        ];
        assert_eq!(tokens(text).unwrap(), expected);
        assert_eq!(tokens("<!DOCTYPE a>").unwrap(), []);
    }

    #[test]
    fn malformed_documents_are_errors() {
        let wrong = [
            "<",
            "<a",
            "<a>",
            "</a>",
            "<a></b>",
            "<a b>",
            "<a b=1>",
            "<a b='1>",
            "x",
            "<a/>x",
            "<!x>",
            "<!-- ",
            "<!DOCTYPE [",
            "<!DOCTYPE [<",
            "< a/>",
            "<a <b/>",
        ];
        for text in wrong {
            assert!(tokens(text).is_err(), "{text}");
        }
        let deep = "<a>".repeat(MAX_DEPTH) + &"</a>".repeat(MAX_DEPTH);
        assert_eq!(tokens(&deep).unwrap_err(), "byte 192 of the document: too deep");
        for end in 0..200 {
            let text = "<?x?><!DOCTYPE a [<!-- -->]><!-- --><a b='c' d=\"e\">f<g/>h</a>";
            // Every prefix must return an error or a shorter list, and not panic or hang.
            let _ = tokens(&text[..end.min(text.len())]);
        }
    }
}
