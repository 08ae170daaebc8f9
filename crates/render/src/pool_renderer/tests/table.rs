//! The table of meshes that the GPU culls, on a device that only stores meshes.

use drystone_wgpu::CullMirror;

use super::*;

/// A renderer whose meshes are inserted and removed; its device only stores them.
struct Churn {
    renderer: PoolRenderer<SoftDevice>,
    /// The records that a device would have.
    mirror: CullMirror,
    meshes: Vec<MeshId>,
    random: Random,
    frame: u64,
}

impl Churn {
    /// The software device does not cull, but the table that it would use is still correct.
    fn new(seed: u64) -> Self {
        let mut renderer = PoolRenderer::new(SoftDevice::new(4, 4).unwrap(), 1, 16).unwrap();
        renderer.opaque = Opaque::new(Cull::Gpu, HiddenCommands::default(), &renderer.pool);
        Self {
            renderer,
            mirror: CullMirror::default(),
            meshes: Vec::new(),
            random: Random::new(seed),
            frame: 0,
        }
    }

    /// Passes a new mesh to `take`: mostly some hundred quads, sometimes none.
    fn make<T>(
        &mut self,
        take: impl FnOnce(&mut PoolRenderer<SoftDevice>, &MeshData<'_>) -> T,
    ) -> T {
        let most = [0_u32, 20, 300, 800][self.random.below(4) as usize];
        let counts = [0; Face::COUNT].map(|_| self.random.below(most + 1).saturating_sub(5));
        let quads =
            vec![Quad::new([0; 3], [1, 1], Face::PosX, 0); counts.iter().sum::<u32>() as usize];
        let origin = [0; 3].map(|_| self.random.below(1 << 20));
        let layer = if self.random.below(4) == 0 { Layer::Blended } else { Layer::Opaque };
        let draw_data = DrawData { origin, level: 0, extent: 32, sort_rank: 0 };
        take(&mut self.renderer, &MeshData { quads: &quads, counts, draw_data, layer })
    }

    fn pick(&mut self) -> usize {
        self.random.below(self.meshes.len() as u32) as usize
    }

    /// Inserts, replaces or removes a mesh, and keeps the number of meshes near `about`.
    fn change(&mut self, about: u32) {
        let grows = self.random.below(2 * about) > self.meshes.len() as u32;
        if self.meshes.is_empty() || grows {
            let mesh = self.make(|renderer, mesh| renderer.insert(mesh).unwrap());
            self.meshes.push(mesh);
        } else if self.random.below(2) == 0 {
            let at = self.pick();
            let mesh = self.meshes[at];
            self.make(|renderer, data| renderer.replace(mesh, data).unwrap());
        } else {
            let at = self.pick();
            let mesh = self.meshes.swap_remove(at);
            self.renderer.remove(mesh).unwrap();
            assert!(self.renderer.remove(mesh).is_err());
        }
    }

    /// Begins, submits and completes a frame. Returns the number of moved meshes.
    fn frame(&mut self) -> usize {
        self.renderer.maintain();
        let moved = self.renderer.pool.moved().len();
        self.frame += 1;
        let PoolRenderer { device, buffers, pool, .. } = &mut self.renderer;
        pool.frame_submitted(self.frame);
        pool.frames_completed(self.frame, &mut PoolUpload { device, buffers });
        moved
    }

    /// The table has the current ranges of the opaque meshes, with their boxes, and of no others. Uploading
    /// its changes is sufficient.
    fn check(&mut self) {
        let Opaque::Culled(table) = &self.renderer.opaque else { panic!("the GPU does not cull") };
        let pool = &self.renderer.pool;
        table.validate(pool).unwrap();
        self.mirror.update(table, pool).unwrap();
        self.mirror.validate(table, pool).unwrap();
        let mut opaque = 0;
        for mesh in &self.meshes {
            let Owner::Pool(handle, layer) = mesh.0 else { panic!("{mesh:?}") };
            assert_eq!(table.contains(handle), layer == Layer::Opaque);
            opaque += usize::from(layer == Layer::Opaque);
        }
        assert_eq!(table.len(), opaque);
    }
}

/// After any changes, the table for culling contains the meshes' current ranges in the pool: while
/// buffers are created and destroyed, and meshes are moved.
#[test]
fn the_table_follows_the_pool() {
    let mut churn = Churn::new(1);
    let (mut max_buffers, mut moved) = (0, 0);
    for (changes, about) in [(600, 400), (300, 400), (500, 60), (400, 200), (400, 5)] {
        for n in 0..changes {
            churn.change(about);
            if n % 7 == 0 {
                moved += churn.frame();
            }
            if n % 40 == 0 {
                churn.check();
            }
        }
        churn.check();
        max_buffers = max_buffers.max(churn.renderer.pool.stats().buffers);
    }
    for _ in 0..200 {
        moved += churn.frame();
    }
    churn.check();
    let buffers = churn.renderer.pool.stats().buffers;
    assert!(max_buffers >= 3 && buffers < max_buffers && moved > 100, "{max_buffers} {moved}");
}

/// Switching inserts all opaque meshes and no others, in both directions.
#[test]
fn culling_can_be_switched_at_any_time() {
    let mut churn = Churn::new(2);
    (0..300).for_each(|_| churn.change(200));
    let before = churn.renderer.held();
    // This device does not support it: it returns an error, and the CPU culls.
    let refused = churn.renderer.set_cull(Cull::Gpu);
    assert!(matches!(refused, Err(RenderError::NoCulling { .. })), "{refused:?}");
    assert_eq!(churn.renderer.cull(), Cull::Cpu);
    let Opaque::Listed(list) = &churn.renderer.opaque else { panic!("the GPU culls") };
    let is_opaque = |mesh: &&MeshId| matches!(mesh.0, Owner::Pool(_, Layer::Opaque));
    assert_eq!(list.len(), churn.meshes.iter().filter(is_opaque).count());
    assert!(list.len() < churn.meshes.len());
    churn.renderer.set_cull(Cull::Cpu).unwrap();
    assert_eq!(churn.renderer.held(), before);
}
