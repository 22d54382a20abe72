// The promise: whatever record of a rollout comes last, and at whichever byte it was cut, readers return every whole
// record and never throw, `check` names the torn file, and who resumes writes that record again to the byte, with what
// was left of it kept as evidence. No power cut is simulated: the files are cut, as a broken disk would.

import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRun } from '../../records/check/check.ts';
import { openLoose } from '../records/ended-rig.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import type { Breach, Store } from '../../records/store.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { aQuery, play, putRun, RUN, type Script } from '../records/play.ts';
import { FULL } from './size.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

/** At how many bytes a record is cut. */
const cutsOf = (length: number): number[] => {
  const all = Array.from({ length }, (_, bytes) => bytes);
  const step = Math.ceil(length / 30);
  return FULL ? all : all.filter((bytes) => bytes % step === 0 || bytes >= length - 2);
};
const id = { run: RUN, query: 'one', sample: 0, attempt: 1 };
const script: Script = {
  query: aQuery('one'),
  verdicts: ['wrong', 'right', 'wrong'],
  turn: (turn) => ({ answer: said(turn), outputText: `${said(turn)}</s>` }),
};
function said(turn: number): string {
  return `Let me see. ${'∞ is no number. '.repeat(140)}It is ${turn}.`;
}
/** The records of a rollout in the order in which they appear. */
const FILES = ['rollout', 'turn-001', 'verdict-001', 'turn-002', 'verdict-002', 'turn-003', 'verdict-003', 'end'];

/** The rollout as it stood when `last` had just been written; what it was before that; and what writes it again. */
async function stateAt(last: number) {
  const store = openLoose(mkdtempSync(join(root, 'out-')));
  await putRun(store, [script.query]);
  await play(store, script);
  const folder = join(store.folder, rolloutFolder(id));
  for (const name of FILES.slice(last + 1)) rmSync(join(folder, `${name}.json`));
  const path = join(folder, `${FILES[last]}.json`);
  const whole = readFileSync(path);
  const again = writerOf(store, FILES[last]!);
  const write = await again();
  rmSync(path);
  const before = await readTrajectory(store, id);
  writeFileSync(path, whole);
  return { store, path, whole, before, write };
}

function writerOf(store: Store, name: string): () => Promise<() => Promise<{ readonly created: boolean }>> {
  const turn = Number(name.slice(-3));
  return async () => {
    if (name === 'rollout') {
      const { record } = (await store.get('rollout', id))!;
      return () => store.put('rollout', id, record);
    }
    if (name === 'end') {
      const { record } = (await store.get('end', id))!;
      return () => store.put('end', id, record);
    }
    if (name.startsWith('turn')) {
      const { record } = (await store.get('turn', id, turn))!;
      return () => store.put('turn', id, record);
    }
    const { record } = (await store.get('verdict', id, turn))!;
    return () => store.put('verdict', id, record);
  };
}

let variants = 0;

describe('a record cut short', () => {
  for (const [last, name] of FILES.entries()) {
    test(`leaves the rest to be read, is named by check, and is written again: ${name}.json`, async () => {
      const { store, path, whole, before, write } = await stateAt(last);
      for (const [n, bytes] of cutsOf(whole.length).entries()) {
        truncateSync(path, bytes);
        expect(await readTrajectory(store, id), `${bytes} bytes`).toEqual(before);
        if (n % (FULL ? 97 : 5) === 0) expect(await breaches(store), `${bytes} bytes`).toContain(`${name}.json`);
        expect((await write()).created, `${bytes} bytes`).toBe(true);
        expect(readFileSync(path).equals(whole), `${bytes} bytes`).toBe(true);
        const torn = readdirSync(dirname(path)).filter((file) => file.endsWith('.torn'));
        expect(torn).toHaveLength(1);
        expect(readFileSync(join(dirname(path), torn[0]!)).length).toBe(bytes);
        rmSync(join(dirname(path), torn[0]!));
        variants++;
      }
      // Played on from there, it is the whole rollout.
      truncateSync(path, 1);
      rmSync(join(store.folder, 'answers'), { recursive: true });
      await play(store, script);
      expect(await breaches(store)).toEqual([]);
      expect((await readTrajectory(store, id))!.turns).toHaveLength(3);
    });
  }

  test('was tried at hundreds of bytes, or at all', () => {
    console.log(`${variants} cut records`);
    expect(variants).toBeGreaterThanOrEqual(FULL ? 10_000 : 200);
  });
});

async function breaches(store: Store): Promise<string[]> {
  const found: Breach[] = [];
  // No collection plays it: none will write a result.
  await checkRun(store, (breach) => found.push(breach), { isGoing: async () => true });
  return found.map(({ path }) => path.split('/').at(-1)!);
}
