// Compares pictures as crates/app/tests/it/pictures.rs does, with the browser's own decoder, but counts
// differences on edges by the number of pixels on edges.

/// Largest difference of a channel, of 255.
const TOLERANCE = 2;
/// Largest share of pixels with a larger difference, outside silhouettes.
const STRAY = 0.0002;
/// Largest share of the pixels on edges with a larger difference. The browser's software driver moves corners
/// to the next sixteenth of a pixel, so an edge is off by up to 1/32 pixel, and pixels with several edges
/// differ more often: below 1 % in pictures of models, 2 to 3.3 % in land with faces of a pixel or two.
const SILHOUETTE = 0.04;

/// Difference of a channel that is visible on an edge, and the largest shares of pixels with several
/// samples and shadows that may differ by more than that, or by more than the tolerance: those of
/// crates/app/tests/it/sampled_pictures.rs and crates/render/src/shadows/tests.rs.
const CLEARLY = 16;
const EDGES = 0.02;
const ROUNDED = 0.1;

/// Runs in the page: two pictures as base64 of PNG, the first the expected one.
async function difference([reference, got, tolerance]) {
  const decode = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]), { colorSpaceConversion: 'none' });
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height);
  };
  const [a, b] = await Promise.all([decode(reference), decode(got)]);
  if (a.width !== b.width || a.height !== b.height) throw new Error('the pictures have different sizes');
  const { width, height } = a;
  const apart = (p, i, q, j) => Math.max(
    Math.abs(p.data[i] - q.data[j]), Math.abs(p.data[i + 1] - q.data[j + 1]), Math.abs(p.data[i + 2] - q.data[j + 2]));
  const isEdge = (x, y) => {
    for (let ny = Math.max(0, y - 1); ny <= Math.min(height - 1, y + 1); ny += 1) {
      for (let nx = Math.max(0, x - 1); nx <= Math.min(width - 1, x + 1); nx += 1) {
        if (apart(a, 4 * (y * width + x), a, 4 * (ny * width + nx)) > tolerance) return true;
      }
    }
    return false;
  };
  const seen = { pixels: 0, edges: 0, stray: 0, largest: 0, colors: new Set() };
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = 4 * (y * width + x);
      seen.colors.add(b.data[at] << 16 | b.data[at + 1] << 8 | b.data[at + 2]);
      const onEdge = isEdge(x, y);
      if (onEdge) seen.edges += 1;
      const far = apart(a, at, b, at);
      if (far <= tolerance) continue;
      seen.pixels += 1;
      if (onEdge) continue;
      seen.stray += 1;
      seen.largest = Math.max(seen.largest, far);
    }
  }
  return { ...seen, colors: seen.colors.size, share: seen.pixels / (width * height), edgeShare: seen.pixels / Math.max(seen.edges, 1), strayShare: seen.stray / (width * height) };
}

/// Returns the differences of two pictures, and whether they are within the limits.
export async function compare(page, reference, got, tolerance = TOLERANCE) {
  const texts = [reference, got].map((bytes) => bytes.toString('base64'));
  const seen = await page.evaluate(difference, [...texts, tolerance]);
  return { ...seen, agrees: seen.strayShare <= STRAY && seen.edgeShare <= SILHOUETTE };
}

/// Compares pictures with several samples a pixel and shadows.
export async function compareSampled(page, reference, got) {
  const [rounded, clear] = [await compare(page, reference, got), await compare(page, reference, got, CLEARLY)];
  return { rounded: rounded.share, clear: clear.share, agrees: rounded.share <= ROUNDED && clear.share <= EDGES };
}
