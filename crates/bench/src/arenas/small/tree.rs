//! A document as a tree of nodes, attributes and texts, each in its own object.
//!
//! The processes of the case `global` use this file, too.

use std::{alloc::Layout, ptr::NonNull};

use super::document::Token;

type Link<T> = Option<NonNull<T>>;

/// Allocates small objects.
///
/// # Safety
/// - An object has the bytes and the alignment of its layout, and belongs only to its caller until
///   it is freed or the allocator is dropped.
pub(crate) unsafe trait Objects {
    /// Allocates an object of at least one byte.
    ///
    /// # Safety
    /// - The layout has at least one byte, and an alignment of at most 8.
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>>;

    /// Frees an object. Returns `false` if the allocator does not own it.
    ///
    /// # Safety
    /// - The object is from this allocator, with that layout, and was not freed before.
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool;
}

/// A tree whose objects belong to an allocator. It must be freed with the same allocator.
pub(super) struct Tree<'d> {
    first: Link<Node<'d>>,
}

struct Node<'d> {
    next: Link<Node<'d>>,
    content: Content<'d>,
}

enum Content<'d> {
    Element { name: &'d str, attributes: Link<Attribute<'d>>, children: Link<Node<'d>> },
    Text(NonNull<str>),
}

struct Attribute<'d> {
    next: Link<Attribute<'d>>,
    name: &'d str,
    value: NonNull<str>,
}

/// Summary of a tree, for comparing it with its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Elements, attributes, texts, and strings of at least one byte. Each has an object.
    pub(super) objects: usize,
    checksum: u64,
}

impl Contents {
    /// Returns the summary of a tree made of these tokens.
    pub(super) fn of<'d>(tokens: impl Iterator<Item = Token<'d>>) -> Self {
        let mut contents = Self::default();
        tokens.for_each(|token| contents.add(token));
        contents
    }

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

/// Links for the next child and the next attribute of an open element.
struct OpenLinks<'d> {
    child: NonNull<Link<Node<'d>>>,
    attribute: Option<NonNull<Link<Attribute<'d>>>>,
}

impl<'d> Tree<'d> {
    /// Builds the tree of a document. Returns `None` if memory runs out.
    #[inline]
    pub(super) fn build<O: Objects>(
        objects: &mut O,
        tokens: impl Iterator<Item = Token<'d>>,
    ) -> Option<Self> {
        let mut first: Link<Node<'d>> = None;
        let mut open = Vec::with_capacity(100);
        let mut ends = OpenLinks { child: NonNull::from(&mut first), attribute: None };
        for token in tokens {
            match token {
                Token::Open(name) => {
                    let element = Content::Element { name, attributes: None, children: None };
                    let node = ends.add(objects, element)?;
                    open.push(ends);
                    ends = OpenLinks::of(node)?;
                }
                Token::Attribute { name, value } => {
                    let value = copy(objects, value)?;
                    let attribute = put(objects, Attribute { next: None, name, value })?;
                    ends.add_attribute(attribute)?;
                }
                Token::Text(text) => {
                    let text = Content::Text(copy(objects, text)?);
                    ends.add(objects, text)?;
                }
                Token::Close => ends = open.pop()?,
            }
        }
        Some(Self { first })
    }

    /// Visits the whole tree and returns its summary.
    pub(super) fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        add_contents(self.first, &mut contents);
        contents
    }

    /// Frees every object. Objects inside an element are freed before it.
    ///
    /// # Safety
    /// - The tree was built with this allocator.
    pub(super) unsafe fn free<O: Objects>(self, objects: &mut O) -> bool {
        // SAFETY: the caller guarantees it, and the tree is not used after this.
        unsafe { free_nodes(self.first, objects) }
    }
}

impl<'d> OpenLinks<'d> {
    /// Creates the links of an element.
    #[inline]
    fn of(mut node: NonNull<Node<'d>>) -> Option<Self> {
        // SAFETY: the node is new, and there is no reference to it.
        match unsafe { &mut node.as_mut().content } {
            Content::Element { attributes, children, .. } => {
                Some(Self { child: children.into(), attribute: Some(attributes.into()) })
            }
            Content::Text(_) => None,
        }
    }

