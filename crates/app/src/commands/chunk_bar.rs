use indicatif::{ProgressBar, ProgressStyle};

/// Progress bar of chunks, and of LOD chunks after them. Without a terminal it draws nothing.
pub(super) struct ChunkBar {
    bar: ProgressBar,
    has_begun: bool,
    makes_levels: bool,
}

impl ChunkBar {
    pub(super) fn new() -> Self {
        let style = style("{prefix}{bar:40} {pos} of {len} chunks, {per_sec}, {eta} left");
        Self { bar: ProgressBar::new(0).with_style(style), has_begun: false, makes_levels: false }
    }

    /// Shows the number of processed chunks. `resumed` of them were processed by an earlier run.
    pub(super) fn show(&mut self, done: u64, total: u64, resumed: u64) {
        if !self.has_begun {
            self.has_begun = true;
            if resumed > 0 {
                self.bar.set_prefix(format!("continued from {resumed} "));
                // Chunks of an earlier run do not count for the speed.
                self.bar.set_position(resumed);
                self.bar.reset_eta();
            }
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Shows the number of LOD chunks that were made.
    pub(super) fn show_levels(&mut self, done: u64, total: u64) {
        if !self.makes_levels {
            self.makes_levels = true;
            self.bar.set_style(style("{bar:40} {pos} of {len} LOD chunks, {eta} left"));
            self.bar.set_position(0);
            self.bar.reset_eta();
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Removes the bar from the terminal.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the style of a bar.
pub(super) fn style(template: &str) -> ProgressStyle {
    // Templates are constant; an invalid one falls back to the library's default.
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}
