//! Global allocator of the program: the system's, optionally with slots for small objects.

use std::{alloc::System, fmt, str::FromStr};

use drystone_memory::{ClassStats, GlobalSmallObjects, SlotClass, SmallObjectsConfig};
use serde_json::{Value, json};

/// Serves every allocation of the program, from the system until it is enabled.
#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

/// Size classes from recordings of `shot` with models and generated worlds. The slot counts are
/// several times the recorded peaks. All together 5 MB; only used pages are resident.
const CLASSES: [SlotClass; 13] = [
    SlotClass::new(8, 4096),
    SlotClass::new(16, 8192),
    SlotClass::new(24, 16_384),
    SlotClass::new(32, 4096),
    SlotClass::new(48, 8192),
    SlotClass::new(64, 4096),
    SlotClass::new(96, 4096),
    SlotClass::new(104, 8192),
    SlotClass::new(128, 4096),
    SlotClass::new(192, 2048),
    SlotClass::new(256, 1024),
    SlotClass::new(416, 2048),
    SlotClass::new(512, 1024),
];

/// Allocators of `--allocator`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AllocatorKind {
    /// The system's allocator alone.
    #[default]
    System,
    /// Slots for small objects; the system's allocator for the rest.
    Small,
}

impl AllocatorKind {
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Small => "small",
        }
    }
}

impl FromStr for AllocatorKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::System, Self::Small]
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or("an allocator is system or small")
    }
}

/// Selects the allocator. Call it once, early. Earlier allocations stay with the system.
pub(crate) fn choose(kind: AllocatorKind) -> Result<(), drystone_memory::Error> {
    match kind {
        AllocatorKind::System => Ok(()),
        AllocatorKind::Small => ALLOCATOR.enable(&SmallObjectsConfig { classes: &CLASSES }),
    }
}

/// Statistics of the allocator since the start of the program.
#[derive(Debug)]
pub(crate) struct AllocatorReport {
    kind: AllocatorKind,
    /// Empty for the system's allocator, which has no statistics.
    classes: Vec<ClassStats>,
    too_large: u64,
}

impl AllocatorReport {
    pub(crate) fn now() -> Self {
        let is_small = ALLOCATOR.is_enabled();
        Self {
            kind: if is_small { AllocatorKind::Small } else { AllocatorKind::System },
            classes: ALLOCATOR.class_stats().collect(),
            too_large: ALLOCATOR.too_large(),
        }
    }

    pub(crate) fn is_small(&self) -> bool {
        self.kind == AllocatorKind::Small
    }

    fn sum(&self, part: impl Fn(&ClassStats) -> usize) -> usize {
        self.classes.iter().map(part).sum()
    }

    fn fallbacks(&self) -> u64 {
        self.classes.iter().map(|class| class.fallbacks).sum()
    }

    pub(crate) fn to_json(&self) -> Value {
        let class = |class: &ClassStats| {
            json!({
                "slot_bytes": class.slot_bytes,
                "slots": class.slots,
                "live": class.live,
                "peak": class.peak,
                "fallbacks": class.fallbacks,
            })
        };
        let mut report = json!({"kind": self.kind.name()});
        if self.is_small() {
            report["live"] = self.sum(|class| class.live).into();
            report["live_bytes"] = self.sum(ClassStats::live_bytes).into();
            report["capacity_bytes"] = self.sum(ClassStats::capacity_bytes).into();
            report["fallbacks"] = self.fallbacks().into();
            report["too_large"] = self.too_large.into();
            report["classes"] = self.classes.iter().map(class).collect();
        }
        report
    }
}

impl fmt::Display for AllocatorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_small() {
            return write!(f, "allocator {}", self.kind.name());
        }
        let objects = self.sum(|class| class.live);
        let bytes = self.sum(ClassStats::live_bytes);
        let (full, large) = (self.fallbacks(), self.too_large);
        write!(
            f,
            "allocator small: {objects} objects in slots of {bytes} bytes; from the system: \
             {large} larger objects and {full} without a free slot; peak slots:"
        )?;
        for ClassStats { slot_bytes, slots, peak, .. } in &self.classes {
            write!(f, " {slot_bytes}: {peak}/{slots}")?;
        }
        Ok(())
    }
}
