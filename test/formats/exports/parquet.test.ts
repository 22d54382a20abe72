// Both forms of Parquet against the JSON lines and the records they are made of, read by another library than wrote them.
// pyarrow and DuckDB read the same files in test/real/trainers.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextIds } from '../../../domain/rollout/turn-facts.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import type { EnvironmentRecord } from '../../../domain/rollout/environment.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { type NeutralRow, neutralRow } from '../../../domain/samples/neutral-row.ts';
import type { Encoder, Exporter } from '../../../domain/samples/exporter.ts';
import { openParquet, parquet, rolloutTable, parquetTurns, turnRowForm } from '../../../formats/exports/parquet.ts';
import type { TurnRow } from '../../../formats/exports/turn-row.ts';
import { type ExportOptions, exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { Store } from '../../../records/store.ts';
import { asFloat32, trajectories } from '../../domain/random-trajectory.ts';
import { RUN } from '../../records/play.ts';
import { LOGPROBS, oddRun } from './odd-run.ts';
import { someRun } from './some-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-parquet-'));
const [some, odd] = ['some', 'odd'].map((name) => openFileStore(join(folder, name), RUN)) as [Store, Store];
beforeAll(async () => {
  await someRun(some);
  await oddRun(odd);
});
afterAll(() => rmSync(folder, { recursive: true }));

const bufferOf = (bytes: Uint8Array) =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;

/** 64-bit numbers and missing lists as JSON has them. */
async function readRows<Row>(file: ArrayBuffer): Promise<Row[]> {
  const plain = (value: unknown) => (typeof value === 'bigint' ? Number(value) : (value ?? null));
  const rows = await parquetReadObjects({ file });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])) as Row);
}

async function linesOf<Row>(store: Store, form: Exporter, options: ExportOptions): Promise<Row[]> {
  const { open: _, ...exporter } = form;
  const file = join(folder, 'lines.jsonl');
  await exportRun(store, exporter, file, options);
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}

async function turnsOf(store: Store, options: ExportOptions = {}): Promise<TurnRow[]> {
  const file = join(folder, 'turns.parquet');
  await exportRun(store, parquetTurns, file, options);
  return readRows<TurnRow>(bufferOf(readFileSync(file)));
}

async function encoded(encoder: Encoder, made: readonly Trajectory[]): Promise<ArrayBuffer> {
  const chunks = [...made.flatMap((one) => encoder.add(one, {})), ...encoder.end()];
  return bufferOf(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array))));
}

interface Sized {
  readonly query: string;
}
const FORMS = [
  { form: parquet, table: rolloutTable },
  { form: parquetTurns, table: turnRowForm },
] as unknown as readonly { form: Exporter; table: typeof turnRowForm }[];

describe.each(FORMS)('the rows of $form.name', ({ form, table }) => {
  test.each([1, 5, 30, 1 << 20])('are those of the JSON lines in row groups of %i tokens', async (groupTokens) => {
    const file = join(folder, 'rows.parquet');
    const options = { advantages: 'mean' } as const;
    const lines = await linesOf<TurnRow & Sized>(some, form, options);
    const { lines: many } = await exportRun(
      some,
      { ...form, open: () => openParquet(table, groupTokens) },
      file,
      options,
    );
    const buffer = bufferOf(readFileSync(file));
    expect(await readRows(buffer)).toEqual(lines);
    const groups = parquetMetadata(buffer).row_groups.map(({ num_rows: count }) => Number(count));
    expect(groups.length > 1).toBe(groupTokens < 100);
    let at = 0;
    for (const count of groups) {
      const rows = lines.slice(at, (at += count));
      const tokens = rows.reduce((sum, row) => sum + table.tokensOf(row), 0);
      const next = lines[at];
      if (next) expect(tokens).toBeGreaterThanOrEqual(groupTokens * (rows.at(-1)!.query === next.query ? 8 : 1));
    }
    expect([at, many]).toEqual([lines.length, lines.length]);
  });

  test.each<[string, Partial<TurnRecord>, string]>([
    ['a logprob of minus infinity', { logprobs: [Number.NEGATIVE_INFINITY] }, '-Infinity is not a float32'],
    ['a logprob that is no number', { logprobs: [Number.NaN] }, 'NaN is not a float32'],
    ['an id beyond int32', { outputIds: [2 ** 31] }, 'token id 2147483648'],
  ])('hold nothing of a rollout with %s, which is named', async (_, part, problem) => {
    const [one, other] = fc.sample(trajectories, { numRuns: 2, seed: 3 }) as [Trajectory, Trajectory];
    const whole = await encoded(form.open!(), [one, other]);
    const record = one.turns.at(-1)!.record;
    const wrong = { ...record, outputIds: [1], logprobs: [-1], versions: [{ version: 0, start: 0, end: 1 }], ...part };
    const broken = { ...one, turns: [...one.turns.slice(0, -1), { ...one.turns.at(-1)!, record: wrong }] };
    const encoder = form.open!();
    const before = encoder.add(one, {});
    expect(() => encoder.add(broken, {})).toThrow(expect.objectContaining({ reason: 'record-broken' }));
    expect(() => encoder.add(broken, {})).toThrow(problem);
    const chunks = [...before, ...encoder.add(other, {}), ...encoder.end()];
    expect(bufferOf(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array))))).toEqual(whole);
  });
});

