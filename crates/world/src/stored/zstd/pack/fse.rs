/// Bits behind each other, the lowest first.
pub(super) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, held: 0, count: 0 }
    }

    /// The lowest bits of a value, at most 32.
    pub(super) fn put(&mut self, value: u32, bits: u32) {
        self.held |= (u64::from(value) & ((1 << bits) - 1)) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// A bit that says where the end is.
    pub(super) fn finish(mut self) {
        self.put(1, 1);
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
    }
}

/// How codes become bits: an automaton that spends fewer on those of large shares ("finite state
/// entropy"), laid out as the format says.
pub(super) struct Table {
    log: u32,
    /// By the rank of a state among those of its code, the states.
    states: Vec<u16>,
    codes: Vec<Code>,
}

/// Of a code: from a state, how many bits are spent, and where its next states begin.
#[derive(Clone, Copy, Default)]
struct Code {
    /// Times 2¹⁶, and less what is to be added to a state so that it carries.
    delta_bits: u32,
    delta_state: i32,
}

impl Table {
    /// Of shares that come to 2^`log`; −1 is one, at the end of the table.
    pub(super) fn new(shares: &[i8], log: u32) -> Self {
        let size = 1_usize << log;
        let by_state = spread(shares, size);
        let (mut starts, mut start) = (Vec::new(), 0);
        let mut codes = Vec::new();
        for &share in shares {
            let share = u32::from(share.unsigned_abs());
            // Most states of a code spend as many bits as take them below its share.
            let bits = if share > 1 { log - (share - 1).ilog2() } else { log };
            let least = share.max(1) << bits;
            codes.push(Code {
                delta_bits: (bits << 16).wrapping_sub(least),
                delta_state: start as i32 - share.max(1) as i32,
            });
            starts.push(start as usize);
            start += share;
        }
        let mut states = vec![0; size];
        for (state, code) in by_state.into_iter().enumerate() {
            states[starts[code]] = (size + state) as u16;
            starts[code] += 1;
        }
        Self { log, states, codes }
    }

    fn code(&self, code: u8) -> Code {
        self.codes.get(usize::from(code)).copied().unwrap_or_default()
    }

    fn state(&self, rank: u32, code: Code) -> u32 {
        let at = rank.wrapping_add_signed(code.delta_state) as usize;
        self.states.get(at).copied().unwrap_or_default().into()
    }

    /// The state that tells of this code alone.
    pub(super) fn begin(&self, code: u8) -> u32 {
        let code = self.code(code);
        let bits = code.delta_bits.wrapping_add(1 << 15) >> 16;
        let value = (bits << 16).wrapping_sub(code.delta_bits);
        self.state(value >> bits, code)
    }

    /// The state that tells of this code and, with bits that are put, of what `state` does.
    pub(super) fn put(&self, state: u32, code: u8, bits: &mut BitWriter<'_>) -> u32 {
        let code = self.code(code);
        let spent = state.wrapping_add(code.delta_bits) >> 16;
        bits.put(state, spent);
        self.state(state >> spent, code)
    }

    pub(super) fn end(&self, state: u32, bits: &mut BitWriter<'_>) {
        bits.put(state, self.log);
    }
}

/// Which code each state tells of.
fn spread(shares: &[i8], size: usize) -> Vec<usize> {
    let mut by_state = vec![0; size];
    let mut end = size;
    for (code, _) in shares.iter().enumerate().filter(|(_, share)| **share < 0) {
        end -= 1;
        by_state[end] = code;
    }
    let step = (size >> 1) + (size >> 3) + 3;
    let mut at = 0;
    for (code, &share) in shares.iter().enumerate() {
        for _ in 0..share.max(0) {
            by_state[at] = code;
            at = (at + step) % size;
            while at >= end {
                at = (at + step) % size;
            }
        }
    }
    by_state
}
