// The ended rollouts of a run's folder, on a disk or in a bucket.

import { inBucket } from '../bucket/files.ts';
import type { Ended } from './ended.ts';
import { openObjects } from './objects.ts';
import { openSegments } from './segments.ts';

export const openEnded = (folder: string): Ended => (inBucket(folder) ? openObjects(folder) : openSegments(folder));

/** The records of each of the last folders asked for: for a worker, which opens a store for each step. */
export function openEndedOf(most = 16): (folder: string) => Ended {
  const known = new Map<string, Ended>();
  return (folder) => {
    const ended = known.get(folder) ?? openEnded(folder);
    known.delete(folder);
    known.set(folder, ended);
    if (known.size > most) known.delete(known.keys().next().value!);
    return ended;
  };
}
