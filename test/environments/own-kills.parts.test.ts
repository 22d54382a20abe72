// Hosts of environments under `kill -9`: games with state `replay` end as the unbroken ones do, games with state `held` end
// so or as environment-lost, and no process stays. EVERTURN_KILLS=100 plays 300 games of each; CI a twentieth. Workers and the
// server under kills: test/chaos.

import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { EnvironmentReply } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import type { Environment, Played } from '../../environments/environment.ts';
import { randomOf } from '../chaos/seed.ts';
import { HERE, ownRig } from './own/own-rig.ts';
import { earlier, moveOf, NEVER, playOwn, rolloutOf } from './own/rollouts.ts';
import { NO_PYTHON } from '../support/needs.ts';

const KILLS = Number(process.env['EVERTURN_KILLS'] ?? 5);
const GAMES = KILLS * 3;
const AT_ONCE = 12;
const { described, open } = ownRig();
const ANSWERS = ['1', '20', '10'];

/** Hosts of this test: their last argument is its mark. */
function hosts(mark: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) =>
    /python3 \S*guess\.py/.test(line) && line.endsWith(` ${mark}`) && !line.includes('/bin/sh')
      ? [Number.parseInt(line, 10)]
      : [],
  );
}

/** Tried again as Temporal does it. */
async function tried<T>(work: () => Promise<T>): Promise<T> {
  for (let n = 0; ; n++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EnvironmentError) || !error.retryable || n >= 50) throw error;
      await sleep(5);
    }
  }
}

async function playedUnderKills(
  environment: Environment,
  started: Played,
  replied: () => void,
): Promise<EnvironmentReply[] | string> {
  try {
    const begun = await tried(() => environment.begin!(started, { signal: NEVER }));
    const { state } = begun;
    const rollout: Played = {
      ...started,
      query: { ...started.query, prompt: { kind: 'messages', messages: begun.messages! } },
      begun: { asked: started.query.prompt, environment: 'e', ...(state === undefined ? {} : { state }) },
    };
    const turns: EarlierTurn[] = [];
    const replies: EnvironmentReply[] = [];
    for (const answer of ANSWERS) {
      const reply = await tried(() => environment.respond(moveOf(rollout, answer, turns), { signal: NEVER }));
      replies.push(reply);
      replied();
      turns.push(earlier(turns.length + 1, answer, reply));
      if (reply.done) break;
      await sleep(20);
    }
    await tried(() => environment.end!({ rollout, before: async () => turns }, { signal: NEVER }));
    return replies;
  } catch (error) {
    return error instanceof EnvironmentError ? error.reason : String(error);
  }
}

describe.each(['replay', 'held'] as const)('games with state %s whose hosts are killed', (kind) => {
  test('end as the unbroken ones do, or by name, and leave no process', { timeout: 1_200_000 }, async ({ skip }) => {
    if (NO_PYTHON) return skip(NO_PYTHON);
    const mark = `${1 + (process.pid % 80_000)}`;
    const spec = `python3 guess.py ${kind} ${mark}`;
    const record = await described(spec);
    const game = (i: number): Played => rolloutOf(record, { name: `g${i}` }, `g${i}`);
    const unbroken = open({ processes: 4 });
    const wanted: EnvironmentReply[][] = [];
    for (let i = 0; i < GAMES; i++) {
      const environment = unbroken.open(record, HERE);
      const { replies, rollout, turns } = await playOwn(environment, game(i), ANSWERS);
      await environment.end!({ rollout, before: async () => turns }, { signal: NEVER });
      wanted.push(replies);
    }
    await unbroken.close();

    const own = open({ processes: 4 });
    const environment = own.open(record, HERE);
    const random = randomOf(`own-kills-${kind}`);
    let kills = 0;
    let replies = 0;
    let over = false;
    const killing = (async () => {
      while (!over && kills < KILLS) {
        const found = hosts(mark);
        const one = found[Math.floor(random() * found.length)];
        if (one !== undefined) {
          try {
            process.kill(one, 'SIGKILL');
            kills++;
          } catch {
            // It had ended.
          }
        }
        // By replies rather than by the clock: on a slow machine each kill would meet a host that still starts.
        const wanted = replies + Math.floor(random() * 4);
        for (let n = 0; n < 200 && replies < wanted && !over; n++) await sleep(10);
        await sleep(random() * 60);
      }
    })();
    const ended: (EnvironmentReply[] | string)[] = [];
    let next = 0;
    let repeated = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        // Games are played until all kills were made.
        for (let i = next++; i < GAMES || (kills < KILLS && repeated++ < 100_000); i = next++)
          ended.push(check(await playedUnderKills(environment, game(i % GAMES), () => replies++), wanted[i % GAMES]!));
      }),
    );
    over = true;
    await killing;
    await own.close();
    const lost = ended.filter((end) => end === 'environment-lost').length;
    console.log(`${kind}: ${kills} kills over ${ended.length} games, ${lost} lost`);
    expect(kills).toBe(KILLS);
    expect(ended.filter((end) => typeof end === 'string' && end !== 'environment-lost')).toEqual([]);
    if (kind === 'replay') expect(lost).toBe(0);
    else expect(lost).toBeGreaterThan(0);
    for (let n = 0; n < 200 && hosts(mark).length > 0; n++) await sleep(50);
    expect(hosts(mark)).toEqual([]);
  });
});

function check(end: EnvironmentReply[] | string, wanted: readonly EnvironmentReply[]): EnvironmentReply[] | string {
  if (typeof end !== 'string') expect(end).toEqual(wanted);
  return end;
}
