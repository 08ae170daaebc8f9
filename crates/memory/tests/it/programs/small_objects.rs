use std::alloc::Layout;
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use drystone_memory::{Error, Region, SlotClass, SmallObjects, SmallObjectsConfig};
use drystone_testing::Bytes;

use super::counting::Counting;
use super::shadow::Shadow;

#[derive(Debug)]
enum Op {
    Allocate(Layout, u8),
    Free(usize),
    /// Frees a free slot, or an address that never was an object.
    FreeWrongly(usize),
    Resize(usize, Layout),
    Flush,
    Reset,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            count @ 0..=109 => Self::Allocate(layout(bytes), count / 8),
            110..=189 => Self::Free(bytes.below(usize::MAX)),
            190..=209 => Self::FreeWrongly(bytes.below(usize::MAX)),
            210..=243 => Self::Resize(bytes.below(usize::MAX), layout(bytes)),
            244..=252 => Self::Flush,
            _ => Self::Reset,
        }
    }
}

/// A layout, mostly one that fits a class.
fn layout(bytes: &mut Bytes<'_>) -> Layout {
    match bytes.byte() {
        byte @ 0..=219 => {
            Layout::from_size_align(bytes.below(160), 1 << (byte % 4).min(3)).unwrap()
        }
        _ => bytes.layout(),
    }
}

/// Maximum size of a region, and of the fallback.
const REGION_BYTES: usize = 40_000;
const FALLBACK_BYTES: usize = 8000;
const MAX_CLASSES: usize = 6;

/// The reference model: the address of each object, and the number of objects in each class.
struct Machine<'m> {
    objects: SmallObjects<'m>,
    shadow: Shadow,
    classes: Vec<Class>,
    /// The class of each live object; none if it is in the fallback.
    expected_classes: HashMap<NonNull<u8>, Option<usize>>,
    /// Starts of slots that are free.
    freed: Vec<(NonNull<u8>, Layout)>,
    has_fallback: bool,
    is_checked: bool,
}

struct Class {
    slot_bytes: usize,
    slots: usize,
    live: usize,
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let classes: Vec<_> = (0..bytes.below(MAX_CLASSES + 1))
        .map(|_| SlotClass::new(bytes.below(150) + 1, bytes.below(100)))
        .collect();
    let mut memory = vec![MaybeUninit::uninit(); REGION_BYTES];
    let (from, choice) = (bytes.below(100), bytes.byte());
    let to = from + bytes.below(REGION_BYTES - from);
    let fallback = Counting::new(FALLBACK_BYTES);
    let region = Region::new(&mut memory[from..to]);
    let is_checked = bytes.byte() < 128;
    match SmallObjects::new(region, &SmallObjectsConfig { classes: &classes }) {
        Ok(objects) => {
            let objects = if is_checked { objects.with_checked_frees() } else { objects };
            let objects = match choice {
                // SAFETY: the program frees only live objects, and addresses in the area.
                ..64 => unsafe { objects.with_unrecorded_fallback(&fallback) },
                64..128 => objects.with_fallback(&fallback),
                _ => objects,
            };
            run_with(objects, choice < 128, is_checked, &mut bytes);
        }
        Err(full) => assert!(matches!(full, Error::Full { requested, total_free, .. }
            if requested > total_free && total_free == (to - from) as u64)),
    }
    assert_eq!(fallback.used_bytes(), 0);
}

fn run_with(
    objects: SmallObjects<'_>,
    has_fallback: bool,
    is_checked: bool,
    bytes: &mut Bytes<'_>,
) {
    let class = |class: drystone_memory::ClassStats| Class {
        slot_bytes: class.slot_bytes,
        slots: class.slots,
        live: 0,
    };
    let mut machine = Machine {
        classes: objects.class_stats().map(class).collect(),
        objects,
        shadow: Shadow::anywhere(),
        expected_classes: HashMap::new(),
        freed: vec![],
        has_fallback,
        is_checked,
    };
    while !bytes.is_empty() {
        let op = Op::read(bytes);
        machine.step(&op);
        machine.check(&op);
    }
    while let Some((object, layout)) = machine.shadow.nth(0) {
        machine.free(object, layout);
    }
    machine.check(&Op::Flush);
}

