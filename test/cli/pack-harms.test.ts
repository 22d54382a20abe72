// Whatever happens to the packs of a run, each command that reads them gives what it gave before, or names the file and the way
// out; and the ways out, followed word for word, lead back to the very same run.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { packRun } from '../../storage/pack/pack.ts';
import type { PackRecord } from '../../storage/pack/manifest.ts';
import { openPackFile } from '../../storage/pack/pack-file.ts';
import { openZipWriter, packed } from '../../storage/pack/zip.ts';
import { FULL } from '../chaos/size.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { publish } from '../proof/packed.ts';
import { again, bytesIn } from '../storage/pack-rig.ts';
import { RUN } from '../storage/play.ts';
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
  export: (run) => ['export', run, '--format', 'rows'],
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
  if (reader !== 'judge --run') return said;
  const file = join(runOf(out), 'judgements/again.jsonl');
  const verdicts = existsSync(file) ? readFileSync(file, 'utf8') : '';
  rmSync(join(runOf(out), 'judgements'), { recursive: true, force: true });
  return { ...said, out: said.out + verdicts };
}

beforeAll(async () => {
  await playGoodRun(good);
  loose = bytesIn(runOf(good));
  await packRun(again(good), { minAgeMs: 0, rolloutsPerPack: 4 });
  before = {};
  for (const reader of Object.keys(READERS)) before[reader] = await read(good, reader);
  for (const [reader, { code, err }] of Object.entries(before)) expect(code, `${reader}: ${err}`).toBe(0);
});

const zipsIn = (out: string): string[] => readdirSync(packsOf(out)).filter((name) => name.endsWith('.zip'));

interface Run {
  readonly out: string;
  readonly packs: string;
  readonly zips: readonly string[];
}

type Plant = (run: Run) => unknown;

const changed =
  (name: (run: Run) => string, at: (bytes: number) => number): Plant =>
  (run) => {
    const path = join(run.packs, name(run));
    const bytes = readFileSync(path);
    const place = at(bytes.length);
    bytes[place] = bytes[place]! ^ (1 << (place % 8));
    writeFileSync(path, bytes);
  };

const cut =
  (to: (bytes: number) => number): Plant =>
  ({ packs, zips }) => {
    const bytes = readFileSync(join(packs, zips[1]!));
    writeFileSync(join(packs, zips[1]!), bytes.subarray(0, to(bytes.length)));
  };

/** The zip again with other entries, as a zip program would leave it. */
const rewritten =
  (entries: (name: string, text: string) => readonly (readonly [string, string])[]): Plant =>
  async ({ packs, zips }) => {
    const file = openPackFile(join(packs, zips[1]!));
    const writer = openZipWriter();
    const parts: Buffer[] = [];
    for (const name of (await file.entries()).keys())
      for (const [as, text] of entries(name, (await file.text(name))!))
        parts.push(...writer.add(as, await packed(text)));
    file.close();
    writeFileSync(join(packs, zips[1]!), Buffer.concat([...parts, writer.end()]));
  };

const without =
  (number: number): Plant =>
  ({ packs }) =>
    rmSync(join(packs, `00000${number}.json`));

const both =
  (...plants: readonly Plant[]): Plant =>
  async (run) => {
    for (const plant of plants) await plant(run);
  };

const zip = ({ zips }: Run) => zips[1]!;
const OTHER = '000007-0123456789ab.zip';
const isRollout = (name: string) => name.startsWith('rollouts/');
/** Parts of a file: of a zip its entries, then its directory. */
const PLACES = FULL ? [0, 0.02, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99] : [0, 0.4, 0.8];

