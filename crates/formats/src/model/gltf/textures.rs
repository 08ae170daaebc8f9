//! Textures of glTF: the way from a material to the bytes of an image.

use std::borrow::Cow;

use gltf::json::image::Image;
use gltf::json::texture::{Info, Texture, WrappingMode};
use gltf::json::validation::Checked;

use super::Document;
use super::uri::{self, Uri};
use crate::model::builder::Builder;
use crate::model::files::NamedFiles;
use crate::model::{ModelTexture, WarningKind, Wrap};

/// A texture of a material, and the number of its texture coordinates.
pub(super) struct Slot {
    pub(super) texture: ModelTexture,
    pub(super) uv_set: u32,
}

/// Reads the texture of a material; `None` if it is not shown, which is counted.
pub(super) fn read(
    (document, named_files): (&Document, &mut NamedFiles),
    info: &Info,
    location: &str,
    builder: &mut Builder,
) -> Option<Slot> {
    let number = info.index.value();
    let location = format!("{location}, texture {number}");
    let Some(texture) = document.root.textures.get(number) else {
        builder.warn(WarningKind::DamagedTexture, location);
        return None;
    };
    let image = match image_number(texture) {
        Ok(image) => read_image((document, named_files), image, &location, builder)?,
        Err(kind) => {
            builder.warn(kind, location);
            return None;
        }
    };
    let transform = info.extensions.as_ref().and_then(|it| it.texture_transform.as_ref());
    let uv_set = transform.and_then(|it| it.tex_coord).unwrap_or(info.tex_coord);
    let transform = transform.map_or([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], |it| {
        let (sin, cos) = it.rotation.0.sin_cos();
        let ([width, height], [across, down]) = (it.scale.0, it.offset.0);
        [[cos * width, sin * height, across], [-sin * width, cos * height, down]]
    });
    if !transform.iter().flatten().all(|number| number.is_finite()) {
        builder.warn(WarningKind::DamagedTexture, location);
        return None;
    }
    let sampler = texture.sampler.and_then(|it| document.root.samplers.get(it.value()));
    let wrap = sampler.map_or([Wrap::Repeat; 2], |it| [&it.wrap_s, &it.wrap_t].map(wrap));
    Some(Slot { texture: ModelTexture { image, wrap, transform }, uv_set })
}

fn wrap(mode: &Checked<WrappingMode>) -> Wrap {
    match mode {
        Checked::Valid(WrappingMode::ClampToEdge) => Wrap::Clamp,
        Checked::Valid(WrappingMode::MirroredRepeat) => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}

/// The number of a texture's image: a WebP image, if it has one, else the image for all readers.
fn image_number(texture: &Texture) -> Result<usize, WarningKind> {
    let source = |extension: &str| {
        let it = texture.extensions.as_ref()?.others.get(extension)?;
        usize::try_from(it.get("source")?.as_u64()?).ok()
    };
    let plain = Some(texture.source.value()).filter(|source| *source != u32::MAX as usize);
    match (source("EXT_texture_webp").or(plain), source("KHR_texture_basisu")) {
        (Some(source), _) => Ok(source),
        (None, Some(_)) => Err(WarningKind::Ktx2Texture),
        (None, None) => Err(WarningKind::DamagedTexture),
    }
}

/// Reads and decodes an image once. Returns its index in the model.
fn read_image(
    (document, named_files): (&Document, &mut NamedFiles),
    number: usize,
    location: &str,
    builder: &mut Builder,
) -> Option<usize> {
    let Some(image) = document.root.images.get(number) else {
        builder.warn(WarningKind::DamagedTexture, location);
        return None;
    };
    // Images with one source are decoded once.
    let key = match (&image.uri, image.buffer_view) {
        (Some(uri), _) if !uri.starts_with("data:") => format!("file {uri}"),
        (None, Some(view)) => format!("view {}", view.value()),
        _ => format!("image {number}"),
    };
    let location = format_args!("{location}, image {number}");
    builder.image(key, location, || bytes((document, named_files), image))
}

/// The bytes of an image file.
fn bytes<'a>(
    (document, named_files): (&'a Document, &mut NamedFiles),
    image: &Image,
) -> Result<Cow<'a, [u8]>, WarningKind> {
    match (&image.uri, image.buffer_view) {
        (Some(uri), _) => match uri::parse(uri).map_err(|_| WarningKind::DamagedTexture)? {
            Uri::Data(bytes) => Ok(bytes.into()),
            Uri::File(name) => named_files.texture(&name).map(Cow::Owned),
        },
        (None, Some(view)) => {
            let view = document.buffers.view(document.root, view);
            view.map(|view| view.bytes.into()).map_err(|_| WarningKind::DamagedTexture)
        }
        (None, None) => Err(WarningKind::DamagedTexture),
    }
}
