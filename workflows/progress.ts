// A rollout's progress, as its query, the UI's table and its search attributes show it; and the updates that pause,
// resume and stop it.

import * as wf from '@temporalio/workflow';
import type { CallCounts, OpenedRollout } from '../domain/rollout/rollout-facts.ts';
import type { RolloutResult } from '../domain/rollout/ending.ts';
import { type TurnFacts, turnTable } from '../domain/rollout/turn-facts.ts';
import { pause, resume, rolloutProgress, stop } from './messages.ts';
import {
  OUTCOME_ATTRIBUTE,
  QUERY_ATTRIBUTE,
  REWARD_ATTRIBUTE,
  RUN_ATTRIBUTE,
  TURNS_ATTRIBUTE,
  VERSION_ATTRIBUTE,
} from './search-attributes.ts';

export interface ShownProgress {
  readonly turns: readonly TurnFacts[];
  opened(what: OpenedRollout): void;
  /** Resolves when the next turn may begin: at once, unless the rollout is paused. */
  mayBegin(turn: number): Promise<void>;
  /** In their order; the last one is played again when it is judged. */
  played(...turns: readonly TurnFacts[]): void;
  /** An agent has made so many calls. */
  called(counts: CallCounts): void;
  /** Each pause and each end of one is written for the agent, in their order; resolves when one that is in force is. */
  onPause(write: (paused: boolean) => Promise<void>): Promise<void>;
  closed(result: RolloutResult): void;
}

/** An update `stop` cancels `scope`. */
export function openProgress(scope: wf.CancellationScope): ShownProgress {
  const turns: TurnFacts[] = [];
  let opened: OpenedRollout | undefined;
  let paused = false;
  let phase = 'opening';

  const show = () => {
    if (opened)
      wf.setCurrentDetails(turnTable({ title: opened.title, phase, turns, numTurns: opened.limits.numTurns }));
  };
  let write: ((paused: boolean) => Promise<void>) | undefined;
  let writing = Promise.resolve();
  let calls: CallCounts | undefined;
  const setPaused = (value: boolean): Promise<void> | void => {
    paused = value;
    if (write) return (writing = writing.catch(() => undefined).then(() => write!(paused)));
  };
  const progress = () => ({
    ...{ query: opened?.rollout.query ?? null, phase, paused, turns },
    ...(calls && { calls }),
  });
  wf.setHandler(rolloutProgress, progress, {
    description: 'Phase and finished turns of this rollout',
  });
  wf.setHandler(pause, () => setPaused(true), { description: 'No new turn begins until resume' });
  wf.setHandler(resume, () => setPaused(false), { description: 'Turns begin again' });
  wf.setHandler(stop, () => scope.cancel(), {
    description: 'Ends the rollout as cancelled; finished turns are stored',
  });

  return {
    turns,
    opened(what) {
      opened = what;
      // A collection gives these to its rollouts; one that was started alone has none before its end.
      if (!wf.workflowInfo().typedSearchAttributes.get(RUN_ATTRIBUTE)) {
        wf.upsertSearchAttributes([
          { key: RUN_ATTRIBUTE, value: what.rollout.run },
          { key: QUERY_ATTRIBUTE, value: what.rollout.query },
        ]);
      }
      show();
    },
    async mayBegin(turn) {
      if (paused) phase = `paused before turn ${turn}`;
      // A pause may come in the very task of the resume before it.
      while (paused) await wf.condition(() => !paused);
      phase = `turn ${turn}`;
      show();
    },
    played(...more) {
      for (const turn of more) {
        if (turns.at(-1)?.turn === turn.turn) turns.pop();
        turns.push(turn);
      }
      show();
    },
    called(counts) {
      calls = counts;
      phase = `${counts.calls} calls in ${counts.branches} branches, ${counts.waiting} waiting for the model`;
      show();
    },
    async onPause(writePause) {
      write = writePause;
      if (paused) await setPaused(true);
    },
    closed(result) {
      phase = `${result.outcome} · ${result.stopReason}`;
      show();
      wf.upsertSearchAttributes([
        { key: RUN_ATTRIBUTE, value: result.trajectory.run },
        { key: QUERY_ATTRIBUTE, value: result.trajectory.query },
        { key: OUTCOME_ATTRIBUTE, value: result.outcome },
        { key: TURNS_ATTRIBUTE, value: result.turns },
        { key: REWARD_ATTRIBUTE, value: result.returns[0] ?? null },
        { key: VERSION_ATTRIBUTE, value: turns.at(-1)?.versionEnd ?? null },
      ]);
    },
  };
}
