//! Draws a table as a picture: one panel for each metric, with a group of bars for each case.

use std::{fmt::Display, fs, path::Path};

use drystone_render::replace_file;
use plotters::{
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea},
    element::Rectangle,
    prelude::SVGBackend,
    style::{
        BLACK, Color, IntoFont, RGBColor, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use crate::{Error, Row, Table, text::number};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const WIDTH: u32 = 960;
const MARGIN: i32 = 16;
/// Left and right end of the bars, in pixels. Names are to their left, figures to their right.
const BARS: [i32; 2] = [250, 840];
const BAR: i32 = 16;
const TITLE: i32 = 34;
const CASE: i32 = 24;
const GAP: i32 = 8;
/// Largest ratio of the longest to the shortest bar for a linear scale. Beyond it, the scale is
/// logarithmic.
const MAX_LINEAR: f64 = 40.0;

const OURS: RGBColor = RGBColor(196, 98, 45);
const OTHERS: [RGBColor; 2] = [RGBColor(108, 129, 148), RGBColor(148, 163, 176)];
const GREY: RGBColor = RGBColor(110, 110, 110);

/// Rows of one metric in one unit, by case.
struct Panel<'a> {
    metric: &'a str,
    unit: &'a str,
    cases: Vec<(&'a str, Vec<&'a Row>)>,
}

/// Draws the table's medians as bars, drystone's in another colour, and writes them as SVG. On an
/// error, an existing file is unchanged.
///
/// # Errors
/// `File` with the path and the reason.
pub fn write_svg(table: &Table, path: &Path) -> Result<(), Error> {
    let text = draw(table).map_err(|reason| Error::File { path: path.to_owned(), reason })?;
    replace_file(path, |part| fs::write(part, &text).map_err(|error| error.to_string()))
        .map_err(|reason| Error::File { path: path.to_owned(), reason })
}

fn draw(table: &Table) -> Result<String, String> {
    let panels = panels(table);
    let height = 2 * MARGIN + TITLE + panels.iter().map(Panel::height).sum::<i32>();
    let mut text = String::new();
    {
        let backend = SVGBackend::with_string(&mut text, (WIDTH, height.unsigned_abs()));
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(reason)?;
        let machine = &table.machine;
        let title = format!("{} on {}, gpu {}", table.name(), machine.cpu, machine.gpu);
        write(&area, &title, [MARGIN, MARGIN + 6], 16, HPos::Left, BLACK)?;
        let mut top = MARGIN + TITLE;
        for panel in &panels {
            panel.draw(&area, top)?;
            top += panel.height();
        }
        area.present().map_err(reason)?;
    }
    Ok(text)
}

/// Groups the rows by metric and unit, and then by case, in order of appearance.
fn panels(table: &Table) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for row in table.rows() {
        let at = panels.iter().position(|it| it.metric == row.metric && it.unit == row.unit);
        let at = at.unwrap_or_else(|| {
            panels.push(Panel { metric: &row.metric, unit: &row.unit, cases: Vec::new() });
            panels.len() - 1
        });
        let cases = &mut panels[at].cases;
        match cases.iter_mut().find(|(case, _)| *case == row.case) {
            Some((_, rows)) => rows.push(row),
            None => cases.push((&row.case, vec![row])),
        }
    }
    panels
}

impl Panel<'_> {
    fn height(&self) -> i32 {
        let bars: usize = self.cases.iter().map(|(_, rows)| rows.len()).sum();
        TITLE + self.cases.len() as i32 * CASE + bars as i32 * BAR + GAP
    }

    fn draw(&self, area: &Area<'_>, top: i32) -> Result<(), String> {
        let scale = Scale::of(self.cases.iter().flat_map(|(_, rows)| rows).map(|row| row.median));
        let note = if scale.is_log { ", lengths are logarithms" } else { "" };
        let title = format!("{}, {}{note}", self.metric, self.unit);
        write(area, &title, [MARGIN, top + TITLE / 2], 15, HPos::Left, BLACK)?;
        let mut y = top + TITLE;
        for (case, rows) in &self.cases {
            write(area, case, [MARGIN, y + CASE / 2], 13, HPos::Left, GREY)?;
            y += CASE;
            for (n, row) in rows.iter().enumerate() {
                bar(area, row, y, BARS[0] + scale.length(row.median), n)?;
                y += BAR;
            }
        }
        Ok(())
    }
}

fn bar(area: &Area<'_>, row: &Row, y: i32, end: i32, n: usize) -> Result<(), String> {
    let is_ours = row.contender.starts_with("drystone") || row.contender.starts_with("pool");
    let color = if is_ours { OURS } else { OTHERS[n % OTHERS.len()] };
    let middle = y + BAR / 2;
    write(area, &row.contender, [BARS[0] - 8, middle], 12, HPos::Right, BLACK)?;
    let corners = [(BARS[0], y + 1), (end.max(BARS[0] + 1), y + BAR - 2)];
    area.draw(&Rectangle::new(corners, color.filled())).map_err(reason)?;
    write(area, &number(row.median), [end + 6, middle], 12, HPos::Left, BLACK)
}

