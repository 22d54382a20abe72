// Plays the cells of an evaluation, each as a run. All of them are read and planned, and their models asked, before one begins: a
// cell that cannot be played is refused by itself, and the others go on. The same call finds the same runs: one that is played is
// attached to, and of one that has ended the failed rollouts are played again.

import { EverturnError, ModelError } from '../../domain/errors/errors.ts';
import { withLink } from '../../local/service/link.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import type { RecordedCell } from '../../records/run/evaluation-record.ts';
import type { Caller, RunEvent } from '../../run/caller.ts';
import { linkOptionsOf } from '../../run/caller.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { completeRunRecord, type PreparedRun, prepareRun, type RunWish } from '../../run/prepare-run.ts';
import { leaveRun } from '../../run/start-run.ts';
import { personOf } from '../person.ts';
import { attemptsToRetry, type EndedAttempt, retryRollout } from '../retry.ts';

export interface CellWish {
  readonly benchmark: string;
  /** Its model, and what else tells it from the other cells of its benchmark. */
  readonly label: string;
  /** What these names mean. */
  readonly of: RecordedCell['of'];
  readonly wish: RunWish;
}

export interface Cell {
  readonly benchmark: string;
  readonly label: string;
  readonly of: RecordedCell['of'];
  /** Rollouts in flight of all cells of its server, or its model, together; undefined: this command did not start it. */
  readonly limit: { readonly server: string; readonly maxConcurrent: number } | undefined;
  readonly place: RunPlace;
  /** `retried`: it has ended, and these of its rollouts, which had failed, are played again. */
  readonly found: 'new' | 'attached' | 'ended' | 'retried';
  /** Resolves once the rollouts that are played again have ended. */
  readonly retried: Promise<unknown>;
}

export interface RefusedCell extends Pick<CellWish, 'benchmark' | 'label'> {
  readonly refused: EverturnError;
}

export type PreparedCell = CellWish & { readonly prepared: PreparedRun };

export const isRefused = <C extends object>(cell: C | RefusedCell): cell is RefusedCell => 'refused' in cell;

/** In the order of the wishes. */
export async function prepareCells(
  wishes: readonly CellWish[],
  caller: Caller,
): Promise<(PreparedCell | RefusedCell)[]> {
  const heard = onceEach(caller);
  const read: (PreparedCell | RefusedCell)[] = [];
  for (const one of wishes)
    read.push(await orRefused(one, async () => ({ ...one, prepared: await prepareRun(one.wish, heard) })));
  // A server that does not answer is asked once.
  const away = new Map<string, EverturnError>();
  const asked: (PreparedCell | RefusedCell)[] = [];
  for (const one of read) {
    caller.signal?.throwIfAborted();
    const answer = isRefused(one) ? one : await askModel(one, heard, away);
    if (isRefused(answer) && !isRefused(one)) one.prepared.close();
    asked.push(answer);
  }
  return asked;
}

async function askModel(
  one: PreparedCell,
  caller: Caller,
  away: Map<string, EverturnError>,
): Promise<PreparedCell | RefusedCell> {
  const { benchmark, label, wish, prepared } = one;
  const { model } = wish.resolved.options;
  const known = away.get(model);
  if (known && !prepared.isThere) return { benchmark, label, refused: known };
  const answer = await orRefused(one, async () => ({ ...one, prepared: await completeRunRecord(prepared, caller) }));
  if (isRefused(answer) && answer.refused instanceof ModelError) away.set(model, answer.refused);
  return answer;
}

/** An error that is no answer to a wish, such as a bug of ours or a signal, ends the whole. */
export async function orRefused<T extends object>(
  { benchmark, label }: CellWish,
  prepare: () => Promise<T>,
): Promise<T | RefusedCell> {
  try {
    return await prepare();
  } catch (error) {
    if (!(error instanceof EverturnError) || error.boundary === 'everturn') throw error;
    return { benchmark, label, refused: error };
  }
}

export async function startCells(all: readonly PreparedCell[], caller: Caller): Promise<Cell[]> {
  const openOn = new Map<string, number>();
  for (const { wish, prepared } of all) {
    if (prepared.isThere && (await knownResult(prepared.place))) continue;
    const server = serverOf(wish);
    openOn.set(server, (openOn.get(server) ?? 0) + 1);
  }
  const started: Cell[] = [];
  try {
    for (const one of all) started.push(await startCell(one, openOn, caller));
  } finally {
    for (const { prepared } of all) prepared.close();
  }
  return started;
}

const serverOf = ({ resolved }: RunWish): string => resolved.options.model.replace(/#.*/, '');

/** The share of one of so many runs in a server's limit. */
export const shareOf = (maxConcurrent: number, runs: number): number =>
  Math.max(1, Math.floor(maxConcurrent / Math.max(1, runs)));

async function startCell(
  { benchmark, label, of, wish, prepared }: PreparedCell,
  openOn: Map<string, number>,
  caller: Caller,
): Promise<Cell> {
  const server = serverOf(wish);
  const { maxConcurrent } = wish.resolved.options;
  const share = shareOf(maxConcurrent, openOn.get(server) ?? 1);
  const { place, found } = await leaveRun({ ...prepared, maxConcurrent: share }, caller);
  const cell = { benchmark, label, of, limit: { server, maxConcurrent }, place };
  const failed = found === 'ended' ? await failedOf(place, caller) : [];
  if (failed.length === 0) return { ...cell, found, retried: Promise.resolve() };
  return { ...cell, found: 'retried', retried: playAgain(place, failed, share, caller) };
}

async function failedOf(place: RunPlace, caller: Caller): Promise<EndedAttempt[]> {
  const result = await knownResult(place);
  if (!result || result.cancelled || result.counts.outcomes.failed === 0) return [];
  return attemptsToRetry(place, caller, undefined);
}

async function playAgain(
  place: RunPlace,
  failed: readonly EndedAttempt[],
  atOnce: number,
  caller: Caller,
): Promise<void> {
  const { env, now } = caller;
  const signed = { by: await personOf(caller, undefined), via: 'eval', reason: null };
  await withLink(linkOptionsOf(caller), async (link) => {
    const play = async (one: EndedAttempt) => {
      const { result } = await retryRollout({ env, link }, place, one, { ...signed, at: now() });
      return result();
    };
    for await (const _ of mapAhead(failed, atOnce, play)) caller.signal?.throwIfAborted();
  });
}

/** What the cells of one benchmark have in common is told once. */
function onceEach({ onEvent, ...caller }: Caller): Caller {
  const told = new Set<string>();
  return {
    ...caller,
    onEvent(event: RunEvent) {
      const { type } = event;
      const key =
        type === 'benchmark'
          ? event.name
          : type === 'rows' || type === 'reading'
            ? `${type} ${event.dataset}`
            : undefined;
      if (key !== undefined && told.has(key)) return;
      if (key !== undefined) told.add(key);
      onEvent(event);
    },
  };
}