/** With the names of which a message must have one. */
const HARMS: Readonly<Record<string, readonly [Plant, ...(string | ((run: Run) => string))[]]>> = {
  'a zip cut to nothing': [cut(() => 0), zip],
  'a zip cut in the middle': [cut((bytes) => bytes >> 1), zip],
  'a zip without its last byte': [cut((bytes) => bytes - 1), zip],
  ...Object.fromEntries(
    PLACES.map((part) => [`a zip changed at ${part}`, [changed(zip, (bytes) => Math.floor(bytes * part)), zip]]),
  ),
  'a zip changed in its last byte': [changed(zip, (bytes) => bytes - 1), zip],
  'a zip that is missing': [({ packs, zips }) => rmSync(join(packs, zips[1]!)), zip],
  'a zip under two names': [({ packs, zips }) => cpSync(join(packs, zips[1]!), join(packs, OTHER)), OTHER],
  'a zip under another name': [({ packs, zips }) => renameSync(join(packs, zips[1]!), join(packs, OTHER)), zip],
  'two zips exchanged': [
    ({ packs, zips }) => {
      renameSync(join(packs, zips[1]!), join(packs, 'x'));
      renameSync(join(packs, zips[0]!), join(packs, zips[1]!));
      renameSync(join(packs, 'x'), join(packs, zips[0]!));
    },
    zip,
    ({ zips }) => zips[0]!,
  ],
  'an entry doubled in a zip': [
    rewritten((name, text) =>
      isRollout(name)
        ? [
            [name, text],
            [name, text],
          ]
        : [[name, text]],
    ),
    zip,
  ],
  'an entry renamed in a zip': [
    rewritten((name, text) => [[isRollout(name) ? name.replace(/0\.1\.jsonl$/, '8.1.jsonl') : name, text]]),
    zip,
  ],
  'an entry gone from a zip': [rewritten((name, text) => (/0\.1\.jsonl$/.test(name) ? [] : [[name, text]])), zip],
  'a manifest that is missing': [without(2), zip],
  'the last manifest missing': [without(3), ({ zips }) => zips[2]!],
  'all manifests missing': [both(without(1), without(2), without(3)), '.zip'],
  ...Object.fromEntries(
    PLACES.map((part) => [
      `a manifest changed at ${part}`,
      [
        changed(
          () => '000002.json',
          (bytes) => Math.floor(bytes * part),
        ),
        '000002.json',
        zip,
      ],
    ]),
  ),
  'a manifest cut': [
    ({ packs }) => writeFileSync(join(packs, '000002.json'), readFileSync(join(packs, '000002.json')).subarray(0, 90)),
    '000002.json',
    zip,
  ],
  'the manifest of another pack': [
    ({ packs }) => cpSync(join(packs, '000001.json'), join(packs, '000002.json')),
    '000002.json',
    zip,
  ],
  'two manifests of one pack': [
    async ({ out, packs, zips }) => {
      const { rollouts } = JSON.parse(readFileSync(join(packs, '000002.json'), 'utf8')) as PackRecord;
      await publish(runOf(out), 4, readFileSync(join(packs, zips[1]!)), rollouts);
    },
    '000004.json',
    '000004-',
  ],
  'a foreign file': [({ packs }) => writeFileSync(join(packs, 'notes.txt'), 'x'), 'notes.txt'],
  'a zip cut whose manifest is missing': [
    both(
      cut((bytes) => bytes >> 1),
      without(2),
    ),
    zip,
  ],
  ...Object.fromEntries(
    PLACES.map((part) => [
      `a zip changed at ${part} whose manifest is missing`,
      [
        both(
          changed(zip, (bytes) => Math.floor(bytes * part)),
          without(2),
        ),
        zip,
      ],
    ]),
  ),
  'an entry doubled in a zip whose manifest is missing': [
    both(
      rewritten((name, text) =>
        isRollout(name)
          ? [
              [name, text],
              [name, text],
            ]
          : [[name, text]],
      ),
      without(2),
    ),
    zip,
  ],
  'an entry renamed in a zip whose manifest is missing': [
    both(
      rewritten((name, text) => [[isRollout(name) ? name.replace(/0\.1\.jsonl$/, '8.1.jsonl') : name, text]]),
      without(2),
    ),
    zip,
  ],
  'a zip under two names whose manifest is missing': [
    both(({ packs, zips }) => cpSync(join(packs, zips[1]!), join(packs, OTHER)), without(2)),
    zip,
    OTHER,
  ],
};

/** By the judge as well in the small size. */
const JUDGED = ['a zip changed at 0.4', 'a zip that is missing', 'a manifest that is missing', 'a manifest cut'];

async function planted(plant: Plant): Promise<Run> {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(good, out, { recursive: true });
  const run = { out, packs: packsOf(out), zips: zipsIn(out) };
  await plant(run);
  return run;
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
    const messages: string[] = [];
    // Its judges are processes.
    const readers = Object.keys(READERS).filter((one) => FULL || one !== 'judge --run' || JUDGED.includes(name));
    for (const reader of readers) {
      const was = before[reader]!;
      const said = await read(out, reader);
      expect(isPlain(said.err), said.err).toBe(true);
      const same = said.code === was.code && said.out.replaceAll(out, good) === was.out;
      if (!same) expect(isNamed(said.out + said.err), `${reader}: ${said.code} ${said.out} ${said.err}`).toBe(true);
      // No row that was not there.
      if (reader === 'export')
        expect(was.out.split('\n')).toEqual(expect.arrayContaining(said.out.split('\n')) as string[]);
      messages.push(said.err, said.out);
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
