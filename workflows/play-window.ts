// Plays a window to its end: starts its units in order, as many as may be in flight, and counts each as it ends. The
// history moves on before it is too long; rollouts outlive that.

import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { PagedUnit } from '../activities/collection.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import { canStart, isWindowFinished, unitsInRow, type WindowState } from '../domain/run/window.ts';
import { openChildren } from './children.ts';
import { page } from './collection-steps.ts';
import type { HistoryLength } from './history-length.ts';

const PAGE_UNITS = 50;
/** Starts that the server has not acknowledged, at most: a start once asked for is not recalled by a pause or a stop. */
const MOST_STARTING = 16;
/** The same of one of many windows. */
const MOST_STARTING_OF_MANY = 8;

interface Player {
  readonly history: HistoryLength;
  /** A unit has ended. */
  changed(): void;
  /** `act` ends what is in flight; it is called once, when the window is to stop. */
  onStop(act: () => void): void;
  /** Continues as new, with the window as it is. */
  moveOn(): Promise<unknown>;
  /** It is one of many windows of a run. */
  readonly many?: boolean;
  /** More is wanted in flight than one workflow may have: the window is given up for several. */
  isOutgrown?(): boolean;
}

type Place = Pick<CollectionInput, 'run' | 'out'>;

/** `outgrown`: it is not at its end, and every start is acknowledged. */
export async function playWindow(input: Place, state: WindowState, player: Player): Promise<'ended' | 'outgrown'> {
  const { history } = player;
  const children = openChildren(input, state, {
    changed: player.changed,
    many: player.many,
    onRoom: () => startSome(),
  });
  children.follow(state.inFlight);
  player.onStop(children.cancelAll);
  const mostStarting = player.many ? MOST_STARTING_OF_MANY : MOST_STARTING;
  const isOutgrown = () => player.isOutgrown?.() === true;

  let units: PagedUnit[] = [];
  /** Units in a row that had not begun when the window was to stop. */
  let notBegun = 0;
  let isStarting = false;
  const isHeld = () => children.hasFailed() || history.isFull() || isOutgrown();
  const isPaged = () => units.length > 0 && !(state.stopping && units[0]!.begun === undefined);
  /** In order, as long as no step has to be waited for. */
  const startSome = () => {
    if (isStarting) return;
    isStarting = true;
    while (!isHeld() && canStart(state) && isPaged() && children.starting() < mostStarting) {
      history.did();
      const unit = units.shift()!;
      notBegun = unit.begun === false ? notBegun + 1 : 0;
      // Units are started in order, and so many at once at most.
      if (notBegun >= mostStarting) delete state.counting;
      children.start(unit);
    }
    isStarting = false;
  };
  const startAll = async () => {
    while (!isWindowFinished(state)) {
      await condition(
        () => !children.hasFailed() && (canStart(state) || isWindowFinished(state) || history.isFull() || isOutgrown()),
      );
      const outgrown = isOutgrown();
      if ((history.isFull() || outgrown) && !isWindowFinished(state)) {
        await condition(() => children.starting() === 0 && allHandlersFinished());
        // The next execution says it only once it starts in step itself.
        delete state.starting;
        if (outgrown) return 'outgrown';
        await player.moveOn();
      }
      if (!canStart(state)) continue;
      if (children.starting() >= mostStarting) {
        state.starting = children.starting();
        await condition(() => children.starting() < mostStarting);
        continue;
      }
      if (!isPaged()) {
        const { run, out } = input;
        const { samples, epochs, queries, stopping } = state;
        units = await page({
          ...{ run, out, from: state.next, count: unitsInRow(state, PAGE_UNITS), samples },
          ...(epochs === undefined ? {} : { queries }),
          ...(stopping ? { stopping } : {}),
        });
        continue;
      }
      startSome();
    }
    return 'ended';
  };
  return Promise.race([startAll(), children.failure]);
}
