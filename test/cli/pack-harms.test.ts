// Whatever happens to the packs of a run, each command that reads them gives what it gave before, or names the file and the way
// out; and the ways out, followed word for word, lead back to the very same run.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { packRun } from '../../storage/pack/pack.ts';
import { FULL } from '../chaos/size.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { again, bytesIn } from '../storage/pack-rig.ts';
import { RUN } from '../storage/play.ts';
import { HARMS, type Plant, type Run } from './pack-harms.ts';
import { scriptedIo } from './scripted-io.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-pack-harms-'));
afterAll(() => rmSync(root, { recursive: true }));
const good = join(root, 'good');
let loose: Record<string, string>;
let before: Record<string, Said>;

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One of each pack, and of two of them. */
const SHOWN = ['one', 'two', 'FOUR'];
const READERS: Readonly<Record<string, (run: string) => readonly string[]>> = {
  ...Object.fromEntries(SHOWN.map((query) => [`show ${query}`, (run: string) => ['show', run, query, '--json']])),
  ...Object.fromEntries(SHOWN.map((query) => [`why ${query}`, (run: string) => ['why', run, query, '--json']])),
  export: (run) => ['export', run, '--format', 'rows', '--out', `${run}.jsonl`],
  stats: (run) => ['stats', run, '--json'],
  'judge --run': (run) => ['judge', '--run', run, '--name', 'again', '--json'],
  check: (run) => ['check', run, '--no-histories', '--no-tokenizer', '--json'],
};

async function called(out: string, args: readonly string[]): Promise<Said> {
  const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(root, '.home') } });
  const code = await main(io, args);
  return { code, out: io.text.out, err: io.text.err };
}

const runOf = (out: string) => join(out, RUN);
const packsOf = (out: string) => join(out, RUN, 'packs');

async function read(out: string, reader: string): Promise<Said> {
  const said = await called(out, READERS[reader]!(runOf(out)));
  if (!(reader in MADE)) return said;
  const [file, made] = MADE[reader]!.map((path) => join(out, path)) as [string, string];
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  rmSync(made, { recursive: true, force: true });
  return { ...said, out: said.out + text };
}

/** The file that a command writes, and what to remove afterwards. */
const MADE: Readonly<Record<string, readonly [string, string]>> = {
  export: [`${RUN}.jsonl`, `${RUN}.jsonl`],
  'judge --run': [`${RUN}/judgements/again.jsonl`, `${RUN}/judgements`],
};

beforeAll(async () => {
  await playGoodRun(good);
  loose = bytesIn(runOf(good));
  await packRun(again(good), { minAgeMs: 0, rolloutsPerPack: 4 });
  before = {};
  for (const reader of Object.keys(READERS)) before[reader] = await read(good, reader);
  const failed = Object.values(before).find(({ code }) => code !== 0);
  if (failed || before['export']!.out.split('\n').length < 6) throw new Error(failed?.err ?? 'no rows');
});

const zipsIn = (out: string): string[] => readdirSync(packsOf(out)).filter((name) => name.endsWith('.zip'));

/** By the judge as well in the small size. */
const JUDGED = ['a zip changed at 0.4', 'a zip that is missing', 'a manifest that is missing', 'a manifest cut'];

async function planted(plant: Plant): Promise<Run & { readonly out: string }> {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(good, out, { recursive: true });
  const run = { folder: runOf(out), packs: packsOf(out), zips: zipsIn(out) };
  await plant(run);
  return { out, ...run };
}

/** A run with the same files, for a command that changes them. */
async function onCopy(
  out: string,
  args: (run: string) => readonly string[],
): Promise<Said & { readonly out2: string }> {
  const other = mkdtempSync(join(root, 'copy-'));
  cpSync(out, other, { recursive: true });
  return { ...(await called(other, args(runOf(other)))), out2: other };
}

const PACK = (run: string) => ['pack', run, '--older-than', '0'];
const UNPACK = (run: string) => ['unpack', run];

/** Less the labels of a group, whose members are those that are exported. */
const rowsOf = (text: string): string[] =>
  text.split('\n').map((line) => line.replace(/,"(?:group_\w+|zero_variance)":[^,}]+/g, ''));

