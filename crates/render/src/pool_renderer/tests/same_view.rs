//! Changing meshes in front of a camera at rest. The lists are not masked again, and the picture
//! equals that of a new renderer.

use glam::DVec3;

use super::owned_mesh::{OwnedMesh, PALETTE};
use super::*;
use crate::camera::Camera;

fn renderer() -> PoolRenderer<SoftDevice> {
    let mut renderer = PoolRenderer::new(SoftDevice::new(120, 90).unwrap(), 1, 16).unwrap();
    renderer.set_palette(&PALETTE).unwrap();
    renderer
}

/// A renderer and its meshes.
struct Still {
    renderer: PoolRenderer<SoftDevice>,
    cells: Vec<Option<(MeshId, OwnedMesh)>>,
    random: Random,
}

/// Number of boxes along each axis.
const CELLS: u32 = 5;

impl Still {
    /// Fills, changes or empties a cell.
    fn change(&mut self) {
        let cell = self.random.below(CELLS.pow(3));
        let index = [cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS];
        let origin = index.map(|i| i as i32 * 20);
        let made = match self.random.below(4) {
            0 => OwnedMesh::panes(&mut self.random, origin),
            _ => OwnedMesh::random(&mut self.random, origin),
        };
        let held = self.cells[cell as usize].take();
        self.cells[cell as usize] = match held {
            Some((id, old)) if old.layer == made.layer && self.random.below(2) == 0 => {
                self.renderer.replace(id, &made.data()).unwrap();
                Some((id, made))
            }
            Some((id, _)) => {
                self.renderer.remove(id).unwrap();
                None
            }
            None => Some((self.renderer.insert(&made.data()).unwrap(), made)),
        };
    }

    /// Draws, and compares with a new renderer.
    fn check(&mut self, view: &View) {
        let mut twin = renderer();
        for (_, made) in self.cells.iter().flatten() {
            twin.insert(&made.data()).unwrap();
        }
        let [found, expected] = [&mut self.renderer, &mut twin].map(|renderer| {
            let stats = renderer.draw(view).unwrap();
            (stats.meshes, renderer.read_image().unwrap())
        });
        assert_eq!(found.0, expected.0);
        assert!(found.1.rgba() == expected.1.rgba());
    }
}

#[test]
fn a_camera_at_rest_sees_every_change() {
    let cells = (0..CELLS.pow(3)).map(|_| None).collect();
    let mut still = Still { renderer: renderer(), cells, random: Random::new(3) };
    let middle = DVec3::splat(f64::from(CELLS) * 10.0);
    let mut unmasked = 0;
    for round in 0..40 {
        // The camera moves occasionally, and always sees the whole scene.
        let position = middle + DVec3::new(130.0, 60.0 + f64::from(round / 10), 140.0);
        let view = View::new(Camera::look_at(position, middle));
        let most = if round % 7 == 0 { 100 } else { 6 };
        (0..still.random.below(most)).for_each(|_| still.change());
        still.check(&view);
        unmasked += still.renderer.selection.unmasked;
    }
    assert!(unmasked > 20, "the lists were masked for every picture");
}
