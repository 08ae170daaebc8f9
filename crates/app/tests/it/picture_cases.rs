//! The list of scenes that every renderer and backend must draw alike.

use drystone::scene::{self, ChunkQuads, Meshing, VoxelScene};
use drystone_formats::VoxFile;
use drystone_render::{Camera, Projection, Renderer, View};
use drystone_voxel::{
    Chunk, ChunkPos, Material, MaterialKind, MaterialTable, Shape, ShapeBox, ShapeKind, VoxelPos,
};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};
use glam::DVec3;

/// Scene and its views.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) world: World,
    pub(crate) views: Vec<View>,
    pub(crate) meshing: Meshing,
}

impl Case {
    /// Sets the strength of ambient occlusion in all views.
    pub(crate) fn set_occlusion(&mut self, occlusion: f32) {
        self.views.iter_mut().for_each(|view| view.atmosphere.ambient_occlusion = occlusion);
    }

    /// Enables tints of levels, edges of quads and evening light in all views.
    pub(crate) fn set_marks(&mut self) {
        for view in &mut self.views {
            (view.tint_levels, view.wire) = (true, true);
            view.atmosphere = view.atmosphere.with_hour(17.5);
        }
    }

    /// Fades far faces in all views.
    fn faded(mut self) -> Self {
        self.views.iter_mut().for_each(|view| view.fade_far = true);
        self
    }

    /// Shows the world in full detail.
    pub(crate) fn scene(&self, renderer: Box<dyn Renderer>) -> VoxelScene {
        VoxelScene::of_world(self.world.clone(), self.meshing, renderer).unwrap()
    }

    pub(crate) fn quads(&self) -> Vec<ChunkQuads> {
        scene::mesh_world_with(&self.world, self.meshing)
    }
}

/// Returns the cases that the instanced renderer does not draw: with ambient occlusion, those that
/// have any corners to darken, and fading.
pub(crate) fn shaded_cases() -> Vec<Case> {
    let mut cases = vec![
        case("shaded-facings", face_directions()),
        case("shaded-glass", glass()),
        case("shaded-far-away", far_away()),
        case("shaded-terrain", terrain()),
        case("shaded-faded-terrain", terrain()).faded(),
        case("shaded-shapes", shapes()),
        case("shaded-panes", panes()),
        day_and_night("shaded-looks", looks()),
    ];
    let marked = cases.len();
    cases.extend([
        case("marked-glass", glass()),
        case("marked-shapes", shapes()),
        case("marked-far-away", far_away()),
    ]);
    cases[marked..].iter_mut().for_each(Case::set_marks);
    cases.extend(real_model("shaded-real-model"));
    for case in &mut cases {
        case.meshing.occlusion = true;
        case.set_occlusion(0.3);
    }
    cases.push(case("faded-terrain", terrain()).faded());
    cases.push(case("faded-shapes", shapes()).faded());
    cases
}

/// Returns all cases without ambient occlusion; those of real files are left out without
/// `DRYSTONE_DATA`.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("empty", World::new("empty", MaterialTable::new())),
        case("one-voxel", one_voxel()),
        case("facings", face_directions()),
        case("borders", borders()),
        case("glass", glass()),
        case("panes", panes()),
        case("seams", seams()),
        case("shapes", shapes()),
        day_and_night("looks", looks()),
        case("far-away", far_away()),
        case("unknown-material", unknown_material()),
        case("hidden-layers", vox_scene(&hidden_layers())),
        case("rotations", vox_scene(&rotations())),
        case("terrain", terrain()),
    ];
    cases.extend(real_model("real-model"));
    cases
}

/// Returns the usual views of a world: the default view, from each corner above and below,
/// orthographic, and from inside.
pub(crate) fn case(name: &'static str, world: World) -> Case {
    let default_view = scene::default_view(&world, 4.0 / 3.0);
    let (min, max) = corners(&world);
    let fit = |direction: [f64; 3], projection| {
        let camera =
            Camera::fit_from(DVec3::from(direction).normalize(), min, max, projection, 4.0 / 3.0);
        View::new(camera)
    };
    let perspective = Projection::Perspective { fov_y: 0.9 };
    let parallel = Projection::Orthographic { height_voxels: 1.0 };
    let within = Camera::look_at((min + max) / 2.0 + 0.3, max + DVec3::new(1.0, -2.0, 0.5));
    let views = vec![
        View { atmosphere: default_view.atmosphere, ..View::new(default_view.camera) },
        fit([-0.8, 0.7, 0.3], perspective),
        fit([0.4, -0.6, -0.9], perspective),
        fit([1.0, 1.0, 1.0], parallel),
        View::new(within),
        // Faces exactly edge-on, and a floor at a low angle.
        fit([0.0, 0.0, 1.0], parallel),
        fit([0.3, 0.04, 0.9], perspective),
    ];
    Case { name, world, views, meshing: Meshing::default() }
}

