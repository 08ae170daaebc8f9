//! The device's lists are compared with those of the twin.

use super::*;

/// Results of the device for the last frame.
struct Made {
    pyramid: Vec<f32>,
    /// Totals of both lists of each buffer: commands, meshes, quads.
    totals: Vec<[[u32; 3]; 2]>,
    /// The second list of each buffer.
    new: Vec<Vec<DrawCommand>>,
}

fn made(device: &WgpuDevice) -> Made {
    let culler = device.culler.as_ref().unwrap();
    let texels = culler.pyramid.texels.size() / 4;
    let pyramid = read_words(device, &culler.pyramid.texels, texels);
    let totals = |region: &Region| {
        let words = read_words(device, &region.totals, 8);
        [[words[0], words[1], words[2]], [words[4], words[5], words[6]]]
    };
    let new = |region: &Region| {
        let [_, [count, ..]] = totals(region);
        let words = read_words(device, &region.commands, u64::from(count) * 5);
        bytemuck::pod_collect_to_vec::<u32, DrawCommand>(&words)
    };
    Made {
        pyramid: pyramid.into_iter().map(f32::from_bits).collect(),
        totals: culler.regions.iter().map(totals).collect(),
        new: culler.regions.iter().map(new).collect(),
    }
}

/// One list of the twin: commands bin by bin.
fn list(frame: &CullFrame, drawn: &[(&CullRecord, u32)]) -> (Vec<DrawCommand>, [u32; 3]) {
    let mut binned: Vec<_> =
        drawn.iter().map(|(record, parts)| (twin::bin(frame, record), record, *parts)).collect();
    binned.sort_by_key(|(bin, ..)| *bin);
    let commands: Vec<_> =
        binned.iter().flat_map(|(_, record, parts)| twin::commands(record, *parts)).collect();
    let quads = commands.iter().map(|command| command.index_count / 6).sum();
    let totals = [commands.len() as u32, drawn.len() as u32, quads];
    (commands, totals)
}

/// The twin's lists for one buffer; `seen` is its visibility by slot.
fn expected(
    frame: &CullFrame,
    records: &[CullRecord],
    pyramid: &TwinPyramid,
    seen: &mut [bool],
) -> (Vec<DrawCommand>, [[u32; 3]; 2]) {
    let (mut known, mut new) = (Vec::new(), Vec::new());
    for record in records {
        let parts = twin::visible_parts(frame, record);
        let is_seen = parts != 0 && !twin::is_hidden(frame, pyramid, record);
        let was_seen = std::mem::replace(&mut seen[record.slot as usize], is_seen);
        match (was_seen, is_seen) {
            (true, _) if parts != 0 => known.push((record, parts)),
            (false, true) => new.push((record, parts)),
            _ => {}
        }
    }
    let (_, known_totals) = list(frame, &known);
    let (commands, new_totals) = list(frame, &new);
    (commands, [known_totals, new_totals])
}

/// The twin of the device's pyramid, made from its farthest depths of 2 × 2 pixels. The levels
/// above must be equal.
fn twin_of(size: [u32; 2], texels: &[f32]) -> TwinPyramid {
    let [width, height] = size.map(|side| side as usize);
    let half = width.div_ceil(2);
    let pixels: Vec<f32> =
        (0..width * height).map(|n| texels[n / width / 2 * half + n % width / 2]).collect();
    let twin = TwinPyramid::new([width, height], &pixels);
    let above: Vec<f32> = twin.levels.iter().flat_map(|level| level.texels().to_vec()).collect();
    assert_eq!(above, texels, "the pyramid of {size:?}");
    twin
}

/// Number of commands that can differ: another order of sums, and a driver's own logarithm, can
/// move a mesh across a boundary. On Mesa's software driver the number is 0.
fn differences(device: &WgpuDevice, commands: usize) -> usize {
    let is_exact = device.opened.gpu.device.adapter_info().device_type == wgpu::DeviceType::Cpu;
    if is_exact { 0 } else { 2 + commands / 50 }
}

