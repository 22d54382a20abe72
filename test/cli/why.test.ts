// Why, in one sentence: what a rollout waits for, or how it ended.

import { describe, expect, test } from 'vitest';
import type { PendingActivity } from '../../client/temporal/pending.ts';
import { runPlace } from '../../run/place.ts';
import { whyText } from '../../cli/view/why-text.ts';
import type { Why } from '../../library/why.ts';
import { scriptedIo } from './scripted-io.ts';

const io = scriptedIo();
const say = (changes: Partial<Why>) =>
  whyText(io, runPlace('/nowhere', 'r'), {
    run: 'r',
    query: 'q1',
    sample: 0,
    attempt: 1,
    state: 'playing',
    outcome: null,
    reason: null,
    message: null,
    endedAt: null,
    turns: [],
    pending: null,
    waitsForWorker: false,
    collection: null,
    servers: [],
    url: null,
    ...changes,
  });
const pending = (changes: Partial<PendingActivity> = {}, chunksKept = 0): Partial<Why> => ({
  pending: {
    name: 'generate',
    queue: 'everturn-generate',
    attempt: 1,
    state: 'started',
    since: io.now() - 65_000,
    nextTryAt: null,
    lastFailure: null,
    waits: null,
    ...changes,
    turn: 2,
    chunksKept,
  },
});
const failed: Partial<Why> = { state: 'ended', endedAt: io.now() - 3 * 3_600_000 };
const collection = { state: 'running', inFlight: 16, maxConcurrent: 16 };

describe('everturn why', () => {
  test.each<[string, Partial<Why>]>([
    ['q1 waits for the model for 1:05: turn 2.', pending()],
    ['q1 waits for the model for 1:05: turn 2, attempt 3, 2 chunks of the answer stored.', pending({ attempt: 3 }, 2)],
    ['q1 waits for the judge for 1:05: turn 2.', pending({ name: 'evaluate' })],
    ['q1 waits for the model: turn 2 waits for a worker that takes it.', pending({ state: 'scheduled' })],
    ['q1 waits for a worker: none has taken it.', { waitsForWorker: true }],
    ['q1 has not begun: 16 of at most 16 rollouts are in flight before it.', { state: 'waiting', collection }],
    ['q1 has not begun: the run is paused.', { state: 'waiting', collection: { ...collection, state: 'paused' } }],
    ['q1 is not being played: repeat the command that started run "r", and it continues.', { state: 'stopped' }],
    [
      'q1 (sample 2, attempt 3) is complete: all of its turns were played.',
      { state: 'ended', outcome: 'max-turns', sample: 2, attempt: 3 },
    ],
    ['q1 is complete: its environment ended it.', { state: 'ended', outcome: 'done' }],
    [
      'q1 failed 3 h ago (server-auth), with the words of then: 401',
      { ...failed, outcome: 'failed', reason: 'server-auth', message: '401' },
    ],
    [
      'q1 could not be judged 3 h ago (environment-exited), with the words of then: exit code 1',
      { ...failed, outcome: 'undecided', reason: 'environment-exited', message: 'exit code 1' },
    ],
    ['q1 could not be judged 3 h ago (unparsed).', { ...failed, outcome: 'undecided', reason: 'unparsed' }],
  ])('%s', (text, changes) => {
    expect(say(changes)).toBe(text);
  });

  test('an environment’s rewards, metrics and faults are told, their words made harmless', () => {
    const played = { turn: 1, verdict: 'scored', reason: null, tokens: 3, seconds: 1, attempt: 1, server: null };
    const named = { reward: 1.5, rewards: { format: 0.5, '\u001b[2J': 1 }, metrics: { length: 12 } };
    const broken = { ...played, turn: 2, verdict: 'undecided', reason: 'environment-error', note: 'no net\u001b[2J' };
    const text = say({ state: 'ended', outcome: 'done', turns: [{ ...played, ...named }, broken] });
    expect(text.split('\n').slice(1)).toEqual([
      '  turn 1: scored · reward 1.5 (format 0.5, ␛[2J 1) · measured length 12 (3 tokens, 1.0 s)',
      '  turn 2: undecided: environment-error (3 tokens, 1.0 s)',
      '    no net␛[2J',
    ]);
  });

  test('an agent’s calls are told with their branches, the reasons of roots, and the verdict on the program’s answer', () => {
    const call = { verdict: 'called', reason: 'agent', tokens: 3, seconds: 1, attempt: 1, server: null } as const;
    const root = { parent: null, branch: null, differsAt: null };
    const turns = [
      { ...call, turn: 1, asked: root },
      { ...call, turn: 2, asked: { ...root, parent: 1 } },
      { ...call, turn: 3, asked: { parent: null, branch: 'compacted' as const, differsAt: 1 } },
      { ...call, turn: 4, asked: root, abandoned: true as const, verdict: 'scored', reward: 0.5 },
    ];
    const text = say({ state: 'ended', outcome: 'done', turns, branches: 2 });
    expect(text.split('\n')).toEqual([
      'q1 is complete: its program ended.',
      '  calls: 4 in 2 branches, 1 abandoned',
      '  call 1: a root (3 tokens, 1.0 s)',
      '  call 2: goes on from call 1 (3 tokens, 1.0 s)',
      '  call 3: a root: compacted, from message 2 on (3 tokens, 1.0 s)',
      '  call 4: a root · abandoned (3 tokens, 1.0 s)',
      '  the program’s answer: scored · reward 0.5',
    ]);
    const [first] = say({ ...pending({ name: 'runAgent' }), turns, branches: 2 }).split('\n');
    expect(first).toBe('q1 waits for its agent for 1:05: 4 calls so far.');
    const retried = pending({ name: 'runAgent', state: 'scheduled', attempt: 2, nextTryAt: io.now() + 12_000 });
    expect(say({ ...retried, branches: 0 })).toBe('q1 waits for its agent: it is retried in 0:12, attempt 2.');
  });

  test('a failed try is told with its reason, its words made harmless, and the next one', () => {
    const lastFailure = { reason: 'server-busy', message: 'http://a answered 503: \u001b[2Jgone' };
    const text = say(pending({ state: 'scheduled', attempt: 4, nextTryAt: io.now() + 12_000, lastFailure }));
    expect(text.split('\n')).toEqual([
      'q1 waits for the model: turn 2 is retried in 0:12, attempt 4.',
      '  last failure: server-busy: http://a answered 503: ␛[2Jgone',
    ]);
  });
});
