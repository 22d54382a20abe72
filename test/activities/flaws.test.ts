// An answer that cannot be read is asked for three times and no more, however often the worker dies meanwhile.

import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { GenerateRequest } from '../../inference/backend.ts';
import { scriptedBackend } from '../support/scripted-model.ts';
import { heldStore } from '../support/held-store.ts';

const REFERENCE = { rollout: { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 }, turn: 1 };

/** Attempts one after the other, each with what the heartbeats of the one before said last, as Temporal has it. */
async function attempts(errors: readonly Error[], { where = 'generate' }: { where?: 'generate' | 'backend' } = {}) {
  const requests: GenerateRequest[] = [];
  const backend = scriptedBackend({ answer: () => 'fine' });
  const outcomes: unknown[] = [];
  let details: unknown;
  for (const [i, error] of errors.entries()) {
    const failing = {
      ...backend,
      generate: (request: GenerateRequest) => {
        requests.push(request);
        return Promise.reject(error);
      },
    };
    const query = { prompt: { kind: 'text', text: '2 + 2?' } };
    const settings = { ...DEFAULT_SETTINGS, seed: 1 };
    const deps = {
      openStore: () => heldStore({ rollout: () => ({ query, settings }) }),
      isStopping: () => Promise.resolve(false),
      backend: () => (where === 'backend' ? Promise.reject(error) : Promise.resolve(failing)),
      now: () => 0,
    };
    const environment = new MockActivityEnvironment({ attempt: i + 1, heartbeatDetails: details });
    environment.on('heartbeat', (beat: unknown) => (details = structuredClone(beat)));
    const { generate } = createActivities(deps as unknown as ActivityDeps);
    outcomes.push(await (environment.run(generate as never, REFERENCE) as Promise<unknown>).catch((e: unknown) => e));
  }
  return { outcomes: outcomes as ApplicationFailure[], requests };
}

const malformed = (flaw: string, server = 'http://a') =>
  new ModelError(`${server} sent an answer that is of no use`, {
    reason: 'reply-malformed',
    retryable: true,
    flaw,
    server,
  });
const busy = new ModelError('busy', { reason: 'server-busy', retryable: true, retryAfterMs: 7000 });
const ends = ({ nonRetryable }: ApplicationFailure) => nonRetryable;

describe('an answer that cannot be read', () => {
  test.each(['generate', 'backend'] as const)('ends its turn by name at the third alike (%s)', async (where) => {
    const { outcomes } = await attempts(Array<Error>(3).fill(malformed('meta_info missing')), { where });
    expect(outcomes.map(ends)).toEqual([false, false, true]);
    expect(outcomes[2]).toMatchObject({
      type: 'reply-malformed',
      message: expect.stringMatching(/^reply-malformed: meta_info missing \(3 times for this turn\): http:\/\/a sent/),
    });
  });

  test('is counted beside failures of other kinds, which are tried again as ever', async () => {
    const { outcomes } = await attempts([
      malformed('x'),
      busy,
      malformed('y'),
      busy,
      malformed('x'),
      busy,
      malformed('x'),
    ]);
    expect(outcomes.map(ends)).toEqual([false, false, false, false, false, false, true]);
    expect(outcomes[1]).toMatchObject({ type: 'server-busy', nextRetryDelay: 7000 });
  });

  test('that is wrong in another way each time ends its turn, too', async () => {
    const { outcomes } = await attempts(Array.from({ length: 12 }, (_, i) => malformed(`kind ${i}`)));
    expect(outcomes.map(ends)).toEqual([...Array<boolean>(11).fill(false), true]);
  });

  test('is asked of another server the next time, where there is one', async () => {
    const { requests } = await attempts([malformed('x', 'http://a'), malformed('x', 'http://b'), malformed('x')]);
    expect(requests.map(({ avoid }) => avoid)).toEqual([undefined, ['http://a'], ['http://a', 'http://b']]);
  });
});

describe('a reply that an update of the weights can explain', () => {
  test.each(['version-moved', 'server-aborted'] as const)(
    'ends its turn by name at the twelfth (%s)',
    async (reason) => {
      const moved = new ModelError('the weights changed', { reason, retryable: true, flaw: 'as updates do' });
      const { outcomes } = await attempts(Array.from({ length: 13 }, (_, i) => (i === 6 ? busy : moved)));
      expect(outcomes.map(ends)).toEqual([...Array<boolean>(12).fill(false), true]);
      expect(outcomes.at(-1)).toMatchObject({
        type: reason,
        message: expect.stringContaining('12 times for this turn'),
      });
    },
  );
});

describe('a flawed reply', () => {
  test('failures that another try can mend are tried again for ever', async () => {
    const { outcomes } = await attempts(Array.from({ length: 20 }, () => busy));
    expect(outcomes.some(ends)).toBe(false);
  });
});
