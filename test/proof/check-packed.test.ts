// Whatever harm is found in loose files is found in packs: every planted harm and every forgery, in a folder of which all
// rollouts were packed by a forger (packed.ts); and harms to the packs themselves.

import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { safeName } from '../../domain/ids.ts';
import { areal } from '../../exporters/areal.ts';
import { checkRun } from '../../proof/check.ts';
import { openFileStore } from '../../storage/files.ts';
import { decodeRecord, encodeRecord } from '../../storage/record/text.ts';
import { manifestFile, type PackRecord } from '../../storage/pack/manifest.ts';
import { packRun } from '../../storage/pack/pack.ts';
import { openZipWriter, packed } from '../../storage/pack/zip.ts';
import type { Breach } from '../../storage/store.ts';
import { FULL } from '../chaos/size.ts';
import { RUN } from '../storage/play.ts';
import { seenIn } from '../storage/pack-rig.ts';
import { forgeRun, type LooseRun, unpack } from './forger.ts';
import { playGoodRun, queries } from './good-run.ts';
import { at, harms } from './harms.ts';
import { packAll, publish } from './packed.ts';
import { forgeries } from './run-forgeries.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-check-packed-'));
afterAll(() => rmSync(root, { recursive: true }));
let seen: unknown;
const folders = new Map(queries.map(({ queryId }) => [safeName(queryId), queryId]));
beforeAll(async () => {
  seen = await seenIn(await playGoodRun(join(root, 'good')));
  unpack('run-always.json', join(root, 'played', 'always'));
});

function copy(of: 'good' | 'played'): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(root, of), out, { recursive: true });
  return out;
}
async function breachesOf(out: string, run = RUN): Promise<Breach[]> {
  const breaches: Breach[] = [];
  const options = { export: { exporter: areal } };
  await checkRun(openFileStore(out, run), (breach) => breaches.push(breach), options);
  return breaches;
}
/** The good run, in packs of two rollouts. */
async function packedRun() {
  const out = copy('good');
  await packRun(openFileStore(out, RUN), { minAgeMs: 0, rolloutsPerPack: 2 });
  const folder = join(out, RUN);
  const packs = join(folder, 'packs');
  const zips = readdirSync(packs).filter((name) => name.endsWith('.zip'));
  return { out, folder, packs, zips };
}

