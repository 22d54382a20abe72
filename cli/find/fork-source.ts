// The rollout that a fork goes on from: read whole, ended, and with a next turn.

import { stopReason } from '../../domain/rollout/ending.ts';
import { StoreError, type UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Parent } from '../../domain/rollout/lineage.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { stillPlayed } from '../../library/find-rollout.ts';
import { unusable } from '../command.ts';
import type { Io } from '../io.ts';
import { plural } from '../format.ts';
import { shellQuoted, commandLine } from './place.ts';
import type { RunPlace } from '../../run/place.ts';

export interface Source {
  readonly trajectory: Trajectory;
  readonly runRecord: RunRecord;
  readonly parent: Parent;
}

/** `turn`: the first turn to be played again, 1-based; without it, the turn after the last one played. */
export async function sourceOf(
  io: Io,
  place: RunPlace,
  id: RolloutId,
  { turn: wanted, numTurns }: { readonly turn: number | undefined; readonly numTurns: (played: number) => number },
): Promise<Source> {
  const run = (await place.store.get('run'))!;
  const { query, sample, attempt } = id;
  const [rollout, trajectory] = [await place.store.get('rollout', id), await readTrajectory(place.store, id)];
  if (!rollout || !trajectory) throw new StoreError('its first record is gone', { reason: 'record-missing' });
  const { query: played, settings } = rollout.record;
  const [first] = settings.environments ?? [];
  const own = settings.environments?.find(({ name }) => name === played.environment) ?? first;
  // Key and seed of an episode, calls of tools and a program's conversation are their rollout's.
  const bound = own
    ? `the environment ${own.name}`
    : settings.program
      ? "an agent's program"
      : settings.tools && 'tools';
  if (bound !== undefined)
    throw refused(`Run "${place.run}" has ${bound}: a fork cannot carry over what happened there.`, PLAY_AGAIN);
  const { turns, end } = trajectory;
  if (!end) throw stillPlayed(place, id, commandLine(io, place, 'status', '--follow'));
  const turn = wanted ?? turns.length + 1;
  const most = Math.min(turns.length + 1, Math.max(numTurns(turns.length), turns.length));
  if (turn > most) throw noTurn(io, place, id, turn, turns.length, most);
  const limits = { ...rollout.record.settings, numTurns: numTurns(turns.length) };
  for (const { record, verdict } of turns.slice(0, turn - 1)) {
    const before = `Fork from turn ${record.turn} or before`;
    if (!verdict || verdict.verdict === 'undecided') {
      const problem = `Turn ${record.turn} could not be judged, so no feedback on it would be true.`;
      throw refused(problem, `${before}, which plays it again.`);
    }
    if (stopReason(record.turn, verdict.verdict, limits, verdict.done))
      throw refused(`Turn ${record.turn} ended the rollout: no turn follows it.`, `${before}.`);
  }
  const last = turn > 1 ? await place.store.get('turn', id, turn - 1) : rollout;
  const hashes = { runHash: run.hash, rolloutHash: rollout.hash, hash: last!.hash };
  return { trajectory, runRecord: run.record, parent: { run: place.run, query, sample, attempt, turn, ...hashes } };
}

const refused = (message: string, fix: string): UsageError => unusable(message, fix, 'not-allowed');

const PLAY_AGAIN =
  'To play its query again, `everturn run` with more --samples; `everturn retry` where the rollout failed or is undecided.';

function noTurn(io: Io, place: RunPlace, id: RolloutId, turn: number, played: number, most: number): UsageError {
  const extend = commandLine(io, place, 'extend', shellQuoted(oneLine(id.query)), '--turns <n>');
  return unusable(
    `--from-turn ${turn}: Rollout ${JSON.stringify(id.query)} has ${plural(played, 'turn')}.`,
    `Give a turn from 1 to ${Math.max(most, 1)}.${most === played ? ` \`${extend}\` plays further turns.` : ''}`,
    'no-such-turn',
  );
}
