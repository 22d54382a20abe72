// Every format over one run that has each kind of rollout. What the consumers' own code makes of these files:
// test/trainers.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSampleId } from '../../support/sample-name.ts';
import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../../../domain/context/feedback.ts';
import type { NeutralRow } from '../../../domain/samples/neutral-row.ts';
import { EXPORTERS, exporterNamed } from '../../../formats/exports/index.ts';
import { exportRun, type ExportOptions } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { Store } from '../../../records/store.ts';
import { readTrajectory } from '../../../records/reading/trajectories.ts';
import { exporterContract } from '../../contract/exporter.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../../records/play.ts';
import { someRun } from './some-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-formats-'));
let store: Store;
beforeAll(async () => {
  store = openFileStore(folder, RUN);
  await someRun(store);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function exported<T>(format: string, options: ExportOptions = {}, layout?: 'turn' | 'texts') {
  const file = join(folder, `${format}.out`);
  const summary = await exportRun(store, exporterNamed(format, layout), file, options);
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return { summary, lines: lines.map((line) => JSON.parse(line) as T) };
}

interface Said {
  readonly role: string;
  readonly content: string;
  readonly loss?: boolean;
}

describe('an export format', () => {
  test('every format keeps the contract of formats', async () => {
    const complete = (await readTrajectory(store, { run: RUN, query: 'q1', sample: 1, attempt: 1 }))!;
    for (const exporter of EXPORTERS) if (exporter.name !== 'dpo') exporterContract(exporter, complete);
  });

  test('rows hold every complete rollout once, with the labels of its group', async () => {
    const { summary, lines } = await exported<NeutralRow>('rows');
    expect(lines.map(({ id }) => id)).toEqual([
      ...['q1', 'q1@1', 'q1@2', 'q2', 'q2@1', 'q2@2', 'q%403', 'q4', 'q4@1', 'raw', 'raw@1'],
    ]);
    expect(summary).toEqual({ exported: 11, lines: 11, finishedTurns: 0, skipped: { failed: 1, undecided: 1 } });
    const of = (id: string) => lines.find((row) => row.id === id)!;
    expect(of('q1@1')).toMatchObject({
      group: 'q1',
      group_size: 3,
      group_success_rate: 2 / 3,
      zero_variance: false,
      turn_advantages: null,
      turn_ids: [0, 0, 0, 0, -1, -1, -1, 1, 1],
      response_mask: [1, 1, 1, 1, 0, 0, 0, 1, 1],
      versions: [4, 5, 5, 5, -1, -1, -1, 4, 6],
      turn_ends: [4, 9],
      turn_success: [0, 1],
      finish: 'stop',
      stop_reason: 'success',
      version_start: 4,
      version_end: 6,
      staleness: null,
    });
    expect(of('q2@2')).toMatchObject({ group_success_rate: 1, zero_variance: true });
    expect(of('q%403')).toMatchObject({ query: 'q@3', group_size: 1 });
  });

  test('rows mask each token that is more versions older than the newest of its row than allowed, and say which', async () => {
    const plain = (await exported<NeutralRow>('rows')).lines;
    const { lines } = await exported<NeutralRow>('rows', { maxTokenGap: 1 });
    expect(lines.find(({ id }) => id === 'q1@1')).toMatchObject({
      versions: [4, 5, 5, 5, -1, -1, -1, 4, 6],
      response_mask: [0, 1, 1, 1, 0, 0, 0, 0, 1],
      mask_stale: [1, 0, 0, 0, 0, 0, 0, 1, 0],
    });
    for (const [i, { mask_stale: stale, response_mask: mask, ...row }] of lines.entries()) {
      const { response_mask: before, ...same } = plain[i]!;
      expect(row).toEqual(same);
      expect(stale).toEqual(row.versions.map((version) => (version >= 0 && row.version_end - version > 1 ? 1 : 0)));
      expect(mask).toEqual(before.map((one, k) => (stale![k] === 1 ? 0 : one)));
    }
    const [wide] = (await exported<NeutralRow>('rows', { maxTokenGap: 9 })).lines;
    expect(wide).toEqual({ ...plain[0], mask_stale: plain[0]!.versions.map(() => 0) });
  });

  test('rows with texts are the same rows, with what was asked, answered and replied at each turn behind them', async () => {
    const plain = (await exported<NeutralRow>('rows')).lines;
    const { lines } = await exported<NeutralRow & Record<string, unknown>>('rows', {}, 'texts');
    for (const [i, { run, index, ...line }] of lines.entries()) {
      expect(line).toMatchObject(plain[i]!);
      expect([run, index]).toEqual([RUN, ['q1', 'q2', 'q@3', 'q4', 'raw'].indexOf(line.query)]);
      for (const name of ['answers', 'feedback', 'models', 'servers', 'max_new_tokens', 'started_at', 'finished_at'])
        expect(line[name], name).toHaveLength(line.turn_ends.length);
    }
    const of = (id: string) => lines.find((row) => row.id === id)!;
    expect(of('q1@1')).toMatchObject({
      messages: [
        { role: 'system', content: 'Answer.' },
        { role: 'user', content: 'What is q1?' },
      ],
      answers: ['wrong 1 1', 'right 1 2'],
      feedback: [[{ role: 'user', content: FEEDBACK_WRONG }], [{ role: 'user', content: FEEDBACK_RIGHT }]],
    });
    expect(of('raw').messages).toBe('What is raw?');
  });

  test('AReaL’s turns have one id and one sequence each, and together are the rollout’s sequences', async () => {
    interface Sample {
      readonly ids: readonly string[];
      readonly seqlens: Readonly<Record<string, number[][]>>;
      readonly data: Readonly<Record<string, unknown[]>>;
    }
    const turns = (await exported<Sample>('areal', {}, 'turn')).lines;
    const rollouts = (await exported<Sample>('areal')).lines;
    expect(turns.slice(0, 3).map(({ ids }) => ids[0])).toEqual(['q1@0-t1', 'q1@1-t1', 'q1@1-t2']);
    expect(turns.map(({ ids }) => ids[0]!.split('@')[0])).toEqual(
      rollouts.flatMap(({ ids, seqlens }) => seqlens['rewards']![0]!.map(() => ids[0]!.split('@')[0])),
    );
    expect(new Set(turns.map(({ ids }) => ids[0])).size).toBe(turns.length);
    for (const key of [
      'packed_input_ids',
      'prompt_mask',
      'packed_logprobs',
      'rewards',
      'version_start',
      'seq_no_eos_mask',
    ])
      expect(
        turns.flatMap(({ data }) => data[key]),
        key,
      ).toEqual(rollouts.flatMap(({ data }) => data[key]));
    for (const { seqlens, data } of turns) {
      for (const lengths of Object.values(seqlens)) expect(lengths[0]).toHaveLength(1);
      const prompt = data['prompt_mask']!.filter(Boolean).length;
      expect(data['packed_prompts']).toEqual(data['packed_input_ids']!.slice(0, prompt));
    }
  });

  test('messages hold right rollouts up to the first right answer, which alone is trained on', async () => {
    const { summary, lines } = await exported<{ id: string; messages: Said[] }>('messages');
    expect(lines.map(({ id }) => id)).toEqual(['q1', 'q1@1', 'q2', 'q2@1', 'q2@2', 'q%403']);
    expect(summary.skipped).toEqual({ failed: 1, undecided: 1, 'no-right-answer': 3, 'text-prompt': 2 });
    const said = lines[1]!.messages;
    expect(said.map(({ role, loss }) => [role, loss])).toEqual([
      ['system', undefined],
      ['user', undefined],
      ['assistant', false],
      ['user', undefined],
      ['assistant', true],
    ]);
    expect(said.at(-1)!.content).toBe('right 1 2');
  });

  test('messages hold a prompt of bare text that an endpoint of text got as a message, and no other', async () => {
    const out = mkdtempSync(join(folder, 'texts-'));
    const texts = openFileStore(out, RUN);
    const [sent, encoded] = [aQuery('sent'), aQuery('encoded')];
    await putRun(texts, [sent, encoded], { settings: someSettings() });
    const ofText = () => ({ contextIds: [], outputIds: [], logprobs: [], versions: [], trainable: false });
    await play(texts, { query: sent, index: 0, verdicts: ['wrong', 'right'], stop: 'success', turn: ofText });
    await play(texts, { query: encoded, index: 1, verdicts: ['right'], stop: 'success' });
    for (const format of ['messages', 'kto'] as const) {
      const file = join(out, format);
      expect((await exportRun(texts, exporterNamed(format), file)).skipped).toEqual({ 'text-prompt': 1 });
      expect(readFileSync(file, 'utf8')).toMatch(/^\{"id":"sent[^{]*\[\{"role":"user","content":"What is sent\?"\}/);
    }
  });

  test('DPO pairs a right with a wrong answer to the same messages, and uses no answer twice', async () => {
    interface Pair {
      readonly prompt: Said[];
      readonly chosen: Said[];
      readonly rejected: Said[];
    }
    const { lines } = await exported<Pair>('dpo');
    // q1: turn 1 of sample 0 is right, of samples 1 and 2 wrong; their second turns had different contexts.
    expect(lines).toEqual([
      expect.objectContaining({
        id: 'q1',
        rejected_id: 'q1@1',
        chosen: [{ role: 'assistant', content: 'right 0 1' }],
        rejected: [{ role: 'assistant', content: 'wrong 1 1' }],
      }),
    ]);
    expect(lines[0]!.prompt.map(({ content }) => content)).toEqual(['Answer.', 'What is q1?']);
  });

  test('KTO labels every answer up to the first right one', async () => {
    const { lines } = await exported<{ id: string; turn: number; label: boolean }>('kto');
    expect(lines.filter(({ id }) => id.startsWith('q1')).map(({ id, turn, label }) => [id, turn, label])).toEqual([
      ['q1', 1, true],
      ['q1@1', 1, false],
      ['q1@1', 2, true],
      ['q1@2', 1, false],
      ['q1@2', 2, false],
      ['q1@2', 3, false],
    ]);
  });

  test('labels train on the exact tokens of the right answer, also after a prompt of bare text', async () => {
    const { lines } = await exported<Record<'input_ids' | 'attention_mask' | 'labels', number[]>>('labels');
    const rows = new Map((await exported<NeutralRow>('rows')).lines.map((row) => [row.id, row]));
    const right = ['q1', 'q1@1', 'q2', 'q2@1', 'q2@2', 'q%403', 'raw', 'raw@1'].map((id) => rows.get(id)!);
    expect(lines).toHaveLength(right.length);
    for (const [i, row] of right.entries()) {
      const last = row.turn_success.indexOf(1);
      const ids = [...row.prompt_ids, ...row.response_ids.slice(0, row.turn_ends[last])];
      const trained = ids.map((id, k) => (row.turn_ids[k - row.prompt_ids.length] === last ? id : -100));
      expect(lines[i]).toEqual({ input_ids: ids, attention_mask: ids.map(() => 1), labels: trained });
      expect(Object.keys(lines[i]!)).toEqual(['input_ids', 'attention_mask', 'labels']);
    }
  });

  test('a filter leaves out whole groups and names why', async () => {
    const filter = { successRate: [0.1, 0.9] as const, dropZeroVariance: false, minMembers: 2 };
    const { summary, lines } = await exported<NeutralRow>('rows', { filter });
    expect(lines.map(({ id }) => id)).toEqual(['q1', 'q1@1', 'q1@2']);
    expect(summary.skipped).toEqual({ failed: 1, undecided: 1, members: 1, 'success-rate': 7 });
    const flat = { successRate: null, dropZeroVariance: true, minMembers: 1 };
    expect((await exported<NeutralRow>('rows', { filter: flat })).lines.map(({ group }) => group)).toEqual([
      ...['q1', 'q1', 'q1', 'raw', 'raw'],
    ]);
  });

  test('a group’s labels count finished turns of undecided members where these are exported', async () => {
    const { lines } = await exported<NeutralRow>('rows', { undecided: 'finished-turns' });
    const ids = lines.map(({ id }) => id);
    expect(ids).toContain('q%403@2');
    expect(lines.filter(({ query }) => query === 'q@3').map((row) => row.group_size)).toEqual([2, 2]);
    for (const id of ids) expect(parseSampleId(id)).toBeDefined();
  });
});