describe('a check of packs', () => {
  test('finds nothing in a run that a forger packed and did not change', async () => {
    const out = copy('good');
    await packAll(join(out, RUN), folders);
    expect(await breachesOf(out)).toEqual([]);
    expect(await seenIn(openFileStore(out, RUN))).toEqual(seen);
  });

  /** Harms that a pack has in another form: there is no file to be empty or away. */
  const other: Readonly<Record<string, { readonly path: string; readonly problem: RegExp }>> = {
    'a truncated record': { path: `${at('one')}/turn-003.json`, problem: /is changed/ },
    'an emptied record': { path: `${at('one')}/rollout.json`, problem: /is missing|cannot|not there/ },
    'JSON that is not a record': { path: `${at('one')}/line-8`, problem: /not of this run/ },
    'two turns swapped': { path: `${at('one')}/turn-001.json`, problem: /is in the wrong place of its pack/ },
    'turns of two rollouts swapped': { path: `${at('FOUR')}/turn-001.json`, problem: /belongs to another rollout/ },
    'a rollout in another place': { path: `${at('one', 5)}/rollout.json`, problem: /belongs to another rollout/ },
    'a turn too many': { path: `${at('one')}/turn-003.json again`, problem: /not of this run/ },
    'a verdict without its turn': { path: `${at('one')}/verdict-003.json again`, problem: /not of this run/ },
    'a foreign file beside the records': { path: `${at('one')}/line-9`, problem: /not of this run/ },
  };
  for (const [name, { harm, path, problem }] of Object.entries(harms)) {
    test(`finds ${name}`, async () => {
      const out = copy('good');
      await harm(join(out, RUN));
      await packAll(join(out, RUN), folders);
      const breaches = await breachesOf(out);
      const wanted = other[name] ?? { path, problem };
      const named = breaches.filter((breach) => breach.path === wanted.path).map((breach) => breach.problem);
      expect(named.join('\n'), JSON.stringify(breaches, null, 1)).toMatch(new RegExp(wanted.problem.source, 'm'));
    });
  }

  const always = ['arith-0001', 'arith-0002', 'arith-0003', 'arith-0004', 'arith-0005'];
  // Every third with a commit: check-forgeries.test.ts plants all of them, and here the readers of packs are tested.
  const all = Object.entries(forgeries).filter(([, { byTokenizer }]) => !byTokenizer);
  for (const [name, { change, problem }] of all.filter((_, i) => FULL || i % 3 === 0)) {
    test(`finds ${name}`, async () => {
      const out = copy('played');
      await forgeRun(out, 'always', (whole: LooseRun) => void change(whole));
      const folder = join(out, 'always');
      const known = new Map(always.map((id) => [safeName(id), id]));
      for (const { queryId } of await openFileStore(out, 'always').readQueries(0, 99))
        known.set(safeName(queryId), queryId);
      await packAll(folder, known);
      const breaches = await breachesOf(out, 'always');
      expect(breaches.map((breach) => `${breach.path}: ${breach.problem}`).join('\n')).toMatch(problem);
    });
  }

  test('finds a changed byte wherever it is, and no reader returns what it made', async () => {
    const { out, packs } = await packedRun();
    for (const name of readdirSync(packs)) {
      const path = join(packs, name);
      const bytes = readFileSync(path);
      for (let n = 0; n < 12; n++) {
        const changed = Buffer.from(bytes);
        const place = n === 0 ? 0 : n === 1 ? bytes.length - 1 : Math.floor(Math.random() * bytes.length);
        changed[place] = changed[place]! ^ (1 << Math.floor(Math.random() * 8));
        writeFileSync(path, changed);
        expect(
          (await breachesOf(out)).map((breach) => breach.path),
          `${name} at ${place}`,
        ).toContain(`packs/${name}`);
        const read = await seenIn(openFileStore(out, RUN)).catch((error: unknown) => error);
        if (read instanceof Error) expect(read).toMatchObject({ name: 'StoreError' });
        else expect(read).toEqual(withoutLost(read));
      }
      writeFileSync(path, bytes);
    }
    expect(await breachesOf(out)).toEqual([]);
  });

  test('finds a pack that is cut at any place', async () => {
    const { out, packs, zips } = await packedRun();
    const path = join(packs, zips[0]!);
    const bytes = readFileSync(path);
    for (const length of [0, 1, 21, 22, 100, Math.floor(bytes.length / 2), bytes.length - 22, bytes.length - 1]) {
      writeFileSync(path, bytes.subarray(0, length));
      expect((await breachesOf(out)).map((breach) => breach.path)).toContain(`packs/${zips[0]}`);
    }
  });

  const first = manifestFile(1);
  const planted: Readonly<Record<string, (run: Awaited<ReturnType<typeof packedRun>>) => unknown>> = {
    'a pack that is missing: is missing': ({ packs, zips }) => rmSync(join(packs, zips[0]!)),
    'a manifest that is missing: is named by no manifest, and holds 2 rollouts': ({ folder }) =>
      rmSync(join(folder, first)),
    'the last pack and its manifest gone: never played': ({ folder, packs, zips }) => {
      rmSync(join(folder, manifestFile(5)));
      rmSync(join(packs, zips.at(-1)!));
    },
    'two packs exchanged: is changed': ({ packs, zips }) => {
      renameSync(join(packs, zips[0]!), join(packs, 'x'));
      renameSync(join(packs, zips[1]!), join(packs, zips[0]!));
      renameSync(join(packs, 'x'), join(packs, zips[1]!));
    },
    'a manifest under another number: is not the manifest of a pack of this number': ({ folder }) =>
      cpSync(join(folder, first), join(folder, manifestFile(6))),
    'a manifest far ahead: is missing, though packs/99': ({ folder }) =>
      cpSync(join(folder, first), join(folder, manifestFile(999_999))),
    'a rollout in two packs: which packs/000001.json packs': async ({ folder, packs, zips }) => {
      const { rollouts } = JSON.parse(readFileSync(join(folder, first), 'utf8')) as PackRecord;
      await publish(folder, 6, readFileSync(join(packs, zips[0]!)), rollouts);
    },
    'a rollout that its pack does not hold: does not hold rollouts/': async ({ folder, packs, zips }) => {
      const { rollouts } = JSON.parse(readFileSync(join(folder, first), 'utf8')) as PackRecord;
      rmSync(join(folder, first));
      await publish(folder, 1, readFileSync(join(packs, zips[0]!)), [...rollouts, '7.1 one']);
    },
    'an entry that is of no rollout: is of none of its rollouts': async ({ folder }) => {
      const writer = openZipWriter();
      const parts = writer.add('../../outside.txt', await packed('x'));
      await publish(folder, 6, Buffer.concat([...parts, writer.end()]), []);
    },
    'the log of a version that no turn had: no turn was logged there': async ({ folder }) => {
      const writer = openZipWriter();
      const parts = writer.add('answers/9/one.txt', await packed('x'));
      await publish(folder, 6, Buffer.concat([...parts, writer.end()]), []);
    },
    'a manifest with a field of its own: ': async ({ folder }) => {
      const decoded = decodeRecord('pack', null, readFileSync(join(folder, first), 'utf8'));
      const record = { ...(decoded as { record: object }).record, more: 1 };
      writeFileSync(join(folder, first), (await encodeRecord('pack', null, record)).text);
    },
    'a foreign file among the packs: is not of this run': ({ packs }) => writeFileSync(join(packs, 'notes.txt'), 'x'),
    'a loose log that is not its packed twin: is not what its pack holds': ({ folder }) => {
      cpSync(join(root, 'good', RUN, 'answers'), join(folder, 'answers'), { recursive: true });
      writeFileSync(join(folder, 'answers/0/one.txt'), 'other');
    },
    'a loose file that its packed rollout never had: is not what its pack holds': ({ folder }) => {
      cpSync(join(root, 'good', RUN, at('one')), join(folder, at('one')), { recursive: true });
      writeFileSync(join(folder, at('one'), 'turn-004.json'), '{}\n');
    },
  };
  for (const [name, harm] of Object.entries(planted)) {
    const [what, problem] = name.split(': ');
    test(`finds ${what}`, async () => {
      const run = await packedRun();
      await harm(run);
      const said = (await breachesOf(run.out)).map((breach) => `${breach.path}: ${breach.problem}`);
      expect(said.join('\n')).toContain(problem!);
      expect(said.length).toBeGreaterThan(0);
    });
  }
});

