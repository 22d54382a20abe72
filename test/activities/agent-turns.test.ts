// The turn of an agent's call, generated within the agent's own activity: what can pass is tried again there, and nothing else.

import { describe, expect, test, vi } from 'vitest';
import type { DueCall } from '../../activities/agent-turns.ts';
import { playingCalls } from '../../activities/agent-turns.ts';
import { answeringTurns } from '../../activities/answer-turn.ts';
import type { AskedRequest } from '../../domain/agent/conversation.ts';
import { replyForm } from '../../domain/agent/reply-form.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { DEFAULT_SETTINGS, type RolloutSettings } from '../../domain/rollout/settings.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import type { TokenBackend } from '../../inference/backend.ts';
import type { Store } from '../../records/store.ts';
import { heldStore } from '../support/held-store.ts';
import { scriptedBackend } from '../support/scripted-model.ts';

const ID = { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 };
const honest = scriptedBackend({ answer: () => 'Fine.' });

interface Given {
  /** The record of another attempt. */
  readonly there?: object;
  readonly limits?: AskedRequest['limits'];
  readonly own?: Partial<RolloutSettings>;
}

function playing(generate: TokenBackend['generate'], { there, limits = {}, own = {} }: Given = {}) {
  const turns: TurnRecord[] = [];
  const chunks: ChunkRecord[] = [];
  const waits: (string | null)[] = [];
  const stop = new AbortController();
  const store = heldStore({ turn: () => there }, { turn: turns, chunk: chunks }) as Store;
  const rollout = { settings: { ...DEFAULT_SETTINGS, seed: 1, ...own }, query: {} } as unknown as RolloutRecord;
  const play = playingCalls(
    { isStopping: async () => false },
    answeringTurns({ now: () => 5 }),
    (_turn, _signal, work) => work(),
    {
      ...{ store, id: ID, rollout, attempt: 1, signal: stop.signal },
      backend: { ...honest, generate },
      waits: (what) => void waits.push(what),
    },
  );
  const asked = { call: 'c', parent: null, messages: [], shared: 0, limits };
  const record = { turn: 3, asked, contextIds: [1, 2, 3], contextText: 'Hello', previous: 'h' };
  const due = {
    asked: { record, hash: 'h', created: there === undefined },
    before: [],
    request: { messages: [], tools: [], limits },
  } as unknown as DueCall;
  return { turns, chunks, waits, stop, played: () => play(due) };
}

/** Fails so often, then answers. */
function failing(times: number, error: ModelError): TokenBackend['generate'] {
  let left = times;
  return async (request, options) => {
    if (left-- > 0) throw error;
    return honest.generate(request, options);
  };
}

describe('the turn of an agent’s call', () => {
  test('is tried again while its server is away, says what it waits for, and is recorded once', async () => {
    const away = new ModelError('The server is away.', {
      ...{ reason: 'server-unreachable', retryable: true, retryAfterMs: 5 },
    });
    const { turns, waits, played } = playing(failing(3, away));
    expect((await played()).record).toMatchObject({ turn: 3, answer: 'Fine.', previous: 'h', contextLength: 3 });
    expect(turns).toHaveLength(1);
    expect(waits).toEqual([...Array.from({ length: 3 }, () => expect.stringContaining('is away')), null]);
  });

  test('fails by the third answer that cannot be read in the same way, and by the first error that cannot pass', async () => {
    const unreadable = new ModelError('no ids', {
      ...{ reason: 'reply-malformed', retryable: true, retryAfterMs: 1, flaw: 'no ids', server: 'http://one' },
    });
    let asked = 0;
    const thrice = playing(async (request) => {
      asked++;
      if (asked > 1) expect(request.avoid).toEqual(['http://one']);
      throw unreadable;
    });
    await expect(thrice.played()).rejects.toMatchObject({ reason: 'reply-malformed', retryable: false });
    expect(asked).toBe(3);
    const refused = playing(failing(1, new ModelError('no such model', { reason: 'model-not-found' })));
    await expect(refused.played()).rejects.toMatchObject({ reason: 'model-not-found' });
    expect([...thrice.turns, ...refused.turns]).toEqual([]);
  });

  test('that another attempt has recorded is not generated again', async () => {
    const generate = vi.fn<TokenBackend['generate']>();
    const { played } = playing(generate, { there: { turn: 3, answer: 'There.' } });
    expect((await played()).record).toMatchObject({ answer: 'There.' });
    expect(generate).not.toHaveBeenCalled();
  });

  test('is tried no more when its activity is cancelled', async () => {
    const away = new ModelError('The server is away.', {
      ...{ reason: 'server-unreachable', retryable: true, retryAfterMs: 60_000 },
    });
    const { stop, waits, played } = playing(failing(9, away));
    const play = played();
    await vi.waitFor(() => expect(waits).toHaveLength(1));
    stop.abort(new Error('cancelled'));
    await expect(play).rejects.toThrow('cancelled');
  });

  test('that its server holds to a form is asked for in one piece, cut where the server ends it, and never asked for from within', async () => {
    const form = replyForm('json', {});
    const held = { limits: { form }, own: { maxNewTokens: 100, newTokensPerChunk: 2 } };
    const seen: unknown[] = [];
    const inPart: TokenBackend['generate'] = (request, options) => {
      seen.push([request.form, request.maxNewTokens]);
      return honest.generate({ ...request, maxNewTokens: 3 }, options);
    };
    const { played, chunks } = playing(inPart, held);
    expect((await played()).record).toMatchObject({ finish: 'length', maxNewTokens: 3 });
    expect(seen).toEqual([[form, 100]]);
    expect(chunks).toEqual([]);
    const aborted = playing(async (...call) => ({ ...(await inPart(...call)), finish: 'abort' }), held);
    const play = aborted.played();
    await vi.waitFor(() => expect(aborted.waits).toEqual([expect.stringContaining('before its first token')]));
    aborted.stop.abort(new Error('cancelled'));
    await expect(play).rejects.toThrow('cancelled');
    expect([aborted.turns, aborted.chunks]).toEqual([[], []]);
  });
});
