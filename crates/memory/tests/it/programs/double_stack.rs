use std::mem::MaybeUninit;

use drystone_memory::{DoubleStack, Region};
use drystone_testing::Bytes;

use super::{
    shadow::Shadow,
    stack::{MEMORY_BYTES, Op, Reference, whole_words},
};

/// Each operation uses the low end or the high one; each end is the other's limit.
pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let mut memory = vec![MaybeUninit::uninit(); MEMORY_BYTES];
    let first = bytes.below(64);
    let end = first + bytes.below(MEMORY_BYTES - first);
    let region = Region::new(&mut memory[first..end]);
    let mut shadow = Shadow::within(region.start(), region.size_bytes());
    let (start, end) = whole_words(&region);
    let (mut low, mut high) = (Reference::new(start, true), Reference::new(end, false));
    let mut stack = DoubleStack::new(region);
    let mut highest = 0;
    while !bytes.is_empty() {
        let (is_low, op) = (bytes.byte() < 128, Op::read(&mut bytes));
        match op {
            // Half of the resets concern one end alone.
            Op::Reset if bytes.byte() < 128 => {
                let (end, reference) =
                    if is_low { (stack.low(), &mut low) } else { (stack.high(), &mut high) };
                reference.reset(&mut shadow);
                // SAFETY: nothing uses the blocks of this end.
                unsafe { end.reset() }
            }
            Op::Reset => {
                low.reset(&mut shadow);
                high.reset(&mut shadow);
                stack.reset();
            }
            op if is_low => low.step(stack.low(), &mut shadow, high.edge, &op),
            op => high.step(stack.high(), &mut shadow, low.edge, &op),
        }
        shadow.validate();
        stack.validate().unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!((stack.capacity(), stack.remaining()), (end - start, high.edge - low.edge));
        assert_eq!(stack.is_empty(), low.is_empty() && high.is_empty());
        highest = stack.used().max(highest);
        assert_eq!(stack.high_water(), highest);
    }
}
