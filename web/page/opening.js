// Opens worlds and models: on the page's thread, or in the worker; see worker.js.
import { Edits, NamedFiles, Page } from './drystone_web.js';
import { openRemote } from './network.js';

/// Methods that read what a page shows. The worker reports all of them with each answer.
export const READS = [
  'camera_options', 'connection', 'costs', 'damage', 'edits_name', 'has_levels', 'has_occlusion', 'has_shadows', 'is_edited', 'is_editing',
  'is_measuring', 'is_orbiting', 'is_settled', 'next_name', 'notice', 'samples', 'selection', 'state', 'statistics',
];

const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/// Opens the world at an address. Each frame sends the requests of the parts that it needs.
async function remotePage(size, address, view, changes) {
  const { world, network } = await openRemote(address);
  const page = Page.remote(...size, world, address, Float64Array.from(view), changes);
  const { frame, free } = page;
  page.frame = function () {
    const more = frame.call(this);
    network.poll();
    return more;
  };
  page.free = function () {
    network.close();
    free.call(this);
  };
  return page;
}

/// Opens a `world`: one that is `generated` with these arguments, one at an address (`remote`), both with the
/// `view` of the camera, or a `file`, with `others` by the paths that it names. `edits` is a file or null. `size` is that of the picture, in pixels. Throws
/// a message.
export async function openPage(size, { generated, remote, view = [], file, others }, edits) {
  const changes = edits ? new Edits(edits.name, await bytesOf(edits)) : undefined;
  if (remote) return remotePage(size, remote, view, changes);
  if (generated) return Page.generated(...size, ...generated, Float64Array.from(view), changes);
  const named = new NamedFiles();
  try {
    for (const [path, other] of others) named.add(path, await bytesOf(other));
    return Page.file(...size, file.name, await bytesOf(file), named, changes);
  } finally {
    named.free();
  }
}