fn corners(world: &World) -> (DVec3, DVec3) {
    let corner = |v: VoxelPos| DVec3::from_array(v.to_array().map(f64::from));
    world.bounds().map_or((DVec3::splat(-4.0), DVec3::splat(4.0)), |bounds| {
        (corner(bounds.min), corner(bounds.max))
    })
}

pub(crate) fn materials() -> MaterialTable {
    let mut table = MaterialTable::new();
    for (name, color) in [
        ("red", [210, 60, 50, 255]),
        ("green", [70, 160, 80, 255]),
        ("blue", [60, 90, 200, 255]),
        ("white", [240, 240, 235, 255]),
        ("glass", [180, 220, 255, 90]),
        ("amber", [255, 180, 40, 140]),
    ] {
        table.insert(name, color).unwrap();
    }
    let faces = [
        [220, 40, 40],
        [120, 20, 20],
        [40, 60, 220],
        [240, 150, 40],
        [40, 200, 80],
        [230, 220, 60],
    ];
    let color = |name| MaterialKind::new(name, [200, 90, 200, 255]);
    for kind in [
        color("dice").with_faces(faces),
        color("lamp").with_emission(255),
        color("ember").with_faces(faces).with_emission(110),
        MaterialKind::new("lit glass", [200, 220, 90, 120]).with_faces(faces).with_emission(200),
    ] {
        table.insert_kind(kind).unwrap();
    }
    for (name, color) in [("moss", [60, 170, 70, 190]), ("ruby", [220, 30, 60, 120])] {
        table.insert(name, color).unwrap();
    }
    table
}

/// A checkered floor and walls of materials with face colours and emission, and panes over them.
fn looks() -> World {
    let mut world = World::new("looks", materials());
    for z in 0..12 {
        for x in 0..12 {
            let material = Material(7 + ((x / 2 + z / 2) % 3) as u16);
            for y in 0..=(x + z) % 4 {
                world.set(VoxelPos::new(x, y, z), material);
            }
        }
    }
    for y in 0..9 {
        for along in 2..10 {
            world.set(VoxelPos::new(along, y, 12), Material(10));
        }
        world.set(VoxelPos::new(5, y, 5), Material(1));
    }
    world
}

/// A case at noon and at midnight.
fn day_and_night(name: &'static str, world: World) -> Case {
    let mut case = case(name, world);
    let at_night = |view: &View| View { atmosphere: view.atmosphere.with_hour(0.0), ..*view };
    let night: Vec<View> = case.views.iter().map(at_night).collect();
    case.views.extend(night);
    case
}

fn one_voxel() -> World {
    let mut world = World::new("one voxel", materials());
    world.set(VoxelPos::new(-1, 5, 31), Material(1));
    world
}

/// Stairs in all directions, so that every face direction is visible in some view.
fn face_directions() -> World {
    let mut world = World::new("facings", materials());
    for step in 0..8 {
        for across in 0..8 {
            for height in 0..=step {
                let material = Material(1 + (step % 4) as u16);
                world.set(VoxelPos::new(step, height, across), material);
                world.set(VoxelPos::new(across - 9, 9 - height, step), material);
            }
        }
    }
    world
}

/// A block across eight chunks, and a separate chunk with solid sides to its neighbours.
fn borders() -> World {
    let mut world = World::new("borders", materials());
    for z in -9..9 {
        for y in -9..9 {
            for x in -9..9 {
                let checker = (x >> 2 ^ y >> 2 ^ z >> 2) & 1;
                world.set(VoxelPos::new(x, y, z), Material(1 + checker as u16));
            }
        }
    }
    world.insert(ChunkPos::new(1, 0, 0), Chunk::new(Chunk::SIDE, Material(3))).unwrap();
    world
}

/// Two kinds of glass in front of each other, around and against solid voxels, in several chunks.
fn glass() -> World {
    let mut world = World::new("glass", materials());
    for z in 0..44 {
        for x in 0..44 {
            world.set(VoxelPos::new(x, 0, z), Material(4 - ((x / 4 + z / 4) % 2) as u16));
        }
    }
    for y in 1..14 {
        for along in 4..40 {
            world.set(VoxelPos::new(along, y, 10), Material(5));
            world.set(VoxelPos::new(20, y, along), Material(6));
            world.set(VoxelPos::new(along, y, 36), Material(5));
        }
    }
    for y in 1..6 {
        world.set(VoxelPos::new(30, y, 30), Material(1));
        world.set(VoxelPos::new(30, y, 37), Material(2));
    }
    world
}

