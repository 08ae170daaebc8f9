//! The map as an SVG.

use std::fmt::{self, Write};

use drystone_pool::{MeshHandle, PlaceState, PoolPlace};

use super::{
    layout::{Layout, STEPS, Stripe},
    numbers::{BufferNumbers, Numbers, Unit, buffers},
};

const WIDTH: f64 = 1240.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
/// Pixels of a step.
const STEP: f64 = (WIDTH - LEFT - RIGHT) / STEPS as f64;
/// Title and legend.
const TOP: f64 = 96.0;
const BOTTOM: f64 = 18.0;
const ROW: f64 = 17.0;
const ROW_GAP: f64 = 3.0;
/// Above a band: its buffer's name and numbers.
const LABEL: f64 = 26.0;
const BAND_GAP: f64 = 14.0;
/// Stripes at least so wide, in pixels, are drawn with a seam on the right.
const SEAM_FROM: f64 = 3.0;
const SEAM: f64 = 0.6;

const STYLE: &str = "text{font:12px sans-serif;fill:#3c4043}.t{font-size:17px;font-weight:600;\
    fill:#202124}.n{font-weight:600}.a{font-size:10px;fill:#80868b;text-anchor:end}\
    .f{fill:#eceff1}.w{fill:url(#w)}";

/// Slanted lines for what waits.
const WAITING: &str = "<pattern id=\"w\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/>\
    <rect width=\"2.4\" height=\"5\" fill=\"#37474f\"/></pattern>";

/// A pool to be drawn, and its places by buffer and address.
pub(super) struct Map<'a> {
    pub(super) numbers: &'a Numbers,
    pub(super) places: &'a [PoolPlace],
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

