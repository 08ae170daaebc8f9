//! Sprites and the spans of an s-buffer, in [`CountedPool`]s.
//!
//! ```text
//! cargo run -p drystone-mesh --example spans
//!
//!  sprites    tower   bee   bee             an s-buffer has a list of spans for each row, sorted
//!               │      └──┬──┘              by column: what is visible there, without overlap
//!  pictures   tower:n   bee:m
//!               └───┐     │                 a span owns its picture, so a sprite may be removed
//!  row 3      [4..6 ──► 6..9 ──► 9..12]     before the row is drawn
//! ```
//! Sprites are inserted front to back: a row takes only the columns that are still free. The rows of
//! the sprites that stand still are kept. A frame shares such a row unless a moving sprite touches it.
//! Source: Jacco Bikker's article on polygonal data, which suggests its memory manager for sprites
//! and spans.

use std::ops::Range;

use drystone_mesh::{CountedPool, Error, Handle};

const WIDTH: u32 = 36;
const HEIGHT: u32 = 10;
const FRAMES: u32 = 24;

/// Picture of a sprite: a letter.
struct Picture(char);

/// Rectangle that shows a picture. It is one of the picture's owners.
#[derive(Clone)]
struct Sprite {
    columns: Range<u32>,
    rows: Range<u32>,
    picture: Handle<Picture>,
}

/// Columns of a row that show a picture. A span is an owner of its picture and of the next span.
struct Span {
    columns: Range<u32>,
    picture: Handle<Picture>,
    next: Option<Handle<Span>>,
}

/// First span of each row. It has one owner for each screen that shows the row.
type Rows = [Option<Handle<Span>>; HEIGHT as usize];

/// Pools of everything that is shown.
struct Show {
    pictures: CountedPool<Picture>,
    sprites: CountedPool<Sprite>,
    spans: CountedPool<Span>,
}

impl Show {
    /// Adds a sprite, which becomes an owner of its picture.
    fn add(&mut self, sprite: Sprite) -> Result<Handle<Sprite>, Error> {
        self.pictures.share(sprite.picture)?;
        self.sprites.insert(sprite)
    }

    /// Removes a sprite. Spans that show its picture stay.
    fn remove(&mut self, sprite: Handle<Sprite>) -> Result<(), Error> {
        if let Some(Sprite { picture, .. }) = self.sprites.release(sprite)? {
            self.pictures.release(picture)?;
        }
        Ok(())
    }

    /// Adds the free columns of a row to its list, as spans of a sprite.
    fn cover(&mut self, first: &mut Option<Handle<Span>>, sprite: &Sprite) -> Result<(), Error> {
        let (mut columns, picture) = (sprite.columns.clone(), sprite.picture);
        let (mut before, mut next) = (None::<Handle<Span>>, *first);
        while columns.start < columns.end {
            let taken = next.and_then(|span| self.spans.get(span));
            let taken = taken.map(|span| (span.columns.clone(), span.next));
            let end = taken.as_ref().map_or(columns.end, |(taken, _)| taken.start.min(columns.end));
            if columns.start < end {
                self.pictures.share(picture)?;
                let made =
                    self.spans.insert(Span { columns: columns.start..end, picture, next })?;
                match before.and_then(|span| self.spans.get_mut(span)) {
                    Some(before) => before.next = Some(made),
                    None => *first = Some(made),
                }
            }
            let Some((taken, after)) = taken else { break };
            columns.start = columns.start.max(taken.end);
            (before, next) = (next, after);
        }
        Ok(())
    }

    /// Adds the sprites that touch a row to its list, front to back.
    fn cover_all(
        &mut self,
        row: u32,
        sprites: &[Handle<Sprite>],
        first: &mut Option<Handle<Span>>,
    ) -> Result<(), Error> {
        for &sprite in sprites {
            let sprite = self.sprites.get(sprite).ok_or(Error::Stale)?.clone();
            if sprite.rows.contains(&row) {
                self.cover(first, &sprite)?;
            }
        }
        Ok(())
    }

    /// Makes the rows of a frame. Kept rows without a moving sprite are shared.
    fn frame(
        &mut self,
        kept: &Rows,
        moving: &[Handle<Sprite>],
        still: &[Handle<Sprite>],
    ) -> Result<Rows, Error> {
        let mut rows = Rows::default();
        for ((row, first), kept) in (0..).zip(&mut rows).zip(kept) {
            self.cover_all(row, moving, first)?;
            match (&first, kept) {
                (None, Some(kept)) => {
                    self.spans.share(*kept)?;
                    *first = Some(*kept);
                }
                _ => self.cover_all(row, still, first)?,
            }
        }
        Ok(rows)
    }