    #[inline]
    fn add<O: Objects>(
        &mut self,
        objects: &mut O,
        content: Content<'d>,
    ) -> Option<NonNull<Node<'d>>> {
        let node = put(objects, Node { next: None, content })?;
        // SAFETY: the link is that of a live node of this tree, or the first. There is no other
        // reference to it while the tree is built.
        unsafe { self.child.write(Some(node)) };
        // SAFETY: the node is live.
        self.child = unsafe { NonNull::from(&mut (*node.as_ptr()).next) };
        Some(node)
    }

    #[inline]
    fn add_attribute(&mut self, attribute: NonNull<Attribute<'d>>) -> Option<()> {
        // SAFETY: the link is that of a live node of this tree, without other references.
        unsafe { self.attribute?.write(Some(attribute)) };
        // SAFETY: the attribute is live.
        self.attribute = unsafe { Some(NonNull::from(&mut (*attribute.as_ptr()).next)) };
        Some(())
    }
}

/// Moves a value into an object.
#[inline]
fn put<T, O: Objects>(objects: &mut O, value: T) -> Option<NonNull<T>> {
    // SAFETY: nodes and attributes are not empty, and have the alignment of pointers.
    let object = unsafe { objects.allocate(Layout::new::<T>()) }?.cast();
    // SAFETY: the object has the layout of a `T` and belongs to this function.
    unsafe { object.write(value) };
    Some(object)
}

/// Copies a string into an object. An empty string has none.
#[inline]
fn copy<O: Objects>(objects: &mut O, text: &str) -> Option<NonNull<str>> {
    if text.is_empty() {
        return Some(NonNull::from(""));
    }
    // SAFETY: the layout is not empty. Strings of the documents are small.
    let object = unsafe { objects.allocate(Layout::for_value(text)) }?;
    // SAFETY: the object is as large as the text.
    unsafe { object.copy_from_nonoverlapping(NonNull::from(text).cast(), text.len()) };
    let bytes = NonNull::slice_from_raw_parts(object, text.len());
    NonNull::new(bytes.as_ptr() as *mut str)
}

fn add_contents(first: Link<Node<'_>>, contents: &mut Contents) {
    let mut next = first;
    while let Some(node) = next {
        // SAFETY: all links of a tree are live until the tree is freed.
        let node = unsafe { node.as_ref() };
        match &node.content {
            Content::Element { name, attributes, children } => {
                contents.add(Token::Open(name));
                let mut next = *attributes;
                while let Some(attribute) = next {
                    // SAFETY: the attribute and its value are live until the tree is freed.
                    let (attribute, value) = unsafe {
                        let attribute = attribute.as_ref();
                        (attribute, attribute.value.as_ref())
                    };
                    contents.add(Token::Attribute { name: attribute.name, value });
                    next = attribute.next;
                }
                add_contents(*children, contents);
                contents.add(Token::Close);
            }
            // SAFETY: the text is live until the tree is freed.
            Content::Text(text) => contents.add(Token::Text(unsafe { text.as_ref() })),
        }
        next = node.next;
    }
}

/// # Safety
/// - The nodes belong to this allocator and are not used after this.
unsafe fn free_nodes<O: Objects>(first: Link<Node<'_>>, objects: &mut O) -> bool {
    let (mut next, mut is_right) = (first, true);
    while let Some(node) = next {
        // SAFETY: the node is live. It is freed after this copy.
        let Node { next: after, content } = unsafe { node.read() };
        // SAFETY: the parts belong to the same allocator as the node.
        is_right &= unsafe {
            match content {
                Content::Text(text) => free_text(text, objects),
                Content::Element { attributes, children, .. } => {
                    free_nodes(children, objects) & free_attributes(attributes, objects)
                }
            }
        };
        // SAFETY: the node is an object of this layout, and not used after this.
        is_right &= unsafe { objects.free(node.cast(), Layout::new::<Node<'_>>()) };
        next = after;
    }
    is_right
}

/// # Safety
/// - The attributes belong to this allocator and are not used after this.
unsafe fn free_attributes<O: Objects>(first: Link<Attribute<'_>>, objects: &mut O) -> bool {
    let (mut next, mut is_right) = (first, true);
    while let Some(attribute) = next {
        // SAFETY: the attribute is live. It is freed after this copy.
        let Attribute { next: after, value, .. } = unsafe { attribute.read() };
        // SAFETY: value and attribute belong to this allocator.
        is_right &= unsafe {
            free_text(value, objects)
                & objects.free(attribute.cast(), Layout::new::<Attribute<'_>>())
        };
        next = after;
    }
    is_right
}

/// # Safety
/// - The text belongs to this allocator and is not used after this.
#[inline]
unsafe fn free_text<O: Objects>(text: NonNull<str>, objects: &mut O) -> bool {
    // SAFETY: the text is live. An empty text has no object.
    unsafe {
        let layout = Layout::for_value(text.as_ref());
        layout.size() == 0 || objects.free(text.cast(), layout)
    }
}
