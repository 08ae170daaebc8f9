// Opens worlds and models: on the page's thread, or in the worker; see worker.js.
import { Edits, NamedFiles, Page } from './drystone_web.js';

/// Methods that read what a page shows. The worker reports all of them with each answer.
export const READS = [
  'camera_options', 'costs', 'damage', 'edits_name', 'has_levels', 'has_occlusion', 'has_shadows', 'is_edited', 'is_editing',
  'is_measuring', 'is_orbiting', 'is_settled', 'next_name', 'notice', 'samples', 'selection', 'state', 'statistics',
];

const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/// Opens a `world`: one that is `generated` with these arguments, or a `file`, with `others` by the paths
/// that it names. `edits` is a file or null. `size` is that of the picture, in pixels. Throws a message.
export async function openPage(size, { generated, file, others }, edits) {
  const changes = edits ? new Edits(edits.name, await bytesOf(edits)) : undefined;
  if (generated) return Page.generated(...size, ...generated, changes);
  const named = new NamedFiles();
  try {
    for (const [path, other] of others) named.add(path, await bytesOf(other));
    return Page.file(...size, file.name, await bytesOf(file), named, changes);
  } finally {
    named.free();
  }
}
