use std::{collections::BTreeSet, time::Duration};

use drystone::{Haze, scene::RendererKind};
use drystone_formats::{ExportFormat, ExportNodes, FaceColors, UpAxis};
use drystone_render::Cull;
use drystone_store::CommitPolicy;
use drystone_voxel::{VoxelBox, VoxelPos};
use glam::DVec3;

use super::*;

fn parsed(words: &str) -> Result<Options, Stop> {
    parse(words.split(' ').map(OsString::from))
}

fn usage(words: &str) -> String {
    match parsed(words) {
        Err(Stop::Usage(line)) => line,
        Err(Stop::Text(text)) => panic!("{words}: text: {text}"),
        Ok(options) => panic!("{words}: {options:?}"),
    }
}

#[test]
fn usage_errors_are_one_line() {
    for words in [
        "drystone --nonsense",
        "drystone shot a.vox",
        "drystone shot a.vox -o b.png --size 0x5",
        "drystone shot a.vox -o b.png --backend vulkan",
        "drystone shot a.vox -o b.png --eye 1,2",
        "drystone shot a.vox -o b.png --eye 1,2,nan",
        "drystone info a.vox b.vox",
        "drystone info a.vox --seed 5",
        "drystone info --chunks 4x4",
        "drystone info --relief high",
        "drystone info a.vox --relief 64",
        "drystone info --metres-per-voxel 5",
        "drystone info a.png --metres-per-voxel 0",
        "drystone info a.png --metres-per-sample 75x",
        "drystone info a.png --metres-per-sample 1x2x3",
        "drystone info a.png --vertical-scale nan",
        "drystone info a.png --voids some",
        "drystone --allocator heap",
        "drystone --record-svg a.svg",
        "drystone check a.drystone --allocator small --record-svg a.svg",
        "drystone --cull nothing",
        "drystone --samples 3",
        "drystone view --samples 16",
        "drystone --ao --renderer instanced",
        "drystone --ao on --renderer instanced",
        "drystone --ao=sometimes",
        "drystone view --ao --renderer instanced-oldest",
        "drystone shot a.vox -o b.png --renderer instanced-last-leaf --ao",
        "drystone pool-map a.vox",
        "drystone pool-map a.vox -o b.gif",
        "drystone pool-map a.vox -o b.svg --placement heaps",
        "drystone pool-map a.vox -o b.svg --buffer-kib 0",
        "drystone pool-map a.vox -o b.svg --holes -1",
        "drystone view --commit-seconds -1",
        "drystone view --commit-seconds soon",
        "drystone view --commit-mib 0",
        "drystone shot a.vox -o b.png --read-only",
        "drystone view a.obj --edits b.drystone",
        "drystone import a.obj --edits b.drystone c.drystone --voxels 9",
        "drystone import",
        "drystone import a.vox b.drystone --seed 5",
        "drystone import a.vox b.drystone --memory 3",
        "drystone check",
        "drystone --levels on --renderer instanced",
        "drystone --ao a.obj",
        "drystone shot a.GLB -o b.png --ao",
        "drystone view a.gltf --ao",
        "drystone pool-map a.obj -o b.svg --holes 1",
        "drystone pool-map a.obj -o b.svg --placement classes",
        "drystone pool-map a.obj -o b.svg --defragment",
    ] {
        let line = usage(words);
        assert!(!line.is_empty() && !line.contains('\n'), "{words}: {line}");
        assert!(!line.starts_with("error"), "{line}");
    }
}

