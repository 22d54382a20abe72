import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plannedExport } from '../../../library/export-plan.ts';
import { statisticsOf } from '../../../library/statistics.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { runPlace } from '../../../run/place.ts';
import { aQuery, play, putRun, RUN, someSettings, withRecords } from '../../records/play.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import type { EndRecord } from '../../../domain/rollout/trajectory.ts';
import { inspectLog } from '../../../formats/exports/inspect.ts';
import { ODD, oddRun } from './odd-run.ts';
import { playedCalls } from './played-calls.ts';
import { someRun } from './some-run.ts';
import { zipEntries } from './zip-entries.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Fields = Record<string, any>; // oxlint-disable-line no-explicit-any

async function logOf(out: string) {
  const file = join(out, 'log.eval');
  const { summary } = await plannedExport('inspect', {})(openFileStore(out, RUN), {
    ...{ to: file, overwrite: false, onSkip: () => {} },
  });
  const entries = zipEntries(readFileSync(file));
  const json = (name: string): Fields => JSON.parse(entries.get(name)!) as Fields;
  const samples = [...entries.keys()].filter((name) => name.startsWith('samples/')).map(json);
  return { summary, entries, json, samples, header: json('header.json') };
}

describe('a log of Inspect', () => {
  let log: Awaited<ReturnType<typeof logOf>>;
  const out = join(folder, 'some');
  beforeAll(async () => {
    await someRun(openFileStore(out, RUN));
    log = await logOf(out);
  });

  test('has each ended rollout as a sample under its query’s id, its epoch from 1, and a list of them', () => {
    const { entries, samples, json, summary } = log;
    expect([...entries.keys()].filter((name) => !name.startsWith('samples/'))).toEqual([
      ...['_journal/start.json', 'summaries.json', 'header.json'],
    ]);
    expect(entries.has('samples/q@3_epoch_3.json')).toBe(true);
    expect(samples).toHaveLength(13);
    expect(summary).toMatchObject({ exported: 13, lines: 13, skipped: {} });
    const listed = json('summaries.json') as unknown as Fields[];
    expect(listed.map(({ id, epoch, scores }) => [id, epoch, scores.judge?.value])).toEqual(
      samples.map(({ id, epoch, scores }) => [id, epoch, scores.judge?.value]),
    );
  });

  test('holds what the model was sent and answered, to the last answer and nothing after it', () => {
    const { messages, input, output, target } = log.json('samples/q1_epoch_2.json');
    expect(messages.map(({ role, content }: Fields) => [role, content])).toEqual([
      ['system', 'Answer.'],
      ['user', 'What is q1?'],
      ['assistant', 'wrong 1 1'],
      ['user', "Unfortunately your answer is wrong. Let's try again."],
      ['assistant', 'right 1 2'],
    ]);
    expect(input).toEqual(messages.slice(0, 2));
    expect(output).toMatchObject({ completion: 'right 1 2', choices: [{ stop_reason: 'stop' }] });
    expect(target).toBe('42');
    expect(log.json('samples/raw_epoch_1.json').input).toBe('What is raw?');
  });

  test('says the accuracies of `stats`, with their errors and numbers of queries', async () => {
    const { lastAnswer, passAtKFirst, passAtK } = await statisticsOf(runPlace(out, RUN));
    const said = (log.header['results'].scores as Fields[]).map(({ name, reducer, scored_samples: n, metrics }) => [
      ...[name, reducer, n, metrics.accuracy.value, metrics.stderr.value],
    ]);
    const of = (name: string, reducer: string, { n, value, standardError }: typeof lastAnswer) => [
      ...[name, reducer, n, value, standardError],
    ];
    expect(said).toEqual([
      of('judge', 'mean', lastAnswer),
      of('judge_turn_1', 'mean', passAtKFirst[0]!),
      of('judge_any_turn', 'mean', passAtK[0]!),
      of('judge_any_turn', 'pass_at_3', passAtK[1]!),
    ]);
  });

  test('scores a rollout that failed or could not be judged by nothing, and never as wrong', () => {
    const failed = log.json('samples/q@3_epoch_2.json');
    const undecided = log.json('samples/q@3_epoch_3.json');
    expect([failed['scores'], undecided['scores']].map(({ judge }) => judge)).toEqual([undefined, undefined]);
    expect(failed['error'].message).toBe('scripted at turn 2: as the script says');
    expect(undecided).toMatchObject({ error: null, metadata: { outcome: 'undecided', undecided: 'scripted' } });
  });

  test('has rollouts of every kind: without a turn, cancelled, without counts of tokens; none that has not ended', async () => {
    const odd = join(folder, 'odd');
    await oddRun(openFileStore(odd, RUN));
    const { samples, summary } = await logOf(odd);
    expect(samples.map(({ id }) => id)).toEqual(ODD.flatMap(([id]) => (id === 'unfinished' ? [] : [id])));
    expect(summary.skipped).toEqual({ unfinished: 1 });
    const byId = (id: string) => samples.find((sample) => sample['id'] === id)!;
    expect(byId('at-once')).toMatchObject({ messages: [{ role: 'user' }], output: {}, turn_count: 0 });
    expect(byId('cancelled')['error'].message).toBe('Cancelled()');
    expect(byId('words')).toMatchObject({ output: { usage: null }, model_usage: {} });
    expect(byId('tools')['scores'].judge.value).toBe('C');
  });

  test('has the calls of tools and their results in Inspect’s own fields', async () => {
    const { rollout, turns, end } = await playedCalls();
    const exporter = inspectLog({ eval: {}, ended: () => ({}), scoresOf: () => [] });
    const call = (text: string) => ({ id: 'c1', name: 'add', arguments: text });
    const withCalls = turns.map((turn) => ({
      ...turn,
      record: { ...turn.record, calls: [], toolCalls: [call('{"a":1}'), call('[1')], reasoning: 'Thus.' },
    }));
    const [line] = exporter.lines({ rollout, turns: withCalls, end });
    const { messages } = JSON.parse(line!) as Fields;
    const answer = messages.find(({ role }: Fields) => role === 'assistant');
    expect(answer.content[0]).toEqual({ type: 'reasoning', reasoning: 'Thus.' });
    expect(answer.tool_calls).toEqual([
      { id: 'c1', function: 'add', type: 'function', arguments: { a: 1 } },
      { id: 'c1', function: 'add', type: 'function', arguments: {}, parse_error: expect.stringContaining('[1') },
    ]);
    expect(messages.filter(({ role }: Fields) => role === 'tool').length).toBeGreaterThan(0);
  });

  test('has one sample of an agent’s rollout: the conversation that its last call ended', async () => {
    const played = await playedCalls();
    const exporter = inspectLog({ eval: {}, ended: () => ({}), scoresOf: () => [] });
    const lines = [0, 1].map((index) =>
      exporter
        .lines({ ...played, branch: { index, of: 2, parent: null, calls: [], turns: [], models: [], tags: [] } })
        .map((line) => JSON.parse(line)),
    );
    expect(lines).toMatchObject([[], [{ metadata: { branches: 2 } }]]);
  });

  test('has a failed rollout of an agent whose calls were all abandoned, and parquet-turns counts it as left out', async () => {
    const agents = join(folder, 'agents');
    const abandoned = (end: EndRecord) => ({ ...end, abandoned: [1] });
    const store = withRecords(openFileStore(agents, RUN), { end: abandoned });
    const query = aQuery('a');
    await putRun(store, [query]);
    const asked = {
      ...{ call: 'c', hash: 'a'.repeat(64), occurrence: 0, dialect: '/chat/completions', parent: null, branch: null },
      ...{ differsAt: null, shared: 0, limits: {}, messages: [{ role: 'user', text: 'Hi.' }] },
    } as unknown as NonNullable<TurnRecord['asked']>;
    await play(store, { query, verdicts: ['called'], stop: 'failed', turn: () => ({ asked }) });
    const { samples } = await logOf(agents);
    expect(samples).toMatchObject([
      { id: 'a', turn_count: 0, error: { message: expect.stringContaining('scripted') } },
    ]);
    const to = join(agents, 'turns.parquet');
    const { summary } = await plannedExport('parquet-turns', {})(store, { to, overwrite: false, onSkip: () => {} });
    expect(summary).toMatchObject({ exported: 0, lines: 0, skipped: { failed: 1 }, empty: true });
  });

  test('scores a run of rewards alone by its returns', async () => {
    const rewards = join(folder, 'rewards');
    const given = (end: EndRecord) => ({ ...end, turnRewards: [0.25], returns: [0.25] });
    const store = withRecords(openFileStore(rewards, RUN), { end: given });
    const queries = ['a', 'b'].map((id) => aQuery(id));
    await putRun(store, queries);
    for (const [index, query] of queries.entries()) await play(store, { query, index, verdicts: ['scored'] });
    const { samples, header } = await logOf(rewards);
    expect(header['results'].scores).toMatchObject([
      { name: 'return', scored_samples: 2, metrics: { mean: { value: 0.25 }, stderr: { value: 0 } } },
    ]);
    expect(samples.map(({ scores }) => scores)).toMatchObject([
      { return: { value: 0.25 } },
      { return: { value: 0.25 } },
    ]);
  });

  test('keeps hostile text and ids as text', async () => {
    const hostile = join(folder, 'hostile');
    const store = openFileStore(hostile, RUN);
    const [long, text] = ['é'.repeat(300), 'a\u0000\u001b[31m\u2028"\ud83d\\'];
    const queries = ['a/b/c', long, 'x_epoch_1'].map((id) => aQuery(id, { solutions: [text, '2'] }));
    const settings = someSettings({ numTurns: 1 });
    await putRun(store, queries, { settings });
    for (const [index, query] of queries.entries())
      await play(store, { query, index, settings, verdicts: ['wrong'], turn: () => ({ answer: text.toWellFormed() }) });
    const { entries, json, header } = await logOf(hostile);
    for (const { queryId } of queries) {
      const sample = json(`samples/${queryId}_epoch_1.json`);
      expect(sample).toMatchObject({ id: queryId, output: { completion: text.toWellFormed() } });
      expect(Object.keys(sample['scores'])).toEqual(['judge']);
    }
    for (const one of entries.values()) expect(one).not.toMatch(/\\ud[89a-f]/);
    expect(header['results'].scores).toMatchObject([{ name: 'judge', metrics: { accuracy: { value: 0 } } }]);
  });
});
