// The calls of an agent's program as people read them, by random trees.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AskedCall } from '../../domain/agent/call-record.ts';
import { addedMessages, listInTree, placeText } from '../../domain/rollout/list-calls.ts';
import { pathTo } from '../../domain/rollout/turn-facts.ts';

const asked = (part: Partial<AskedCall> = {}): AskedCall => ({
  ...{ call: '0'.repeat(18), hash: 'a'.repeat(64), occurrence: 0, dialect: '/chat/completions', parent: null },
  ...{ branch: null, differsAt: null, shared: 0, messages: [], limits: {} },
  ...part,
});

const TREES = fc
  .array(fc.nat(), { minLength: 1, maxLength: 12 })
  .map((parents) =>
    parents.map((any, i) => ({ record: { turn: i + 1, asked: asked({ parent: any % (i + 1) || null }) } })),
  );

describe('a tree of calls', () => {
  test('is shown with each call once, behind the one that it goes on from and before any call of another part', () => {
    fc.assert(
      fc.property(TREES, (calls) => {
        const shown = listInTree(calls).map(({ turn }) => turn.record.turn);
        expect(shown.toSorted((a, b) => a - b)).toEqual(calls.map(({ record }) => record.turn));
        const records = calls.map(({ record }) => record);
        for (const { turn } of records) {
          const part = records.filter((one) => pathTo(records, one.turn).some((on) => on.turn === turn));
          const places = part.map((one) => shown.indexOf(one.turn)).toSorted((a, b) => a - b);
          expect(shown[places[0]!]).toBe(turn);
          expect(places.at(-1)! - places[0]!).toBe(part.length - 1);
        }
      }),
      { seed: 7 },
    );
  });

  test('is indented once for each call before that several go on from', () => {
    fc.assert(
      fc.property(TREES, (calls) => {
        const records = calls.map(({ record }) => record);
        const forks = (turn: number) =>
          pathTo(records, turn).filter((on) => records.filter((one) => one.asked.parent === on.turn).length > 1);
        for (const { turn, depth } of listInTree(calls)) {
          const { record } = turn;
          expect(depth).toBe(forks(record.turn).filter((on) => on.turn !== record.turn).length);
        }
      }),
      { seed: 7 },
    );
  });

  test('names the call that one goes on from, or why it is a root, and the first message that made it one', () => {
    const root = { parent: null, differsAt: 2 };
    expect(placeText(asked({ parent: 3 }))).toBe('goes on from call 3');
    expect(placeText(asked())).toBe('a root');
    expect(placeText(asked({ ...root, branch: 'edited' }))).toBe('a root: edited, from message 3 on');
    expect(placeText(asked({ ...root, branch: 'new-conversation' }))).toBe('a root: new-conversation');
    expect(placeText(asked({ ...root, branch: 'tools-changed' }))).toBe('a root: tools-changed');
  });

  test('shows what the program added: all messages of a root, and of others none that the model said', () => {
    const [echo, next] = [{ role: 'assistant', text: 'It is 3.' } as const, { role: 'user', text: 'Sure?' } as const];
    expect(addedMessages(asked({ messages: [next] }))).toEqual([next]);
    expect(addedMessages(asked({ parent: 1, shared: 1, messages: [echo, next] }))).toEqual([next]);
  });
});
