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

/// Reads a document as tokens, in which every element is closed. Ends after the first error.
pub(super) struct Reader<'d> {
    text: &'d str,
    rest: &'d str,
    /// Names of the open elements.
    open: Vec<&'d str>,
    /// The element whose attributes are read.
    tag: Option<&'d str>,
}

impl<'d> Reader<'d> {
    pub(super) fn new(text: &'d str) -> Self {
        Self { text, rest: text, open: Vec::new(), tag: None }
    }

    /// Returns the next token, or `None` at the end.
    fn token(&mut self) -> Result<Option<Token<'d>>, &'static str> {
        if let Some(name) = self.tag
            && let Some(token) = self.in_tag(name)?
        {
            return Ok(Some(token));
        }
        loop {
            let (text, rest) = self.rest.split_at(self.rest.find('<').unwrap_or(self.rest.len()));
            self.rest = rest;
            if !text.trim_matches(SPACE).is_empty() {
                let is_inside = !self.open.is_empty();
                let text = is_inside.then_some(Token::Text(text));
                return text.map(Some).ok_or("text outside of any element");
            }
            match rest.as_bytes().get(1) {
                None if rest.is_empty() && self.open.is_empty() => return Ok(None),
                None if rest.is_empty() => return Err("an element has no end tag"),
                None => return Err("the document ends in mark-up"),
                Some(b'/') => return self.close().map(Some),
                Some(b'?') => self.skip_past("?>")?,
                Some(b'!') if rest.starts_with("<!--") => self.skip_past("-->")?,
                Some(b'!') if rest.starts_with("<!DOCTYPE") => self.skip_doctype()?,
                Some(b'!') => return Err("expected a comment or a document type"),
                Some(_) => return self.open().map(Some),
            }
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

    /// Reads `<name`.
    fn open(&mut self) -> Result<Token<'d>, &'static str> {
        self.rest = &self.rest[1..];
        let name = self.name()?;
        self.tag = Some(name);
        Ok(Token::Open(name))
    }

    /// Reads `attribute="value"` or the end of a tag. Returns `None` if the element goes on.
    fn in_tag(&mut self, name: &'d str) -> Result<Option<Token<'d>>, &'static str> {
        self.rest = self.rest.trim_start_matches(SPACE);
        if let Some(rest) = self.rest.strip_prefix("/>") {
            (self.rest, self.tag) = (rest, None);
            return Ok(Some(Token::Close));
        }
        if let Some(rest) = self.rest.strip_prefix('>') {
            (self.rest, self.tag) = (rest, None);
            self.open.push(name);
            return if self.open.len() < MAX_DEPTH { Ok(None) } else { Err("too deep") };
        }
        let (name, value) = (self.name()?, self.value()?);
        Ok(Some(Token::Attribute { name, value }))
    }

    /// Reads `</name>`.
    fn close(&mut self) -> Result<Token<'d>, &'static str> {
        let (name, rest) = self.rest[2..].split_once('>').ok_or("the end of a tag is missing")?;
        if self.open.pop() != Some(name.trim_end_matches(SPACE)) {
            return Err("an end tag does not match the open element");
        }
        self.rest = rest;
        Ok(Token::Close)
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

impl<'d> Iterator for Reader<'d> {
    type Item = Result<Token<'d>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.token().transpose().map(|token| {
            token.map_err(|what| {
                let at = self.text.len() - self.rest.len();
                *self = Self::new("");
                format!("byte {at} of the document: {what}")
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
        Reader::new(text).collect()
    }

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
