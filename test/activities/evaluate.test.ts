// When a judge is given up, and when it is not: what fails beside it takes no try from it.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { readAgentEnd } from '../../activities/agent-log.ts';
import { evaluateActivity } from '../../activities/evaluate.ts';
import { replyToCalls } from '../../activities/call-tool.ts';
import { JudgeError } from '../../domain/errors/errors.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { onlyJudge } from '../support/only-judge.ts';
import type { Judge } from '../../environments/environment.ts';
import { heldStore } from '../support/held-store.ts';

const REFERENCE = { rollout: { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 }, turn: 1 };
const RIGHT: Verdict = { verdict: 'right', reason: 'scripted' };

const PLAIN = { answer: '4', contextText: '2 + 2? ', outputText: '4' };
const OPENED = '<|im_start|>assistant\n<think>\n';

interface Attempt {
  readonly attempt: number;
  readonly beatBefore?: unknown;
  readonly isLocal?: boolean;
  readonly finish?: Finish;
  readonly turn?: object;
}

/** One attempt on a store that takes the verdict: what came of it, and what its heartbeats said last. */
async function evaluate(
  judge: (...judged: Parameters<Judge['judge']>) => Promise<Verdict>,
  { attempt, beatBefore, isLocal = false, finish = 'stop', turn = {} }: Attempt,
) {
  const parts = {
    openStore: () => heldStore({ rollout: () => ({ query: {} }), turn: () => ({ ...PLAIN, finish, ...turn }) }),
    environments: onlyJudge({ judge, close: () => Promise.resolve() }),
    now: () => 0,
  };
  const activity = evaluateActivity(parts as unknown as ActivityDeps, { readAgentEnd, replyToCalls });
  const environment = new MockActivityEnvironment({ attempt, heartbeatDetails: beatBefore, isLocal });
  let lastBeat: unknown;
  environment.on('heartbeat', (beat: unknown) => (lastBeat = beat));
  const judged = await (environment.run(activity as never, REFERENCE) as Promise<Verdict>).catch((e: Error) => e);
  return { judged, lastBeat };
}

async function answerGiven(turn: object): Promise<string | undefined> {
  let given: string | undefined;
  const judge: Judge['judge'] = async (_, answer) => ((given = answer), RIGHT);
  await evaluate(judge, { attempt: 1, finish: 'length', turn });
  return given;
}

const broken = (retryable: boolean) => () =>
  Promise.reject(new JudgeError('the judge broke', { reason: 'judge-killed', retryable }));

describe('the evaluate activity', () => {
  test('says to the judge whether a limit or an abort cut the answer', async () => {
    const told: unknown[] = [];
    const judge: Judge['judge'] = async (_, __, { cut }) => (told.push(cut), RIGHT);
    for (const finish of ['stop', 'length', 'abort'] as const) await evaluate(judge, { attempt: 1, finish });
    expect(told).toEqual([false, true, true]);
  });

  test.each([
    ['a limit has cut a thought of the prompt', '<think>so \\boxed{4}', { contextText: OPENED }],
    ['an abort has', '[THINK]so \\boxed{4}', { contextText: 'x [THINK]', finish: 'abort' }],
  ])('%s: its mark stands before the answer', async (_, wanted, turn) => {
    expect(await answerGiven({ answer: 'so \\boxed{4}', outputText: 'so \\boxed{4}', ...turn })).toBe(wanted);
  });

  test.each([
    ['the prompt opens no thought', { contextText: '<|im_start|>user\nWrite <think><|im_end|>' }],
    ['the model ended its answer', { contextText: OPENED, finish: 'stop' }],
    ['the thought has ended', { contextText: OPENED, answer: 'a</think>4', outputText: 'a</think>4' }],
    ['a special token has ended it', { contextText: OPENED, outputText: 'a</think>4' }],
    ['the context is a conversation', { contextText: 'user: Write <think>\n', trainable: false }],
  ])('%s: the answer is judged as it stands', async (_, turn) => {
    expect(await answerGiven(turn)).toBe((turn as { answer?: string }).answer ?? PLAIN.answer);
  });

  test('a local judging sends no heartbeat, of which the worker would warn each time', async () => {
    const slow = () => new Promise<Verdict>((resolve) => setTimeout(() => resolve(RIGHT), 1200));
    const [local, other] = await Promise.all([true, false].map((isLocal) => evaluate(slow, { attempt: 1, isLocal })));
    expect(local).toEqual({ judged: RIGHT, lastBeat: undefined });
    expect(other!.lastBeat).toEqual({ silent: 0, asked: true });
  });

  test('a verdict is still found after a full disk refused it many times', async () => {
    const { judged, lastBeat } = await evaluate(() => Promise.resolve(RIGHT), {
      attempt: 30,
      beatBefore: { silent: 0 },
    });
    expect(judged).toEqual(RIGHT);
    expect(lastBeat).toEqual({ silent: 0, asked: true });
  });

  test('a judge that breaks is tried again, and in the end leaves the turn undecided', async () => {
    expect((await evaluate(broken(true), { attempt: 1 })).judged).toBeInstanceOf(JudgeError);
    expect((await evaluate(broken(true), { attempt: 5 })).judged).toEqual({
      verdict: 'undecided',
      reason: 'judge-killed',
    });
    expect((await evaluate(broken(false), { attempt: 1 })).judged).toEqual({
      verdict: 'undecided',
      reason: 'judge-killed',
    });
  });

  test('a judging that ends its worker five times is given up', async () => {
    let beforeJudging: unknown;
    const killsItsWorker = () => {
      beforeJudging = 'called';
      return Promise.resolve(RIGHT);
    };
    const { judged } = await evaluate(killsItsWorker, { attempt: 6, beatBefore: { silent: 5 } });
    expect(judged).toEqual({ verdict: 'undecided', reason: 'judge-gave-up' });
    expect(beforeJudging).toBeUndefined();
  });
});