/// Panes of several colours that cross each other within one chunk, between solid corners.
fn panes() -> World {
    let mut world = World::new("panes", materials());
    let mut set = |x, y, z, material| world.set(VoxelPos::new(x, y, z), Material(material));
    for (a, b) in (1..27).flat_map(|a| (1..27).map(move |b| (a, b))) {
        set(a, b, 9, 5);
        set(a, b.min(20), 19, 12);
        set(6, a, b, 6);
        set(21, b, a.max(5), 11);
        set(a, 12, b, 5);
        set(a.min(16), 22, b, 6);
    }
    for n in 0..8 * 216 {
        let within = [n / 8 % 6, n / 48 % 6, n / 288];
        let [x, y, z] = [0, 1, 2].map(|axis| (n >> axis & 1) * 22 + within[axis]);
        if (within[0] ^ within[1] ^ within[2]) & 2 == 0 {
            set(x, y, z, 4);
        }
    }
    world
}

/// A large quad next to many small ones: T-junctions.
fn seams() -> World {
    let mut world = World::new("seams", materials());
    for z in 0..64 {
        for x in 0..64 {
            let quilt = Material(1 + (x ^ z) as u16 % 3);
            world.set(VoxelPos::new(x, 0, z), if x < 32 { Material(4) } else { quilt });
        }
    }
    world
}

/// Slabs, stairs, plants, panes and water of two heights on cubes, across eight chunks.
fn shapes() -> World {
    let mut table = materials();
    let first = table.len() as u16;
    let part = |min, max| ShapeBox { min, max };
    let low = part([0; 3], [16, 8, 16]);
    let plates = vec![part([8, 0, 2], [8, 13, 14]), part([2, 0, 8], [14, 13, 8])];
    let pane = vec![part([7, 0, 0], [9, 16, 16]), part([9, 3, 7], [16, 14, 9])];
    let fluid = |height| vec![part([0; 3], [16, height, 16])];
    for (color, boxes, kind) in [
        ([190, 80, 60, 255], vec![low], ShapeKind::Opaque),
        ([120, 130, 90, 255], vec![low, part([8, 8, 0], [16, 16, 16])], ShapeKind::Opaque),
        ([40, 190, 60, 150], plates, ShapeKind::Opaque),
        ([200, 220, 255, 90], pane, ShapeKind::Colored),
        ([40, 90, 220, 140], fluid(14), ShapeKind::Fluid),
        ([40, 90, 220, 140], fluid(6), ShapeKind::Fluid),
    ] {
        let shape = Shape::new(boxes, kind).unwrap();
        let faces = [[color[0], 30, 90], [30, color[1], 30], [90, 30, color[2]]];
        let [red, green, blue, _] = color;
        let [a, b, c] = faces;
        let faces = [a, b, c, [red, green, blue], [red, green, blue], a];
        let kind = MaterialKind::new("shaped", color).with_faces(faces).with_shape(shape);
        table.insert_kind(kind).unwrap();
    }
    let mut world = World::new("shapes", table);
    for (z, x) in (-7..7).flat_map(|z| (-7..7).map(move |x| (z, x))) {
        world.set(VoxelPos::new(x, -2, z), Material(1 + ((x ^ z) & 1) as u16));
        let shaped = Material(first + (x * 5 + z * 3).rem_euclid(6) as u16);
        world.set(VoxelPos::new(x, -1 + (x + z).rem_euclid(2), z), shaped);
        if x < -2 && z < -2 {
            let height = if x == -3 { 5 } else { 4 };
            world.set(VoxelPos::new(x, 0, z), Material(first + height));
        }
    }
    // Cubes beside cubes, which have corners to darken.
    for (z, x) in (7..13_i32).flat_map(|z| (-7..7_i32).map(move |x| (z, x))) {
        let height = if x.rem_euclid(4) < 2 && z.rem_euclid(4) < 2 { 1 } else { -2 };
        for y in -2..=height {
            world.set(VoxelPos::new(x, y, z), Material(4));
        }
    }
    world
}

