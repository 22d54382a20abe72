// The promise: however long a turn's text is, and however many turns there are, Temporal's history stays small and
// no workflow task fails of its size; and a conversation that outgrows the model's context ends there, with a name,
// and is not tried for ever.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { scriptedTextBackend } from '../support/scripted-model.ts';
import { prove, startRun, sums } from './rig-run.ts';
import { commandOf, randomOf } from './seed.ts';
import { FULL, sized } from './size.ts';

let rig: Rig;
afterEach(() => rig?.close());

const MIB = 2 ** 20;
const HISTORY_BYTES = 4 * MIB;
const HISTORY_EVENTS = 4096;

/** Of each rollout in a run: events, bytes, and workflow tasks that failed. */
async function historiesOf(run: string, rollouts: number) {
  const found = [];
  for (let i = 0; i < rollouts; i++) {
    const handle = rig.client.workflow.getHandle(`${run}/q${i}/0`);
    const { historySize = 0, historyLength } = await handle.describe();
    const { events = [] } = await handle.fetchHistory();
    const failed = events?.flatMap(({ workflowTaskFailedEventAttributes: f }) => (f ? [f.failure?.message] : []));
    found.push({ events: historyLength, bytes: historySize, failed });
  }
  return found;
}

/** Nobody asks it: the backend is scripted. */
const SERVER = 'http://127.0.0.1:9';

describe('a run of large turns', () => {
  test(
    'keeps its histories small over turns of 0.1 to 64 MB of text, and over 50 turns',
    { timeout: 1_800_000 },
    async () => {
      // A server that gives text and no ids: ids of 64 MB of text would be more than a record can hold.
      const sizes = FULL ? [0.1, 1, 4, 16, 64] : [0.1, 1, 4];
      const backend = scriptedTextBackend(({ requestId }) => {
        const [run, query] = requestId.split('/');
        const megabytes = run === 'many' ? 0.1 : sizes[Number(query!.slice(1))]!;
        return `${'Let us see. '.repeat((megabytes * MIB) / 12)}\\boxed{7}`;
      });
      rig = await openRig({ answer: () => '' }, { backend: async () => backend });
      await rig.startWorker();
      const asked = { model: 'openai:http://scripted#scripted-text' };
      const runs = [
        { run: 'large', rows: sums(sizes.length), settings: { ...asked, numTurns: 2 }, maxConcurrent: 1 },
        { run: 'many', rows: sums(1), settings: { ...asked, numTurns: FULL ? 50 : 20 }, maxConcurrent: 1 },
      ];
      for (const run of runs) {
        const result = (await (await startRun(rig, run)).result()) as CollectionResult;
        const histories = await historiesOf(run.run, run.rows.length);
        console.log(JSON.stringify({ run: run.run, ...(run.run === 'large' ? { megabytes: sizes } : {}), histories }));
        expect(result.counts.reasons).toEqual({});
        expect(result.counts.outcomes.complete).toBe(run.rows.length);
        for (const { events, bytes, failed } of histories) {
          expect(failed).toEqual([]);
          expect(bytes).toBeLessThan(HISTORY_BYTES);
          expect(events).toBeLessThan(HISTORY_EVENTS);
        }
        expect((await prove(rig, run.run)).breaches).toEqual([]);
      }
    },
  );

  test(
    `ends each of ${sized(200)} conversations where it outgrows the context, and asks nothing twice`,
    { timeout: 600_000 },
    async () => {
      console.log(`Repeat: ${commandOf(import.meta.filename)}`);
      const random = randomOf('answers');
      const conversations = sized(200);
      // Every fourth learns only from the server's refusal that the context is shorter than it was told.
      const refuses = (query: string) => Number(query.slice(1)) % 4 === 3;
      const lengths = Array.from({ length: conversations }, () => 20 + Math.floor(random() * 1200));
      rig = await openRig({
        contextLength: 4000,
        server: SERVER,
        async answer({ requestId, contextIds }) {
          const [, query] = requestId.split('/');
          await sleep(1);
          if (refuses(query!) && contextIds.length > 2000) {
            throw new ModelError('The context has more tokens than 2000.', { reason: 'context-length' });
          }
          return `${'x'.repeat(lengths[Number(query!.slice(1))]!)} \\boxed{1}`;
        },
      });
      await rig.startWorker();
      const rows = sums(conversations).map((row) => ({ ...row, question: row.question.padEnd(100, '?') }));
      const handle = await startRun(rig, {
        run: 'full',
        rows,
        maxConcurrent: 50,
        settings: { model: 'sglang:http://scripted', numTurns: 40, maxNewTokens: 2000 },
      });
      const result = (await handle.result()) as CollectionResult;
      const store = openFileStore(rig.out, 'full');
      const told = { 'context-length': 0, 'max-turns': 0, truncated: 0, refused: 0, turns: 0 };
      for (const [i, { id: query }] of rows.entries()) {
        const id = { run: 'full', query, sample: 0, attempt: 1 };
        const { outcome, stopReason, turns } = (await store.getEnd(id))!.record;
        expect(outcome, query).toBe('complete');
        told[stopReason as 'max-turns']++;
        told.turns += turns.length;
        if (stopReason === 'context-length' && refuses(query)) told.refused++;
        const asked = rig.backend.requests.filter(({ requestId }) => requestId.split('/')[1] === query);
        // Where the server refuses, once more than there are turns.
        expect(asked.length, query).toBe(turns.length + (refuses(query) && stopReason === 'context-length' ? 1 : 0));
        for (let turn = 1; turn <= turns.length; turn++) {
          const { record } = (await store.getTurn(id, turn))!;
          expect(record.contextLength, query).toBe(asked[turn - 1]!.contextIds.length);
          expect(record.contextLength + record.outputIds.length, query).toBeLessThanOrEqual(4000);
          if (record.finish === 'length') told.truncated++;
          if (turn === turns.length && lengths[i]! > 200) expect(stopReason, query).toBe('context-length');
        }
      }
      console.log(JSON.stringify({ conversations, ...told }));
      expect(result.counts.outcomes.complete).toBe(conversations);
      expect(told['context-length']).toBeGreaterThan(0);
      expect(told.refused).toBeGreaterThan(0);
      expect(told.truncated).toBeGreaterThan(0);
      expect((await prove(rig, 'full')).breaches).toEqual([]);
    },
  );
});
