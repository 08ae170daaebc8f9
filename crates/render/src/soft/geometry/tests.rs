use drystone_mesh::Face;

use super::*;

fn geometry() -> SoftGeometry {
    let mut geometry = SoftGeometry::new(BufferKind::Quads, 10, DrawSlots::New(3)).unwrap();
    let quads: Vec<Quad> = (0..20).map(|i| Quad::new([i, 0, 0], [1, 1], Face::PosY, 0)).collect();
    geometry.write(0, BufferData::Quads(&quads));
    for slot in 0..5 {
        let data = DrawData { origin: [slot as i32; 3], level: 0, extent: 1, sort_rank: 0 };
        geometry.write(slot, BufferData::DrawData(&[data]));
    }
    geometry
}

/// Slot and number of every quad that the command draws.
fn drawn(command: DrawCommand) -> Vec<(i32, u32)> {
    let geometry = geometry();
    let commands = [command];
    let batches = [Batch::new(&geometry, &commands)];
    runs(batches.iter())
        .flat_map(|run| run.quads.iter().map(move |q| (run.data.origin[0], q.position()[0])))
        .collect()
}

fn command(quads: Range<u32>, slot: u32) -> DrawCommand {
    DrawCommand {
        index_count: (quads.end - quads.start) * 6,
        instance_count: 1,
        first_index: 0,
        base_vertex: quads.start as i32 * 4,
        first_instance: slot,
    }
}

#[test]
fn commands_draw_their_quads_and_slots() {
    let two = command(3..5, 2);
    assert_eq!(drawn(two), [(2, 3), (2, 4)]);
    assert_eq!(drawn(DrawCommand { first_index: 6 * 4, ..two }), [(2, 7), (2, 8)]);
    assert_eq!(drawn(DrawCommand { instance_count: 0, ..two }), []);
    let twice = DrawCommand { instance_count: 2, ..command(0..1, 1) };
    assert_eq!(drawn(twice), [(1, 0), (2, 0)]);
}

#[test]
fn commands_beyond_the_geometry_are_cut_off() {
    assert_eq!(drawn(command(9..12, 0)), [(0, 9)]);
    assert_eq!(drawn(command(0..1, 3)), []);
    assert_eq!(drawn(DrawCommand { base_vertex: -4, ..command(0..2, 0) }), [(0, 0)]);
    let all = u32::MAX;
    let huge = DrawCommand {
        index_count: all,
        instance_count: all,
        first_index: all,
        base_vertex: i32::MAX,
        first_instance: all,
    };
    assert_eq!(drawn(huge), []);
    assert_eq!(drawn(DrawCommand { first_index: 0, base_vertex: i32::MIN, ..huge }), []);
    let from_first = DrawCommand { first_index: 0, base_vertex: 0, first_instance: 2, ..huge };
    assert_eq!(drawn(from_first).len(), 10);
}

#[test]
fn copies_beyond_an_end_are_cut_off() {
    let quad = |i: u32| Quad::new([i, 0, 0], [1, 1], Face::PosY, 0);
    let from = geometry();
    let mut to = SoftGeometry::new(BufferKind::Quads, 4, DrawSlots::New(0)).unwrap();
    to.copy(Some(&from), CopyRange { from: 8, to: 1, count: 9 });
    assert_eq!(to.quads()[1..3], [quad(8), quad(9)]);
    to.copy(Some(&from), CopyRange { from: 0, to: 3, count: 9 });
    to.copy(Some(&from), CopyRange { from: 0, to: 4, count: 1 });
    to.copy(Some(&from), CopyRange { from: u32::MAX, to: 0, count: u32::MAX });
    assert_eq!(to.quads()[3], quad(0));
    to.copy(None, CopyRange { from: 2, to: 0, count: 1 });
    to.copy(None, CopyRange { from: 3, to: 2, count: 5 });
    to.copy(None, CopyRange { from: 9, to: 0, count: 1 });
    assert_eq!(to.quads()[..], [quad(9), quad(8), quad(0), quad(0)]);
}

#[test]
fn geometries_that_share_a_table_see_each_others_writes() {
    let mut one = geometry();
    let mut other = SoftGeometry::new(BufferKind::Quads, 1, DrawSlots::SharedWith(&one)).unwrap();
    let data = DrawData { origin: [7; 3], level: 0, extent: 9, sort_rank: 0 };
    other.write(2, BufferData::DrawData(&[data]));
    assert_eq!(one.draws.read(2), data);
    let table = Arc::new(DrawTable::new(100).unwrap());
    for geometry in [&mut one, &mut other] {
        geometry.set_draws(&table);
    }
    one.write(99, BufferData::DrawData(&[data]));
    assert_eq!(other.draws.read(99), data);
}

#[test]
fn writes_beyond_the_end_are_cut_off() {
    let mut geometry = SoftGeometry::new(BufferKind::Quads, 2, DrawSlots::New(0)).unwrap();
    let quad = Quad::new([1, 2, 3], [1, 1], Face::PosX, 9);
    geometry.write(1, BufferData::Quads(&[quad; 5]));
    geometry.write(u32::MAX, BufferData::Quads(&[quad]));
    assert_eq!(geometry.quads().len(), 2);
    assert_eq!(geometry.quads()[1], quad);
    assert!(matches!(
        SoftGeometry::new(BufferKind::Quads, MAX_QUADS + 1, DrawSlots::New(0)),
        Err(RenderError::TooLarge { limit: 16_777_216, .. })
    ));
}
