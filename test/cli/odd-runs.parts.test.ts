// Runs that a reader meets by chance: torn, of another program, no run at all. Every command that reads
// says so in one paragraph with the way out, and fields that it does not know disturb none.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { openLoose } from '../records/ended-rig.ts';
import { rolloutFolder, RUN_FILE } from '../../records/format/layout.ts';
import { sha256 } from '../../records/format/text.ts';
import type { Store } from '../../records/store.ts';
import { play, putRun, withRecords } from '../records/play.ts';
import { QUERIES, SCRIPTS } from '../viewer/rig.ts';
import { until } from '../support/until.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { scriptedIo } from './scripted-io.ts';

const out = scratchFolder();
const path = (run: string, ...file: string[]) => join(out, run, ...file);
const own = rolloutFolder({ query: 'a1', sample: 0, attempt: 1 });
const TURN = join(own, 'turn-002.json');

async function made(run: string, through: (store: Store) => Store = (store) => store): Promise<void> {
  const store = through(openLoose(out, run));
  await putRun(store, QUERIES, { run });
  for (const [index, script] of SCRIPTS.entries()) await play(store, { run, query: QUERIES[index]!, index, ...script });
}

/** Writes fields that no Everturn of today knows into every record. */
function later(store: Store): Store {
  const more = { 'x-later': { y: [1, '</script>'] } };
  return withRecords(store, {
    run: (run) => ({ ...run, ...more, settings: Object.assign({}, run.settings, { thinking: { budget: [1] } }) }),
    rollout: (rollout) => ({ ...rollout, ...more }),
    turn: (turn) => ({ ...turn, ...more }),
    verdict: (verdict) => ({ ...verdict, ...more }),
    end: (end) => ({ ...end, ...more }),
  });
}

/** A record with another beginning and the hash that is right for it. */
function changed(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const at = text.search(/,(?:\n {2})?"sha256": ?"[0-9a-f]{64}"/);
  const body = change(text.slice(0, at));
  expect(body).not.toBe(text.slice(0, at));
  writeFileSync(`${file}.new`, body + text.slice(at).replace(/[0-9a-f]{64}/, sha256(body)));
  rmSync(file);
  writeFileSync(file, readFileSync(`${file}.new`));
  rmSync(`${file}.new`);
}

/** By name, with what every message about it says. */
const ODD: Readonly<Record<string, RegExp>> = {
  torn: /run\.json is torn: its end is missing.*from a copy of the run/,
  empty: /run\.json is empty.*from a copy of the run/,
  foreign: /run\.json is not a record of ours.*Another program/,
  scrambled: /run\.json is not a record of ours|run\.json is torn/,
  bare: /There is no run "bare"/,
};

beforeAll(async () => {
  await made('good');
  for (const run of ['torn', 'empty', 'foreign', 'scrambled', 'turns']) await made(run);
  await made('fields', later);
  const record = (run: string, text: string) => {
    rmSync(path(run, RUN_FILE));
    writeFileSync(path(run, RUN_FILE), text);
  };
  record('torn', readFileSync(path('good', RUN_FILE), 'utf8').slice(0, -200));
  record('empty', '');
  record('foreign', '{"run": "foreign", "loss": [1, 2]}\n');
  record('scrambled', '\u0000\u001b[2J\u202e{{{');
  mkdirSync(path('bare', 'checkpoints'), { recursive: true });
  changed(path('turns', TURN), (text) => text.replace('everturn-turn/1', 'everturn-turn/2'));
});

/** Nothing listens there: a command that would play is refused, and starts no server of its own. */
const NOBODY = '127.0.0.1:9';

async function called(...args: string[]) {
  const control = new AbortController();
  const io = {
    ...scriptedIo({
      cwd: out,
      env: { EVERTURN_UI: 'on', EVERTURN_HOME: join(out, '.home'), TEMPORAL_ADDRESS: NOBODY },
    }),
    interrupted: () => control.signal,
  };
  let over = false;
  const code = main(io, args).finally(() => (over = true));
  // It serves until Ctrl-C, or it is refused.
  if (args[0] === 'view') await until('its address', () => over || io.text.out !== '').then(() => control.abort());
  return { code: await code, ...io.text };
}

/** Every command that reads a run. */
const READERS: readonly (readonly [string, (run: string) => string[]])[] = [
  ['view', (run) => ['view', run, '--out', out]],
  ['stats', (run) => ['stats', run, '--out', out]],
  ['compare with', (run) => ['compare', 'good', run, '--out', out]],
  ['compare to', (run) => ['compare', run, 'good', '--out', out]],
  ['report', (run) => ['report', run, '--out', out, '--to', join(out, `${run}.html`), '--overwrite']],
  [
    'report --compare',
    (run) => ['report', 'good', '--compare', run, '--out', out, '--to', join(out, 'x.html'), '--overwrite'],
  ],
  ['show', (run) => ['show', run, 'a1', '--out', out]],
  ['why', (run) => ['why', run, 'a1', '--out', out]],
  [
    'export',
    (run) => ['export', run, '--out', out, '--format', 'areal', '--to', join(out, `${run}.jsonl`), '--overwrite'],
  ],
  ['check', (run) => ['check', run, '--out', out]],
  ['status', (run) => ['status', run, '--out', out]],
  ['verdict', (run) => ['verdict', run, 'a1', 'right', '--turn', '1', '--out', out]],
  ['note', (run) => ['note', run, 'a1', 'a note', '--out', out]],
  ['fork', (run) => ['fork', run, 'a1', '--from-turn', '2', '--out', out]],
  ['extend', (run) => ['extend', run, 'a1', '--turns', '1', '--out', out]],
  ['retry', (run) => ['retry', run, 'a3', '--out', out]],
];

