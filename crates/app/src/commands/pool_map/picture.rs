//! Draws the map on a canvas.

use drystone_pool::{MeshHandle, PoolRange, RangeState};

use crate::output::{bytes, grouped};

use super::{
    layout::{Layout, STEPS, Stripe},
    numbers::{BufferNumbers, Numbers, Unit, buffers},
};

/// Pixels across a map.
pub(super) const WIDTH: f64 = 1240.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
/// Pixels of a step.
const STEP: f64 = (WIDTH - LEFT - RIGHT) / STEPS as f64;
/// Height of title and legend.
const TOP: f64 = 96.0;
const BOTTOM: f64 = 18.0;
const ROW: f64 = 17.0;
const ROW_GAP: f64 = 3.0;
/// Height above a band for its buffer's name and numbers.
const LABEL: f64 = 26.0;
const BAND_GAP: f64 = 14.0;
/// Stripes at least this wide, in pixels, are drawn with a seam on the right.
const SEAM_FROM: f64 = 3.0;
const SEAM: f64 = 0.6;

/// Pool to draw, and its ranges sorted by buffer and offset.
pub(super) struct Map<'a> {
    pub(super) numbers: &'a Numbers,
    pub(super) ranges: &'a [PoolRange],
}

impl Map<'_> {
    fn height(&self, layout: Layout) -> f64 {
        let bands = self.numbers.buffers.iter().map(|buffer| band(layout, buffer));
        TOP + bands.sum::<f64>() + BOTTOM
    }
}

/// Pixels from the top of a buffer's band to that of the next.
fn band(layout: Layout, buffer: &BufferNumbers) -> f64 {
    LABEL + layout.rows(buffer) as f64 * (ROW + ROW_GAP) + BAND_GAP
}

/// Surface that maps are drawn on. Coordinates are in pixels from the left and from the top of a
/// map.
pub(super) trait Canvas {
    /// Moves the origin of the following calls down by `top` pixels.
    fn begin(&mut self, top: f64);

    /// Ends the map of the last `begin`.
    fn end(&mut self) {}

    /// Draws words on one line, one after the other, each in its own style. `at` is where the line
    /// begins, or for an address where it ends.
    fn text(&mut self, at: [f64; 2], words: &[(TextStyle, &str)]);

    /// Draws a rectangle, by its upper left corner and its size, with `title` as its tooltip.
    fn area(&mut self, at: [f64; 2], size: [f64; 2], fill: Fill, title: Option<&str>);
}

/// Text style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    Title,
    Plain,
    Bold,
    /// Small, right-aligned.
    Address,
}

/// Fill style of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Colour of a mesh, by its slot.
    Live(u32),
    Waiting,
    Free,
}

impl From<RangeState> for Fill {
    fn from(state: RangeState) -> Self {
        match state {
            RangeState::Live(mesh) => Self::Live(mesh.slot()),
            RangeState::Waiting => Self::Waiting,
            RangeState::Free => Self::Free,
        }
    }
}

