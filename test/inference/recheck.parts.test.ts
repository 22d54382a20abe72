// Answers that are given back to their server as contexts: honest ones agree, lies about logprobs are refused by name.

import { afterEach, describe, expect, test } from 'vitest';
import { Recheck, type Forced } from '../../inference/fleet/recheck.ts';
import { replyForm } from '../../domain/agent/reply-form.ts';
import { ask, closeAll, serverAndBackend } from '../support/fleet-rig.ts';
import type { Shape } from '../support/toy-engine.ts';

afterEach(closeAll);

const LONG = { maxNewTokens: 20 };
const SHORT = { maxNewTokens: 8 };
const FLAW = 'logprobs that the server does not repeat';

const start = (shape: Shape, recheckEvery = 1) => serverAndBackend(shape, { recheckEvery });

type Json = Record<string, unknown>;
/** Changes the logprobs of a reply of any kind. */
function lying(lie: (logprobs: number[]) => number[]) {
  return {
    change(whole: Json) {
      const meta = whole['meta_info'] as { output_token_logprobs: [number, number, null][] } | undefined;
      if (meta) {
        const told = lie(meta.output_token_logprobs.map(([logprob]) => logprob));
        meta.output_token_logprobs = meta.output_token_logprobs.map(([, id], i) => [told[i]!, id, null]);
        return;
      }
      const { logprobs } = (whole['choices'] as { logprobs: Json }[])[0]!;
      if (logprobs['token_logprobs']) logprobs['token_logprobs'] = lie(logprobs['token_logprobs'] as number[]);
      const content = (logprobs['content'] ?? []) as { logprob: number }[];
      const told = lie(content.map(({ logprob }) => logprob));
      for (const [i, one] of content.entries()) one.logprob = told[i]!;
    },
  };
}

const LIES: [string, (logprobs: number[]) => number[]][] = [
  ['all 0', (all) => all.map(() => 0)],
  ['halved', (all) => all.map((value) => value / 2)],
  ['doubled', (all) => all.map((value) => value * 2)],
  ['shifted by one', (all) => [...all.slice(1), all[0] ?? 0]],
  ['in reverse', (all) => all.toReversed()],
  ['all alike', (all) => all.map(() => -1)],
  ['half a nat too high', (all) => all.map((value) => Math.min(0, value + 0.5))],
  ['right but for the last half', (all) => all.map((value, i) => (i < all.length / 2 ? value : 0))],
];

const KINDS: Shape[] = [{ kind: 'sglang' }, { kind: 'sglang', spans: false }, { kind: 'vllm' }];
describe.each([...KINDS, { kind: 'vllm', scaleOut: false } as Shape])('answers that are asked again: %j', (shape) => {
  test('agree where the server is honest, each counted', async () => {
    const { backend } = await start(shape);
    for (let seed = 0; seed < 6; seed++) await ask(backend, `run/q${seed}/0`, { ...LONG, seed });
    expect(backend.serverStatus!()[0]!.rechecks).toMatchObject({ answers: 6, differed: 0 });
    expect(backend.serverStatus!()[0]!.rechecks.tokens).toBe(6 * (20 + 3));
  });

  test('are refused by name where logprobs are lies', async () => {
    const { server, backend } = await start(shape);
    for (const [name, lie] of LIES) {
      server.fail(lying(lie));
      await expect(ask(backend, 'run/q/0', LONG), name).rejects.toMatchObject({ reason: 'bad-logprobs', flaw: FLAW });
    }
    expect(backend.serverStatus!()[0]!.rechecks.differed).toBe(LIES.length);
    await ask(backend, 'run/q/0', LONG);
  });

  test('are none of another distribution, of none at all, and none where the user wants none', async () => {
    const { backend } = await start(shape, 0);
    await ask(backend, 'run/q/0', LONG);
    expect(backend.serverStatus!()[0]!.rechecks.tokens).toBe(0);
    const held = await start(shape);
    await ask(held.backend, 'run/q/0', { ...LONG, form: replyForm('regex', '.*') });
    expect(held.backend.serverStatus!()[0]!.rechecks.tokens).toBe(0);
    if (shape.kind === 'vllm') return;
    const cold = await start(shape);
    await ask(cold.backend, 'run/q/0', { ...LONG, sampling: { temperature: 0.5, topP: 1, topK: 1e8 } });
    expect(cold.backend.serverStatus!()[0]!.rechecks.tokens).toBe(0);
  });

  test('say nothing where weights change meanwhile', async () => {
    const { server, backend } = await start(shape);
    server.hold = async (path, when) => {
      if (when === 'after' && /generate|completions/.test(path)) server.engine.version = `step-${server.seen.length}`;
    };
    await ask(backend, 'run/q/0', LONG).catch(() => undefined);
    expect(backend.serverStatus!()[0]!.rechecks.differed).toBe(0);
  });
});

describe('how many answers are asked again', () => {
  const shape: Shape = { kind: 'sglang' };
  test('are the first ten of each run, then one in so many', async () => {
    const { server, backend } = await start(shape, 5);
    const compared = () => backend.serverStatus!()[0]!.rechecks.answers;
    for (let i = 0; i < 10 + 9; i++) await ask(backend, `run/q${i}/0`, SHORT);
    expect(compared()).toBe(10 + 1);
    await ask(backend, 'run/q/0', LONG);
    expect(compared()).toBe(10 + 2);
    server.fail(lying((all) => all.map(() => 0)));
    await expect(ask(backend, 'later/q/0', LONG)).rejects.toMatchObject({ flaw: FLAW });
  });

  test('are all after a lie until ten agree in a row: one right answer makes no server honest', async () => {
    const { server, backend } = await start(shape, 200);
    const status = () => backend.serverStatus!()[0]!.rechecks;
    for (let i = 0; i < 3; i++) {
      server.fail(lying((all) => all.map(() => 0)));
      await expect(ask(backend, 'run/q/0', LONG)).rejects.toMatchObject({ flaw: FLAW });
      for (let j = 0; j < 9; j++) await ask(backend, `run/q${j}/0`, SHORT);
    }
    expect(status()).toMatchObject({ answers: 30, differed: 3 });
    for (let i = 0; i < 9; i++) await ask(backend, `run/q${i}/1`, SHORT);
    expect(status().answers).toBe(31);
  });
});

describe('the noise of servers', () => {
  const forced = (logprobs: number[]): Forced => ({ ids: [1, ...logprobs.keys()], logprobs, version: undefined });
  const outcome = async (said: number[], given: (number | null)[]) =>
    new Recheck(1)
      .of('run', forced(said), async () => ({ logprobs: given, version: null }), 'http://server')
      .then(
        () => 'agree',
        () => 'differ',
      );
  const confident = Array.from({ length: 60 }, (_, i) => (i % 20 === 0 ? -0.7 : -0.002));

  test('is no lie up to that of quantised weights, and one token may differ widely', async () => {
    const noisy = (size: number) =>
      confident.map((value, i) => Math.min(0, value + (1 - Math.exp(value)) * size * (i % 2 ? 1 : -1)));
    for (const size of [1e-5, 0.02, 0.1]) expect(await outcome(noisy(size), confident)).toBe('agree');
    expect(await outcome(noisy(0.4), confident)).toBe('differ');
    expect(await outcome([-0.9, ...confident.slice(1)], confident)).toBe('agree');
  });

  test('hides no lie of a confident model', async () => {
    for (const lie of [() => 0, (value: number) => value / 3, (value: number) => value * 3])
      expect(await outcome(confident.map(lie), confident)).toBe('differ');
  });
});
