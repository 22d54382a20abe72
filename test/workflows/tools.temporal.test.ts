// A run whose model calls tools: what it calls is run, recorded once, and told to it in the next context; and a tool that
// must not be called twice is not, whatever is tried again.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ToolError } from '../../domain/errors/errors.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { recordHistory } from '../histories/history-file.ts';
import { callText } from '../support/tool-chat.ts';
import { openToolRuns, type ToolRuns } from '../support/tool-runs.ts';

/** By query and turn. */
const SAYS: Record<string, readonly string[]> = {
  calls: [
    `Let me see.\n${callText('price', { fruit: 'apple' })}\n${callText('price', { fruit: 'pear' })}`,
    callText('add', { a: 3, b: 4 }),
    'It is \\boxed{7}.',
    'Again: \\boxed{8}.',
  ],
  bad: [
    `<tool_call>{"name": "price", </tool_call>${callText('prize', {})}${callText('price', { fruit: 'fig' })}${callText('price', {})}`,
    '\\boxed{7}',
    callText('price', { fruit: 'plum' }),
    '\\boxed{7}',
  ],
  endless: Array.from({ length: 9 }, () => callText('price', { fruit: 'plum' })),
  wait: [callText('wait', {}), '\\boxed{7}', '\\boxed{7}'],
  order: [callText('order', { fruit: 'plum', count: 2 }), '\\boxed{7}', '\\boxed{7}'],
  long: [callText('long', {}), '\\boxed{7}', '\\boxed{7}'],
};

const says = (query: string, turn: number): string => SAYS[query]![turn - 1] ?? 'no more';
let runs: ToolRuns;
beforeAll(async () => {
  runs = await openToolRuns({ says });
});
afterAll(() => runs.close());
const verdicts = ({ turns }: Pick<Trajectory, 'turns'>) =>
  turns.map(({ verdict }) => `${verdict!.verdict} ${verdict!.reason}`);

describe('a rollout that calls tools', () => {
  test('goes on with their results, appended to what was there, and counts answers alone as turns', async () => {
    const { result, of } = await runs.play('plain', ['calls'], { turnDiscount: 0.5, feedback: 'delta' });
    const played = await of('calls');
    expect(verdicts(played)).toEqual(['called tools', 'called tools', 'right equal-text', 'wrong different']);
    expect(played.end).toMatchObject({
      outcome: 'complete',
      stopReason: 'max-turns',
      called: [1, 2],
      turnRewards: [0, 0, 1, -1],
    });
    // The answer's return is handed on to the calls that led to it, and not discounted.
    expect(played.end!.returns).toEqual([0.5, 0.5, 0.5, -1]);
    expect(played.turns[1]!.record.contextText).toBe('\n<start>tool\n3<end>\n<start>tool\n4<end>\n<start>assistant\n');
    expect(played.turns[2]!.record.contextText).toContain('7 for plain/calls/0/1/2/1');
    expect(played.turns[0]!.verdict!.calls).toMatchObject([
      { name: 'price', arguments: '{"fruit":"apple"}', outcome: 'ok', effect: 'pure', output: '3' },
      { name: 'price', arguments: '{"fruit":"pear"}', outcome: 'ok', effect: 'pure', output: '4' },
    ]);
    expect(result.counts).toMatchObject({ judgedAt: [1, 1], rightAt: [1, 0], turns: 4 });
    expect(await runs.breaches('plain')).toEqual([]);
    await recordHistory(runs.rig.client, 'rollout-tools', { workflowId: 'plain/calls/0' });
  });

  test('has a title for each call in its history, which is what Temporal’s UI shows', async () => {
    await runs.play('titles', ['calls'], { numTurns: 1 });
    const { events } = await runs.rig.client.workflow.getHandle('titles/calls/0').fetchHistory();
    const titles = events!.flatMap(({ activityTaskScheduledEventAttributes: asked, userMetadata }) =>
      asked?.activityType?.name === 'callTool'
        ? [JSON.parse(Buffer.from(userMetadata!.summary!.data!).toString()) as string]
        : [],
    );
    expect(titles).toEqual(['turn 1 · call 1 · price', 'turn 1 · call 2 · price', 'turn 2 · call 1 · add']);
  });

  test('is told what is wrong with a call that cannot be run', async () => {
    const { of } = await runs.play('wrong', ['bad'], { numTurns: 2 });
    const { turns, end } = await of('bad');
    expect(end!.outcome).toBe('complete');
    const [json, unknown, value, missing] = turns[0]!.verdict!.calls!;
    expect(json).toMatchObject({
      outcome: 'refused',
      effect: null,
      of: null,
      output: expect.stringContaining('This call was not run') as string,
    });
    expect(unknown!.output).toContain(
      'There is no tool "prize". The tools are: price, order, add, wait, fail, die, long.',
    );
    expect(value!.output).toContain('`fruit` is "fig" and must be equal to one of the allowed values');
    expect(missing!.output).toContain("must have required property 'fruit'");
    expect(turns[1]!.record.contextText).toContain('There is no tool "prize"');
    expect(verdicts({ turns })).toEqual(['called tools', 'right equal-text', 'called tools', 'right equal-text']);
    expect(await runs.breaches('wrong')).toEqual([]);
  });

  test('that only calls is told that its calls are used up, and then judged as it stands', async () => {
    const { of } = await runs.play('limit', ['endless'], { numTurns: 1 });
    const { turns, end } = await of('endless');
    expect(turns).toHaveLength(5);
    expect(turns[4]!.record.contextText).toContain('No further call is run before your answer');
    expect(turns[4]!.verdict).toMatchObject({ verdict: 'wrong' });
    expect(end).toMatchObject({ outcome: 'complete', called: [1, 2, 3, 4], returns: [-1, -1, -1, -1, -1] });
    expect(await runs.breaches('limit')).toEqual([]);
  });

  test('whose results leave no room for an answer is wrong, and not without a reward', async () => {
    const small = await openToolRuns({ says: () => callText('long', {}), contextLength: 3600 });
    const { of } = await small.play('full', ['endless'], { numTurns: 3 });
    const { end } = await of('endless');
    expect(end).toMatchObject({ outcome: 'complete', stopReason: 'context-length' });
    expect(end!.returns.at(-1)).toBe(-1);
    expect(end!.success.at(-1)).toBe(0);
    expect(await small.breaches('full')).toEqual([]);
    await small.close();
  });

  test('sees of a long output its beginning, its end and what is left out', async () => {
    const { of } = await runs.play('clipped', ['long'], {});
    const { turns } = await of('long');
    const [call] = turns[0]!.verdict!.calls!;
    expect(Buffer.byteLength(call!.output)).toBeLessThan(1100);
    expect(call!.output).toMatch(/^RESULT-OF-A-TOOLé+\n\[\d+ bytes left out\]\né+END$/);
    expect(turns[1]!.record.contextText).toContain(call!.output);
    expect(await runs.breaches('clipped')).toEqual([]);
  });
});

