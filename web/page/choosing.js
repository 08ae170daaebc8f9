// Chooses what to open of many files, or of a folder.

/// Names of polygon models. Other files may belong to one: materials, buffers and textures.
const MODEL = /\.(obj|gltf|glb)$/i;
/// Names of files that a model may name.
const PART = /\.(mtl|bin|png|jpe?g|webp|bmp|tga)$/i;
/// Names of files with voxels or heights. A picture may be a height map.
const WORLD = /\.(vox|qb|drystone|dsw|tiff?|hgt)$/i;
const PICTURE = /\.png$/i;
const EDITS = /\.edits(-\d+)?( \(\d+\))?\.drystone$/i;
/// Names of a Minecraft world's regions, by their position. Folders next to theirs have files with the same
/// names, but without blocks.
const REGION = /(?:^|\/)r\.(-?\d+)\.(-?\d+)\.mca$/i;
const WITHOUT_BLOCKS = /(^|\/)(entities|poi)\/[^/]*$/i;
/// Largest numbers of entries that are read from folders, and of files in them that are considered. They
/// limit the time, which is about 0.1 ms for each.
const MAX_ENTRIES = 20_000;
const MAX_FILES = 4_000;
/// Number of names in a message.
const MAX_LISTED = 3;

/// What can be opened, as part of a message.
export const OPENS = 'Open a MagicaVoxel (.vox), Qubicle (.qb), Minecraft region (.mca), height map (16-bit .png, .tif, .hgt), stored world (.drystone) or packed world (.dsw) file, or a model (.obj, .gltf, .glb) together with its files';

export const isModel = ({ name }) => MODEL.test(name);

/// Returns the path of a file in its folder, or its name.
export const pathOf = (file) => file.path ?? file.name;

/// Returns at most a few names, and the number of further ones.
export const listed = (files) => {
  const names = files.slice(0, MAX_LISTED).map(pathOf).join(', ');
  return files.length > MAX_LISTED ? `${names} and ${files.length - MAX_LISTED} more` : names;
};

/// Whether a file is considered, judging by its path.
const isUseful = (path) => [MODEL, PART, WORLD, REGION].some((it) => it.test(path)) && !WITHOUT_BLOCKS.test(path);

/// Returns the files in folders that may be opened. Each has a `path`. Throws a message if there are too many
/// entries.
export async function filesIn(entries) {
  const [files, waiting] = [[], [...entries]];
  for (let count = 0; waiting.length > 0; count += 1) {
    const entry = waiting.shift();
    if (count >= MAX_ENTRIES || files.length >= MAX_FILES) {
      throw `${entries[0].name}: the folder has too many files to look through. Drop a folder in it, or a file`;
    }
    const path = entry.fullPath.replace(/^\//, '');
    if (entry.isDirectory) {
      const reader = entry.createReader();
      // A reader returns a part of the entries, and in the end none.
      for (let part; !part || part.length > 0; waiting.push(...part)) {
        part = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (waiting.length > MAX_ENTRIES) break;
      }
    } else if (isUseful(path)) {
      files.push(Object.assign(await new Promise((done, fail) => entry.file(done, fail)), { path }));
    }
  }
  return files;
}

/// Distance of a region from the middle of its world, in regions. Nested folders are other dimensions, which
/// come later.
const farness = (path) => {
  const [, x, z] = REGION.exec(path);
  return 1e6 * path.split('/').length + Math.hypot(x, z);
};

/// Returns the `files` to open together, and a `notice` about others. `from` names the folder, or says how
/// many files there are. Throws a message on what to do if it is not clear what to open.
export function chosen(files, from) {
  const nothing = `${from}: nothing in it can be opened. ${OPENS}`;
  const of = (pattern) => files.filter((file) => pattern.test(file.name));
  const regions = files.filter((file) => REGION.test(pathOf(file)) && !WITHOUT_BLOCKS.test(pathOf(file)) && file.size > 0)
    .toSorted((a, b) => farness(pathOf(a)) - farness(pathOf(b)));
  if (regions.length > 0) {
    const notice = `${from}: ${regions[0].name} is shown, 1 of ${regions.length} regions. Open another file to see its region. The desktop viewer opens all regions of a folder together`;
    return { files: [regions[0]], notice: regions.length > 1 ? notice : '' };
  }
  const [models, worlds] = [of(MODEL), of(WORLD)];
  if (models.length + worlds.length === 0) {
    const pictures = of(PICTURE);
    if (pictures.length !== 1) throw nothing;
    return { files: pictures, notice: '' };
  }
  if (models.length === 1 && worlds.length === 0) {
    return { files: [...models, ...of(PART)], notice: '' };
  }
  const isPair = worlds.length === 2 && models.length === 0 && of(EDITS).length === 1;
  if (isPair || (worlds.length === 1 && models.length === 0)) return { files: worlds, notice: '' };
  throw `${from}: ${models.length + worlds.length} of the files can be opened: ${listed([...models, ...worlds])}. Open one of them, a model together with its files, or a world together with its edits`;
}

/// Returns the path of a file from the folder of another.
export function pathFrom(file, other) {
  const [to, from] = [pathOf(file).split('/'), pathOf(other).split('/').slice(0, -1)];
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same += 1;
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/');
}
