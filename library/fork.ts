// A fork: a new run that plays a rollout again from one of its turns on; extended, it plays further turns behind the last one. Its
// name follows from its content unless it is given, so that the same call finds the same fork. The rollout itself stays as it is.

import { StoreError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { type RolloutId, safeName } from '../domain/names/ids.ts';
import { stopReason } from '../domain/rollout/ending.ts';
import type { ForkedFrom } from '../domain/rollout/lineage.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { RolloutRecord, Trajectory } from '../domain/rollout/trajectory.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { plural } from '../domain/text/plural.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import { readTrajectory } from '../records/reading/trajectories.ts';
import type { Caller, RunEvent } from '../run/caller.ts';
import { parseValue } from '../run/config.ts';
import { type NewFork, planFork } from '../run/fork.ts';
import { type Begun, runPlace, type RunPlace } from '../run/place.ts';
import { mustBeRunName } from '../run/prepare-run.ts';
import { beginRun } from '../run/start-run.ts';
import { commandLine, shellQuoted } from './command-line.ts';
import { findRollout, rolloutTitle, stillPlayed } from './find-rollout.ts';
import { messageOf, personOf, reasonOf } from './person.ts';

export interface ContinueOptions {
  /** The rollout: its query, and its sample (default 0) and attempt (default: the last). */
  readonly query: string;
  readonly sample?: number | undefined;
  readonly attempt?: number | undefined;
  /** A message to the model, behind the feedback before the first turn that is played. */
  readonly say?: string | undefined;
  /** The name of the new run. Default: derived from its content. */
  readonly name?: string | undefined;
  /** The person who wants it. Default: git's user.email, else this user. */
  readonly by?: string | undefined;
  /** The cause, in one line. */
  readonly reason?: string | undefined;
  /** Called with what happens until the new run has started. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

export interface ForkOptions extends ContinueOptions {
  /** The first turn that is played again, 1-based. */
  readonly fromTurn: number;
  /** Rollouts of the fork. Default 1. */
  readonly samples?: number | undefined;
}

export interface ExtendOptions extends ContinueOptions {
  /** Further turns. */
  readonly turns: number;
}

const MOST_SAMPLES = 10_000;

const refused = (message: string, fix: string): Error => unusable(message, fix, 'not-allowed');

export async function startFork(place: RunPlace, caller: Caller, options: ForkOptions | ExtendOptions): Promise<Begun> {
  return beginRun(await planFork(await describeFork(place, caller, options), caller), caller);
}

/** Throws a UsageError for a rollout that cannot be played on from there. Writes nothing. */
export async function describeFork(
  place: RunPlace,
  caller: Caller,
  given: ForkOptions | ExtendOptions,
): Promise<NewFork> {
  const { store } = place;
  const isFork = 'fromTurn' in given;
  const { samples = 1 } = isFork ? given : {};
  if (samples > MOST_SAMPLES) throw unusable(`--samples is ${samples}.`, `It takes 1 to ${MOST_SAMPLES}.`);
  if (isFork && given.say !== undefined && given.fromTurn === 1) {
    throw refused(
      'Turn 1 shows the question, and no feedback that a message could follow.',
      'Fork from turn 2 or later, or play a row with another question.',
    );
  }
  const id = await findRollout(place, { ...given, sample: given.sample ?? 0, attempt: given.attempt });
  if (!isFork) await mustHavePlayedAll(place, caller, id);
  const run = (await store.get('run'))!;
  const [stored, trajectory] = [await store.get('rollout', id), await readTrajectory(store, id)];
  if (!stored || !trajectory) throw new StoreError('its first record is gone', { reason: 'record-missing' });
  const { rollout, turns, end } = trajectory;
  mustBeUnbound(place, rollout);
  if (!end) throw stillPlayed(place, id, commandLine(caller, place, 'status', '--follow'));
  const played = turns.length;
  const wantedTurns = isFork ? rollout.settings.numTurns : played + given.turns;
  const turn = isFork ? given.fromTurn : played + 1;
  const last = Math.min(played + 1, Math.max(wantedTurns, played));
  if (turn > last) throw noTurn(place, caller, id, { turn, played, last });
  mustGoOn(turns.slice(0, turn - 1), { ...rollout.settings, numTurns: wantedTurns });
  const numTurns = isFork ? wantedTurns : mustBeTurns(rollout.settings, wantedTurns);
  const before = turn > 1 ? await store.get('turn', id, turn - 1) : stored;
  const { query, sample, attempt } = id;
  const parent = { run: place.run, query, sample, attempt, turn, runHash: run.hash, rolloutHash: stored.hash };
  const said = messageOf(given.say);
  const reason = reasonOf(given.reason);
  const by = await personOf(caller, given.by);
  const how = isFork ? 'fork' : 'extend';
  const from: ForkedFrom = { ...parent, hash: before!.hash, how, said, by, reason, at: caller.now() };
  const name = given.name ?? nameOfFork(from, samples, numTurns);
  mustBeRunName(name);
  return {
    ...{ place: runPlace(place.out, name), what: describe(from, samples, numTurns), from, source: store },
    ...{ parentRun: run.record, rollout, numTurns, samples },
  };
}

/** `2 rollouts of arith-0007 from turn 2 on, to turn 5; 1 turn carried over` */
function describe({ query, turn, said, by }: ForkedFrom, samples: number, numTurns: number): string {
  const carried = turn > 1 ? `; ${plural(turn - 1, 'turn')} carried over` : '';
  const message = said === null ? '' : `; with a message of ${oneLine(by)}`;
  return `${plural(samples, 'rollout')} of ${oneLine(query)} from turn ${turn} on, to turn ${numTurns}${carried}${message}`;
}

/** `first-fork-1a2b3c4d`: the same fork has the same name. */
function nameOfFork({ run, how, rolloutHash, turn, hash, said }: ForkedFrom, samples: number, numTurns: number) {
  const content = JSON.stringify([rolloutHash, turn, hash, said, samples, numTurns]);
  const stem = safeName(run).replace(/~.*/, '').slice(0, 60) || 'run';
  return `${stem}-${how}-${sha256Hex(content).slice(0, 8)}`;
}

async function mustHavePlayedAll(place: RunPlace, caller: Caller, id: RolloutId): Promise<void> {
  const end = (await place.store.get('end', id))?.record;
  if (!end || end.stopReason === 'max-turns') return;
  const verb = end.outcome === 'complete' ? 'fork' : 'retry';
  const again = `\`${commandLine(caller, place, verb, shellQuoted(oneLine(id.query)))}\``;
  throw refused(
    `${rolloutTitle(id, null)} ended by ${end.stopReason}; only a rollout that played all of its turns is extended.`,
    end.outcome === 'cancelled' ? 'Begin another run.' : `${again} plays it again.`,
  );
}

/** Key and seed of an episode, calls of tools and a program's conversation are their rollout's. */
function mustBeUnbound({ run }: RunPlace, { query, settings }: RolloutRecord): void {
  const { environments = [], program, tools } = settings;
  const own = environments.find(({ name }) => name === query.environment) ?? environments[0];
  const bound = own ? `the environment ${own.name}` : program ? "an agent's program" : tools && 'tools';
  if (bound !== undefined)
    throw refused(`Run "${run}" has ${bound}: a fork cannot carry over what happened there.`, PLAY_AGAIN);
}

const PLAY_AGAIN =
  'To play its query again, `everturn run` with more --samples; `everturn retry` where the rollout failed or is undecided.';

/** Each turn that is carried over leads to a next one. */
function mustGoOn(turns: Trajectory['turns'], limits: RolloutSettings): void {
  for (const { record, verdict } of turns) {
    const before = `Fork from turn ${record.turn} or before`;
    if (!verdict || verdict.verdict === 'undecided') {
      const problem = `Turn ${record.turn} could not be judged, so no feedback on it would be true.`;
      throw refused(problem, `${before}, which plays it again.`);
    }
    if (stopReason(record.turn, verdict.verdict, limits, verdict.done))
      throw refused(`Turn ${record.turn} ended the rollout: no turn follows it.`, `${before}.`);
  }
}

/** The limits of the setting, and of what a trainer can hold. */
function mustBeTurns(settings: RolloutSettings, turns: number): number {
  const numTurns = parseValue('numTurns', String(turns), '--num-turns');
  const unfit = unfitRewards(settings, numTurns);
  if (unfit === null) return numTurns;
  const fix = 'Give fewer --turns.';
  throw unusable(`With ${numTurns} turns, the rewards of this run ${unfit}.`, fix, 'bad-rewards');
}

function noTurn(
  place: RunPlace,
  caller: Caller,
  { query }: RolloutId,
  { turn, played, last }: { readonly turn: number; readonly played: number; readonly last: number },
): Error {
  const extend = commandLine(caller, place, 'extend', shellQuoted(oneLine(query)), '--turns <n>');
  return unusable(
    `--from-turn ${turn}: Rollout ${JSON.stringify(query)} has ${plural(played, 'turn')}.`,
    `Give a turn from 1 to ${Math.max(last, 1)}.${last === played ? ` \`${extend}\` plays further turns.` : ''}`,
    'no-such-turn',
  );
}
