//! The oracle of culling with its own tests, and the comparison of the shaders with it.

mod depth;
mod lists;
mod twin;

use super::*;

/// The shaders are valid WGSL, and use only features of every WebGPU device.
#[test]
fn shaders_are_valid() {
    use wgpu::naga;

    for source in [pipelines::CULL, pipelines::PYRAMID] {
        let module = match naga::front::wgsl::parse_str(source) {
            Ok(module) => module,
            Err(error) => panic!("{}", error.emit_to_string(source)),
        };
        let capabilities = naga::valid::Capabilities::empty();
        let flags = naga::valid::ValidationFlags::all();
        if let Err(error) = naga::valid::Validator::new(flags, capabilities).validate(&module) {
            panic!("{}", error.emit_to_string(source));
        }
    }
}

/// Constants that exist in both languages are equal.
#[test]
fn shaders_and_program_agree_on_numbers() {
    let source = pipelines::CULL;
    for line in [
        format!("const BINS: u32 = {}u;", CullView::BINS),
        format!("const MASK_BACK_FACES: i32 = {};", CullView::MASK_BACK_FACES),
        format!("const CULL_FRUSTUM: i32 = {};", CullView::CULL_FRUSTUM),
        format!("const PARALLEL: i32 = {};", CullView::PARALLEL),
        format!("const PARALLEL_SHIFT: u32 = {}u;", CullView::PARALLEL_SHIFT),
        format!("const SCAN_LANES: u32 = {}u;", pipelines::WIDEST_WORKGROUP),
        "const LANES: u32 = 64u;".into(),
    ] {
        assert!(source.contains(&line), "{line}");
    }
}

#[test]
fn pyramids_have_the_twins_levels() {
    for size in [[1, 1], [2, 1], [1, 9], [317, 240], [1280, 720], [65_535, 3]] {
        let [width, height] = size.map(|side| side as usize);
        let twin = twin::Pyramid::new([width, height], &vec![0.5; width * height]);
        let levels = pyramid::levels(size);
        assert_eq!(levels.len(), twin.levels.len(), "{size:?}");
        let mut first = 0;
        for (level, twin) in levels.iter().zip(&twin.levels) {
            assert_eq!(level.first_texel, first);
            assert_eq!(level.size, twin.size().map(|side| side as u32));
            first += level.size[0] * level.size[1];
        }
    }
}
