//! A port of M. Szopiński's tree. Its nodes have a pointer to their parent and to 64 children. Here,
//! pointers are indices of 32 bits into one arena, which is the equivalent in safe Rust. A node takes
//! 32 bytes instead of 48.

const CHILDREN: usize = 64;
const NONE: u32 = u32::MAX;

struct Node {
    range_start: u64,
    usage: u64,
    parent: u32,
    children: u32,
    child_count: u32,
    divisor: u32,
}

pub(super) struct ArticleTree {
    nodes: Vec<Node>,
    root: u32,
    last_terminal: u32,
}

impl ArticleTree {
    pub(super) fn new() -> Self {
        let root = Node::new(0, NONE, 0);
        Self { nodes: vec![root], root: 0, last_terminal: NONE }
    }

    pub(super) fn allocate(&mut self) -> u64 {
        if self.last_terminal != NONE
            && let Some(address) = self.allocate_in(self.last_terminal)
        {
            return address;
        }
        loop {
            if let Some(address) = self.allocate_in(self.root) {
                return address;
            }
            self.add_root();
        }
    }

    pub(super) fn free(&mut self, address: u64) {
        let mut at = self.root;
        loop {
            let node = &self.nodes[at as usize];
            let index = (address - node.range_start) >> node.divisor;
            if node.is_full() {
                self.mark_child_unused_above(at);
            }
            let node = &mut self.nodes[at as usize];
            if node.divisor == 0 {
                node.usage &= !(1 << index);
                return;
            }
            at = node.children + index as u32;
        }
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
    }

    fn allocate_in(&mut self, start: u32) -> Option<u64> {
        let mut at = start;
        loop {
            let node = &mut self.nodes[at as usize];
            if node.is_full() {
                return None;
            }
            let free = node.usage.trailing_ones();
            if node.divisor == 0 {
                node.usage |= 1 << free;
                let address = node.range_start + u64::from(free);
                if node.is_full() {
                    self.mark_child_used_above(at);
                }
                self.last_terminal = at;
                return Some(address);
            }
            at = self.child(at, free);
        }
    }

    /// Returns the child of this number, and creates it if necessary.
    fn child(&mut self, at: u32, number: u32) -> u32 {
        let node = &self.nodes[at as usize];
        let (start, divisor, count) = (node.range_start, node.divisor, node.child_count);
        if node.children == NONE {
            let children = self.nodes.len() as u32;
            self.nodes[at as usize].children = children;
            self.nodes.extend((0..CHILDREN).map(|_| Node::new(0, at, 0)));
        }
        let child = self.nodes[at as usize].children + number;
        if number >= count {
            let range_start = start + (u64::from(number) << divisor);
            self.nodes[child as usize] = Node::new(range_start, at, divisor - 6);
            self.nodes[at as usize].child_count += 1;
        }
        child
    }

    fn mark_child_used_above(&mut self, full: u32) {
        let mut child = full;
        while self.nodes[child as usize].is_full() {
            let parent = self.nodes[child as usize].parent;
            if parent == NONE {
                return;
            }
            self.nodes[parent as usize].usage |= 1 << self.number_of(child, parent);
            child = parent;
        }
    }

    fn mark_child_unused_above(&mut self, child: u32) {
        let parent = self.nodes[child as usize].parent;
        if parent == NONE {
            return;
        }
        if self.nodes[parent as usize].is_full() {
            self.mark_child_unused_above(parent);
        }
        self.nodes[parent as usize].usage &= !(1 << self.number_of(child, parent));
    }

    fn number_of(&self, child: u32, parent: u32) -> u32 {
        child - self.nodes[parent as usize].children
    }

    /// Adds a new root, whose first child is the old root.
    fn add_root(&mut self) {
        let old = self.root;
        let divisor = self.nodes[old as usize].divisor + 6;
        let root = self.nodes.len() as u32;
        self.nodes.push(Node::new(0, NONE, divisor));
        let children = self.nodes.len() as u32;
        self.nodes.extend((0..CHILDREN).map(|_| Node::new(0, root, 0)));
        let full = self.nodes[old as usize].is_full();
        self.nodes.swap(old as usize, children as usize);
        let moved = &mut self.nodes[children as usize];
        moved.parent = root;
        let grandchildren = moved.children..moved.children.wrapping_add(moved.child_count);
        for grandchild in grandchildren {
            self.nodes[grandchild as usize].parent = children;
        }
        let node = &mut self.nodes[root as usize];
        (node.children, node.child_count, node.usage) = (children, 1, u64::from(full));
        self.root = root;
    }
}

impl Node {
    const fn new(range_start: u64, parent: u32, divisor: u32) -> Self {
        Self { range_start, usage: 0, parent, children: NONE, child_count: 0, divisor }
    }

    const fn is_full(&self) -> bool {
        self.usage == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use super::*;

    /// The fields of the published node, in its order.
    #[allow(dead_code, reason = "only its size matters")]
    #[repr(C)]
    struct PublishedNode {
        range_start: usize,
        divisor: c_int,
        parent: *mut PublishedNode,
        children: *mut PublishedNode,
        child_count: c_int,
        usage: u64,
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_slot_takes_4_1_bits_here_and_6_1_in_published_nodes() {
        const SLOTS: usize = 1 << 20;
        let mut tree = ArticleTree::new();
        for _ in 0..SLOTS {
            tree.allocate();
        }
        assert_eq!((size_of::<Node>(), size_of::<PublishedNode>()), (32, 48));
        let bits = |node_bytes: usize| (tree.nodes.len() * node_bytes * 8) as f64 / SLOTS as f64;
        assert!((bits(size_of::<Node>()) - 4.08).abs() < 0.005);
        assert!((bits(size_of::<PublishedNode>()) - 6.12).abs() < 0.005);
    }

    #[test]
    fn indices_are_allocated_in_the_order_of_the_article() {
        let mut tree = ArticleTree::new();
        for expected in 0..190 {
            assert_eq!(tree.allocate(), expected);
        }
        for freed in [13, 17, 70, 71, 150, 152] {
            tree.free(freed);
        }
        let next: Vec<_> = (0..10).map(|_| tree.allocate()).collect();
        assert_eq!(next, [150, 152, 190, 191, 13, 17, 70, 71, 192, 193]);
    }
}