describe('rewards of tokens', () => {
  test('are a column of a run that places some, beside kept sets or without', async () => {
    const [one] = fc.sample(trajectories, { numRuns: 1, seed: 2 }) as [Trajectory];
    const { settings } = one.rollout;
    const columnsOf = async (part: Partial<typeof settings>) => {
      const made = { ...one, rollout: { ...one.rollout, settings: { ...settings, temperature: 1, ...part } } };
      const file = await encoded(parquet.open!(), [made]);
      const [row] = await readRows<NeutralRow>(file);
      return { row, names: Object.keys(row!).filter((name) => /^(kept|biased|token_rewards)/.test(name)) };
    };
    const environments = [{ name: 'e', credits: true } as EnvironmentRecord];
    const biased = { topP: 0.9, allowBiasedLogprobs: true };
    const kept = ['kept_ids', 'kept_missing', 'biased_logprobs'];
    expect((await columnsOf({})).names).toEqual([]);
    expect((await columnsOf(biased)).names).toEqual(kept);
    expect((await columnsOf({ ...biased, environments })).names).toEqual([...kept, 'token_rewards']);
    const { row, names } = await columnsOf({ environments });
    expect(names).toEqual(['token_rewards']);
    const rollout = { ...one.rollout, settings: { ...settings, environments } };
    expect(row!.token_rewards).toEqual(neutralRow({ ...one, rollout }).token_rewards);
  });
});