    /// Releases the rows of a frame. The last owner of a span releases its picture and the next
    /// span.
    fn release(&mut self, rows: Rows) -> Result<(), Error> {
        for first in rows {
            let mut next = first;
            while let Some(span) = next {
                let Some(span) = self.spans.release(span)? else { break };
                self.pictures.release(span.picture)?;
                next = span.next;
            }
        }
        Ok(())
    }

    /// Draws rows as lines of letters.
    fn draw(&self, rows: &Rows) -> Vec<String> {
        let draw = |first: &Option<Handle<Span>>| {
            let mut line = vec!['.'; WIDTH as usize];
            let mut next = *first;
            while let Some(span) = next.and_then(|span| self.spans.get(span)) {
                let letter = self.pictures.get(span.picture).map_or('?', |picture| picture.0);
                line[span.columns.start as usize..span.columns.end as usize].fill(letter);
                next = span.next;
            }
            line.into_iter().collect()
        };
        rows.iter().map(draw).collect()
    }

    /// Draws sprites without spans, back to front, for comparison.
    fn paint(&self, front_to_back: &[Handle<Sprite>]) -> Vec<String> {
        let mut lines = vec![vec!['.'; WIDTH as usize]; HEIGHT as usize];
        for sprite in front_to_back.iter().rev().filter_map(|&sprite| self.sprites.get(sprite)) {
            let letter = self.pictures.get(sprite.picture).map_or('?', |picture| picture.0);
            for line in &mut lines[sprite.rows.start as usize..sprite.rows.end as usize] {
                line[sprite.columns.start as usize..sprite.columns.end as usize].fill(letter);
            }
        }
        lines.into_iter().map(String::from_iter).collect()
    }
}

/// Runs all frames, and compares each with the painted sprites.
///
/// # Panics
/// If a frame differs, or if something is left at the end.
pub(crate) fn main() -> Result<(), Error> {
    let (pictures, sprites, spans) = (CountedPool::new(), CountedPool::new(), CountedPool::new());
    let mut show = Show { pictures, sprites, spans };
    let [tower, hill, bee, spark] = ['n', '^', 'm', '*'].map(Picture);
    let [tower, hill] = [show.pictures.insert(tower)?, show.pictures.insert(hill)?];
    let [bee, spark] = [show.pictures.insert(bee)?, show.pictures.insert(spark)?];
    let still = [(10..15, 2..9, tower), (6..26, 8..10, hill), (13..22, 5..10, tower)]
        .map(|(columns, rows, picture)| show.add(Sprite { columns, rows, picture }));
    let still = still.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut kept = Rows::default();
    for (row, first) in (0..).zip(&mut kept) {
        show.cover_all(row, &still, first)?;
    }
    let mut shared = 0;
    for frame in 0..FRAMES {
        let mut moving = Vec::new();
        for (x, y, picture) in [(frame, 3, bee), (frame + 4, 4, bee), (30 - frame, 6, spark)] {
            moving.push(show.add(Sprite { columns: x..x + 6, rows: y..y + 2, picture })?);
        }
        let rows = show.frame(&kept, &moving, &still)?;
        shared += rows.iter().flatten().filter(|&&first| show.spans.owners(first) == 2).count();
        let painted = show.paint(&[&moving[..], &still].concat());
        // The sprites end before the frame is drawn. Spans keep their pictures.
        moving.into_iter().try_for_each(|sprite| show.remove(sprite))?;
        let drawn = show.draw(&rows);
        assert_eq!(drawn, painted, "frame {frame}");
        if frame == FRAMES / 2 {
            println!("{}", drawn.join("\n"));
        }
        show.release(rows)?;
    }
    println!("{FRAMES} frames; {shared} of {} rows were shared", FRAMES * HEIGHT);
    assert!(shared > 0);

    show.release(kept)?;
    still.into_iter().try_for_each(|sprite| show.remove(sprite))?;
    for picture in [tower, hill, bee, spark] {
        // Without sprites and spans, the program is the last owner.
        assert!(show.pictures.release(picture)?.is_some());
    }
    assert!(show.sprites.is_empty() && show.spans.is_empty() && show.pictures.is_empty());
    Ok(())
}
