// The ended rollouts of a run's folder, on a disk or in a bucket. In a bucket each is an object, since nothing appends there: it
// appears whole, before the first object of the rollout goes. One that was found is remembered; whether another one has ended,
// and whether one is damaged, is asked each time.

import { objectsBelow } from '../bucket/place.ts';
import { mapAhead } from '../map-ahead.ts';
import { recordError } from '../disk/errors.ts';
import { NameSet } from '../name-set.ts';
import { basename, isOnDisk, join } from '../place.ts';
import { ENDED, endedObject, parseRolloutFolder, queryFolder, ROLLOUTS } from '../format/layout.ts';
import { factsOf, namesIn, placeOf, readText } from '../places/files.ts';
import { type Ended, nothingSeen } from './ended.ts';
import { endedRow } from './row.ts';
import { openCache, type EndedRollout, openLine } from './line.ts';
import { openSegments } from './segments.ts';

const CHANGED = 'is changed: no line of an ended rollout is there';

function openObjects(folder: string): Ended {
  const known = new NameSet();
  const cache = openCache();

  async function look(object: string): Promise<boolean> {
    if (known.has(object)) return true;
    if ((await factsOf(join(folder, object))) === undefined) return false;
    known.add(object);
    return true;
  }

  async function read(object: string): Promise<EndedRollout | undefined> {
    const kept = cache.get(object);
    if (kept) return kept;
    const text = await readText(join(folder, object));
    const found = text === undefined ? undefined : openLine(Buffer.from(text));
    return found && endedObject(found.of) === object ? cache.keep(object, found) : undefined;
  }

  /** Reads an object that is there: damage is what a second look finds, too. */
  const readSurely = async (object: string) => (await read(object)) ?? (await read(object));

  return {
    knows: (id) => known.has(endedObject(id)),
    look: (id) => look(endedObject(id)),
    inFolder: async (path) => (await read(`${ENDED}${path.slice(ROLLOUTS.length)}.json`))?.of,
    async rollout(id) {
      const object = endedObject(id);
      if (!known.has(object)) return undefined;
      const found = await readSurely(object);
      if (found) return found;
      throw recordError(join(folder, object), CHANGED);
    },
    lineOf: (id) => join(folder, endedObject(id)),
    async of(query) {
      const names = await namesIn(join(folder, `${ENDED}${queryFolder(query).slice(ROLLOUTS.length)}`));
      return names.flatMap((name) => {
        const place = parseRolloutFolder(name.replace(/\.json$/, ''));
        if (!place) return [];
        known.add(endedObject({ query, ...place }));
        return { query, ...place };
      });
    },
    // One name, one object.
    async *conflicts() {},
    async *entries(onFlaw, { objects } = nothingSeen()) {
      async function* unseen() {
        for await (const name of objectsBelow(join(folder, ENDED))) if (!objects.has(name)) yield name;
      }
      const found = mapAhead(unseen(), placeOf(folder).atOnce, async (name) => ({
        name,
        rollout: await readSurely(`${ENDED}/${name}`),
      }));
      for await (const { name, rollout } of found) {
        const object = `${ENDED}/${name}`;
        if (rollout) {
          known.add(object);
          objects.add(name);
          yield endedRow(rollout);
        } else if (!basename(name).startsWith('.')) {
          if (!onFlaw) throw recordError(join(folder, object), CHANGED);
          onFlaw(object, CHANGED);
        }
      }
    },
  };
}

export const openEnded = (folder: string): Ended => (isOnDisk(folder) ? openSegments(folder) : openObjects(folder));

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