describe('a pack of which nothing can be read', () => {
  const gone: Readonly<Record<string, (run: Awaited<ReturnType<typeof packedRun>>) => unknown>> = {
    'is missing: its 2 rollouts cannot be read. Take this file from a copy of the run': ({ packs, zips }) =>
      rmSync(join(packs, zips[0]!)),
    'is cut or changed: its directory is not where its end says: its 2 rollouts cannot be read': ({ packs, zips }) =>
      writeFileSync(join(packs, zips[0]!), 'x'.repeat(1000)),
    'is named by no manifest, and holds 1 rollout that is nowhere else. Run `everturn pack`': ({ folder, zips }) =>
      rmSync(join(folder, `packs/${zips.at(-1)!.slice(0, 6)}.json`)),
  };
  test.each(Object.entries(gone))('is one line of a check: %s', async (problem, harm) => {
    const run = await packedRun();
    await harm(run);
    const said = (await breachesOf(run.out)).map((breach) => `${breach.path}: ${breach.problem}`);
    expect(said).toEqual([expect.stringMatching(/^packs\/\d{6}-[0-9a-f]{12}\.zip: /)]);
    expect(said[0]).toContain(problem);
  });
});

interface Seen {
  readonly rollouts: readonly { readonly logs: readonly unknown[] }[];
}

/** What the good run shows, less the logs whose name in the pack was changed: nobody knows that they were there. */
function withoutLost(read: unknown): unknown {
  const lost = (i: number, j: number) => (read as Seen).rollouts[i]?.logs[j] === undefined;
  const rollouts = (seen as Seen).rollouts.map((rollout, i) => ({
    ...rollout,
    logs: rollout.logs.map((log, j) => (lost(i, j) ? undefined : log)),
  }));
  return { ...(seen as Seen), rollouts };
}
