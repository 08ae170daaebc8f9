//! Maps as an SVG.

use std::fmt::Write;

use drystone_pool::MeshHandle;

use super::picture::{self, Canvas, Fill, Map, TextStyle, WIDTH};
use crate::output::mesh_color;

const STYLE: &str = "text{font:12px sans-serif;fill:#3c4043}.t{font-size:17px;font-weight:600;\
    fill:#202124}.n{font-weight:600}.a{font-size:10px;fill:#80868b;text-anchor:end}\
    .f{fill:#eceff1}.w{fill:url(#w)}";

/// Slanted lines of waiting ranges.
const WAITING: &str = "<pattern id=\"w\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/>\
    <rect width=\"2.4\" height=\"5\" fill=\"#37474f\"/></pattern>";

/// SVG text so far.
struct Svg(String);

/// Draws the maps, one below the other; `describe` names a mesh.
pub(super) fn svg(maps: &[Map<'_>], describe: impl Fn(MeshHandle) -> String) -> String {
    let height = picture::height(maps);
    let mut svg = Svg(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\"><style>{STYLE}</style><defs>{WAITING}</defs>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    ));
    picture::paint(&mut svg, maps, describe);
    svg.0.push_str("</svg>\n");
    svg.0
}

// Writing to a string cannot fail.
impl Canvas for Svg {
    fn begin(&mut self, top: f64) {
        let _ = writeln!(self.0, "<g transform=\"translate(0 {top})\">");
    }

    fn end(&mut self) {
        self.0.push_str("</g>\n");
    }

    fn text(&mut self, [x, y]: [f64; 2], words: &[(TextStyle, &str)]) {
        let class = match words {
            [(TextStyle::Title, _), ..] => "class=\"t\" ",
            [(TextStyle::Address, _), ..] => "class=\"a\" ",
            _ => "",
        };
        let _ = write!(self.0, "<text {class}x=\"{}\" y=\"{y}\">", tenths(x));
        for (hand, words) in words {
            let words = escape(words);
            let _ = match hand {
                TextStyle::Bold => write!(self.0, "<tspan class=\"n\">{words}</tspan>"),
                _ => write!(self.0, "{words}"),
            };
        }
        self.0.push_str("</text>\n");
    }

    fn area(&mut self, [x, y]: [f64; 2], size: [f64; 2], fill: Fill, title: Option<&str>) {
        let fill = match fill {
            Fill::Live(slot) => format!("fill=\"{}\"", color(slot)),
            Fill::Waiting => "class=\"w\"".into(),
            Fill::Free => "class=\"f\"".into(),
        };
        let (x, [width, height]) = (tenths(x), size.map(tenths));
        let _ = write!(
            self.0,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {fill}"
        );
        let _ = match title {
            Some(title) => writeln!(self.0, "><title>{}</title></rect>", escape(title)),
            // Legend entries have an edge, so that free ranges are not white on white.
            None => writeln!(self.0, " stroke=\"#b0bec5\"/>"),
        };
    }
}

/// Rounds a length to tenths, to keep the file small.
fn tenths(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

/// Returns a mesh's colour in SVG notation.
fn color(slot: u32) -> String {
    let [red, green, blue] = mesh_color(slot);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes text for XML. Control characters, which XML cannot contain, become U+FFFD.
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
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("a<b>\u{1b}&\"c\""), "a&lt;b&gt;\u{fffd}&amp;&quot;c&quot;");
    }
}
