use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use super::proposal::Proposal;
use super::record::Record;

const WIDTH: f64 = 1200.0;
const PANEL_HEIGHT: f64 = 250.0;
/// Margins of a panel: above the bars for the title, below and left for the scales.
const TOP: f64 = 42.0;
const BOTTOM: f64 = 34.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
/// Range of sizes of a column: the granularity of slots.
const COLUMN_BYTES: u64 = 8;
/// Maximum number of columns of sizes, up to 512 bytes. One more column counts all larger sizes.
const MAX_COLUMNS: usize = 64;
/// Number of horizontal grid lines of a panel.
const GRID_LINES: u32 = 4;
/// Approximate number of labels below a panel.
const LABELS: usize = 12;

const STYLE: &str = "text{font:12px sans-serif;fill:#333}.t{font-size:15px;font-weight:bold}\
    .g{stroke:#ddd}.b{fill:#3b76af}.c{fill:#f1ebdd}.d{fill:#fbf8f1}.r{text-anchor:end}.m{text-anchor:middle}";

const TITLES: [&str; 2] =
    ["Allocations, by size in bytes", "Bytes live when the size was at its peak, by size in bytes"];
const TITLES_WITH_CLASSES: [&str; 2] = [
    "Allocations, by size in bytes, with the classes in the background",
    "Bytes live when the size was at its peak, by size in bytes",
];

/// Histogram: a title, and a bar with its label for each column.
struct Panel<'a> {
    title: &'a str,
    columns: Vec<(String, f64)>,
    /// Ends of the size classes, in columns from the left.
    bands: Vec<(f64, String)>,
}

impl Record {
    /// Renders an SVG image with three histograms: allocations of each size, live bytes of each
    /// size at its peak, and lifetimes in allocations. With a proposal, its classes are drawn
    /// behind the bars.
    pub fn svg(&self, proposal: Option<&Proposal>) -> String {
        let titles = if proposal.is_some() { TITLES_WITH_CLASSES } else { TITLES };
        let count = self.size_columns();
        let bands = bands(proposal, count);
        let by_size = |title, value: fn(&super::SizeRecord) -> f64| {
            let mut columns: Vec<_> = (0..=count).map(|c| (size_label(c, count), 0.0)).collect();
            for line in self.sizes() {
                columns[column_of(line.size_bytes).min(count)].1 += value(line);
            }
            Panel { title, columns, bands: bands.clone() }
        };
        // The few large objects would dwarf the bytes of all others.
        let only_small = |mut panel: Panel<'static>| {
            panel.columns[count] = (String::new(), 0.0);
            panel
        };
        let lifetimes = self.lifetimes().map(|(end, deaths)| (lifetime_label(end), deaths as f64));
        let panels = [
            by_size(titles[0], |line| line.allocations as f64),
            only_small(by_size(titles[1], |line| line.peak as f64 * line.size_bytes as f64)),
            Panel {
                title: "Objects freed, by lifetime in allocations",
                columns: lifetimes.collect(),
                bands: Vec::new(),
            },
        ];
        let height = PANEL_HEIGHT * panels.len() as f64;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\"><style>{STYLE}</style>\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for (panel, number) in panels.iter().zip(0u8..) {
            // Writing to a string cannot fail.
            let _ = draw(&mut svg, panel, PANEL_HEIGHT * f64::from(number));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Number of columns up to the largest size that occurred, at most [`MAX_COLUMNS`].
    fn size_columns(&self) -> usize {
        let largest = self.sizes().last().map_or(0, |line| column_of(line.size_bytes) + 1);
        largest.clamp(1, MAX_COLUMNS)
    }
}

fn column_of(size_bytes: u64) -> usize {
    (size_bytes.saturating_sub(1) / COLUMN_BYTES) as usize
}

fn size_label(column: usize, count: usize) -> String {
    if column == count { "more".into() } else { format!("{}", (column as u64 + 1) * COLUMN_BYTES) }
}

/// Returns the label of the lifetimes below `end`.
fn lifetime_label(end: u64) -> String {
    match end {
        0..=2 => format!("{}", end - 1),
        _ => format!("{}+", short((end / 2) as f64)),
    }
}