/// Returns the height in pixels of a picture of pools, one below the other.
pub(super) fn height(maps: &[Map<'_>]) -> f64 {
    maps.iter().map(|map| map.height(Layout::new(&map.numbers.buffers))).sum()
}

/// Draws pools, one below the other; `describe` names a mesh.
pub(super) fn paint(
    canvas: &mut dyn Canvas,
    maps: &[Map<'_>],
    describe: impl Fn(MeshHandle) -> String,
) {
    let mut top = 0.0;
    for map in maps {
        let layout = Layout::new(&map.numbers.buffers);
        canvas.begin(top);
        paint_map(canvas, map, layout, &describe);
        canvas.end();
        top += map.height(layout);
    }
}

fn paint_map(
    canvas: &mut dyn Canvas,
    Map { numbers, ranges }: &Map<'_>,
    layout: Layout,
    describe: &impl Fn(MeshHandle) -> String,
) {
    head(canvas, numbers);
    let mut top = TOP;
    for buffer in &numbers.buffers {
        paint_buffer(canvas, layout, buffer, numbers.unit, top);
        for range in ranges.iter().filter(|range| range.buffer == buffer.number) {
            paint_range(canvas, (layout, top + LABEL), range, numbers.unit, describe);
        }
        top += band(layout, buffer);
    }
}

/// Draws title and legend, with numbers.
fn head(canvas: &mut dyn Canvas, numbers: &Numbers) {
    let (Numbers { stats, unit, .. }, mut x) = (numbers, LEFT);
    let title = format!("{} of {}", unit.pool, numbers.source);
    canvas.text([LEFT, 30.0], &[(TextStyle::Title, &title)]);
    let (meshes, buffers) = (grouped(stats.meshes.into()), buffers(stats.buffers));
    let (capacity, percent) = (bytes(stats.capacity_bytes), 100.0 * stats.external_fragmentation());
    let line = format!(
        "{meshes} meshes in {buffers}, {capacity} in total, {} bytes {}. Fragmentation: {percent:.1} % of \
         free memory lies outside the largest gap.",
        unit.bytes, unit.one
    );
    canvas.text([LEFT, 50.0], &[(TextStyle::Plain, &line)]);
    let left_over = match stats.wasted {
        0 => String::new(),
        wasted => format!(", {} of it unused within allocations", grouped(wasted)),
    };
    let entries = [
        (None, "live, one colour per mesh", stats.used, String::new()),
        (Some(Fill::Waiting), "waiting for frames in flight", stats.waiting, String::new()),
        (Some(Fill::Free), "free", numbers.free(), left_over),
    ];
    for (fill, name, count, more) in entries {
        x = swatch(canvas, fill, x);
        let share = 100.0 * count as f64 / stats.capacity.max(1) as f64;
        let text = format!("{name}: {} {}, {share:.1} %{more}", grouped(count), unit.many);
        canvas.text([x, 76.0], &[(TextStyle::Plain, &text)]);
        // Approximate width of a letter.
        x += text.len() as f64 * 6.3 + 18.0;
    }
}

/// Draws a legend entry, some meshes without `fill`; returns the x of its label.
fn swatch(canvas: &mut dyn Canvas, fill: Option<Fill>, x: f64) -> f64 {
    const SIZE: f64 = 14.0;
    if let Some(fill) = fill {
        canvas.area([x, 65.0], [SIZE, SIZE], fill, None);
        return x + SIZE + 6.0;
    }
    for slot in 0..4 {
        canvas.area([x + f64::from(slot) * 9.0, 65.0], [8.4, SIZE], Fill::Live(slot), None);
    }
    x + 42.0
}

/// Draws a buffer's name, its numbers, and the offset that each row begins with.
fn paint_buffer(
    canvas: &mut dyn Canvas,
    layout: Layout,
    buffer: &BufferNumbers,
    unit: Unit,
    top: f64,
) {
    let share = |count: u64| 100.0 * count as f64 / buffer.elements.max(1) as f64;
    let (count, size) = (grouped(buffer.elements), bytes(buffer.elements * unit.bytes));
    let (ranges, largest) = (grouped(buffer.live_ranges.into()), grouped(buffer.largest_free));
    let [live, waiting, free] = [buffer.live, buffer.waiting, buffer.free].map(share);
    let numbers = format!(
        " · {count} {}, {size} · {ranges} ranges, {live:.1} % live, {waiting:.1} % waiting, \
         {free:.1} % free · largest gap {largest}",
        unit.many
    );
    let name = format!("buffer {}", buffer.number);
    canvas
        .text([LEFT, top + LABEL - 9.0], &[(TextStyle::Bold, &name), (TextStyle::Plain, &numbers)]);
    for row in 0..layout.rows(buffer) {
        let y = top + LABEL + row as f64 * (ROW + ROW_GAP) + ROW - 5.0;
        let address = grouped(row * layout.row_elements);
        canvas.text([LEFT - 6.0, y], &[(TextStyle::Address, &address)]);
    }
}

/// Draws a range as stripes with tooltips.
fn paint_range(
    canvas: &mut dyn Canvas,
    (layout, top): (Layout, f64),
    range: &PoolRange,
    unit: Unit,
    describe: &impl Fn(MeshHandle) -> String,
) {
    for stripe in layout.stripes(range) {
        let (x, mut width) = extent(stripe);
        let y = top + stripe.row as f64 * (ROW + ROW_GAP);
        if width >= SEAM_FROM && matches!(range.state, RangeState::Live(_)) {
            width -= SEAM;
        }
        let name = match range.state {
            RangeState::Live(mesh) => describe(mesh),
            RangeState::Waiting => "waiting".into(),
            RangeState::Free => "free".into(),
        };
        let elements = &range.elements;
        let count = grouped((elements.end - elements.start).into());
        let title = format!("{name}: {count} {} from {}", unit.many, elements.start);
        canvas.area([x, y], [width, ROW], range.state.into(), Some(&title));
    }
}

/// Returns the left edge and the width of a stripe, in pixels.
fn extent(stripe: Stripe) -> (f64, f64) {
    (LEFT + stripe.start as f64 * STEP, (stripe.end - stripe.start) as f64 * STEP)
}
