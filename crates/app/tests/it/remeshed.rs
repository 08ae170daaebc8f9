//! Scenes whose meshing changes while they are shown.

use drystone::scene::{Meshing, VoxelScene};
use drystone_render::{Atmosphere, Image, Renderer};
use drystone_voxel::{Material, VoxelPos};

use crate::picture_cases::{Case, cases};
use crate::pictures::{naive, pool, soft};

/// Draws the views of a case with this strength of ambient occlusion.
fn pictures(scene: &mut VoxelScene, case: &Case, occlusion: f32) -> Vec<Image> {
    let views = case.views.iter().map(|view| {
        let mut view = *view;
        view.atmosphere.ambient_occlusion = occlusion;
        scene.picture(&view).unwrap().0
    });
    views.collect()
}

fn remesh(scene: &mut VoxelScene, meshing: Meshing) {
    scene.set_meshing(meshing);
    scene.finish(|_| {}).unwrap();
}

/// After switching back and forth, a scene equals one that was always meshed that way, with edits.
#[test]
fn remeshed_scenes_equal_newly_built_ones() {
    let shaded = Meshing { occlusion: true };
    let open: [fn() -> Box<dyn Renderer>; 2] = [|| pool(soft(), 10_000), || naive(soft())];
    let mut compared = 0;
    for case in cases().into_iter().filter(|case| ["facings", "glass"].contains(&case.name)) {
        for open in open {
            let mut scene = case.scene(open());
            let before = pictures(&mut scene, &case, 0.0);
            remesh(&mut scene, shaded);
            let mut always = VoxelScene::of_world(case.world.clone(), shaded, open()).unwrap();
            for scene in [&mut scene, &mut always] {
                scene.set([(VoxelPos::new(1, 2, 3), Material(1))]).unwrap();
            }
            let [got, want] = [&mut scene, &mut always]
                .map(|scene| pictures(scene, &case, Atmosphere::OCCLUSION));
            assert!(got == want, "{}", case.name);
            assert!(got != before, "{}", case.name);
            let held = [&mut scene, &mut always].map(|scene| scene.renderer().held().used_bytes);
            assert_eq!(held[0], held[1], "{}", case.name);
            let at = VoxelPos::new(1, 2, 3);
            scene.set([(at, case.world.get(at))]).unwrap();
            remesh(&mut scene, Meshing::default());
            assert!(pictures(&mut scene, &case, 0.0) == before, "{}", case.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}
