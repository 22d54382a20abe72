// The rollouts of a run and their files, packed or not, each once, while a packer may be at work: what is listed loose and
// was packed meanwhile, or the other way round, is neither missed nor listed twice.

import { isBucketPlace } from '../../domain/bucket-place.ts';
import { dirname, join } from '../place.ts';
import { factsOf } from '../disk/facts.ts';
import { readText } from '../disk/write-once.ts';
import { isHarmless, ROLLOUT_FILE, rolloutFolder, ROLLOUTS } from '../record/layout.ts';
import { listRollouts, listRolloutsOf, namesIn } from '../record/listing.ts';
import type { Breach, Store } from '../store.ts';
import { packedId } from './manifest.ts';
import type { Packs } from './packs.ts';

export function openListing(
  folder: string,
  run: string,
  packs: Packs,
): Pick<Store, 'listRollouts' | 'listRolloutsOf' | 'listFiles' | 'hasPacks' | 'listPacked' | 'packedFiles'> {
  /** Asked for each query: of a run that is packed whole, a call into the folder of each would take most of the time. */
  const hasLoose = shared(async () => isBucketPlace(folder) || (await factsOf(join(folder, ROLLOUTS))) !== undefined);
  return {
    async *listRollouts(onBreach) {
      await packs.refresh();
      const loose = new Set<string>();
      const breaches: Breach[] = [];
      for await (const id of listRollouts(folder, run, (breach) => breaches.push(breach))) {
        if (packs.knows(id)) continue;
        loose.add(packedId(id));
        yield id;
      }
      await packs.refresh();
      // A packer that is at work, or was killed, has removed a part of a packed rollout's files.
      for (const breach of breaches) if (!packs.isPackedFolder(dirname(breach.path))) onBreach?.(breach);
      // A check reports a manifest that it cannot read; to all others a part of the run would seem to be all.
      if (!onBreach) await packs.mustBeWhole();
      for (const id of packs.ids()) if (!loose.has(packedId(id))) yield { run, ...id };
    },

    async listRolloutsOf(query, { partly = false } = {}) {
      const loose = (await hasLoose()) ? await listRolloutsOf(folder, run, query) : [];
      await packs.refresh();
      if (!partly) await packs.mustBeWhole(query);
      const packed = packs.idsOf(query).map((id) => ({ run, ...id }));
      const all = [...packed, ...loose.filter((id) => !packs.knows(id))];
      return all.sort((a, b) => a.sample - b.sample || a.attempt - b.attempt);
    },

    async hasPacks() {
      if (isBucketPlace(folder)) return true;
      await packs.refresh();
      await packs.mustBeWhole();
      return !packs.ids()[Symbol.iterator]().next().done;
    },

    async *listPacked() {
      await packs.refresh();
      await packs.mustBeWhole();
      for (const id of packs.ids()) yield { run, ...id };
    },

    async packedFiles(id) {
      if (!packs.knows(id)) await packs.refresh();
      const lines = await packs.lines(id);
      if (!lines && isBucketPlace(folder)) return objectsOf(join(folder, rolloutFolder(id)));
      return lines && new Map([...lines].map(([name, { text }]) => [name, text]));
    },

    async listFiles(id) {
      const lines = await packs.lines(id);
      if (lines) return [...lines.keys()];
      const names = await namesIn(join(folder, rolloutFolder(id)));
      if (names.includes(ROLLOUT_FILE)) return names;
      await packs.refresh();
      return [...((await packs.lines(id))?.keys() ?? names)];
    },
  };
}

/** Calls at the same time share one look, never one that began before them: it may have looked too early. */
function shared<T>(look: () => Promise<T>): () => Promise<T> {
  let looking: Promise<T> | undefined;
  return async () => {
    await looking?.catch(() => {});
    looking ??= look().finally(() => (looking = undefined));
    return looking;
  };
}

/** Of a rollout's records, all at once: each is a request. */
async function objectsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await namesIn(folder)).filter((name) => !isHarmless(name));
  const texts = await Promise.all(names.map(async (name) => [name, await readText(join(folder, name))] as const));
  return new Map(texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));
}