/// Scale of the bars.
struct Scale {
    longest: f64,
    shortest: f64,
    is_log: bool,
}

impl Scale {
    fn of(medians: impl Iterator<Item = f64> + Clone) -> Self {
        let positive = medians.filter(|&it| it > 0.0 && it.is_finite());
        let longest = positive.clone().fold(0.0, f64::max);
        let shortest = positive.fold(longest, f64::min);
        Self { longest, shortest, is_log: shortest > 0.0 && longest / shortest > MAX_LINEAR }
    }

    fn length(&self, median: f64) -> i32 {
        let width = f64::from(BARS[1] - BARS[0]);
        if !(median > 0.0 && median.is_finite()) {
            return 0;
        }
        let part = if self.is_log {
            // The shortest bar has a tenth of the longest bar's length.
            0.1 + 0.9 * (median / self.shortest).ln() / (self.longest / self.shortest).ln()
        } else {
            median / self.longest
        };
        (part * width).round() as i32
    }
}

fn write(
    area: &Area<'_>,
    text: &str,
    [x, y]: [i32; 2],
    size: i32,
    anchor: HPos,
    color: RGBColor,
) -> Result<(), String> {
    let style = TextStyle::from(("sans-serif", size).into_font()).color(&color);
    area.draw_text(text, &style.pos(Pos::new(anchor, VPos::Center)), (x, y)).map_err(reason)
}

fn reason(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str, f64)]) -> Table {
        let mut table = Table::new("t");
        for &(case, contender, median) in rows {
            table.push(Row {
                case: case.to_owned(),
                contender: contender.to_owned(),
                metric: "time".to_owned(),
                unit: "ns/op".to_owned(),
                median,
                min: median,
                max: median,
                rounds: 1,
            });
        }
        table
    }

    /// Returns the widths of all rectangles except the background, in order.
    fn widths(svg: &str) -> Vec<f64> {
        let numbers = svg
            .split("<rect")
            .skip(2)
            .filter_map(|rect| rect.split_once(" width=\"")?.1.split_once('"')?.0.parse().ok());
        numbers.collect()
    }

    #[test]
    fn bar_lengths_are_proportional_to_the_figures() {
        let svg = draw(&table(&[("a", "drystone", 10.0), ("a", "slab <&>", 40.0)])).unwrap();
        let widths = widths(&svg);
        assert_eq!(widths.len(), 2);
        assert!((widths[1] / widths[0] - 4.0).abs() < 0.05, "{widths:?}");
        assert!(svg.contains("40.00") && svg.contains("slab &lt;&amp;&gt;"), "{svg}");
        assert!(!svg.contains("logarithms"));
    }

    #[test]
    fn a_wide_range_has_a_logarithmic_scale_and_odd_values_are_accepted() {
        let rows = [("a", "x", 1.0), ("a", "y", 1e3), ("b", "x", 1e6), ("b", "zero", 0.0)];
        let svg = draw(&table(&rows)).unwrap();
        assert!(svg.contains("logarithms"));
        let widths = widths(&svg);
        let steps = [widths[1] - widths[0], widths[2] - widths[1]];
        assert!((steps[0] - steps[1]).abs() <= 2.0, "{widths:?}");
        assert!(draw(&table(&[("a", "x", 0.0), ("a", "y", f64::NAN)])).is_ok());
        assert!(draw(&Table::new("empty")).is_ok());
    }

    /// Parses a cell of a Markdown table as a number.
    fn cell(text: &str) -> Option<f64> {
        text.trim().replace(',', "").parse().ok()
    }

    /// Checks that every figure of a stored chart is in its section of BENCHMARKS.md, in a line of
    /// its case, and that the picture shows these figures.
    #[test]
    fn stored_charts_show_the_documented_figures() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let stated = fs::read_to_string(root.join("BENCHMARKS.md")).unwrap();
        let files = fs::read_dir(root.join("docs/charts")).unwrap().map(|it| it.unwrap().path());
        let mut figures = 0;
        for path in files.filter(|path| path.extension().is_some_and(|it| it == "json")) {
            let table = crate::read_json(&path).unwrap();
            let (_, section) = stated.split_once(&format!("\n## {}\n", table.name())).unwrap();
            let section = section.split("\n## ").next().unwrap();
            for row in table.rows() {
                let case = format!("| `{}`", row.case);
                let mut lines = section.lines().filter(|line| line.starts_with(&case));
                let is_in = |line: &str| line.split('|').any(|it| cell(it) == Some(row.median));
                assert!(lines.any(is_in), "{}: {row:?}", table.name());
                figures += 1;
            }
            let kept = fs::read_to_string(path.with_extension("svg")).unwrap();
            assert!(kept == draw(&table).unwrap(), "draw {} again", table.name());
        }
        assert!(figures > 100, "{figures} figures");
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let error = write_svg(&Table::new("t"), Path::new("/no/such/folder/t.svg"));
        assert!(error.is_err_and(|error| error.to_string().contains("/no/such/folder/t.svg")));
    }
}
