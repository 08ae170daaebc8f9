#![allow(
    clippy::duplicate_mod,
    reason = "each program is complete, with the module that both share"
)]

#[path = "../../examples/plain/main.rs"]
#[allow(dead_code)]
mod plain;
#[path = "../../examples/pooled/main.rs"]
#[allow(dead_code)]
mod pooled;
#[path = "../../examples/voxels/main.rs"]
#[allow(dead_code)]
mod voxels;

/// Maximum number of lines that a program gets with the pool.
const MAX_ADDED: usize = 30;

/// Lines of `new` that are not in `old`, by their longest common subsequence.
fn added(old: &str, new: &str) -> usize {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let mut common = vec![0; new.len() + 1];
    for line in &old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let longest = if line == other { diagonal + 1 } else { common[at].max(common[at + 1]) };
            diagonal = std::mem::replace(&mut common[at + 1], longest);
        }
    }
    new.len() - common[new.len()]
}

#[test]
fn the_pool_adds_few_lines_to_a_program() {
    assert_eq!(added("a\nb\nc", "a\nx\nc\ny"), 2);
    let plain = include_str!("../../examples/plain/main.rs");
    let pooled = include_str!("../../examples/pooled/main.rs");
    let added = added(plain, pooled);
    assert!((1..=MAX_ADDED).contains(&added), "{added} lines, at most {MAX_ADDED}");
}

/// The program with the pool shows the same picture as the one without, also after meshes have
/// changed.
#[test]
fn both_programs_show_the_same_picture() {
    const COUNT: u32 = 500;
    let mut plain = match plain::Program::open(COUNT) {
        Ok(plain) => plain,
        Err(error) => return println!("skipped: both_programs_show_the_same_picture: {error}"),
    };
    let mut pooled = pooled::Program::open(COUNT).unwrap();
    let mut first = None;
    for frame in 1..=12 {
        plain.update(frame).unwrap();
        plain.draw().unwrap();
        pooled.update(frame).unwrap();
        pooled.draw().unwrap();
        let [expected, shown] = [plain.screen.read(), pooled.screen.read()].map(Result::unwrap);
        assert!(expected == shown, "frame {frame}");
        let first = first.get_or_insert_with(|| shown.clone());
        // The first pixel is ground.
        let drawn = shown.chunks_exact(4).filter(|pixel| *pixel != &shown[..4]).count();
        assert!(drawn > 20_000, "{drawn} pixels are drawn");
        let changed = shown.iter().zip(&*first).filter(|(now, then)| now != then).count();
        assert!(frame < 12 || changed > 1000, "{changed} bytes have changed");
    }
}

/// The level is drawn. An edit changes the picture, and all chunks that it touches.
#[test]
fn an_edit_of_the_voxels_is_drawn_completely() {
    let mut program = match voxels::Program::open() {
        Ok(program) => program,
        Err(error) => {
            return println!("skipped: an_edit_of_the_voxels_is_drawn_completely: {error}");
        }
    };
    let picture = |program: &mut voxels::Program| {
        program.draw().unwrap();
        program.screen.read().unwrap()
    };
    let before = picture(&mut program);
    program.dig([60, 16, 66], 9).unwrap();
    let after = picture(&mut program);
    let drawn = before.chunks_exact(4).filter(|pixel| *pixel != &before[..4]).count();
    assert!(drawn > 40_000, "{drawn} pixels are drawn");
    let changed = before.iter().zip(&after).filter(|(old, new)| old != new).count();
    assert!((1000..60_000).contains(&changed), "{changed} bytes have changed");
    // Edits of air make all meshes again.
    for (x, z) in (0..3).flat_map(|x| (0..3).map(move |z| (x, z))) {
        program.dig([32 * x + 16, 31, 32 * z + 16], 0).unwrap();
    }
    assert!(picture(&mut program) == after, "a chunk was left out");
}
