// Plays a rollout that failed or could not be judged once more, as its next attempt. The attempt before it stays recorded.

import { startRollout } from '../client/temporal/start-options.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import { CODE_QUEUE } from '../domain/names/queues.ts';
import { titleOf } from '../domain/query/query.ts';
import { mayRetry } from '../domain/rollout/ending.ts';
import type { EndRecord } from '../domain/rollout/trajectory.ts';
import type { RetryAct } from '../domain/run/steering.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { registerRun } from '../local/permissions/registered.ts';
import { homeOf } from '../local/service/home.ts';
import type { Link } from '../local/service/link.ts';
import { rolloutsInOrder } from '../records/reading/trajectories.ts';
import type { Stored } from '../records/store.ts';
import type { RunPlace } from '../run/place.ts';
import { mustHaveSandbox, mustNeedNoProgram, requireWorker } from '../run/require-worker.ts';
import { recordAct } from './acts.ts';
import { commandLine, type InFolder, shellQuoted } from './command-line.ts';
import { findRollout, rolloutTitle, stillPlayed, type WhichRollout } from './find-rollout.ts';

/** An attempt that may be followed by another one. */
export interface EndedAttempt {
  readonly id: RolloutId;
  readonly end: Stored<EndRecord>;
}

const refusal = (message: string, fix: string) => unusable(message, fix, 'not-allowed');

/**
 * The attempt that `which` names, or without it those that failed: the last of each sample counts. Throws a UsageError for a run,
 * or a rollout, that is not tried again.
 */
export async function attemptsToRetry(
  place: RunPlace,
  asker: InFolder,
  which: WhichRollout | undefined,
): Promise<EndedAttempt[]> {
  const { run, store } = place;
  const { train, forkedFrom } = (await store.get('run'))!.record;
  const found = which ? [await attemptOf(place, asker, which)] : await failedIn(place);
  if (train) throw refusal(`A trainer lives on run "${run}".`, 'Its feed tries failed members again by itself.');
  if (forkedFrom) throw refusal(`Run "${run}" is a fork.`, 'Fork the other run once more.');
  const all: EndedAttempt[] = [];
  for (const one of found) if ((await store.get('rollout', one.id))!.record.index !== null) all.push(one);
  const [alien] = which && all.length === 0 ? found : [];
  if (!alien) return all;
  const message = `A client started ${rolloutTitle(alien.id, null)} with a row of its own.`;
  throw refusal(message, 'Start it again there, with the next `attempt`.');
}

async function attemptOf(place: RunPlace, asker: InFolder, which: WhichRollout): Promise<EndedAttempt> {
  const { store } = place;
  const id = await findRollout(place, which);
  const { query, sample, attempt } = id;
  const last = (await store.listRolloutsOf(query)).findLast((one) => one.sample === sample)!;
  const name = rolloutTitle(id, null);
  const end = await store.get('end', id);
  if (!end) throw stillPlayed(place, id, commandLine(asker, place, 'status', '--follow'));
  if (!mayRetry(end.record.outcome)) {
    const again = `\`${commandLine(asker, place, 'fork', shellQuoted(oneLine(query)), '--from-turn', '1')}\``;
    throw refusal(
      `${name} is ${end.record.outcome}; only what failed or was undecided is tried again.`,
      end.record.outcome === 'complete' ? `${again} plays it again, as a run of its own.` : 'Begin another run.',
    );
  }
  if (last.attempt > attempt)
    throw refusal(`${name} was tried again: attempt ${last.attempt}.`, 'Leave --attempt out.');
  return { id, end };
}

async function failedIn({ store }: RunPlace): Promise<EndedAttempt[]> {
  const failed: EndedAttempt[] = [];
  for await (const id of rolloutsInOrder(store)) {
    const end = await store.get('end', id);
    if (end?.record.outcome === 'failed') failed.push({ id, end });
  }
  return failed;
}

/** Records that a person wants it, and starts it. */
export async function retryRollout(
  { env, link }: { readonly env: Environment; readonly link: Link },
  place: RunPlace,
  { id: before, end }: EndedAttempt,
  signed: Pick<RetryAct, 'by' | 'via' | 'reason' | 'at'>,
) {
  const { query, sample, attempt } = before;
  const { settings, index, query: asked } = (await place.store.get('rollout', before))!.record;
  mustNeedNoProgram(settings, `${rolloutTitle(before, null)} is not tried again: it`);
  const id = { ...before, attempt: attempt + 1 };
  const programs = asked.task === 'code' || settings.tools?.list.some(({ door }) => door === 'python');
  if (programs) {
    await mustHaveSandbox(env);
    await requireWorker(env, link, CODE_QUEUE);
  }
  registerRun(homeOf(env), { folder: place.store.folder, ...settings });
  const of = { query, sample, attempt, turn: null, hash: end.hash };
  await recordAct(place, { act: 'retry', of, ...signed }, false);
  const input = { run: place.run, out: place.out, index: index!, sample, attempt: id.attempt };
  return { id, ...(await startRollout(link.session, input, { query, title: titleOf(asked) })) };
}
