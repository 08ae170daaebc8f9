/// Places of a body that begin alike, to be found by their first bytes.
pub(in super::super) struct Finder {
    /// The last place of each beginning, and of each place the one before: plus one, 0 for none.
    last: Vec<u32>,
    before: Vec<u32>,
}

/// Bytes of a beginning, which are the fewest that a sequence repeats.
const MIN_LEN: usize = 3;
const HASH_BITS: u32 = 12;
/// How many places are looked at: twice as many would save a hundredth.
const MOST_PLACES: usize = 24;
/// About as many bits as a sequence takes beside its offset, and a literal.
const SEQUENCE_BITS: i32 = 12;
const LITERAL_BITS: i32 = 8;

impl Finder {
    pub(in super::super) fn new() -> Self {
        Self { last: Vec::new(), before: Vec::new() }
    }

    /// What of a body is there before.
    pub(super) fn matches<'a>(&'a mut self, body: &'a [u8]) -> Matches<'a> {
        self.last.clear();
        self.last.resize(1 << HASH_BITS, 0);
        self.before.clear();
        self.before.resize(body.len(), 0);
        Matches { finder: self, body, at: 0, noted: 0 }
    }

    /// Notes the place, where it has a beginning; the last one that begins alike.
    fn note(&mut self, body: &[u8], at: usize) {
        let Some(slot) = slot(body, at) else { return };
        self.before[at] = self.last[slot];
        self.last[slot] = at as u32 + 1;
    }

    /// The match at a place that saves most; `None` where none saves anything. All places before
    /// it have been noted.
    fn best(&self, body: &[u8], at: usize) -> Option<(i32, Match)> {
        let mut best = None;
        let mut place = self.last[slot(body, at)?];
        for _ in 0..MOST_PLACES {
            let Some(start) = (place as usize).checked_sub(1) else { break };
            let len = same(&body[start..], &body[at..]);
            let offset = at - start;
            let saved = len as i32 * LITERAL_BITS - SEQUENCE_BITS - offset.ilog2() as i32;
            if len >= MIN_LEN && saved > best.map_or(0, |(saved, _)| saved) {
                best = Some((saved, Match { at, len, offset }));
            }
            place = self.before[start];
        }
        best
    }
}

/// Where the beginning of a place is kept.
fn slot(body: &[u8], at: usize) -> Option<usize> {
    let &[a, b, c] = body.get(at..)?.first_chunk::<MIN_LEN>()?;
    let word = u32::from_le_bytes([a, b, c, 0]);
    Some((word.wrapping_mul(2_654_435_761) >> (u32::BITS - HASH_BITS)) as usize)
}

/// How many bytes both begin with.
fn same(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Bytes that are the same as others so far before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) offset: usize,
}

/// The matches of a body, one after the other.
pub(super) struct Matches<'a> {
    finder: &'a mut Finder,
    pub(super) body: &'a [u8],
    at: usize,
    noted: usize,
}

impl Matches<'_> {
    fn best(&mut self, at: usize) -> Option<(i32, Match)> {
        while self.noted < at {
            self.finder.note(self.body, self.noted);
            self.noted += 1;
        }
        self.finder.best(self.body, at)
    }
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        while self.at < self.body.len() {
            let Some((saved, mut found)) = self.best(self.at) else {
                self.at += 1;
                continue;
            };
            // One literal more may do better.
            if let Some((later_saved, later)) = self.best(self.at + 1)
                && later_saved > saved + LITERAL_BITS
            {
                found = later;
            }
            self.at = found.at + found.len;
            return Some(found);
        }
        None
    }
}
