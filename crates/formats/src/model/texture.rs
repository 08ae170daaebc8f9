//! Decoding of textures: PNG, JPEG and WebP, within limits of memory and time.

use std::collections::HashMap;
#[cfg(feature = "textures")]
use std::io::Cursor;

#[cfg(feature = "textures")]
use image::{ImageDecoder, ImageFormat, ImageReader, Limits, RgbaImage};

#[cfg(feature = "obj")]
use super::AlphaMode;
use super::{ModelImage, WarningKind};

/// Maximum number of texels along a side of an image.
#[cfg(feature = "textures")]
const MAX_SIDE: u32 = 8192;

/// Maximum memory of a decoder, in bytes: an image of the maximum size with 8 bits a channel, and
/// the state of the decoder.
#[cfg(feature = "textures")]
const MAX_DECODER_BYTES: u64 = 288 << 20;
/// All images together may decode to this many times the memory that is kept. Limits the time that
/// small files with large images take.
const DECODED_PER_KEPT: u64 = 4;

/// Decoded images of a model, by a key of their source, and the limits for the rest.
pub(super) struct Images {
    /// Index in the model; `None` for an image that is not shown.
    known: HashMap<String, Option<usize>>,
    kept_left: u64,
    decoded_left: u64,
}

/// A decoded image, and whether it was made smaller.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) image: ModelImage,
    pub(super) is_scaled: bool,
}

impl Images {
    /// Creates an empty list of images that take at most `max_bytes` together.
    pub(super) fn new(max_bytes: u64) -> Self {
        let decoded_left = max_bytes.saturating_mul(DECODED_PER_KEPT);
        Self { known: HashMap::new(), kept_left: max_bytes, decoded_left }
    }

    /// The result for a source that was read before.
    pub(super) fn known(&self, key: &str) -> Option<Option<usize>> {
        self.known.get(key).copied()
    }

    /// Stores the result for a source.
    pub(super) fn set_known(&mut self, key: String, image: Option<usize>) {
        self.known.insert(key, image);
    }

    /// Reserves memory for another image of this size. Returns whether there is enough.
    #[cfg(feature = "obj")]
    pub(super) fn reserve(&mut self, size: [u32; 2]) -> bool {
        let left = self.kept_left.checked_sub(bytes_of(size));
        self.kept_left = left.unwrap_or(self.kept_left);
        left.is_some()
    }

    /// Decodes an image. One that exceeds the remaining memory is halved until it fits.
    ///
    /// # Errors
    /// The kind of warning, and the format if that is the reason.
    #[cfg(feature = "textures")]
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<Decoded, (WarningKind, &'static str)> {
        let format = format_of(bytes)?;
        let damaged = |_| (WarningKind::DamagedTexture, "");
        let mut limits = Limits::no_limits();
        limits.max_image_width = Some(MAX_SIDE);
        limits.max_image_height = Some(MAX_SIDE);
        limits.max_alloc = Some(MAX_DECODER_BYTES);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(refused)?;
        let (width, height) = decoder.dimensions();
        let needed = u64::from(width) * u64::from(height) * 4;
        let decoded_bytes = needed.max(decoder.total_bytes());
        if width == 0 || height == 0 {
            return Err((WarningKind::DamagedTexture, ""));
        }
        if width > MAX_SIDE || height > MAX_SIDE || decoded_bytes > self.decoded_left {
            return Err((WarningKind::LargeTexture, ""));
        }
        let halvings = halvings([width, height], self.kept_left);
        let halvings = halvings.ok_or((WarningKind::LargeTexture, ""))?;
        self.decoded_left -= decoded_bytes;
        let decoded = image::DynamicImage::from_decoder(decoder).map_err(refused)?;
        if decoded.width() != width || decoded.height() != height {
            return Err(damaged(()));
        }
        let mut decoded = decoded.into_rgba8();
        for _ in 0..halvings {
            decoded = halved(&decoded);
        }
        let size = [decoded.width(), decoded.height()];
        self.kept_left = self.kept_left.saturating_sub(bytes_of(size));
        let image = ModelImage { size, rgba: decoded.into_raw().into() };
        Ok(Decoded { image, is_scaled: halvings > 0 })
    }

