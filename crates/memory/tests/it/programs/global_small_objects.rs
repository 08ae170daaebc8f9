use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock};

use drystone_memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};
use drystone_testing::Bytes;

use super::shadow::Shadow;

/// Few enough slots that programs run out of them.
const CLASSES: [SlotClass; 4] = [
    SlotClass::new(8, 20),
    SlotClass::new(24, 70),
    SlotClass::new(64, 7),
    SlotClass::new(128, 130),
];

type Allocator = GlobalSmallObjects<System>;

static FIXED: Allocator = GlobalSmallObjects::new(System);
#[cfg(feature = "pages")]
static GROWING: Allocator = GlobalSmallObjects::new(System);

#[derive(Debug)]
enum Op {
    Allocate(Layout),
    AllocateZeroed(Layout),
    Free(usize),
    Resize(usize, usize),
    /// Reads the statistics, which empties the cache of the thread.
    Count,
    Trim,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=109 => Self::Allocate(layout(bytes)),
            110..=119 => Self::AllocateZeroed(layout(bytes)),
            120..=209 => Self::Free(bytes.below(usize::MAX)),
            210..=249 => Self::Resize(bytes.below(usize::MAX), size(bytes)),
            250..=252 => Self::Count,
            _ => Self::Trim,
        }
    }
}

/// Mostly small, at times a page and more.
fn size(bytes: &mut Bytes<'_>) -> usize {
    let (kind, value) = (bytes.byte(), usize::from(bytes.byte()));
    if kind < 250 { value % 160 + 1 } else { value * 64 + 1 }
}

fn layout(bytes: &mut Bytes<'_>) -> Layout {
    let align = match bytes.byte() {
        0..=199 => 8,
        kind => 1 << (kind % 13),
    };
    Layout::from_size_align(size(bytes), align).unwrap()
}

/// Runs one program at a time, because the allocators are shared.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) fn run(program: &[u8]) {
    static ENABLED: OnceLock<()> = OnceLock::new();
    let config = SmallObjectsConfig { classes: &CLASSES };
    ENABLED.get_or_init(|| {
        FIXED.enable(&config).unwrap();
        #[cfg(feature = "pages")]
        GROWING.enable_growing(&config, 16 << 20).unwrap();
    });
    let _turn = TURN.lock();
    run_with(&FIXED, program);
    #[cfg(feature = "pages")]
    run_with(&GROWING, program);
}

fn run_with(allocator: &'static Allocator, program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let mut objects = Objects { allocator, shadow: Shadow::anywhere() };
    while !bytes.is_empty() {
        objects.step(&Op::read(&mut bytes));
    }
    while let Some((object, layout)) = objects.shadow.nth(0) {
        objects.free(object, layout);
    }
    assert!(allocator.class_stats().all(|class| class.live == 0), "slots were lost");
}

/// Objects of an allocator, and what they contain.
struct Objects {
    allocator: &'static Allocator,
    shadow: Shadow,
}

impl Objects {
    fn step(&mut self, op: &Op) {
        let Self { allocator, shadow } = self;
        match *op {
            Op::Allocate(layout) => {
                // SAFETY: sizes are not zero.
                let object = NonNull::new(unsafe { allocator.alloc(layout) }).unwrap();
                shadow.allocated(object, layout);
            }
            Op::AllocateZeroed(layout) => {
                // SAFETY: sizes are not zero.
                let object = NonNull::new(unsafe { allocator.alloc_zeroed(layout) }).unwrap();
                // SAFETY: the object has this number of bytes, and they were zeroed.
                let content = unsafe { std::slice::from_raw_parts(object.as_ptr(), layout.size()) };
                assert!(content.iter().all(|byte| *byte == 0), "{object:?} is not zero");
                shadow.allocated(object, layout);
            }
            Op::Free(nth) => {
                if let Some((object, layout)) = shadow.nth(nth) {
                    self.free(object, layout);
                }
            }
            Op::Resize(nth, new_size) => {
                if let Some((object, old)) = shadow.nth(nth) {
                    let new = Layout::from_size_align(new_size, old.align()).unwrap();
                    // SAFETY: the object is live with this layout, the new size is not zero.
                    let moved = unsafe { allocator.realloc(object.as_ptr(), old, new_size) };
                    shadow.resized(object, old, NonNull::new(moved).unwrap(), new);
                }
            }
            Op::Count => {
                let owned = (0..shadow.len()).filter_map(|nth| shadow.nth(nth));
                let owned = owned.filter(|(object, _)| allocator.owns(object.as_ptr())).count();
                assert_eq!(allocator.class_stats().map(|class| class.live).sum::<usize>(), owned);
                assert!(allocator.class_stats().all(|class| class.live <= class.peak));
            }
            Op::Trim => {
                #[cfg(feature = "pages")]
                allocator.trim();
            }
        }
    }

    fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        self.shadow.freed(object, layout);
        // SAFETY: the object is live with this layout.
        unsafe { self.allocator.dealloc(object.as_ptr(), layout) }
    }
}
