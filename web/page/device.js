// Chooses the device: WebGPU, or the CPU where that is missing, slower, or chosen.

/// Names of devices that run WebGPU in software, in the words of browsers and drivers.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|basic render/i;
/// Interval of checks whether a device is open, in milliseconds.
const OPENING_MS = 2;
const BACKENDS = ['auto', 'soft', 'webgpu'];

/// Returns the name of an adapter that runs WebGPU in software; empty for a GPU, or if the browser does not
/// say.
export function softwareName(adapter) {
  const info = adapter.info ?? {};
  const words = [info.description, info.device, info.architecture, info.vendor].filter(Boolean);
  const name = words.find((word) => SOFTWARE.test(word));
  if (name) return name;
  const isFallback = info.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
  return isFallback ? words[0] ?? 'its fallback' : '';
}

/// Returns the `backend` in the address, and a message if it is not valid.
export function chosenBackend() {
  const backend = new URLSearchParams(location.search).get('backend') ?? 'auto';
  if (BACKENDS.includes(backend)) return { backend, wrong: '' };
  return { backend: 'auto', wrong: `backend=${backend}: a backend is ${BACKENDS.join(', ').replace(/, (\w+)$/, ' or $1')}` };
}

/// Returns why the CPU draws instead of WebGPU; empty if WebGPU draws.
export async function findLack() {
  const { backend } = chosenBackend();
  if (backend === 'soft') return 'The address contains backend=soft';
  const gpu = navigator.gpu;
  if (!gpu && !window.isSecureContext) {
    return `Browsers provide WebGPU only to pages from https:// and localhost, not from ${location.origin}`;
  }
  if (!gpu) return 'This browser has no WebGPU';
  const adapter = await gpu.requestAdapter().catch(() => null);
  if (!adapter) return 'This browser finds no graphics device for WebGPU';
  const name = backend === 'webgpu' ? '' : softwareName(adapter);
  return name && `This browser runs WebGPU in software (${name}), which is slower`;
}

/// Opens a WebGPU device for a page.
export async function openGpu(page, canvas) {
  page.open_gpu(canvas);
  while (page.is_opening()) await new Promise((done) => setTimeout(done, OPENING_MS));
}

/// Returns the canvas to which `Page.open_cpu` draws. Throws a message if the browser has none.
export function pictureCanvas(canvas) {
  const context = canvas.getContext('2d', { alpha: false });
  if (!context) throw 'This browser has no canvas to draw to';
  return {
    isRemote: false,
    show(rgba, width, height) {
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      // The pixels of a picture cannot be in a shared memory.
      const own = rgba.buffer instanceof ArrayBuffer ? rgba : rgba.slice();
      context.putImageData(new ImageData(own, width, height), 0, 0);
    },
  };
}