/// Draws pools, one below the other; `describe` names a mesh.
pub(super) fn svg(maps: &[Map<'_>], describe: impl Fn(MeshHandle) -> String) -> String {
    let layouts: Vec<_> = maps.iter().map(|map| Layout::new(&map.numbers.buffers)).collect();
    let placed = || maps.iter().zip(&layouts);
    let height = placed().map(|(map, &layout)| map.height(layout)).sum::<f64>();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\"><style>{STYLE}</style><defs>{WAITING}</defs>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut top = 0.0;
    for (map, &layout) in placed() {
        // Writing to a string cannot fail.
        let _ = draw_map(&mut svg, map, layout, top, &describe);
        top += map.height(layout);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_map(
    svg: &mut String,
    Map { numbers, places }: &Map<'_>,
    layout: Layout,
    top: f64,
    describe: &impl Fn(MeshHandle) -> String,
) -> fmt::Result {
    writeln!(svg, "<g transform=\"translate(0 {top})\">")?;
    head(svg, numbers)?;
    let mut top = TOP;
    for buffer in &numbers.buffers {
        draw_buffer(svg, layout, buffer, numbers.unit, top)?;
        for place in places.iter().filter(|place| place.buffer == buffer.number) {
            draw_place(svg, layout, place, numbers.unit, top + LABEL, describe)?;
        }
        top += band(layout, buffer);
    }
    writeln!(svg, "</g>")
}

/// Title and legend, with numbers.
fn head(svg: &mut String, numbers: &Numbers) -> fmt::Result {
    let (Numbers { stats, unit, .. }, mut x) = (numbers, LEFT);
    let title = escape(&format!("{} of {}", unit.pool, numbers.source));
    writeln!(svg, "<text class=\"t\" x=\"{LEFT}\" y=\"30\">{title}</text>")?;
    let (meshes, buffers) = (grouped(stats.meshes.into()), buffers(stats.buffers));
    write!(svg, "<text x=\"{LEFT}\" y=\"50\">{meshes} meshes in {buffers}, ")?;
    let capacity = bytes(stats.capacity_bytes);
    write!(svg, "{capacity} in all, {} bytes {}. ", unit.bytes, unit.one)?;
    let percent = 100.0 * stats.external_fragmentation();
    writeln!(svg, "Of what is free {percent:.1} % is not in one piece.</text>")?;
    let left_over = match stats.wasted {
        0 => String::new(),
        wasted => format!(", {} of it left over in places", grouped(wasted)),
    };
    let entries = [
        ("", "live, a colour a mesh", stats.used, String::new()),
        ("w", "waiting for frames in flight", stats.waiting, String::new()),
        ("f", "free", numbers.free(), left_over),
    ];
    for (class, name, count, more) in entries {
        x = swatch(svg, class, x)?;
        let share = 100.0 * count as f64 / stats.capacity.max(1) as f64;
        let text = format!("{name}: {} {}, {share:.1} %{more}", grouped(count), unit.many);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"76\">{text}</text>")?;
        // Letters are about so wide.
        x += text.len() as f64 * 6.3 + 18.0;
    }
    Ok(())
}

/// What a kind of stripe looks like; returns where its name goes.
fn swatch(svg: &mut String, class: &str, x: f64) -> Result<f64, fmt::Error> {
    const SIZE: f64 = 14.0;
    if !class.is_empty() {
        let size = format!("width=\"{SIZE}\" height=\"{SIZE}\"");
        writeln!(svg, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"65\" {size} stroke=\"#b0bec5\"/>")?;
        return Ok(x + SIZE + 6.0);
    }
    for slot in 0..4 {
        let (x, color) = (x + f64::from(slot) * 9.0, color(slot));
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"65\" width=\"8.4\" height=\"14\" fill=\"{color}\"/>"
        )?;
    }
    Ok(x + 42.0)
}

/// A buffer's name, its numbers, and the address that each row begins with.
fn draw_buffer(
    svg: &mut String,
    layout: Layout,
    buffer: &BufferNumbers,
    unit: Unit,
    top: f64,
) -> fmt::Result {
    let share = |count: u64| 100.0 * count as f64 / buffer.elements.max(1) as f64;
    let y = top + LABEL - 9.0;
    write!(
        svg,
        "<text x=\"{LEFT}\" y=\"{y}\"><tspan class=\"n\">buffer {}</tspan>",
        buffer.number
    )?;
    let (count, size) = (grouped(buffer.elements), bytes(buffer.elements * unit.bytes));
    write!(svg, " · {count} {}, {size}", unit.many)?;
    write!(svg, " · {} places, {:.1} % live", grouped(buffer.places.into()), share(buffer.live))?;
    write!(svg, ", {:.1} % waiting, {:.1} % free", share(buffer.waiting), share(buffer.free))?;
    writeln!(svg, " · largest gap {}</text>", grouped(buffer.largest_free))?;
    for row in 0..layout.rows(buffer) {
        let y = top + LABEL + row as f64 * (ROW + ROW_GAP) + ROW - 5.0;
        let address = grouped(row * layout.row_elements);
        writeln!(svg, "<text class=\"a\" x=\"{}\" y=\"{y}\">{address}</text>", LEFT - 6.0)?;
    }
    Ok(())
}

/// A place as stripes that say what they are when pointed at.
fn draw_place(
    svg: &mut String,
    layout: Layout,
    place: &PoolPlace,
    unit: Unit,
    top: f64,
    describe: &impl Fn(MeshHandle) -> String,
) -> fmt::Result {
    for stripe in layout.stripes(place) {
        let (x, mut width) = extent(stripe);
        let y = top + stripe.row as f64 * (ROW + ROW_GAP);
        if width >= SEAM_FROM && matches!(place.state, PlaceState::Live(_)) {
            width -= SEAM;
        }
        write!(svg, "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{ROW}\" ")?;
        let name = match place.state {
            PlaceState::Live(mesh) => {
                write!(svg, "fill=\"{}\"", color(mesh.slot()))?;
                describe(mesh)
            }
            PlaceState::Waiting => {
                write!(svg, "class=\"w\"")?;
                "waiting".into()
            }
            PlaceState::Free => {
                write!(svg, "class=\"f\"")?;
                "free".into()
            }
        };
        let range = &place.elements;
        let count = grouped((range.end - range.start).into());
        let name = escape(&name);
        let (many, first) = (unit.many, range.start);
        writeln!(svg, "><title>{name}: {count} {many} from {first}</title></rect>")?;
    }
    Ok(())
}

/// Where a stripe begins and how wide it is, in pixels.
fn extent(stripe: Stripe) -> (f64, f64) {
    (LEFT + stripe.start as f64 * STEP, (stripe.end - stripe.start) as f64 * STEP)
}

/// A mesh's colour, as SVG has it.
fn color(slot: u32) -> String {
    let [red, green, blue] = mesh_color(slot);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A mesh's colour: hues a golden section apart, so that neighbours differ, on three
/// levels of lightness.
pub(crate) fn mesh_color(slot: u32) -> [u8; 3] {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    const SATURATION: f64 = 0.45;
    let hue = f64::from(slot) * GOLDEN % 1.0 * 360.0;
    let lightness = [0.62, 0.71, 0.53][slot as usize % 3];
    let reach = SATURATION * (1.0_f64 - (2.0 * lightness - 1.0_f64).abs()) / 2.0;
    [0.0, 240.0, 120.0].map(|turn| {
        // A trapezium over the colour wheel: two thirds of it at one end or the other.
        let sixths = (hue + turn) % 360.0 / 60.0;
        let at = ((sixths - 3.0).abs() - 1.5).clamp(-0.5, 0.5) * 2.0;
        ((lightness + reach * at) * 255.0).round() as u8
    })
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that leaves at least one.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..=1_023 => format!("{count} bytes"),
        1_024..=1_048_575 => format!("{:.1} KiB", count as f64 / 1_024.0),
        _ => format!("{:.1} MiB", count as f64 / f64::from(1 << 20)),
    }
}

/// Text that XML takes: no markup, and no control characters, which it has no way to say.
fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_have_units() {
        let numbers = [0, 12, 123, 1_234, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "12", "123", "1,234", "12,345", "1,234,567"]);
        assert_eq!([512, 1_536, 3 << 20].map(bytes), ["512 bytes", "1.5 KiB", "3.0 MiB"]);
    }

    #[test]
    fn names_cannot_break_the_picture() {
        assert_eq!(escape("a<b>\u{1b}&\"c\""), "a&lt;b&gt;\u{fffd}&amp;&quot;c&quot;");
    }

    #[test]
    fn neighbours_differ_in_colour() {
        for slot in 0..200 {
            assert_ne!(color(slot), color(slot + 1));
        }
    }
}
