//! Measures whole frames.

use std::time::Instant;

use drystone_render::{RenderError, Renderer, View};

use crate::{
    Failure, Figure,
    rounds::{elapsed_ns, process_cpu_ns, thread_cpu_ns},
};

/// Sums of the times of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameTimes {
    /// Time from the call to the end of the GPU's work.
    pub(super) draw_ns: f64,
    /// CPU time of this thread until the frame was submitted. Wall-clock time would include the
    /// threads of a software adapter, which share the cores.
    pub(super) submit_ns: f64,
    /// CPU time of all threads, which other programs disturb less than `draw_ns`.
    pub(super) cpu_all_ns: f64,
    pub(super) frames: u32,
}

impl FrameTimes {
    /// Whether a round continues that has these limits.
    pub(super) fn is_below(&self, frames: u32, seconds: f64) -> bool {
        self.frames < frames && self.draw_ns < seconds * 1e9
    }

    /// Draws a frame and adds its times.
    pub(super) fn draw(&mut self, renderer: &mut dyn Renderer, view: &View) -> Result<(), Failure> {
        self.time(renderer, |it| it.draw(view).map(drop), Renderer::finish)
    }

    /// Adds the times of a frame that the closures draw and wait for.
    pub(super) fn time<T: ?Sized>(
        &mut self,
        with: &mut T,
        draw: impl FnOnce(&mut T) -> Result<(), RenderError>,
        finish: impl FnOnce(&mut T) -> Result<(), RenderError>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let (process_start_ns, thread_start_ns) = (process_cpu_ns(), thread_cpu_ns());
        draw(with)?;
        self.submit_ns += thread_cpu_ns() - thread_start_ns;
        finish(with)?;
        self.draw_ns += elapsed_ns(start);
        self.cpu_all_ns += process_cpu_ns() - process_start_ns;
        self.frames += 1;
        Ok(())
    }

    /// Draws as many frames again, without waiting for each, and returns the figure `in-flight`:
    /// the mean time of one. `view` returns the views, one after another.
    pub(super) fn in_flight(
        &self,
        renderer: &mut dyn Renderer,
        mut view: impl FnMut() -> View,
    ) -> Result<Figure, Failure> {
        let start = Instant::now();
        for _ in 0..self.frames {
            renderer.draw(&view())?;
        }
        renderer.finish()?;
        let frame_us = elapsed_ns(start) / f64::from(self.frames.max(1)) / 1e3;
        Ok(Figure::new("in-flight", "us/frame", frame_us))
    }

    /// Figures `draw`, `submit` and `cpu-all`.
    pub(super) fn times(&self) -> Vec<Figure> {
        let per_frame_us = |ns: f64| ns / f64::from(self.frames.max(1)) / 1e3;
        vec![
            Figure::new("draw", "us/frame", per_frame_us(self.draw_ns)),
            Figure::new("submit", "us/frame", per_frame_us(self.submit_ns)),
            Figure::new("cpu-all", "us/frame", per_frame_us(self.cpu_all_ns)),
        ]
    }

    /// Figures of [`times`](Self::times), and `bytes`. `quad_bytes` is the size of a quad in GPU memory.
    pub(super) fn figures(&self, renderer: &dyn Renderer, quad_bytes: u64) -> Vec<Figure> {
        let held = renderer.held();
        let reserved_share = held.reserved_bytes as f64 / held.used_bytes.max(1) as f64;
        let mut figures = self.times();
        figures.push(Figure::new("bytes", "bytes", reserved_share * quad_bytes as f64));
        figures
    }
}

/// Draws a frame that is not measured: another contender may have drawn the last one.
pub(super) fn warm_up(renderer: &mut dyn Renderer, view: &View) -> Result<(), Failure> {
    renderer.draw(view)?;
    Ok(renderer.finish()?)
}