impl Machine<'_> {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Allocate(layout, count) => (0..count).for_each(|_| self.allocate(layout)),
            Op::Free(nth) => {
                if let Some((object, layout)) = self.shadow.nth(nth) {
                    self.free(object, layout);
                }
            }
            Op::FreeWrongly(nth) => self.free_wrongly(nth),
            Op::Resize(nth, to) => {
                if let Some((object, from)) = self.shadow.nth(nth) {
                    self.resize(object, from, to);
                }
            }
            Op::Flush => assert_eq!(self.objects.flush(), Ok(())),
            Op::Reset => {
                // Objects in the fallback stay allocated; they are freed first.
                let expected_classes = self.expected_classes.iter();
                let outside: Vec<_> =
                    expected_classes.filter(|it| it.1.is_none()).map(|it| *it.0).collect();
                for object in outside {
                    let layout = self.layout_of(object);
                    self.free(object, layout);
                }
                self.objects.reset();
                self.shadow.clear();
                self.expected_classes.clear();
                self.freed.clear();
                self.classes.iter_mut().for_each(|class| class.live = 0);
            }
        }
    }

    fn layout_of(&self, object: NonNull<u8>) -> Layout {
        let mut all = (0..self.shadow.len()).filter_map(|nth| self.shadow.nth(nth));
        all.find(|live| live.0 == object).unwrap().1
    }

    /// The class for a layout.
    fn class_for(&self, layout: Layout) -> Option<usize> {
        let serves = |class: &Class| {
            layout.size() <= class.slot_bytes && class.slot_bytes.is_multiple_of(layout.align())
        };
        self.classes.iter().position(serves).filter(|_| layout.size() > 0)
    }

    /// The class of a layout, if that has a free slot.
    fn open_class_for(&self, layout: Layout) -> Option<usize> {
        let has_room = |class: &usize| self.classes[*class].live < self.classes[*class].slots;
        self.class_for(layout).filter(has_room)
    }

    fn allocate(&mut self, layout: Layout) {
        let expected = self.open_class_for(layout);
        match self.objects.allocate(layout) {
            Ok(object) => {
                self.shadow.allocated(object, layout);
                if layout.size() > 0 {
                    self.record(object, expected);
                }
            }
            Err(Error::Full { requested, total_free, .. }) => {
                assert_eq!((requested, expected), (layout.size() as u64, None));
                let free = |class: &Class| (class.slots - class.live) * class.slot_bytes;
                assert_eq!(total_free, self.classes.iter().map(free).sum::<usize>() as u64);
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Records the address of an object, which must be in the expected class.
    fn record(&mut self, object: NonNull<u8>, expected: Option<usize>) {
        let slot_bytes = expected.map(|class| self.classes[class].slot_bytes);
        assert_eq!(self.objects.class_of(object).map(|class| class.slot_bytes), slot_bytes);
        assert!(expected.is_some() || self.has_fallback);
        if let Some(class) = expected {
            self.classes[class].live += 1;
        }
        self.expected_classes.insert(object, expected);
        self.freed.retain(|freed| freed.0 != object);
    }

    fn remove_record(&mut self, object: NonNull<u8>, layout: Layout) {
        if let Some(class) = self.expected_classes.remove(&object).unwrap() {
            self.classes[class].live -= 1;
            self.freed.push((object, layout));
        }
    }

    fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        self.shadow.freed(object, layout);
        self.remove_record(object, layout);
        // SAFETY: a live object, with its layout.
        assert_eq!(unsafe { self.objects.free(object, layout) }, Ok(()));
    }

    /// Only debug builds and checked frees detect every double free.
    fn free_wrongly(&mut self, nth: usize) {
        if let Some((object, layout)) = self.shadow.nth(nth)
            && self.expected_classes[&object].is_some()
            && layout.size() > 1
        {
            // SAFETY: it is in the object.
            let inside = unsafe { object.add(1 + nth % (layout.size() - 1)) };
            // SAFETY: the allocator checks all addresses in the area.
            let result = unsafe { self.objects.free(inside, layout) };
            assert_eq!(result, Err(Error::NotAllocated));
        }
        if !self.freed.is_empty() && (self.is_checked || cfg!(debug_assertions)) {
            let (object, layout) = self.freed[nth % self.freed.len()];
            // SAFETY: as for the call above.
            let result = unsafe { self.objects.free(object, layout) };
            assert_eq!(result, Err(Error::NotAllocated));
        }
    }

    fn resize(&mut self, object: NonNull<u8>, from: Layout, to: Layout) {
        let was = self.expected_classes[&object];
        let stays = was.is_some() && self.class_for(to) == was;
        let expected = if stays { was } else { self.open_class_for(to) };
        // SAFETY: a live object, with its layout.
        match unsafe { self.objects.resize(object, from, to) } {
            Ok(moved) if moved == object && to.size() > 0 => {
                let fits = was.map(|class| self.classes[class].slot_bytes >= to.size());
                assert!(stays || (expected.is_none() && fits == Some(true)));
                self.shadow.resized(object, from, moved, to);
            }
            Ok(moved) => {
                assert!(!stays);
                self.shadow.resized(object, from, moved, to);
                self.remove_record(object, from);
                if to.size() > 0 {
                    self.record(moved, expected);
                }
            }
            Err(error) => {
                assert!(matches!(error, Error::Full { .. }) && expected.is_none(), "{error}");
                assert!(to.size() > from.size() || was.is_none() || to.align() > from.align());
            }
        }
    }

    fn check(&self, op: &Op) {
        self.shadow.validate();
        self.objects.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        for (class, is) in self.classes.iter().zip(self.objects.class_stats()) {
            assert_eq!((class.live, class.slots), (is.live, is.slots), "{op:?}");
            assert!(is.peak >= is.live);
        }
        let stats = self.objects.stats();
        assert_eq!(stats.live + stats.fallback_live, self.expected_classes.len(), "{op:?}");
        assert_eq!(stats.double_frees, 0);
    }
}
