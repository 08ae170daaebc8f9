//! Water has one surface across levels, and no sheets inside.

use super::*;

const SIZE_CHUNKS: [u32; 3] = [24, 4, 24];
/// Height of the generated world's sea.
const SEA: f64 = 32.0;

/// Heights of all translucent faces that look up, and the number of translucent faces that look
/// sideways inside the world: those are sheets in the water.
fn surfaces(screen: &Screen, materials: &MaterialTable) -> (Vec<f64>, usize) {
    let (mut heights, mut sheets) = (Vec::new(), 0);
    let rims = screen.rims.iter().map(|(&(node, _), quads)| (node, quads));
    let bodies = screen.bodies.iter().map(|(&node, quads)| (node, quads));
    for (node, quads) in bodies.chain(rims) {
        let (low, units) = (node.origin().to_array().map(f64::from), node.voxel_units());
        let is_water = |quad: &&Quad| materials.is_translucent(Material(quad.material()));
        for quad in quads.iter().filter(is_water) {
            let face = quad.face().unwrap();
            let corners = quad.positions();
            let [first, last] = [corners[0], corners[3]].map(|corner| {
                let at = |axis: usize| low[axis] + f64::from(corner[axis]) * f64::from(units);
                [at(0), at(1), at(2)]
            });
            if face == Face::PosY {
                heights.push(first[1]);
            }
            // Rims at the border of the world are one voxel wide.
            let is_border = (0..3).any(|axis| {
                let side = f64::from(SIZE_CHUNKS[axis] * 32);
                let reach = f64::from(units);
                let [low, high] = [first[axis].min(last[axis]), first[axis].max(last[axis])];
                axis != 1 && (low <= reach || high >= side - reach)
            });
            sheets += usize::from(face.axis() != 1 && !is_border);
        }
    }
    (heights, sheets)
}

fn check_water(source: Box<dyn Source>) {
    let mut tree = tree(source, unlimited());
    let mut screen = Screen::default();
    for (position, pixels) in
        [([100.0, 50.0, 100.0], 60.0), ([500.0, 40.0, 300.0], 120.0), ([-90.0, 60.0, 350.0], 60.0)]
    {
        settle(&mut tree, &camera(position, pixels), &mut screen);
        let levels: HashSet<u8> = screen.bodies.keys().map(|node| node.level).collect();
        let (heights, sheets) = surfaces(&screen, tree.data().materials());
        println!("{levels:?}: {} surfaces, {sheets} sheets", heights.len());
        assert!(levels.len() >= 3 && heights.len() > 50, "{levels:?} {}", heights.len());
        assert!(heights.iter().all(|&height| height == SEA), "{heights:?}");
        // Sides of caves and of overhangs.
        assert!(sheets == 0, "{sheets} sheets");
    }
}

#[test]
fn water_has_one_surface_across_levels() {
    for seed in [3, 11] {
        let config = GeneratorConfig { seed, size_chunks: SIZE_CHUNKS, ..Default::default() };
        let world = || GeneratedWorld::new(config.clone()).unwrap();
        check_water(Box::new(world()));
        check_water(Box::new(Derived(world())));
    }
}
