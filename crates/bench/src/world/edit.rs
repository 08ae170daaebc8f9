use std::time::{Duration, Instant};

use drystone::scene::{EditSaver, Edited, Editor, VoxelScene};
use drystone_render::View;
use drystone_voxel::{Chunk, Material, VoxelPos};
use drystone_world::VoxelShape;
use glam::DVec3;

use super::vast;
use crate::{
    Failure, Figure, Options,
    rounds::{Round, elapsed_ns, thread_cpu_ns},
};

/// A large world, and the visible corners at which voxels are set.
pub(super) struct Edits {
    scene: VoxelScene,
    editor: Editor,
    view: View,
    corners: Vec<VoxelPos>,
    /// Other corners, at which no voxel was set before.
    fresh: Vec<VoxelPos>,
    is_set: bool,
}

/// Distance of the corners from the camera, in chunks.
const REACH_CHUNKS: i32 = 3;
/// Distance of the corners that are used only once, in chunks: enough corners for fourteen rounds.
const FRESH_REACH_CHUNKS: i32 = 8;
/// Number of corners per round that are used only once.
const FRESH_PER_ROUND: usize = 4;
/// Radius of a large edit, in voxels.
const BALL_RADIUS: u32 = 100;
/// Any material other than air.
const SOLID: Material = Material(1);

impl Edits {
    /// Loads the middle of the world completely. In a quick run, loads only a part of the view.
    pub(super) fn new(options: &Options) -> Result<Self, Failure> {
        let mut scene = vast::scene()?;
        let middle = [8_192, 8_192];
        let ground = ground_at(&scene, middle);
        let position = DVec3::new(8_192.0, f64::from(ground) + 30.0, 8_192.0);
        let view = vast::view(scene.tree().data(), position, position + DVec3::new(1.0, -0.3, 0.4));
        let mut frames = 0;
        while !scene.tree().is_settled() {
            if options.quick && frames > 100 {
                break;
            }
            scene.update(&view, vast::SIZE)?;
            std::thread::sleep(Duration::from_millis(5));
            frames += 1;
        }
        let side = Chunk::SIDE as i32;
        let reach = -FRESH_REACH_CHUNKS..=FRESH_REACH_CHUNKS;
        let around = reach.clone().flat_map(|x| reach.clone().map(move |z| [x, z]));
        let distance = |at: &[i32; 2]| at.iter().map(|c| c.abs()).max();
        let near = around.clone().filter(|at| distance(at) <= Some(REACH_CHUNKS)).collect();
        // No two corners touch the same mesh.
        let is_apart =
            |at: &[i32; 2]| distance(at) > Some(REACH_CHUNKS + 1) && at.iter().all(|c| c % 2 == 0);
        let fresh = around.filter(is_apart).collect();
        let corners_at = |chunks: Vec<[i32; 2]>| {
            let corners = chunks.into_iter().map(|[x, z]| {
                VoxelPos::new(8_192 + x * side, ground / side * side, 8_192 + z * side)
            });
            let is_wanted = |at: &VoxelPos| scene.tree().data().get(*at).is_air() || !options.quick;
            corners.filter(is_wanted).collect()
        };
        let (corners, fresh) = (corners_at(near), corners_at(fresh));
        let editor = Editor::new(EditSaver::default());
        Ok(Self { scene, editor, view, corners, fresh, is_set: false })
    }

    /// Sets or removes a voxel at every corner, and measures the time until the commands of the
    /// next frame are ready. Does the same at some corners that were not edited before.
    pub(super) fn round(&mut self) -> Round {
        self.is_set = !self.is_set;
        let material = if self.is_set { SOLID } else { Material::AIR };
        let again = self.median_us(&self.corners.clone(), material)?;
        let again = again.ok_or("no voxel was changed")?;
        let mut figures = vec![Figure::new("edit", "us/edit", again)];
        if self.fresh.len() >= FRESH_PER_ROUND {
            let fresh: Vec<VoxelPos> = self.fresh.drain(..FRESH_PER_ROUND).collect();
            let first = self.median_us(&fresh, SOLID)?;
            figures.extend(first.map(|first| Figure::new("edit-first", "us/edit", first)));
        }
        Ok(figures)
    }

    /// Returns the median time of such edits, of those that change voxels.
    fn median_us(
        &mut self,
        corners: &[VoxelPos],
        material: Material,
    ) -> Result<Option<f64>, Failure> {
        let mut times_us = Vec::new();
        for &corner in corners {
            let start_ns = thread_cpu_ns();
            let set = self.scene.set([(corner, material)])?;
            let drawn = self.scene.draw(&self.view)?;
            if set == 1 {
                times_us.push((thread_cpu_ns() - start_ns) / 1e3);
            }
            let waits = self.scene.tree().has_waiting_edits();
            if self.scene.tree().data().get(corner) != material || drawn.commands == 0 || waits {
                return Err(format!("the edit at {corner:?} is not shown").into());
            }
        }
        times_us.sort_by(f64::total_cmp);
        Ok(times_us.get(times_us.len() / 2).copied())
    }

    /// Fills a ball of about 4 million voxels around the camera, or undoes that. Measures the
    /// longest CPU time of this thread in the call or in a frame until all of it is shown, and the
    /// total time.
    pub(super) fn fill_round(&mut self) -> Round {
        let [x, y, z] = self.view.camera.position.to_array().map(|c| c as i32);
        let center = VoxelPos::new(x, y, z);
        let ball = VoxelShape::Sphere { center, radius_voxels: BALL_RADIUS };
        let fills = self.editor.history().undo_count() == 0;
        let before = self.scene.tree().data().get(center);
        let (start, start_ns) = (Instant::now(), thread_cpu_ns());
        let done = match fills {
            true => self.editor.fill(&mut self.scene, &ball, SOLID),
            false => self.editor.undo(&mut self.scene),
        };
        let mut held_us = (thread_cpu_ns() - start_ns) / 1e3;
        if !matches!(done, Ok(Edited::Begun)) {
            return Err(format!("a large edit must begin, but the result is {done:?}").into());
        }
        while self.editor.is_busy() || self.scene.tree().has_waiting_edits() {
            let frame_ns = thread_cpu_ns();
            if let Some((_, done)) = self.editor.update(&mut self.scene, Editor::FRAME_TIME) {
                done?;
            }
            self.scene.update(&self.view, vast::SIZE)?;
            held_us = held_us.max((thread_cpu_ns() - frame_ns) / 1e3);
            std::thread::sleep(Duration::from_millis(5));
        }
        let shown_us = elapsed_ns(start) / 1e3;
        if self.scene.tree().data().get(center) == before {
            return Err("no voxel was set".into());
        }
        Ok(vec![
            Figure::new("fill", "us/edit", held_us),
            Figure::new("fill-shown", "us/edit", shown_us),
        ])
    }
}

/// Returns the highest voxel other than air.
fn ground_at(scene: &VoxelScene, [x, z]: [i32; 2]) -> i32 {
    let data = scene.tree().data();
    let is_ground = |y: &i32| !data.get(VoxelPos::new(x, *y, z)).is_air();
    (0..512).rev().find(is_ground).unwrap_or(0)
}
