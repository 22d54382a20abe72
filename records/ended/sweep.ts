// Killed workers leave files of ended rollouts: beside a line, or written after the end. Readers ignore them; once a run
// has its result, they go.

import type { Disk } from '../disk/disk.ts';
import { NODE_FILES } from '../disk/file-layer.ts';
import { join } from '../place.ts';
import { END_FILE, ROLLOUT_FILE } from '../format/layout.ts';
import { namesIn, rolloutAt, rolloutFolders } from '../in-flight/listing.ts';
import type { Ended } from './ended.ts';
import { removeRecords } from './end.ts';

export async function sweep(folder: string, ended: Ended, disk: Pick<Disk, 'end'>): Promise<void> {
  for await (const path of rolloutFolders(folder, () => {})) {
    const names = await namesIn(join(folder, path));
    const id = names.includes(ROLLOUT_FILE) ? await rolloutAt(folder, path, () => {}) : undefined;
    // All of it is there: its line may not be durable yet.
    if (id && names.includes(END_FILE)) await disk.end(folder, id, false);
    else if (await ended.inFolder(path)) await removeRecords(join(folder, path), NODE_FILES);
  }
}