/// Coordinates at which `f32` has no fractions left.
fn far_away() -> World {
    let mut world = World::new("far away", materials());
    let far = VoxelPos::new(1_900_000_003, 1_000_000_007, -2_000_000_011);
    for z in 0..20 {
        for y in 0..6 {
            for x in 0..20 {
                if (x + y + z) % 3 != 0 {
                    let voxel = VoxelPos::new(far.x + x, far.y + y, far.z + z);
                    world.set(voxel, Material(1 + (y % 4) as u16));
                }
            }
        }
    }
    world
}

/// Numbers outside the material table are opaque and magenta.
fn unknown_material() -> World {
    let mut world = one_voxel();
    world.set(VoxelPos::new(0, 5, 31), Material(40_000));
    world
}

fn terrain() -> World {
    let config = GeneratorConfig::default().with_size_chunks([3, 4, 3]);
    World::load(&GeneratedWorld::new(config).unwrap()).unwrap()
}

fn real_model(name: &'static str) -> Option<Case> {
    let path = crate::program::data("monu10.vox")?;
    let source = VoxFile::open(&path).unwrap_or_else(|error| panic!("{error}"));
    Some(case(name, World::load(&source).unwrap()))
}

fn vox_scene(data: &dot_vox::DotVoxData) -> World {
    let mut bytes = Vec::new();
    data.write_vox(&mut bytes).unwrap();
    World::load(&VoxFile::parse(&bytes, "made by a test").unwrap()).unwrap()
}

/// An L of four colours, which no rotation or reflection maps to itself.
fn letter() -> dot_vox::Model {
    let mut voxels = Vec::new();
    for (x, y, z, i) in [(0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 1), (0, 1, 0, 2), (0, 0, 1, 3)] {
        voxels.push(dot_vox::Voxel { x, y, z, i });
    }
    dot_vox::Model { size: dot_vox::Size { x: 3, y: 2, z: 2 }, voxels }
}

/// Shows the letter in each of `frames` (attributes of a transform), on layer `layer`.
fn letters(frames: Vec<(u32, Vec<(&str, String)>)>, hidden: &[bool]) -> dot_vox::DotVoxData {
    let dict = |pairs: Vec<(&str, String)>| -> dot_vox::Dict {
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let group = 1;
    let root = transform(group, u32::MAX, dict(vec![]));
    let mut scenes = vec![
        root,
        dot_vox::SceneNode::Group {
            attributes: dict(vec![]),
            children: (0..frames.len() as u32).map(|n| 2 + 2 * n).collect(),
        },
    ];
    for (layer, attributes) in frames {
        let child = scenes.len() as u32 + 1;
        scenes.push(transform(child, layer, dict(attributes)));
        let models = vec![dot_vox::ShapeModel { model_id: 0, attributes: dict(vec![]) }];
        scenes.push(dot_vox::SceneNode::Shape { attributes: dict(vec![]), models });
    }
    let layer = |&hidden: &bool| dot_vox::Layer {
        attributes: dict(vec![("_hidden", u8::from(hidden).to_string())]),
    };
    let color = |i: u8| dot_vox::Color {
        r: i.wrapping_mul(90),
        g: 200 - (i % 4) * 40,
        b: 60 + (i % 4) * 50,
        a: 255,
    };
    dot_vox::DotVoxData {
        version: 200,
        index_map: Vec::new(),
        models: vec![letter()],
        palette: (0..=255).map(color).collect(),
        materials: Vec::new(),
        scenes,
        layers: hidden.iter().map(layer).collect(),
    }
}

fn transform(child: u32, layer_id: u32, attributes: dot_vox::Dict) -> dot_vox::SceneNode {
    let frames = vec![dot_vox::Frame { attributes }];
    dot_vox::SceneNode::Transform { attributes: Default::default(), frames, child, layer_id }
}

fn hidden_layers() -> dot_vox::DotVoxData {
    let frames = (0..6).map(|n| (n % 3, vec![("_t", format!("{} 0 0", n * 5))])).collect();
    letters(frames, &[false, true, false])
}

/// The letter in every rotation and reflection of the format. Bits 0–1 and 2–3 name the column of
/// the first and second row's entry, bits 4–6 their signs.
fn rotations() -> dot_vox::DotVoxData {
    let mut frames = Vec::new();
    for signs in 0..8_u8 {
        for (first, second) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            let n = frames.len() as i32;
            let rotation = first | second << 2 | signs << 4;
            let translation = format!("{} {} {}", n % 8 * 6, n / 8 * 6, n % 3);
            frames.push((0, vec![("_r", rotation.to_string()), ("_t", translation)]));
        }
    }
    letters(frames, &[false])
}