#[test]
fn valid_arguments_are_parsed() {
    let Ok(options) = parsed("drystone shot a.vox -o b.png --eye -1,2.5,3 --renderer naive") else {
        panic!("refused")
    };
    let Some(Command::Shot(shot)) = options.command else { panic!("no shot") };
    assert_eq!(shot.scene.camera.eye, Some(DVec3::new(-1.0, 2.5, 3.0)));
    assert_eq!(shot.scene.drawing.renderer, RendererKind::Naive);
    assert_eq!(shot.scene.drawing.cull, Cull::Cpu);
    assert!(matches!(parsed("drystone"), Ok(Options { command: None, .. })));
    let Ok(bare) = parsed("drystone a.vox --backend soft") else { panic!("refused") };
    assert_eq!(bare.scene.source.path, Some(PathBuf::from("a.vox")));
    assert_eq!(bare.memory().allocator, AllocatorKind::System);
    assert_eq!(bare.scene.source.relief, GeneratorConfig::default().relief_voxels);
    let high = parsed("drystone --relief 512 --chunks 8x17x8");
    assert!(high.is_ok_and(|it| it.scene.source.relief == 512));
    let cubes = parsed("drystone --renderer instanced");
    assert!(cubes.is_ok_and(|it| !it.scene.meshing().occlusion));
    assert!(parsed("drystone --cull gpu").is_ok_and(|it| it.scene.drawing.cull == Cull::Gpu));
    let Ok(import) = parsed("drystone import a.vox b.drystone --memory 64") else {
        panic!("refused")
    };
    let Some(Command::Import(import)) = import.command else { panic!("no import") };
    assert_eq!(
        (import.copy.source.path, import.copy.memory_mib),
        (Some(PathBuf::from("a.vox")), 64)
    );
    let Ok(import) = parsed("drystone import --chunks 2x4x2 b.drystone") else { panic!("refused") };
    let Some(Command::Import(import)) = import.command else { panic!("no import") };
    assert_eq!((import.copy.source.path, import.copy.source.chunks), (None, Some([2, 4, 2])));
    assert_eq!(import.world, PathBuf::from("b.drystone"));
    let Ok(bare) = parsed("drystone a.vox --edits e.drystone --commit-seconds 0.25") else {
        panic!("refused")
    };
    assert_eq!(bare.scene.edits.edits, Some(PathBuf::from("e.drystone")));
    assert_eq!(bare.save.policy().max_delay, Duration::from_millis(250));
    let Ok(view) = parsed("drystone view --read-only --commit-mib 2") else { panic!("refused") };
    let Some(Command::View(view)) = view.command else { panic!("no view") };
    assert!(view.save.read_only && view.save.policy().max_bytes == 2 << 20);
    let defaults = parsed("drystone").is_ok_and(|it| it.save.policy() == CommitPolicy::default());
    assert!(defaults, "equal to the library's defaults");
    for words in ["drystone --allocator small", "drystone info --allocator small a.vox"] {
        assert!(parsed(words).is_ok_and(|it| it.memory().allocator == AllocatorKind::Small));
    }
}

#[test]
fn usage_errors_of_an_export_are_one_line() {
    for words in [
        "drystone export a.vox",
        "drystone export a.vox -o a.gltf",
        "drystone export a.vox -o a.stl --scale 0",
        "drystone export a.vox -o a.stl --scale nan",
        "drystone export a.vox -o a.stl --up x",
        "drystone export a.vox -o a.stl --join",
        "drystone export a.vox -o a.ply --bake",
        "drystone export a.vox -o b.vox --scale 2",
        "drystone export a.vox -o b.vox --up z",
        "drystone export a.vox -o a.glb --box 0,0,0",
        "drystone export a.vox -o a.glb --level 25",
        "drystone export a.vox -o a.glb --memory 63",
        "drystone export a.obj -o a.glb --box 0,0,0,1,1,1",
        "drystone export a.obj -o a.glb --level 1",
        "drystone export a.obj -o a.glb --bake",
        "drystone export a.obj -o a.glb --edits b.drystone",
        "drystone export -o a.glb --voxels 9",
        "drystone export a.vox -o a.glb --voxels 9",
        "drystone import a.vox b.drystone --voxels 9",
    ] {
        let line = usage(words);
        assert!(!line.is_empty() && !line.contains('\n'), "{words}: {line}");
        assert!(!line.starts_with("error"), "{line}");
    }
}

#[test]
fn options_of_an_export_are_parsed() {
    let export = |line: &str| match parsed(line) {
        Ok(Options { command: Some(Command::Export(export)), .. }) => export,
        _ => panic!("{line}"),
    };
    let made = export("drystone export a.vox -o b.GLB --join --bake --scale 0.5 --up z");
    assert_eq!((made.format(), made.part.bounds()), (ExportFormat::Glb, None));
    let options = made.export_options();
    assert_eq!((options.scale, options.up), (0.5, UpAxis::Z));
    assert_eq!((options.nodes, options.colors), (ExportNodes::Joined, FaceColors::Baked));
    assert_eq!(options.memory_bytes + made.cache_bytes(), 256 << 20);
    let part = export("drystone export -o b.vox --box -3,9,5,2,-4,5 --level 2").part;
    let [min, max] = [VoxelPos::new(-3, -4, 5), VoxelPos::new(3, 10, 6)];
    assert_eq!((part.level, part.bounds()), (2, Some(VoxelBox { min, max })));
    let voxels = export("drystone export a.obj -o b.glb --voxels 9 --level 1");
    assert!(!voxels.is_of_polygons());
}

