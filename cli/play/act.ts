// Flags and steps that a person's acts on one rollout share: who and why, the turn's record, and what is said after it.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import type { SteeringAct } from '../../domain/run/steering.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { putAct, type StoredAct } from '../../records/steering.ts';
import { actName } from '../../domain/run/steering.ts';
import type { Stored } from '../../records/store.ts';
import { jsonOption } from '../flags.ts';
import type { RunPlace } from '../find/place.ts';
import { rolloutArguments, type WhichRollout } from '../find/rollout.ts';
import { plural } from '../view/format.ts';

export interface ActFlags extends WhichRollout {
  readonly by?: string;
  readonly via: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export const MOST_REASON_CHARS = 2000;
export const MOST_TEXT_CHARS = 20_000;

export const byOption = () => new Option('--by <person>', "who (default: git's user.email, else this user)");
export const reasonOption = () => new Option('--reason <text>', 'why, in one line');
export const dryRunOption = () => new Option('--dry-run', 'say what would be recorded, and record nothing');

/** <run>, <query>, and the flags of every act. */
export function actArguments(command: Command): Command {
  return rolloutArguments(command)
    .addOption(byOption())
    .addOption(new Option('--via <program>', 'the program that records it').default('cli').hideHelp())
    .addOption(dryRunOption())
    .addOption(jsonOption());
}

/** The record of a turn; throws a UsageError if the rollout has no such turn. */
export async function turnOf({ store }: RunPlace, id: RolloutId, turn: number): Promise<Stored<TurnRecord>> {
  const found = await store.getTurn(id, turn);
  if (found) return found;
  let there = 0;
  while (await store.getTurn(id, there + 1)) there++;
  const open = (await store.getEnd(id)) === undefined;
  throw new UsageError(`--turn ${turn}: that rollout has ${plural(there, 'turn')}${open ? ' so far' : ''}.`, {
    reason: 'no-such-turn',
    fix: there === 0 ? 'Wait for its first turn.' : `Give a turn from 1 to ${there}.`,
  });
}

/** With --dry-run nothing is written. */
export async function record({ store }: RunPlace, act: SteeringAct, dryRun: boolean): Promise<StoredAct> {
  if (!dryRun) return putAct(store, act);
  const name = actName(act);
  return { name, act, created: true, file: `steering/${name}.json` };
}

/** `turn 2 of arith-0007`, with the sample and the attempt where they are not the first. */
export function nameOf({ query, sample, attempt }: Omit<RolloutId, 'run'>, turn: number | null): string {
  const which = [
    query,
    ...(sample > 0 ? [`sample ${sample}`] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ].join(', ');
  return turn === null ? which : `turn ${turn} of ${which}`;
}
