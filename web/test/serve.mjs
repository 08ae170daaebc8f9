// Serves a folder on localhost: node serve.mjs FOLDER [PORT], or from another script.

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.png': 'image/png',
};

/// Returns the file for an address, or `null` if the address is malformed.
function fileOf(folder, address) {
  try {
    const path = normalize(decodeURIComponent(new URL(address, 'http://x').pathname));
    if (path.includes('\0')) return null;
    return join(folder, path.endsWith('/') ? `${path}index.html` : path);
  } catch {
    return null;
  }
}

/// Headers that isolate pages from those of other servers, so that browsers let them have threads.
const ISOLATION = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

export function serve(folder, { port = 0, isIsolated = false } = {}) {
  const server = createServer((request, response) => {
    const file = fileOf(folder, request.url);
    if (!file || !statSync(file, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(file ? 404 : 400).end();
      return;
    }
    const type = { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' };
    response.writeHead(200, { ...type, ...isIsolated && ISOLATION });
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(port, '127.0.0.1', () => done({
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => { server.close(); server.closeAllConnections(); },
  })));
}

if (process.argv[1] === import.meta.filename && process.argv[2]) {
  const { url } = await serve(process.argv[2], { port: Number(process.argv[3] ?? 8000), isIsolated: true });
  console.log(`open ${url}`);
}
