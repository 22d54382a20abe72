// A rollout's progress, as its query, the UI's table and its search attributes show it; and the updates that pause,
// resume and stop it.

import * as wf from '@temporalio/workflow';
import type { OpenedRollout } from '../domain/rollout/rollout-facts.ts';
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
  /** Those without a gap before them: a call of an agent may end before another one that has no answer yet. */
  readonly turns: readonly TurnFacts[];
  opened(what: OpenedRollout): void;
  /** Resolves when the next turn may begin: at once, unless the rollout is paused. */
  mayBegin(turn: number): Promise<void>;
  played(turn: TurnFacts): void;
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
  const setPaused = (value: boolean) => {
    paused = value;
  };
  wf.setHandler(rolloutProgress, () => ({ query: opened?.rollout.query ?? null, phase, paused, turns }), {
    description: 'Phase and finished turns of this rollout',
  });
  wf.setHandler(pause, () => setPaused(true), { description: 'No new turn begins until resume' });
  wf.setHandler(resume, () => setPaused(false), { description: 'Turns begin again' });
  wf.setHandler(stop, () => scope.cancel(), {
    description: 'Ends the rollout as cancelled; finished turns are stored',
  });

  return {
    get turns() {
      return turns.filter(({ turn }, i) => turn === i + 1);
    },
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
    played(turn) {
      // Calls of an agent end in any order, and the last one is played again when it is judged.
      const turnAt = turns.findIndex((other) => other.turn >= turn.turn);
      if (turnAt < 0) turns.push(turn);
      else turns.splice(turnAt, turns[turnAt]!.turn === turn.turn ? 1 : 0, turn);
      show();
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