/// Operands may stand before, between and after the options.
#[test]
fn import_operands_stand_anywhere_among_the_options() {
    let import = |line: &str| {
        let Ok(Options { command: Some(Command::Import(import)), .. }) = parsed(line) else {
            panic!("{line}")
        };
        import
    };
    for words in [
        "a.obj b.drystone --voxels 9",
        "a.obj --voxels 9 b.drystone",
        "--voxels 9 a.obj b.drystone",
        "--voxels=9 a.obj --merge 0 b.drystone",
        "a.obj --voxels 9 -- b.drystone",
        "--voxels 9 -- a.obj b.drystone",
    ] {
        let import = import(&format!("drystone import {words}"));
        assert_eq!(import.copy.source.path, Some(PathBuf::from("a.obj")), "{words}");
        assert_eq!(
            (import.world, import.copy.voxels),
            (PathBuf::from("b.drystone"), Some(9)),
            "{words}"
        );
    }
    for words in ["--seed 4 b.drystone", "b.drystone --seed 7 --chunks 2x4x2"] {
        let import = import(&format!("drystone import {words}"));
        assert_eq!((import.copy.source.path, import.world), (None, PathBuf::from("b.drystone")));
    }
    let odd = import("drystone import a.vox -- --voxels");
    assert_eq!(odd.world, PathBuf::from("--voxels"));
    for line in
        ["drystone import a.obj --voxels", "drystone import a b c", "drystone import --lost a b"]
    {
        assert!(parsed(line).is_err(), "{line}");
    }
}

/// File names on Unix are bytes in any encoding.
#[test]
#[cfg(unix)]
fn file_names_need_not_be_unicode() {
    use std::os::unix::ffi::OsStringExt;
    let name = |name: &[u8]| OsString::from_vec(name.to_vec());
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let map = [words("drystone pool-map -o"), vec![name(b"m\xFF.svg")]].concat();
    let Ok(Options { command: Some(Command::PoolMap(map)), .. }) = parse(map) else {
        panic!("the map is refused")
    };
    assert_eq!(map.output, PathBuf::from(name(b"m\xFF.svg")));
    let path = [words("drystone fly -o a.gif --path"), vec![name(b"\xE4.txt")]].concat();
    let Ok(Options { command: Some(Command::Fly(fly)), .. }) = parse(path) else {
        panic!("the path is refused")
    };
    assert_eq!(fly.camera_path, CameraPathKind::File(name(b"\xE4.txt").into()));
}

#[test]
fn air_and_light_are_parsed() {
    let air = |line: &str| parsed(line).ok().map(|it| it.scene.air);
    let options = air("drystone --haze 5000 --time 18:30").map(|air| (air.haze, air.hour));
    assert_eq!(options, Some((Some(Haze::Distance(5000.0)), Some(18.5))));
    let options = air("drystone --haze off --time 6").map(|air| (air.haze, air.hour));
    assert_eq!(options, Some((Some(Haze::Off), Some(6.0))));
    let none = air("drystone").map(|air| (air.haze, air.hour));
    assert_eq!(none, Some((None, None)));
    for wrong in ["--haze 0", "--haze far", "--haze inf", "--time 24:00", "--time 7:60"] {
        assert!(air(&format!("drystone {wrong}")).is_none(), "{wrong}");
    }
    for wrong in ["--time=+7:30", "--time 7:030", "--time noon", "--time :30"] {
        assert!(air(&format!("drystone {wrong}")).is_none(), "{wrong}");
    }
}

/// The user manual. It is no part of a package.
fn manual() -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manual.md");
    let text = std::fs::read_to_string(path);
    if text.is_err() {
        println!("skipped: manual: {path} is not part of this package");
    }
    text.ok()
}

/// Whether a word in the manual's code would be the name of a key.
fn is_key(word: &str) -> bool {
    const NAMED: [&str; 12] = [
        "Tab", "Space", "Shift", "Ctrl", "Home", "PgUp", "PgDn", "End", "Escape", "Enter",
        "Insert", "Delete",
    ];
    let letter = word.strip_prefix("Ctrl+").unwrap_or(word);
    let is_function = letter.strip_prefix('F').is_some_and(|it| it.parse::<u8>().is_ok());
    letter.len() == 1 || is_function || NAMED.contains(&letter)
}

