//! The oracle of culling, with its own tests; the shaders are compared with it in `wgpu/cull/tests`.

pub(crate) mod twin;
