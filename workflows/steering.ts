// Steers a collection and publishes its progress: the updates and the query of the contract, the memo for clients that
// find no worker, and the UI's table. Handlers are set before the first await, so no early update is lost.

import { setCurrentDetails, setHandler, upsertMemo } from '@temporalio/workflow';
import { collectionTable } from '../domain/run/collection-table.ts';
import { isRunFinished, isInBlocks, runFacts } from '../domain/run/blocks.ts';
import { DEFAULT_MAX_CONCURRENT, MAX_CONCURRENT, MAX_WINDOW } from '../domain/run/defaults.ts';
import { noCounts } from '../domain/run/progress.ts';
import { totalUnits, type WindowState } from '../domain/run/window.ts';
import type { CollectionInput, CollectionProgress, MemoProgress, Tuning } from '../domain/run/messages.ts';
import type { HistoryLength } from './history-length.ts';
import { admit, collectionProgress, pause, resume, stop, tune } from './messages.ts';

export interface CollectionSteering {
  /** Takes over a window, and applies the updates that came before it. */
  opened(state: WindowState): WindowState;
  /** Writes the UI's table, and the memo if it is due. */
  show(): void;
  /** Writes both now. */
  publish(): void;
  stop(): void;
  /** Called once, when the run is to stop. */
  onStop(act: () => void): void;
}

/** Each memo costs an event of the history and a write of the server: due when this share of those in flight has ended. */
const MEMO_SHARE = 1 / 16;

export function openCollectionSteering(input: CollectionInput, history: HistoryLength): CollectionSteering {
  const { carried } = input;
  /** The limit that the feed sent before the run was accepted. */
  let admittedEarly: number | undefined;
  const asked = {
    paused: carried?.paused ?? false,
    stopping: carried?.stopping ?? false,
    maxConcurrent: carried?.maxConcurrent ?? input.maxConcurrent ?? DEFAULT_MAX_CONCURRENT,
  };
  let state: WindowState | undefined;
  let steeredEarly = false;
  let stopAct: (() => void) | undefined;
  let untold = Infinity;
  /** A block reports several ends at once. */
  const mostUntold = () => (state && isInBlocks(state) ? 1 : (state ?? asked).maxConcurrent * MEMO_SHARE);
  const show = () => {
    const progress = progressOf(input.run, state, asked);
    setCurrentDetails(collectionTable(progress));
    if (++untold < mostUntold()) return;
    untold = 0;
    upsertMemo({ progress: { ...progress, toldAt: Date.now() } satisfies MemoProgress });
  };
  const publish = () => {
    untold = Infinity;
    show();
  };
  const steered = () => {
    steeredEarly ||= !state;
    return state ?? asked;
  };
  const steer = (how: Partial<typeof asked>) => {
    history.did();
    Object.assign(steered(), how);
    if (state) publish();
  };

  const requestStop = () => {
    if (steered().stopping) return;
    steer({ stopping: true });
    stopAct?.();
  };

  setHandler(collectionProgress, () => progressOf(input.run, state, asked), {
    description: 'Counts of this run: done, right by turn, failures',
  });
  setHandler(pause, () => steer({ paused: true }), { description: 'No new rollout begins until resume' });
  setHandler(resume, () => steer({ paused: false }), { description: 'Rollouts begin again' });
  setHandler(stop, requestStop, {
    description: 'Ends the run: rollouts in flight end as cancelled, finished turns are stored',
  });
  setHandler(admit, (groups) => {
    if (!Number.isSafeInteger(groups) || groups < 0) return;
    history.did();
    if (!state) admittedEarly = groups;
    else if (isPaced(state)) state.admitted = groups;
  });
  setHandler(tune, ({ maxConcurrent }) => steer({ maxConcurrent }), {
    description: 'Changes how many rollouts are in flight at once',
    validator: (tuning) => mustBeTunable(tuning, state),
  });

  return {
    opened(opened) {
      if (!input.carried || steeredEarly) Object.assign(opened, asked);
      if (admittedEarly !== undefined && isPaced(opened)) opened.admitted = admittedEarly;
      state = opened;
      show();
      return opened;
    },
    show,
    publish,
    stop: requestStop,
    onStop(act) {
      stopAct = act;
      if (steered().stopping) act();
    },
  };
}

/** Throws if the window cannot have so many rollouts in flight. */
function mustBeTunable(tuning: Tuning, state: WindowState | undefined): void {
  const most: unknown = tuning?.maxConcurrent;
  if (!Number.isInteger(most) || (most as number) < 1 || (most as number) > MAX_CONCURRENT) {
    throw new RangeError(
      `maxConcurrent must be a whole number from 1 to ${MAX_CONCURRENT}, not ${JSON.stringify(most)}`,
    );
  }
  if ((most as number) > MAX_WINDOW && state && isPaced(state)) {
    throw new RangeError(`a run that a trainer lives on has at most ${MAX_WINDOW} in flight, not ${String(most)}`);
  }
}

/** A feed says how many groups of the run may begin. */
function isPaced({ admitted }: WindowState): boolean {
  return admitted !== undefined;
}

function progressOf(
  run: string,
  state: WindowState | undefined,
  asked: Pick<WindowState, 'paused' | 'stopping' | 'maxConcurrent'>,
): CollectionProgress {
  const { paused, stopping, maxConcurrent } = state ?? asked;
  const phase = !state
    ? 'accepting'
    : isRunFinished(state)
      ? 'ended'
      : stopping
        ? 'stopping'
        : paused
          ? 'paused'
          : 'running';
  return {
    run,
    state: phase,
    total: state ? totalUnits(state) : 0,
    ...(state ? runFacts(state) : { done: 0, inFlight: 0, counts: noCounts() }),
    maxConcurrent,
    numTurns: state?.numTurns ?? 0,
    startedAt: state?.startedAt ?? 0,
  };
}