describe('a row for a turn', () => {
  test('holds the tokens of the records, the float32 bits of their logprobs, and the version of each token', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(trajectories, { minLength: 1, maxLength: 3 }),
        fc.nat(40),
        async (made, groupTokens) => {
          const rows = await readRows<TurnRow>(await encoded(openParquet(turnRowForm, groupTokens), made));
          const turns = made.flatMap((one) => one.turns.map(({ record }, t) => ({ ...one, record, t })));
          expect(rows).toHaveLength(turns.length);
          for (const [i, { record, t, end, turns: all }] of turns.entries()) {
            const row = rows[i]!;
            const records = all.map((played) => played.record);
            expect([row.turn, row.turns]).toEqual([t + 1, all.length]);
            expect(row.prompt_ids).toEqual(contextIds(records, t + 1));
            expect(row.response_ids).toEqual(record.outputIds);
            expect(row.logprobs).toEqual(asFloat32(record.logprobs));
            const versionAt = (k: number) => record.versions.find((span) => span.start <= k && k < span.end)!.version;
            expect(row.versions).toEqual(record.outputIds.map((_, k) => versionAt(k)));
            expect([row.reward, row.discounted_return]).toEqual([
              Math.fround(end!.turnRewards[t]!),
              Math.fround(end!.returns[t]!),
            ]);
            expect([row.prompt_tokens, row.response_tokens]).toEqual([
              row.prompt_ids!.length,
              row.response_ids!.length,
            ]);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test('has null for what nobody knows, and never 0', async () => {
    const rows = await turnsOf(odd);
    const of = (query: string) => rows.filter((row) => row.query === query);
    const unknown = { prompt_ids: null, response_ids: null, logprobs: null, versions: null, logprobs_of: null };
    const uncounted = { version_start: null, version_end: null, prompt_tokens: null };
    expect(of('words')).toMatchObject(
      [0, 1].map((success) => ({ ...unknown, ...uncounted, response_tokens: null, success })),
    );
    expect(of('counted')).toMatchObject([{ ...unknown, ...uncounted, response_tokens: 2, success: 1 }]);
    const none = { response_ids: [], logprobs: [], versions: [], version_start: 3, response_tokens: 0, answer: '' };
    expect(of('empty')[0]).toMatchObject({ ...none, prompt_ids: [7], prompt_tokens: 1, success: 0 });
    expect(of('empty')[0]!.advantage).toBeNull();
    expect(of('extreme')[0]!.logprobs).toEqual(LOGPROBS.map(Math.fround));
    expect(of('extreme')[0]).toMatchObject({
      truncated: 1,
      finish: 'length',
      versions: [0, ...Array(4).fill(2 ** 31 - 1)],
    });
  });

  test('of a tool’s call is neither right nor wrong, and has the return of the answer that follows', async () => {
    const rows = (await turnsOf(odd)).filter(({ query }) => query === 'tools');
    expect(rows.map(({ verdict, success, reward }) => [verdict, success, reward === 0])).toEqual([
      ['called', null, true],
      ['wrong', 0, false],
      ['called', null, true],
      ['right', 1, false],
    ]);
    expect(rows[0]!.discounted_return).toBe(rows[1]!.discounted_return);
    expect(rows[2]!.discounted_return).toBe(rows[3]!.discounted_return);
    for (const [t, row] of rows.entries()) {
      const before = rows[t - 1];
      const known = before ? [...before.prompt_ids!, ...before.response_ids!] : [];
      expect(row.prompt_ids!.slice(0, known.length)).toEqual(known);
      expect(row.context_text).toBe(`result ${t + 1}`);
    }
  });

  test('of a rollout that is not complete has its verdict and reward, and no return', async () => {
    const rows = await turnsOf(odd);
    const of = (query: string) =>
      rows.flatMap((row) =>
        row.query === query
          ? [[row.outcome, row.verdict, row.success, row.reward, row.discounted_return, row.rollout_success]]
          : [],
      );
    const wrong = Math.fround(-0.33);
    const right = Math.fround(0.27);
    expect(of('failed')).toEqual([['failed', 'wrong', 0, wrong, null, null]]);
    expect(of('undecided')).toEqual([
      ['undecided', 'wrong', 0, wrong, null, null],
      ['undecided', 'undecided', null, null, null, null],
    ]);
    expect(of('cancelled')).toEqual([
      ['cancelled', 'right', 1, right, null, 1],
      ['cancelled', 'wrong', 0, wrong, null, 1],
    ]);
    expect(of('lost').map(([, verdict, success]) => [verdict, success])).toEqual([
      ['wrong', 0],
      ['called', 0],
    ]);
    expect([...of('at-once'), ...of('unfinished')]).toEqual([]);
    const finished = await turnsOf(odd, { undecided: 'finished-turns' });
    expect(finished.filter(({ query }) => query === 'undecided')).toMatchObject([
      { outcome: 'complete', stop_reason: 'undecided', reward: wrong, discounted_return: wrong, turns: 1 },
    ]);
  });

  test('is counted with its rollout: what has no turn, or has not ended, is left out by name', async () => {
    const summary = await exportRun(odd, parquetTurns, join(folder, 'turns.parquet'), {});
    expect(summary).toMatchObject({ exported: 9, finishedTurns: 0, skipped: { failed: 1, unfinished: 1 } });
    const filter = { successRate: null, dropZeroVariance: false, minMembers: 1 };
    const rows = await turnsOf(some, { filter, advantages: 'std' });
    expect(rows.find(({ id }) => id === 'q%403@1')).toMatchObject({
      outcome: 'failed',
      group_size: 1,
      advantage: null,
    });
  });

  test('of a long rollout goes to the file before the next is made, so that memory holds some', async () => {
    const [one] = fc.sample(trajectories, { numRuns: 1, seed: 1 }) as [Trajectory];
    const [played] = one.turns;
    const TURNS = 64;
    const record = { ...played!.record, contextIds: [1], outputIds: [2, 3, 4], logprobs: [-1, -2, -3] };
    const versions = [{ version: 0, start: 0, end: 3 }];
    const turns = Array.from({ length: TURNS }, (_, t) => ({
      ...played!,
      record: { ...record, versions, turn: t + 1, contextLength: 4 * t + 1 },
    }));
    const each = <T>(value: T) => Array<T>(TURNS).fill(value);
    const long = {
      ...one,
      turns,
      end: { ...one.end!, turnRewards: each(1), returns: each(1), success: each(1 as const) },
    };
    const buffer = await encoded(openParquet(turnRowForm, 100), [long]);
    const groups = parquetMetadata(buffer).row_groups.map(({ num_rows: count }) => Number(count));
    expect(groups.length).toBeGreaterThan(4);
    const rows = await readRows<TurnRow>(buffer);
    expect(rows.map(({ prompt_ids: prompt }) => prompt!.length)).toEqual(turns.map((_, t) => 4 * t + 1));
  });
});
