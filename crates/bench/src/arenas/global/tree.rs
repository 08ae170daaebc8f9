//! The tree of a document in a program that uses the global allocator: one box for each node,
//! attribute and text.

use super::document::{self, Token};

/// All nodes of a document.
pub(super) struct Tree<'d> {
    first: Option<Box<Node<'d>>>,
}

struct Node<'d> {
    next: Option<Box<Node<'d>>>,
    content: Content<'d>,
}

enum Content<'d> {
    Element {
        name: &'d str,
        attributes: Option<Box<Attribute<'d>>>,
        children: Option<Box<Node<'d>>>,
    },
    Text(Box<str>),
}

struct Attribute<'d> {
    next: Option<Box<Attribute<'d>>>,
    name: &'d str,
    value: Box<str>,
}

impl<'d> Tree<'d> {
    /// Builds the tree of a document. Siblings are prepended, and reversed at the end of their
    /// element.
    pub(super) fn read(text: &'d str) -> Result<Self, String> {
        let mut open: Vec<Box<Node<'d>>> = Vec::new();
        let mut first = None;
        document::read(text, |token| match token {
            Token::Open(name) => {
                let content = Content::Element { name, attributes: None, children: None };
                open.push(Box::new(Node { next: None, content }));
            }
            Token::Attribute { name, value } => {
                if let Some(Content::Element { attributes, .. }) =
                    open.last_mut().map(|node| &mut node.content)
                {
                    let next = attributes.take();
                    *attributes = Some(Box::new(Attribute { next, name, value: value.into() }));
                }
            }
            Token::Text(text) => {
                let content = Content::Text(text.into());
                link(&mut open, &mut first, Box::new(Node { next: None, content }));
            }
            Token::Close => {
                if let Some(mut node) = open.pop() {
                    if let Content::Element { attributes, children, .. } = &mut node.content {
                        turn_round(attributes, |attribute| &mut attribute.next);
                        turn_round(children, |child| &mut child.next);
                    }
                    link(&mut open, &mut first, node);
                }
            }
        })?;
        turn_round(&mut first, |node| &mut node.next);
        Ok(Self { first })
    }

    /// Counts the nodes, attributes and strings that own memory.
    ///
    /// # Errors
    /// If the tree does not match the document.
    pub(super) fn objects_if_right(&self, text: &str) -> Result<usize, String> {
        let (mut found, mut expected) = (Sum::default(), Sum::default());
        visit(self.first.as_deref(), &mut |token| found.add(token));
        document::read(text, |token| expected.add(token))?;
        if found != expected {
            return Err(format!("the tree has {found:?}, the document {expected:?}"));
        }
        Ok(found.objects)
    }

    /// Frees all objects. Those inside an element are freed before it.
    pub(super) fn free(self) {
        free(self.first);
    }
}

/// Summary of a tree or a document, for comparing them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    objects: usize,
    checksum: u64,
}

impl Sum {
    fn add(&mut self, token: Token<'_>) {
        let (objects, kind, strings) = match token {
            Token::Open(name) => (1, 1, [name, ""]),
            Token::Attribute { name, value } => {
                (1 + usize::from(!value.is_empty()), 2, [name, value])
            }
            Token::Text(text) => (2, 3, ["", text]),
            Token::Close => (0, 4, [""; 2]),
        };
        self.objects += objects;
        let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        let bytes = strings.into_iter().flat_map(|text| text.bytes().chain([0]));
        self.checksum = bytes.chain([kind]).fold(self.checksum, mix);
    }
}

/// Adds a tree, in the order of its document.
fn visit(first: Option<&Node<'_>>, on_token: &mut impl FnMut(Token<'_>)) {
    let mut next = first;
    while let Some(node) = next {
        match &node.content {
            Content::Element { name, attributes, children } => {
                on_token(Token::Open(name));
                let mut next = attributes.as_deref();
                while let Some(Attribute { name, value, .. }) = next {
                    on_token(Token::Attribute { name, value });
                    next = next.and_then(|attribute| attribute.next.as_deref());
                }
                visit(children.as_deref(), on_token);
                on_token(Token::Close);
            }
            Content::Text(text) => on_token(Token::Text(text)),
        }
        next = node.next.as_deref();
    }
}

/// Prepends a node to its siblings.
fn link<'d>(
    open: &mut [Box<Node<'d>>],
    first: &mut Option<Box<Node<'d>>>,
    mut node: Box<Node<'d>>,
) {
    let siblings = match open.last_mut().map(|parent| &mut parent.content) {
        Some(Content::Element { children, .. }) => children,
        _ => first,
    };
    node.next = siblings.take();
    *siblings = Some(node);
}

/// Reverses a list.
fn turn_round<T>(list: &mut Option<Box<T>>, next: impl Fn(&mut T) -> &mut Option<Box<T>>) {
    let (mut rest, mut done) = (list.take(), None);
    while let Some(mut item) = rest {
        rest = std::mem::replace(next(&mut item), done);
        done = Some(item);
    }
    *list = done;
}

fn free(first: Option<Box<Node<'_>>>) {
    let mut rest = first;
    while let Some(mut node) = rest {
        rest = node.next.take();
        if let Content::Element { attributes, children, .. } = &mut node.content {
            free(children.take());
            let mut rest = attributes.take();
            while let Some(mut attribute) = rest {
                rest = attribute.next.take();
            }
        }
    }
}
