use drystone_pool::{DrawList, DrawView, MeshHandle, PoolError};

use super::{
    buffers::FlushedBuffers,
    opaque::{Opaque, Pool, visible_parts},
};
use crate::{
    draw_data::DrawData,
    passes::{Batch, ShadowPass},
    shadows::{MapLayer, ShadowCache, ShadowPlan},
};

/// Meshes of a pool that cast shadows: views of the opaque meshes, one for each map.
#[derive(Default)]
pub(super) struct Casters {
    pub(super) cache: ShadowCache,
    views: [DrawView; MapLayer::COUNT],
    /// The opaque meshes, if the GPU culls them, so that there is no other list.
    list: Option<Box<DrawList>>,
}

impl Casters {
    /// Adds an opaque mesh.
    pub(super) fn insert(&mut self, mesh: MeshHandle, data: &DrawData) -> Result<(), PoolError> {
        self.cache.changed(data);
        self.list.as_mut().map_or(Ok(()), |list| list.insert(mesh))
    }

    /// Creates the pass of a plan, in which `models` are drawn too: the batches for each map.
    pub(super) fn pass<'a, G>(
        &'a mut self,
        plan: &ShadowPlan,
        (opaque, blended, pool): (&Opaque, &DrawList, &Pool),
        (buffers, models): (FlushedBuffers<'a, G>, Vec<Vec<Batch<'a, G>>>),
    ) -> Result<ShadowPass<'a, G>, PoolError> {
        let Self { views, list, .. } = self;
        let listed = match opaque.listed() {
            Some(listed) => {
                *list = None;
                listed
            }
            None => list_of(list, blended, pool)?,
        };
        let (mut views, mut models) = (views.each_mut().map(Some), models.into_iter());
        Ok(ShadowPass::new(plan, |map| {
            let parts = |data: &DrawData| visible_parts(data, map.view(), &map.visibility);
            let view = views.get_mut(map.layer.index()).and_then(Option::take);
            let quads = view.map(|view| {
                view.mask(listed, pool, |mesh| parts(mesh));
                buffers.batches(view.runs(listed, pool))
            });
            let mut batches = quads.unwrap_or_default();
            batches.extend(models.next().unwrap_or_default());
            batches
        }))
    }
}

/// The list of all opaque meshes. Created from the pool on first use.
fn list_of<'a>(
    list: &'a mut Option<Box<DrawList>>,
    blended: &DrawList,
    pool: &Pool,
) -> Result<&'a DrawList, PoolError> {
    if list.is_none() {
        let mut all = Box::new(DrawList::new());
        for (mesh, _) in pool.iter().filter(|(mesh, _)| !blended.contains(*mesh)) {
            all.insert(mesh)?;
        }
        *list = Some(all);
    }
    Ok(list.get_or_insert_default())
}
