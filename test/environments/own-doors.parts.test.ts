// One game through every door and with every kind of state: the same answers get the same replies, also when all
// processes are killed between any two turns. And what a door refuses.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import type { Played } from '../../environments/environment.ts';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';
import { putCode } from '../../records/run/code.ts';
import { guess, guessServer } from './own/guess.ts';
import { ownRig } from './own/own-rig.ts';
import { earlier, moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';
import { rowsOf } from '../support/rows.ts';

const { folder, described, describeText, open, serve } = ownRig();

const KINDS = ['none', 'value', 'replay', 'held'] as const;
const DOORS = {
  command: (kind: string) => described(`python3 guess.py ${kind}`),
  module: (kind: string) => described(`./guess-${kind}.ts`),
  url: async (kind: (typeof KINDS)[number]) =>
    described((await serve(kind === 'held' ? guessServer() : guess(kind), 'abc')).url),
};
const GAMES = Array.from({ length: 6 }, (_, i) => `g${i}`);
const guesses = (game: string) => [10, 5 + Number(game.slice(1)), 17].map((n) => `I say ${n}.`);
const played = (record: EnvironmentRecord, game: string): Played => rolloutOf(record, { name: game }, game);

/** Every reply of all games, played at once. */
async function replies(record: EnvironmentRecord) {
  const environment = open().open(record, folder);
  return Promise.all(
    GAMES.map(async (game) => {
      const { begun, replies: said, rollout, turns } = await playOwn(environment, played(record, game), guesses(game));
      await environment.end?.({ rollout, before: async () => turns }, { signal: NEVER });
      const state = record.state === 'value' ? said.map((reply) => reply.state) : null;
      return { begun: begun?.messages, said: said.map((reply) => ({ ...reply, state: null })), state };
    }),
  );
}

describeUnless(NO_PYTHON)('an environment with state', () => {
  describe.each(KINDS)('%s', (kind) => {
    let reference: unknown;
    beforeAll(async () => {
      reference = await replies(await DOORS.command(kind));
    });

    test.each(kind === 'replay' ? (['module'] as const) : (['module', 'url'] as const))(
      'replies the same through the door %s',
      async (door) => {
        expect(await replies(await DOORS[door](kind))).toEqual(reference);
      },
    );

    test.each(kind === 'held' ? [] : (['command', 'module'] as const))(
      'replies the same when every process is killed between any two turns: %s',
      async (door) => {
        const record = await DOORS[door](kind);
        for (const game of GAMES.slice(0, 2)) {
          const whole = await playOwn(open().open(record, folder), played(record, game), guesses(game));
          const turns: EarlierTurn[] = [];
          for (const { turn } of whole.turns) {
            const own = open();
            const { answer } = turn;
            const reply = await own
              .open(record, folder)
              .respond(moveOf(whole.rollout, answer, turns), { signal: NEVER });
            turns.push(earlier(turn.turn, answer, reply));
            await own.close();
          }
          expect(turns).toEqual(whole.turns);
        }
      },
    );
  });
});

describeUnless(NO_PYTHON)('an environment with live state', () => {
  test.each(['command', 'module'] as const)(
    'that replies otherwise when it is played again fails its rollout by name: %s',
    async (door) => {
      const record = await DOORS[door]('replay');
      const own = open();
      const rollout = rolloutOf(record, { name: 'x', drift: true });
      const whole = await playOwn(own.open(record, folder), rollout, ['0', '0']);
      await own.close();
      const other = open().open(record, folder);
      const asked = other.respond(moveOf(whole.rollout, '0', whole.turns), { signal: NEVER });
      await expect(asked).rejects.toMatchObject({ reason: 'environment-not-deterministic', retryable: false });
    },
  );
});

describe('a module', () => {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('has the same fingerprint from the same sources, and another from others', async () => {
    const first = await described('./guess-none.ts');
    expect((await described('./guess-none.ts')).fingerprint).toBe(first.fingerprint);
    expect((await described('./guess-value.ts')).fingerprint).not.toBe(first.fingerprint);
  });

  test('places rewards in the answer, and one that is undefined is no reward of 0', async () => {
    const respond = `({ answer }) => ({ verdict: 'right', credit: [{ from: 0, to: [...answer].length, reward: { a: 1 }[answer] }] })`;
    const path = write(
      'steps.mjs',
      `export const environment = { name: 'steps', version: '1', credits: true, respond: ${respond} };`,
    );
    const record = await described(path);
    expect(record).toMatchObject({ credits: true });
    const asked = (answer: string) =>
      open()
        .open(record, folder)
        .respond(moveOf(played(record, 'g0'), answer), { signal: NEVER });
    expect(await asked('a')).toMatchObject({ reward: 2, base: 1, credit: [{ from: 0, to: 1, reward: 1 }] });
    await expect(asked('b')).rejects.toMatchObject({ reason: 'environment-broken' });
  });

  test('whose code in the run was changed is not run', async () => {
    const record = await described('./guess-none.ts');
    const other = { ...record, fingerprint: 'a'.repeat(64) };
    await putCode(folder, { sha256: other.fingerprint, code: 'exports.environment = {}' });
    const asked = open()
      .open(other, folder)
      .respond(moveOf(played(other, 'g0'), '1'), { signal: NEVER });
    await expect(asked).rejects.toMatchObject({ reason: 'environment-unloadable' });
  });

  test.each(rowsOf<Record<'name' | 'text' | 'says', string>>('./broken-modules.jsonl', import.meta.url))(
    'that does not load is refused with the reason: $name',
    async ({ name, text, says }) => {
      const refused = await described(write(name, text)).catch((error: unknown) => error as Error);
      expect(refused).toBeInstanceOf(Error);
      expect((refused as Error).message).toContain(says);
    },
  );

  test('has agents whose NaN is one, and no null that nobody wrote', async () => {
    const agents = "[{ name: 'p', numTurns: 2, temperature: 0 / 0 }]";
    const path = write(
      'agents.mjs',
      `export const agents = ${agents};\nexport default { name: 'a', version: '1', respond() {} };`,
    );
    const { agents: found } = await describeText(path);
    expect(found).toEqual([{ name: 'p', numTurns: 2, temperature: 'NaN' }]);
  });

  test('may write to standard output, throw, and hang, and its process is no other one', async () => {
    const path = write(
      'hostile.mjs',
      `export const environment = { name: 'hostile', version: '1', timeoutSeconds: 3, respond({ answer }) {
        console.log('noise');
        if (answer === 'throw') throw Object.assign(new Error('thrown'), { retryable: true });
        if (answer === 'hang') for (;;);
        if (answer === 'exit') process.exit(3);
        if (answer === 'parts') return { reward: { a: 1, b: Infinity } };
        if (answer === 'none') return { reward: { a: undefined, b: 1 } };
        return { reward: answer === 'nan' ? NaN : 1, metrics: { seen: undefined } };
      } };`,
    );
    const record = await described(path);
    const environment = open().open(record, folder);
    const say = (answer: string) => environment.respond(moveOf(played(record, 'g0'), answer), { signal: NEVER });
    expect(await say('1')).toMatchObject({ reward: 1, done: true });
    await expect(say('throw')).rejects.toMatchObject({
      reason: 'environment-error',
      retryable: true,
      trace: expect.stringMatching(/^Error: thrown\n {2}at hostile\.mjs:3 in respond$/) as string,
    });
    await expect(say('exit')).rejects.toMatchObject({ reason: 'environment-exited' });
    for (const [answer, held] of Object.entries({ nan: 'NaN', parts: 'Infinity', none: 'undefined' })) {
      const message = expect.stringContaining(`it holds ${held}, which JSON does not have`) as string;
      await expect(say(answer)).rejects.toMatchObject({ reason: 'environment-broken', message });
    }
    await expect(say('hang')).rejects.toMatchObject({ reason: 'environment-timeout' });
    expect(await say('1')).toMatchObject({ reward: 1, done: true });
  });
});
