// What must hold when nothing is left to happen: all has ended; each turn was asked of the model as often as it was
// lost, and once more; the folder agrees with itself; and what a workflow shows of itself agrees with its result.

import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../../domain/names/ids.ts';
import type { CollectionProgress, CollectionResult, RolloutProgress } from '../../domain/run/messages.ts';
import { must } from './breach.ts';
import type { Cast } from './cast.ts';
import type { RealExecution } from './execution.ts';
import { RUN } from './names.ts';
import type { StoredRollout } from './store.ts';
import { type Payload, valueOf } from './wire.ts';
import { wasReset, type World } from './world.ts';

/** Share of the runs whose closed workflow is asked: each time it is replayed for that. */
const ASKED = 0.25;

export async function checkEnd(world: World, cast: Cast): Promise<void> {
  for (const { workflowId, closing } of world.executions.values()) {
    must(closing !== undefined, () => `${workflowId} never ends`);
  }
  for (const rollout of world.store.rollouts.values()) {
    const workflowId = rolloutWorkflowId({ run: RUN, ...rollout, attempt: 1 });
    checkFolder(rollout, wasReset(world) || world.endedInVain.has(workflowId));
  }
  if (cast.main.closing === 'completed' && world.random.chance(ASKED)) await checkShown(world, cast.main);
}

function checkFolder({ query, sample, turns, asked, lost, end }: StoredRollout, mayGoOn: boolean): void {
  const who = `${query}/${sample}`;
  for (const turn of Array.from({ length: Math.max(asked.length, turns.length) }, (_, i) => i)) {
    const [times, without] = [asked[turn] ?? 0, lost[turn] ?? 0];
    const kept = turns[turn] ? 1 : 0;
    must(
      times === without + kept,
      () => `turn ${turn + 1} of ${who} was asked ${times} times, and ${without} were lost`,
    );
  }
  if (!end) return;
  const played = turns.slice(0, end.turns);
  must(played.length === end.turns, () => `${who} ended after ${end.turns} turns, and ${turns.length} are kept`);
  must(
    played.every((t) => t.verdict && t.logged),
    () => `${who} ended, and a turn of it was not judged or not logged`,
  );
  // A reset, or a lost task, may have a rollout play on that has an end already: its first end stands.
  must(
    mayGoOn || turns.length <= end.turns + 1,
    () => `${who} ended after ${end.turns} turns, and ${turns.length} were played`,
  );
  must(
    end.returns.length > 0 === (end.outcome === 'complete' && end.turns > 0),
    () => `${who}: ${end.outcome}, rewarded`,
  );
  must(
    (end.reason !== null) === ['failed', 'undecided'].includes(end.outcome),
    () => `${who}: ${end.outcome}, no reason`,
  );
}

async function checkShown({ plan }: World, main: RealExecution): Promise<void> {
  const commands = main.tasks.flatMap((task) => task.steps.flatMap((step) => step.commands));
  const result = commands.findLast((c) => c.completeWorkflowExecution)!.completeWorkflowExecution!.result;
  const { currentDetails } = (await main.ask<{ currentDetails: string }>('__temporal_workflow_metadata'))!;
  if (plan.kind === 'collection') {
    const told = valueOf<CollectionResult>(result);
    const progress = (await main.ask<CollectionProgress>('progress'))!;
    const done = Object.values(told.counts.outcomes).reduce((sum, n) => sum + n, 0);
    must(
      progress.state === 'ended' && progress.done === done && progress.inFlight === 0 && progress.total === told.total,
      () => `the collection shows ${JSON.stringify(progress)}`,
    );
    must(told.cancelled || done === told.total, () => `${done} of ${told.total} rollouts were counted`);
    return must(
      currentDetails.startsWith(`ended: ${done} of ${told.total} `),
      () => `its details are ${currentDetails}`,
    );
  }
  const told = valueOf<RolloutResult>(result);
  const phase = `${told.outcome} · ${told.stopReason}`;
  const progress = (await main.ask<RolloutProgress>('progress'))!;
  must(progress.phase === phase, () => `the rollout shows ${progress.phase}, and is ${phase}`);
  must(currentDetails.includes(`${phase} (`), () => `its details are ${currentDetails}`);
  const upsert = commands.findLast((c) => c.upsertWorkflowSearchAttributes)!.upsertWorkflowSearchAttributes!;
  const attributes: Record<string, Payload> = upsert.searchAttributes!.indexedFields;
  const [outcome, turns, reward] = ['Outcome', 'Turns', 'Reward'].map((name) => valueOf(attributes[`Everturn${name}`]));
  must(
    outcome === told.outcome && turns === told.turns && (reward ?? null) === (told.returns[0] ?? null),
    () => `its search attributes say ${JSON.stringify([outcome, turns, reward])}, its result ${JSON.stringify(told)}`,
  );
}