    /// Refuses every image: this build has no decoders.
    #[cfg(not(feature = "textures"))]
    pub(super) fn decode(&mut self, _: &[u8]) -> Result<Decoded, (WarningKind, &'static str)> {
        Err((WarningKind::UnsupportedTexture, "this build reads no textures"))
    }
}

/// The format of an image by its first bytes.
#[cfg(feature = "textures")]
fn format_of(bytes: &[u8]) -> Result<ImageFormat, (WarningKind, &'static str)> {
    let unsupported = |name| Err((WarningKind::UnsupportedTexture, name));
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Ok(ImageFormat::Png),
        [0xff, 0xd8, 0xff, ..] => Ok(ImageFormat::Jpeg),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok(ImageFormat::WebP),
        [0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, ..] => {
            Err((WarningKind::Ktx2Texture, "KTX2"))
        }
        [0xab, b'K', b'T', b'X', ..] => unsupported("KTX"),
        [b's', b'B', ..] => Err((WarningKind::Ktx2Texture, "Basis Universal")),
        [b'D', b'D', b'S', b' ', ..] => unsupported("DDS"),
        [b'G', b'I', b'F', b'8', ..] => unsupported("GIF"),
        [b'B', b'M', ..] => unsupported("BMP"),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => unsupported("TIFF"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => unsupported("AVIF or HEIF"),
        [0, 0, 2 | 10, ..] | [0, 1, 1 | 9, ..] => unsupported("TGA"),
        _ => unsupported("an unknown format"),
    }
}

#[cfg(feature = "textures")]
fn refused(error: image::ImageError) -> (WarningKind, &'static str) {
    let is_limit = matches!(error, image::ImageError::Limits(_));
    let kind = if is_limit { WarningKind::LargeTexture } else { WarningKind::DamagedTexture };
    (kind, "")
}

const fn bytes_of([width, height]: [u32; 2]) -> u64 {
    width as u64 * height as u64 * 4
}

/// Number of times that an image must be halved to fit into this memory; `None` if not even a texel fits.
#[cfg(feature = "textures")]
fn halvings(mut size: [u32; 2], max_bytes: u64) -> Option<u32> {
    let mut halvings = 0;
    while bytes_of(size) > max_bytes {
        if size == [1; 2] {
            return None;
        }
        size = size.map(|side| (side / 2).max(1));
        halvings += 1;
    }
    Some(halvings)
}

/// The image with half the texels a side, each the mean of those that it replaces. Opacity weighs
/// colours.
#[cfg(feature = "textures")]
fn halved(image: &RgbaImage) -> RgbaImage {
    let [width, height] = [image.width(), image.height()].map(|side| (side / 2).max(1));
    let range = |at: u32, of: u32, from: u32| at * from / of..((at + 1) * from).div_ceil(of);
    RgbaImage::from_fn(width, height, |x, y| {
        let (mut sums, mut count) = ([0_u32; 4], 0);
        for row in range(y, height, image.height()) {
            for column in range(x, width, image.width()) {
                let [red, green, blue, opacity] = image.get_pixel(column, row).0.map(u32::from);
                let colors = [red, green, blue].map(|channel| channel * opacity);
                sums = [
                    sums[0] + colors[0],
                    sums[1] + colors[1],
                    sums[2] + colors[2],
                    sums[3] + opacity,
                ];
                count += 1;
            }
        }
        let opacity = sums[3].max(1);
        let color = |channel: usize| ((sums[channel] + opacity / 2) / opacity) as u8;
        image::Rgba([color(0), color(1), color(2), ((sums[3] + count / 2) / count) as u8])
    })
}

/// The image with the opacity of another one, which is scaled to its size. The opacity of `mask` is
/// its brightness, or its own opacity if it has any.
#[cfg(feature = "obj")]
pub(super) fn with_opacity(image: &ModelImage, mask: &ModelImage) -> ModelImage {
    let [width, height] = image.size;
    let has_opacity = mask.is_translucent();
    let rows = 0..height;
    let texels = rows.flat_map(|y| (0..width).map(move |x| [x, y]));
    let rgba = image.rgba.chunks_exact(4).zip(texels).flat_map(|(texel, [x, y])| {
        let scaled = |at: u32, axis: usize| {
            u64::from(at) * u64::from(mask.size[axis]) / u64::from(image.size[axis])
        };
        let at = (scaled(y, 1) * u64::from(mask.size[0]) + scaled(x, 0)) as usize * 4;
        let [red, green, blue, own] =
            mask.rgba.get(at..at + 4).and_then(|it| it.try_into().ok()).unwrap_or([u8::MAX; 4]);
        let brightness =
            (u32::from(red) * 54 + u32::from(green) * 183 + u32::from(blue) * 19) / 256;
        let opacity = if has_opacity { own } else { brightness as u8 };
        [texel[0], texel[1], texel[2], opacity]
    });
    ModelImage { size: image.size, rgba: rgba.collect() }
}