fn bands(proposal: Option<&Proposal>, count: usize) -> Vec<(f64, String)> {
    let classes = proposal.map_or(&[][..], |proposal| &proposal.classes);
    let end = |size: usize| size as f64 / COLUMN_BYTES as f64;
    let visible = classes.iter().filter(|class| end(class.slot_bytes) <= count as f64);
    visible.map(|class| (end(class.slot_bytes), format!("{}", class.slot_bytes))).collect()
}

fn draw(svg: &mut String, panel: &Panel<'_>, top: f64) -> core::fmt::Result {
    let (floor, ceiling) = (top + PANEL_HEIGHT - BOTTOM, top + TOP);
    let max = round_up(panel.columns.iter().map(|(_, value)| *value).fold(1.0, f64::max));
    let step = (WIDTH - LEFT - RIGHT) / panel.columns.len().max(1) as f64;
    writeln!(svg, "<text class=\"t\" x=\"{LEFT}\" y=\"{}\">{}</text>", top + 20.0, panel.title)?;
    let mut from = 0.0;
    for (number, (to, label)) in panel.bands.iter().enumerate() {
        let class = if number % 2 == 0 { "c" } else { "d" };
        let (x, width, height) = (LEFT + from * step, (to - from) * step, floor - ceiling);
        write!(svg, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{ceiling}\" ")?;
        writeln!(svg, "width=\"{width:.1}\" height=\"{height}\"/>")?;
        let (x, y) = (x + width - 3.0, ceiling + 12.0);
        writeln!(svg, "<text class=\"r\" x=\"{x:.1}\" y=\"{y}\">{label}</text>")?;
        from = *to;
    }
    for line in 0..=GRID_LINES {
        let part = f64::from(line) / f64::from(GRID_LINES);
        let y = floor - part * (floor - ceiling);
        let right = WIDTH - RIGHT;
        write!(svg, "<path class=\"g\" d=\"M{LEFT} {y:.1}H{right}\"/>")?;
        let (x, y, label) = (LEFT - 6.0, y + 4.0, short(max * part));
        writeln!(svg, "<text class=\"r\" x=\"{x}\" y=\"{y:.1}\">{label}</text>")?;
    }
    draw_bars(svg, panel, floor, (floor - ceiling) / max, step)
}

/// Draws the bars and the labels below them. `unit` is the height of a value of 1, in pixels.
fn draw_bars(
    svg: &mut String,
    panel: &Panel<'_>,
    floor: f64,
    unit: f64,
    step: f64,
) -> core::fmt::Result {
    let every = panel.columns.len().div_ceil(LABELS).next_power_of_two();
    let last = panel.columns.len().saturating_sub(1);
    for (number, (label, value)) in panel.columns.iter().enumerate() {
        let x = LEFT + number as f64 * step;
        if *value > 0.0 {
            // Every value above 0 is visible.
            let height = (value * unit).max(1.0);
            let (y, width) = (floor - height, step * 0.84);
            write!(svg, "<rect class=\"b\" x=\"{:.1}\" y=\"{y:.1}\" ", x + step * 0.08)?;
            write!(svg, "width=\"{width:.1}\" height=\"{height:.1}\">")?;
            writeln!(svg, "<title>{label}: {value}</title></rect>")?;
        }
        let is_labelled =
            number == last || (number % every == every - 1 && number + every / 2 < last);
        if is_labelled {
            let (x, y) = (x + step / 2.0, floor + 17.0);
            writeln!(svg, "<text class=\"m\" x=\"{x:.1}\" y=\"{y}\">{label}</text>")?;
        }
    }
    Ok(())
}

/// Returns the end of a scale: one, two, four, six, eight or ten times a power of ten.
fn round_up(value: f64) -> f64 {
    let mut unit = 1.0;
    while unit * 10.0 < value {
        unit *= 10.0;
    }
    let ends = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0].map(|end| end * unit);
    ends.into_iter().find(|end| *end >= value).unwrap_or(value)
}

/// Formats a number in few characters: 950, 1.2k, 34M.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    if value < 10.0 && value % 1.0 != 0.0 {
        format!("{value:.1}{unit}")
    } else {
        format!("{value:.0}{unit}")
    }
}
