// Tools beside environments of the user's own, in one run: the game is the same with calls between its answers as without,
// for each kind of state. And what a person may do with such a run: try again, and no fork.

import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { main } from '../../cli/main.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { callText } from '../support/tool-chat.ts';
import { openToolRuns, type ToolRuns } from '../support/tool-runs.ts';

const PRICE = callText('price', { fruit: 'plum' });
const ORDER = callText('order', { fruit: 'plum', count: 1 });
const GUESSES = ['I say 1.', 'I say 20.', 'I say 10.'];
const WITH_CALLS = [PRICE, GUESSES[0]!, ORDER, PRICE, GUESSES[1]!, PRICE, GUESSES[2]!];
const KINDS = ['value', 'replay', 'held'] as const;

let runs: ToolRuns;
beforeAll(async () => {
  runs = await openToolRuns({
    says: (query, turn) => (query.startsWith('plain') ? GUESSES : WITH_CALLS)[turn - 1] ?? 'no more',
  });
  vi.stubEnv('TEMPORAL_ADDRESS', inject('temporalAddress'));
  vi.stubEnv('TEMPORAL_NAMESPACE', runs.rig.namespace);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await runs.close();
});

async function everturn(command: string, run: string, ...rest: string[]) {
  const io = scriptedIo({ cwd: runs.out, env: { EVERTURN_HOME: `${runs.out}/home`, NO_COLOR: '1' } });
  io.clock.ms = Date.now();
  const code = await main(io, [command, run, '--out', runs.out, ...rest]);
  return { code, ...io.text };
}

/** The replies to answers. */
const replies = ({ turns }: Trajectory) =>
  turns.flatMap(({ verdict }) => {
    const { verdict: said, metrics, messages, done, reward } = verdict!;
    // A penalty grows with the number of the turn; calls have one of their own.
    return said === 'called' ? [] : [{ said, metrics, messages, done, won: (reward ?? 0) >= 1 }];
  });
const stateOf = ({ turns }: Trajectory) => turns.flatMap(({ verdict }) => verdict?.state ?? []);

describe('an environment beside tools', () => {
  test.each(KINDS)('plays the game of a run without calls, with state %s', { timeout: 240_000 }, async (kind) => {
    const spec = `python3 guess.py ${kind}`;
    const { of, result } = await runs.play(`beside-${kind}`, ['g0', 'g1', 'g2'], { numTurns: 3 }, {}, spec);
    expect(result.counts.outcomes).toMatchObject({ complete: 3, failed: 0, undecided: 0 });
    for (const query of ['g0', 'g1', 'g2']) {
      const played = await of(query);
      const said = replies(played);
      // Three guesses, or fewer with the right one; each reply knows those before it.
      expect(said.map(({ metrics }) => metrics?.['said']).filter((n) => n !== undefined)).toEqual(
        [1, 2].slice(0, said.length - 1),
      );
      expect(said.at(-1)!.done).toBe(true);
      expect(played.turns.filter(({ verdict }) => verdict!.verdict === 'called').length).toBeGreaterThan(0);
      if (kind === 'value')
        expect(stateOf(played).map((state) => (state as { left: number }).left)).toEqual(
          [2, 1, 0].slice(0, said.length),
        );
    }
    expect(await runs.breaches(`beside-${kind}`)).toEqual([]);
  });
});

describe('a person', () => {
  test('tries a rollout with tools again whose held session was lost', { timeout: 240_000 }, async () => {
    const { result, store } = await runs.play('lost', ['dies'], { numTurns: 3 }, {}, 'python3 guess.py held');
    expect(result.counts.reasons).toMatchObject({ 'environment-lost': 1 });
    const { code, out, err } = await everturn('retry', 'lost', 'dies', '--by', 'anna');
    expect(code, err).toBe(0);
    expect(out).toContain('attempt 2 is complete');
    const id = { run: 'lost', query: 'dies', sample: 0, attempt: 2 };
    expect((await store.get('intent', id, 3, 1))!.record.key).toBe('lost/dies/0/2/3/1');
    expect(runs.ordersOf('lost')).toEqual(['lost/dies/0/2/3/1']);
    expect(await runs.breaches('lost')).toEqual([]);
  });

  test.each([
    ['with tools', undefined, 'has tools'],
    ['with state value', 'python3 guess.py value', 'has the environment'],
  ])('is refused a fork of a rollout %s, with the way out', { timeout: 240_000 }, async (what, spec, why) => {
    const run = `fork-${what.split(' ').at(-1)!}`;
    await runs.play(run, ['g0'], { numTurns: 2 }, {}, spec);
    for (const act of [
      ['fork', run, 'g0', '--from-turn', '2'],
      ['fork', run, 'g0', '--from-turn', '2', '--say', 'No.'],
      ['extend', run, 'g0', '--turns', '1'],
    ] as [string, string, ...string[]][]) {
      const { code, err } = await everturn(...act);
      if (act[0] === 'extend' && err.includes('only a rollout that played all of its turns')) continue;
      expect([code, err]).toEqual([2, expect.stringContaining(why)]);
      expect(err).toContain('`everturn run` with more --samples');
    }
  });
});