const ACTS = ['verdict', 'note', 'fork', 'extend', 'retry'];

describe('a run that cannot be read', () => {
  const all = Object.keys(ODD).flatMap((run) => READERS.map(([name, args]) => [name, run, args] as const));
  test.each(all)('%s %s: one paragraph with the way out', async (name, run, args) => {
    const { code, out: stdout, err } = await called(...args(run));
    // Of a rollout its own records say enough; `check` prints what it found.
    expect(code > 0).toBe(name !== 'show' || run === 'bare');
    const isBreach = name === 'check' && run !== 'bare';
    const said = (isBreach ? stdout : err).trim();
    expect(said).toMatch(ODD[run]!);
    if (isBreach) return;
    expect(said).not.toMatch(/\n\n|^\s+at |\[object|undefined/m);
    expect(said).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(said.split('\n').length).toBeLessThanOrEqual(2);
  });
});

describe('a run of a later Everturn with fields that this one does not know', () => {
  const readOnly = READERS.filter(([name]) => ![...ACTS, 'check'].includes(name));
  test.each(readOnly)('%s reads it, and says nothing of them', async (_, args) => {
    const { code, out: stdout, err } = await called(...args('fields'));
    expect(code, err).toBe(0);
    expect(stdout + err).not.toMatch(/x-later|\[object/);
  });
});

describe('a run that has ended, and has none of its rollouts', () => {
  const READ = ['stats', 'compare', 'report', 'show', 'why', 'export'];
  beforeAll(async () => {
    await made('gone');
    const counts = { ...noCounts(), outcomes: { ...noCounts().outcomes, complete: 2, failed: 1 } };
    await openLoose(out, 'gone').put('result', null, { run: 'gone', total: 4, cancelled: false, numTurns: 3, counts });
    rmSync(path('gone', 'rollouts'), { recursive: true });
  });
  test.each(READERS.filter(([name]) => READ.includes(name.split(' ')[0]!)))(
    '%s takes it for none that nothing was played of',
    async (_, args) => {
      const { code, err } = await called(...args('gone'));
      expect(err).toMatch(
        /a result with 2 complete, and no rollout: a part of rollouts\/ or ended\/ is missing.*copy of the run/,
      );
      expect(code).toBe(1);
    },
  );
});

describe('a run with a record of another format', () => {
  test('has no fork of it, which names the record, and an export leaves it to check', async () => {
    const args = ['turns', 'a1', '--from-turn', '3', '--out', out];
    expect((await called('fork', ...args)).err).toMatch(/turn-002\.json has format "?everturn-turn\/2/);
    const { err } = await called('export', 'turns', '--out', out, '--format', 'areal', '--to', join(out, 'x.jsonl'));
    expect(err).toMatch(/a1, sample 0: broken[^]*everturn check .*names what is broken/);
  });
});

describe('a run with a pipe in place of a file', () => {
  const FILES = {
    ...Object.fromEntries(
      ['rollout', 'turn-001', 'verdict-001', 'end'].map((name) => [name, join(own, `${name}.json`)]),
    ),
    ...Object.fromEntries([RUN_FILE, 'queries.jsonl', 'result.json'].map((name) => [name, name])),
    segment: 'ended/0.jsonl',
  };
  /** Ends the wait of a reader that waits for a writer. */
  let writer: ChildProcess;
  beforeAll(async () => {
    const pipes: string[] = [];
    for (const [name, file] of Object.entries(FILES)) {
      const run = `pipe-${name}`;
      await made(run);
      rmSync(path(run, file), { force: true });
      mkdirSync(dirname(path(run, file)), { recursive: true });
      execFileSync('mkfifo', [path(run, file)]);
      pipes.push(path(run, file));
    }
    writer = spawn('sh', ['-c', 'while sleep 10; do for pipe; do : <> "$pipe"; done; done', 'sh', ...pipes]);
  });
  afterAll(() => writer.kill());
  // Of commands that read alike, one.
  const ONE_EACH = ['view', 'stats', 'compare to', 'report', 'show', 'export', 'check', 'status', 'note', 'fork'];
  const readers = READERS.filter(([name]) => ONE_EACH.includes(name));
  const all = Object.keys(FILES).flatMap((name) => readers.map(([reader, args]) => [reader, name, args] as const));
  test.each(all)('%s does not wait for %s', async (reader, name, args) => {
    const { code, out: stdout, err } = await called(...args(`pipe-${name}`));
    expect(stdout + err).not.toMatch(/^\s+at |\[object/m);
    if (reader === 'check' || (code !== 0 && reader !== 'export'))
      expect(stdout + err).toMatch(/a pipe|is not of this run/);
  });
});

describe('asked for what is not there', () => {
  const asked: readonly (readonly [string, string[], RegExp])[] = [
    ['a turn behind the last', ['fork', 'good', 'a1', '--from-turn', '9'], /has 3 turns\. Give a turn from 1 to 3/],
    ['a query that is not there', ['fork', 'good', 'a9', '--from-turn', '1'], /a9/],
    ['a sample that is not there', ['show', 'good', 'a1', '--sample', '7'], /Its samples: 0/],
    ['an attempt that is not there', ['note', 'good', 'a1', 'x', '--attempt', '3'], /Its samples: 0/],
  ];
  test.each(asked)('%s: one paragraph with the way out', async (_, args, says) => {
    const { code, err } = await called(...args, '--out', out);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
    expect(err.trim()).not.toContain('\n');
  });
});