/** Of one paragraph: what a user is shown, and no stack. */
const isPlain = (text: string) => !/\n\s+at /.test(text);

/** Does what the first message with a way out says; false if there is none. */
async function follow(out: string, messages: string): Promise<boolean> {
  for (const line of messages.split('\n')) {
    const name = /packs\/(\d{6,9}(?:-[0-9a-f]{12}\.zip|\.json)|notes\.txt)/.exec(line)?.[1];
    if (name === undefined) continue;
    const at = join(packsOf(out), name);
    const copied = (one: string) =>
      existsSync(join(packsOf(good), one)) && cpSync(join(packsOf(good), one), join(packsOf(out), one));
    if (/Take this file from a copy of the run/.test(line)) copied(name);
    else if (/Take it and its (?:manifest|pack).*from a copy of the run/.test(line))
      for (const one of readdirSync(packsOf(good)).filter((known) => known.startsWith(name.slice(0, 6)))) copied(one);
    else if (/Move it out of the run's folder, and run `everturn pack`/.test(line)) {
      rmSync(at);
      await called(out, PACK(runOf(out)));
    } else if (/Move the wrong one of the two out of the run's folder, and run `everturn pack`/.test(line)) {
      rmSync(at);
      await called(out, PACK(runOf(out)));
    } else if (/Run `everturn pack` on this run/.test(line)) await called(out, PACK(runOf(out)));
    else if (/is not of this run/.test(line)) rmSync(at);
    else continue;
    return true;
  }
  return false;
}

describe('a run with', () => {
  test.each(Object.entries(HARMS))('%s is read right, or named with a way back', async (name, [plant, ...names]) => {
    const run = await planted(plant);
    const { out } = run;
    const isNamed = (text: string) => names.some((one) => text.includes(typeof one === 'string' ? one : one(run)));
    // Its judges are processes.
    const readers = Object.keys(READERS).filter((one) => FULL || one !== 'judge --run' || JUDGED.includes(name));
    for (const reader of readers) {
      const was = before[reader]!;
      const said = await read(out, reader);
      expect(isPlain(said.err), said.err).toBe(true);
      const same = said.code === was.code && said.out.replaceAll(out, good) === was.out;
      if (!same) expect(isNamed(said.out + said.err), `${reader}: ${said.code} ${said.out} ${said.err}`).toBe(true);
      // No row that was not there.
      if (reader === 'export') expect(rowsOf(was.out)).toEqual(expect.arrayContaining(rowsOf(said.out)));
    }
    for (const args of [PACK, UNPACK]) {
      const said = await onCopy(out, args);
      expect(isPlain(said.err), said.err).toBe(true);
      if (said.code !== 0) expect(isNamed(said.err), said.err).toBe(true);
      else if (args === UNPACK) {
        const left = bytesIn(runOf(said.out2));
        expect(Object.fromEntries(Object.entries(left).filter(([path]) => !path.startsWith('packs/')))).toEqual(loose);
      } else
        for (const reader of ['export', 'stats']) {
          const after = await read(said.out2, reader);
          if (after.code === 0 && !after.err.includes('broken'))
            expect(after.out.replaceAll(said.out2, good)).toEqual(before[reader]!.out);
          else expect(isNamed(after.err), after.err).toBe(true);
        }
      rmSync(said.out2, { recursive: true });
    }
    for (let step = 0; ; step++) {
      const found = await called(out, READERS['check']!(runOf(out)));
      if (found.code === 0) break;
      expect(step, found.out + found.err).toBeLessThan(5);
      const lines = await called(out, ['check', runOf(out), '--no-histories', '--no-tokenizer']);
      expect(await follow(out, lines.out + lines.err), lines.out + lines.err).toBe(true);
    }
    await called(out, PACK(runOf(out)));
    for (const reader of readers) {
      const { code, out: text } = await read(out, reader);
      expect({ code, text: text.replaceAll(out, good) }, reader).toEqual({ code: 0, text: before[reader]!.out });
    }
    expect((await called(out, UNPACK(runOf(out)))).code).toBe(0);
    const { [`packs/notes.txt`]: _, ...left } = bytesIn(runOf(out));
    expect(left).toEqual(loose);
    rmSync(out, { recursive: true });
  });
});