/// The mode for an image whose opacity is used. An image with few partly opaque texels cuts out:
/// it then hides what lies behind it in any order.
#[cfg(feature = "obj")]
pub(super) fn alpha_mode(image: &ModelImage) -> AlphaMode {
    /// Opacities that are neither clear nor opaque.
    const PARTIAL: std::ops::Range<u8> = 16..240;
    let opacities = || image.rgba.chunks_exact(4).map(|texel| texel[3]);
    let translucent = opacities().filter(|opacity| *opacity < PARTIAL.end).count();
    let partial = opacities().filter(|opacity| PARTIAL.contains(opacity)).count();
    match translucent {
        0 => AlphaMode::Opaque,
        _ if partial * 4 <= translucent => AlphaMode::Mask { cutoff: 128 },
        _ => AlphaMode::Blend,
    }
}

#[cfg(all(test, feature = "textures"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A PNG of one colour.
    fn png(size: [u32; 2], color: [u8; 4]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let image = RgbaImage::from_pixel(size[0], size[1], image::Rgba(color));
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn images_are_halved_to_the_memory_that_is_left_and_then_refused() {
        let mut images = Images::new(64 * 64 * 4 + 16 * 16 * 4 + 3);
        let decode = |images: &mut Images, size| {
            let decoded = images.decode(&png(size, [200, 100, 50, 255]));
            decoded.map(|it| (it.image.size, it.is_scaled, it.image.rgba[0])).map_err(|it| it.0)
        };
        assert_eq!(decode(&mut images, [64, 64]), Ok(([64, 64], false, 200)));
        assert_eq!(decode(&mut images, [65, 33]), Ok(([16, 8], true, 200)));
        assert_eq!(decode(&mut images, [64, 64]), Ok(([8, 8], true, 200)));
        assert_eq!(decode(&mut images, [64, 64]), Ok(([8, 8], true, 200)));
        assert_eq!(decode(&mut images, [64, 64]), Err(WarningKind::LargeTexture));
    }

    #[test]
    fn the_sum_of_decoded_images_is_limited() {
        let mut images = Images::new(64 * 64);
        let file = png([64, 64], [9; 4]);
        let results: Vec<_> = (0..3).map(|_| images.decode(&file).is_ok()).collect();
        assert_eq!(results, [true, false, false]);
    }

    #[test]
    fn images_longer_than_the_limit_are_refused() {
        for size in [[MAX_SIDE + 1, 1], [1, MAX_SIDE + 1]] {
            let kind = Images::new(u64::MAX).decode(&png(size, [9; 4])).unwrap_err().0;
            assert_eq!(kind, WarningKind::LargeTexture, "{size:?}");
        }
        assert!(Images::new(u64::MAX).decode(&png([MAX_SIDE, 1], [9; 4])).is_ok());
    }

    #[test]
    fn halving_weighs_colours_by_opacity() {
        let mut image = RgbaImage::from_pixel(3, 2, image::Rgba([0, 0, 0, 0]));
        image.put_pixel(1, 0, image::Rgba([240, 120, 60, 255]));
        let half = halved(&image);
        assert_eq!((half.width(), half.height()), (1, 1));
        assert_eq!(half.get_pixel(0, 0).0, [240, 120, 60, 43]);
    }

    #[test]
    fn formats_are_recognised_and_others_named() {
        for (bytes, name) in [
            (&b"\xabKTX 20\xbb\r\n\x1a\n"[..], "KTX2"),
            (b"DDS ...", "DDS"),
            (b"", "an unknown format"),
        ] {
            assert_eq!(Images::new(99).decode(bytes).unwrap_err().1, name);
        }
    }
}
