// State `held`: a session goes on in the process that began it, or is lost by name; nothing else ever takes its place.

import { expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { Played } from '../../environments/environment.ts';
import { absentSessionError, HOLDER } from '../../environments/own/held.ts';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';
import { guessServer } from './own/guess.ts';
import { ownRig } from './own/own-rig.ts';
import { earlier, moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';

const { folder, described, open, serve } = ownRig();
const played = (record: EnvironmentRecord, game: string): Played => rolloutOf(record, { name: game }, game);
const LOST = { reason: 'environment-lost', retryable: false };

describeUnless(NO_PYTHON)('a session that is held', () => {
  test.each(['python3 guess.py held', './guess-held.ts'])(
    'is lost with its process, and no fresh one takes its place: %s',
    async (spec) => {
      const record = await described(spec);
      const own = open();
      const { rollout, turns } = await playOwn(own.open(record, folder), played(record, 'g1'), ['0', '0']);
      expect(rollout.begun!.state).toEqual({ holder: HOLDER });
      await own.close();
      const next = moveOf(rollout, '0', turns);
      await expect(open().open(record, folder).respond(next, { signal: NEVER })).rejects.toMatchObject(LOST);
    },
  );

  test('goes on in its own process, however many others play, and the same call again gets the same reply', async () => {
    const record = await described('python3 guess.py held');
    const environment = open({ processes: 2 }).open(record, folder);
    const games = Array.from({ length: 12 }, (_, i) => `g${i}`);
    const all = await Promise.all(
      games.map((game) => playOwn(environment, played(record, game), ['100', '200', '300'])),
    );
    for (const { rollout, replies, turns } of all) {
      expect(replies.map(({ metrics }) => metrics?.['said'])).toEqual([1, 2, undefined]);
      const again = await environment.respond(moveOf(rollout, '300', turns.slice(0, 2)), { signal: NEVER });
      expect(again).toEqual(replies[2]);
      await environment.end!({ rollout, before: async () => turns }, { signal: NEVER });
      await environment.end!({ rollout, before: async () => turns }, { signal: NEVER });
      await expect(environment.respond(moveOf(rollout, '0', turns), { signal: NEVER })).rejects.toMatchObject(LOST);
    }
  });

  test('is given back when its lease is over', async () => {
    const record = await described('python3 guess.py held 1');
    expect(record.idleSeconds).toBe(1);
    const environment = open().open(record, folder);
    const { rollout, turns } = await playOwn(environment, played(record, 'g1'), ['0']);
    const late = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return environment.respond(moveOf(rollout, '0', turns), { signal: NEVER });
    };
    await expect(late()).rejects.toMatchObject(LOST);
  });

  test('of another worker is waited for as long as its lease, and is lost then', () => {
    let ms = 0;
    const absent = absentSessionError('game', 10, () => ms);
    const ask = () => absent('k', { holder: 'another' });
    expect(ask()).toMatchObject({ reason: 'environment-not-served', retryable: true });
    ms = 9_999;
    expect(ask()).toMatchObject({ reason: 'environment-not-served' });
    ms = 10_000;
    expect(ask()).toMatchObject(LOST);
  });

  test('behind an address is named by its handle, and lost when the server says so', async () => {
    const game = guessServer();
    const record = await described((await serve(game, 'abc')).url);
    expect(record).toMatchObject({ state: 'held', idleSeconds: 60 });
    const environment = open().open(record, folder);
    const { rollout, turns, replies } = await playOwn(environment, played(record, 'g1'), ['0']);
    expect(rollout.begun!.state).toEqual({ id: 's0' });
    expect(replies[0]!.metrics).toMatchObject({ said: 1 });
    const next = moveOf(rollout, '1', [earlier(1, '0', replies[0]!)]);
    // Another worker goes on with it.
    expect((await open().open(record, folder).respond(next, { signal: NEVER })).metrics).toMatchObject({ said: 2 });
    game.games.clear();
    await expect(environment.respond(moveOf(rollout, '2', turns), { signal: NEVER })).rejects.toMatchObject(LOST);
  });

  test.each([
    [{ state: 'held', begins: true }, 'idleSeconds'],
    [{ state: 'held', idleSeconds: 60 }, 'does not begin'],
    [{ state: 'held', begins: true, idleSeconds: 0 }, 'idleSeconds'],
  ])('without a lease or a beginning is refused: %j', async (hello, says) => {
    const script = `import json; print(json.dumps({"hello": {"protocol": 1, "name": "a", "version": "1", **json.loads('${JSON.stringify(hello)}')}}), flush=True); input()`;
    const refused = await described(`python3 -c '${script.replaceAll("'", `'"'"'`)}'`).catch((error: unknown) => error);
    expect((refused as Error).message).toContain(says);
  });
});