describe('a tool that must not be called twice', () => {
  test('is called once with the derived key, and has an intent before its result', async () => {
    const { store, of } = await runs.play('once', ['order']);
    expect(runs.ordersOf('once')).toEqual(['once/order/0/1/1/1']);
    const id = { run: 'once', query: 'order', sample: 0, attempt: 1 };
    const [intent, call] = await Promise.all([store.get('intent', id, 1, 1), store.get('call', id, 1, 1)]);
    expect(intent!.record).toMatchObject({ key: 'once/order/0/1/1/1', name: 'order', attempt: 1 });
    expect(call!.record).toMatchObject({ outcome: 'ok', output: '{"ordered":2,"fruit":"plum","total":10}' });
    expect((await of('order')).end!.outcome).toBe('complete');
    expect(await runs.breaches('once')).toEqual([]);
  });

  test('whose outcome is unknown fails its rollout by name, and is not called again', async () => {
    let tries = 0;
    const dying = await openToolRuns({
      says,
      wrapped: (tools) => ({
        ...tools,
        async call(tool, call, folder) {
          tries++;
          await tools.call(tool, call, folder);
          // As if the worker had died between the call and its record.
          throw new ToolError('gone', { reason: 'tool-unavailable', retryable: true });
        },
      }),
    });
    const { of, result } = await dying.play('unknown', ['order']);
    expect([dying.ordersOf('unknown'), tries]).toEqual([['unknown/order/0/1/1/1'], 1]);
    const { end } = await of('order');
    expect(end).toMatchObject({ outcome: 'failed', failure: { boundary: 'tool', reason: 'tool-outcome-unknown' } });
    expect(result.counts.boundaries).toEqual({ tool: 1 });
    expect(await dying.breaches('unknown')).toEqual([]);
    await dying.close();
  });

  test('that gives nothing in its time has an unknown outcome too: nobody is told, and it is not called again', async () => {
    let tries = 0;
    const waiting = await openToolRuns({
      says,
      wrapped: (tools) => ({
        ...tools,
        call(tool, call, folder) {
          tries++;
          return tools.call({ ...tool, timeoutSeconds: 1 }, call, folder);
        },
      }),
    });
    const { of, store } = await waiting.play('late', ['wait']);
    const { end, turns } = await of('wait');
    expect(end).toMatchObject({ outcome: 'failed', failure: { boundary: 'tool', reason: 'tool-outcome-unknown' } });
    expect(end!.failure!.message).toContain('it was called, and gave no result in');
    expect([tries, turns]).toEqual([1, []]);
    const id = { run: 'late', query: 'wait', sample: 0, attempt: 1 };
    expect(await store.get('call', id, 1, 1)).toBeUndefined();
    expect((await store.get('intent', id, 1, 1))!.record).toMatchObject({ key: 'late/wait/0/1/1/1' });
    expect(await waiting.breaches('late')).toEqual([]);
    await waiting.close();
  });
});