#[test]
fn lists_equal_those_of_the_twin() {
    const TEST: &str = "lists_are_the_twins";
    let Some(mut device) = open(TEST, 317, 240) else { return };
    let mut random = Random::new(1);
    let mut meshes = Meshes::new(&mut device, 700);
    let origin =
        |slot: u32| [slot % 10 * 20, slot / 100 * 20, slot / 10 % 10 * 20].map(|c| c as i32);
    for slot in 0..650 {
        meshes.set_random(&mut device, slot, origin(slot), &mut random);
    }
    for slot in 650..656 {
        let at = (slot - 650) as i32;
        meshes.set_skirt(&mut device, slot, [at % 3 * 64, at / 3 * 64, 110]);
    }
    let mut seen = vec![false; 700];
    let (mut known, mut new, mut hidden) = (0, 0, 0);
    for step in 0..24 {
        if step % 8 == 5 {
            device.resize(100 + random.below(300), 1 + random.below(200)).unwrap();
        }
        let view = flight(&mut random, step);
        let frame = meshes.draw_culled(&mut device, &view);
        let made = made(&device);
        let pyramid = twin_of(device.info().size, &made.pyramid);
        for buffer in 0..2 {
            let records = meshes.table.records(buffer);
            let (commands, totals) = expected(&frame, records, &pyramid, &mut seen);
            let allowed = differences(&device, commands.len());
            let actual = &made.new[buffer];
            let differ =
                commands.iter().zip(actual).filter(|(expected, actual)| expected != actual).count()
                    + commands.len().abs_diff(actual.len());
            assert!(differ <= allowed, "step {step}, buffer {buffer}: {differ} commands differ");
            if allowed == 0 {
                assert_eq!(made.totals[buffer], totals, "step {step}, buffer {buffer}");
            }
            known += totals[0][1];
            new += totals[1][1];
            let in_view = records.iter().filter(|record| twin::visible_parts(&frame, record) != 0);
            hidden += in_view.filter(|record| !seen[record.slot as usize]).count();
        }
    }
    // Each kind of verdict has occurred many times.
    assert!(known > 1000 && new > 1000 && hidden > 1000, "{known} {new} {hidden}");
}

/// The totals arrive without waiting, and contain their frame's number.
#[test]
fn totals_arrive() {
    let Some(mut device) = open("totals_come_back", 64, 48) else { return };
    let mut random = Random::new(2);
    let mut meshes = Meshes::new(&mut device, 20);
    assert_eq!(device.progress().culled, None);
    for slot in 0..20 {
        meshes.set_random(&mut device, slot, [slot as i32 * 20, 0, 0], &mut random);
    }
    let view = View { cull_frustum: false, mask_back_faces: false, ..flight(&mut random, 0) };
    for frame in 1..=10 {
        meshes.draw_culled(&mut device, &view);
        if let Some(counts) = device.progress().culled {
            assert!(counts.frame <= frame);
        }
    }
    device.finish().unwrap();
    let counts = device.progress().culled.unwrap();
    let totals = made(&device).totals;
    let sum = |of: usize| totals.iter().flatten().map(|list| list[of]).sum::<u32>();
    assert_eq!((counts.frame, counts.commands, counts.meshes), (10, sum(0), sum(1)));
    assert!(counts.meshes > 0 && counts.quads == u64::from(sum(2)));
    // A device without meshes drew none, and reports it at once.
    let nothing = Meshes::new(&mut device, 1);
    nothing.draw_culled(&mut device, &view);
    assert_eq!(device.progress().culled, Some(CullCounts { frame: 11, ..CullCounts::default() }));
}

/// Equal input gives equal commands in equal order, on every run.
#[test]
fn commands_are_the_same_every_time() {
    let run = || {
        let mut device = open("commands_are_the_same_every_time", 128, 96)?;
        let mut random = Random::new(3);
        let mut meshes = Meshes::new(&mut device, 500);
        for slot in 0..500 {
            let origin = [slot % 25 * 20, 0, slot / 25 * 20].map(|c| c as i32);
            meshes.set_random(&mut device, slot, origin, &mut random);
        }
        let lists = (0..12).map(|step| {
            meshes.draw_culled(&mut device, &flight(&mut random, step));
            made(&device).new
        });
        Some(lists.collect::<Vec<_>>())
    };
    let first = run();
    assert!(first.is_none() || first == run());
    assert!(first.is_none_or(|lists| lists.iter().flatten().flatten().count() > 300));
}