/// Returns the keys of a row as the manual writes them: `Space`, `Q`.
fn in_code(keys: &str) -> String {
    let words = keys.split_whitespace().map(|word| {
        let (name, comma) = match word.strip_suffix(',') {
            Some(name) if !name.is_empty() => (name, ","),
            _ => (word, ""),
        };
        if is_key(name) { format!("`{name}`{comma}") } else { word.into() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The table in the manual is that of the program: the keys of the window, then those that a page
/// has besides, or with another effect.
#[test]
fn the_manual_lists_exactly_the_keys_of_window_and_page() {
    let Some(manual) = manual() else { return };
    let section = manual.split("\n## ").find(|it| it.starts_with("Keys\n")).unwrap();
    let listed: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    let window: Vec<_> = keys::rows(Host::Window).collect();
    let page: Vec<_> = keys::rows(Host::Page).collect();
    let row =
        |(keys, help): (&str, &str), page: &str| format!("| {} | {help} | {page} |", in_code(keys));
    let mut expected = vec!["| key | in the window | in the page |".to_owned()];
    for &(keys, help) in &window {
        let there = page.iter().find(|(other, _)| *other == keys);
        expected.push(row(
            (keys, help),
            match there {
                None => "–",
                Some((_, same)) if *same == help => "yes",
                Some((_, other)) => other,
            },
        ));
    }
    let only = page.iter().filter(|(keys, _)| window.iter().all(|(other, _)| other != keys));
    expected.extend(only.map(|&(keys, help)| row((keys, "–"), help)));
    assert_eq!(listed, expected);
}

/// Options and commands that clap itself adds are in the manual by hand.
#[cfg(feature = "remote")]
#[test]
fn the_manual_lists_exactly_the_commands_and_options() {
    let Some(manual) = manual() else { return };
    let root = command();
    let commands: Vec<&clap::Command> =
        std::iter::once(&root).chain(root.get_subcommands()).collect();
    let options: BTreeSet<String> = commands
        .iter()
        .flat_map(|command| command.get_arguments())
        .filter_map(clap::Arg::get_long)
        .map(|long| format!("--{long}"))
        .collect();
    let section = manual.split("\n## ").find(|it| it.starts_with("Options\n")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|'));
    let words = rows.flat_map(|row| row.split(|c: char| c != '-' && !c.is_alphanumeric()));
    let listed: BTreeSet<String> = words
        .filter(|word| word.len() > 2 && word.starts_with("--") && !word.ends_with('-'))
        .filter(|word| !["--help", "--version"].contains(word))
        .map(str::to_owned)
        .collect();
    assert_eq!(listed, options);
    for command in root.get_subcommands() {
        let row = format!("| `drystone {}", command.get_name());
        assert!(manual.contains(&row), "{}", command.get_name());
    }
}

/// `--ao` had no value once, and is on by default since.
#[test]
fn ambient_occlusion_is_on_unless_it_is_switched_off() {
    for (words, expected, path) in [
        ("drystone a.vox", OcclusionKind::Auto, "a.vox"),
        ("drystone --ao a.vox", OcclusionKind::On, "a.vox"),
        ("drystone a.vox --ao", OcclusionKind::On, "a.vox"),
        ("drystone --ao --levels on a.vox", OcclusionKind::On, "a.vox"),
        ("drystone --ao on a.vox", OcclusionKind::On, "a.vox"),
        ("drystone --ao off a.vox", OcclusionKind::Off, "a.vox"),
        ("drystone --ao=off a.vox", OcclusionKind::Off, "a.vox"),
        ("drystone --ao auto a.vox", OcclusionKind::Auto, "a.vox"),
        ("drystone -- --ao", OcclusionKind::Auto, "--ao"),
    ] {
        let Ok(options) = parsed(words) else { panic!("{words}") };
        let SceneOptions { detail, source, .. } = &options.scene;
        assert_eq!((detail.ao, source.path.as_deref()), (expected, Some(Path::new(path))));
        let is_used = expected != OcclusionKind::Off;
        assert_eq!(options.scene.meshing().occlusion, is_used, "{words}");
        assert_eq!(options.scene.view_options().look.occlusion, is_used, "{words}");
    }
    let Ok(model) = parsed("drystone a.obj") else { panic!("a model needs no option") };
    assert_eq!(model.scene.conflict(), None);
}
