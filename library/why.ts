// Why a rollout waits, or how it ended: from its records, its workflow and its servers. Starts nothing; where no server answers,
// the records alone say it.

import { pendingWork, type PendingActivity } from '../client/temporal/pending.ts';
import { describeWorkflow, progressOf } from '../client/temporal/runs.ts';
import type { AskedCall } from '../domain/agent/index.ts';
import { type RolloutId, rolloutWorkflowId } from '../domain/names/ids.ts';
import { trajectoryResult, type Trajectory, type VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { outputTokens } from '../domain/rollout/turn-facts.ts';
import type { ServerStatus } from '../domain/run/server-status.ts';
import { leavesOf } from '../domain/samples/branches.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import type { CallResult } from '../domain/tools/tool.ts';
import { type Link, workflowUrl } from '../local/service/link.ts';
import { readTrajectory } from '../records/reading/trajectories.ts';
import { readFleet, STALE_MS } from '../records/run/fleet-status.ts';
import { mustHoldRollouts } from '../records/run/present.ts';
import { actsOn, readActs } from '../records/run/steering.ts';
import type { RunPlace } from '../run/place.ts';
import { askServer } from './ask-server.ts';
import type { Around } from './check.ts';
import { findRollout, isQuery, type WhichRollout } from './find-rollout.ts';
import { type Said, saidOf } from './people.ts';

interface WhyTurn
  extends
    Pick<TurnRecord, 'turn' | 'attempt' | 'server'>,
    Pick<VerdictRecord, 'reward' | 'rewards' | 'metrics' | 'note'> {
  readonly verdict: string | null;
  readonly reason: string | null;
  readonly tokens: number | null;
  readonly seconds: number;
  /** The place in the tree of a call of an agent's program. */
  readonly asked?: Pick<AskedCall, 'parent' | 'branch' | 'differsAt'>;
  readonly abandoned?: true;
  readonly calls?: readonly Pick<CallResult, 'name' | 'outcome' | 'trace'>[];
}

export interface Why {
  readonly run: string;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
  /**
   * ended      its end is recorded
   * playing    its workflow is open
   * waiting    it has not begun: the window has no place for it yet
   * stopped    begun or not, it is not being played
   * unknown    Temporal did not answer
   */
  readonly state: 'ended' | 'playing' | 'waiting' | 'stopped' | 'unknown';
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly message: string | null;
  /** Epoch milliseconds; null while it has not ended. */
  readonly endedAt: number | null;
  readonly turns: readonly WhyTurn[];
  /** The pending activity; null if there is none, or if Temporal did not answer. */
  readonly pending: (PendingActivity & { readonly turn: number; readonly chunksKept: number }) | null;
  /** A workflow task is due, and no worker has taken it. */
  readonly waitsForWorker: boolean;
  /** The run that it waits for. */
  readonly collection: { readonly state: string; readonly inFlight: number; readonly maxConcurrent: number } | null;
  readonly servers: readonly ServerStatus[];
  /** The leaves of the tree of calls of an agent's program. */
  readonly branches?: number;
  /** Verdicts and notes of people, if there are any. */
  readonly people?: readonly Said[];
  readonly url: string | null;
}

export async function whyOf(place: RunPlace, which: WhichRollout, { env, onProgress }: Around): Promise<Why> {
  await mustHoldRollouts(place.store);
  const id = await rolloutOf(place, which);
  const found = {
    ...fromRecords(id, await readTrajectory(place.store, id), place.out),
    servers: await readFleet(place.store.folder, Date.now() - STALE_MS),
    ...(await saidByPeople(place, id)),
  };
  if (found.state === 'ended') return found;
  return { ...found, ...(await askServer(env, (link) => fromTemporal(link, place, id, found), onProgress)) };
}

/** A rollout that has not begun has no records, but is part of the run. */
async function rolloutOf(place: RunPlace, which: WhichRollout): Promise<RolloutId> {
  const { query, sample, attempt } = which;
  const record = (await place.store.get('run'))?.record;
  const samples = record ? samplesPerQuery(record) : 1;
  const begun = await place.store.listRolloutsOf(query);
  const isNext = attempt === undefined && sample < samples && !begun.some((id) => id.sample === sample);
  if (isNext && (begun.length > 0 || (await isQuery(place, query))))
    return { run: place.run, query, sample, attempt: 1 };
  return findRollout(place, which);
}

function fromRecords(id: RolloutId, trajectory: Trajectory | undefined, out: string): Why {
  const { turns = [], end = null } = trajectory ?? {};
  const result = trajectory && trajectoryResult(out, trajectory);
  const fault = result?.outcome === 'undecided' ? turns.at(-1)?.verdict?.note?.split('\n', 1)[0] : null;
  const { run, query, sample, attempt } = id;
  return {
    ...{ run, query, sample, attempt },
    state: result ? 'ended' : 'unknown',
    outcome: result ? (result.outcome === 'complete' ? result.stopReason : result.outcome) : null,
    reason: result?.reason ?? null,
    message: end?.failure?.message ?? fault ?? null,
    endedAt: end?.finishedAt ?? null,
    turns: turns.map((turn) => whyOfTurn(turn, end)),
    ...(trajectory?.rollout.settings.program && {
      branches: end?.branches ?? leavesOf(turns.map(({ record }) => record)).length,
    }),
    pending: null,
    waitsForWorker: false,
    collection: null,
    servers: [],
    url: null,
  };
}

function whyOfTurn({ record, verdict }: Trajectory['turns'][number], end: Trajectory['end']): Why['turns'][number] {
  const { asked } = record;
  const { reward, rewards, metrics, note, calls } = verdict ?? {};
  return {
    turn: record.turn,
    verdict: verdict?.verdict ?? null,
    reason: verdict?.reason ?? null,
    tokens: outputTokens(record),
    seconds: (record.finishedAt - record.startedAt) / 1000,
    attempt: record.attempt,
    server: record.server,
    ...(asked && { asked: { parent: asked.parent, branch: asked.branch, differsAt: asked.differsAt } }),
    ...(end?.abandoned?.includes(record.turn) && { abandoned: true as const }),
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
    ...(metrics && { metrics }),
    ...(note !== undefined && { note }),
    ...(calls && { calls: calls.map(({ name, outcome, trace }) => ({ name, outcome, ...(trace && { trace }) })) }),
  };
}

async function saidByPeople({ store }: RunPlace, id: RolloutId): Promise<Pick<Why, 'people'>> {
  // Damaged files are for `check` to name.
  const acts = actsOn(await readActs(store, () => {}), id);
  const turns = new Set(acts.flatMap(({ act }) => act.of.turn ?? []));
  const people = [null, ...[...turns].sort((a, b) => a - b)].flatMap((turn) => saidOf(acts, turn));
  return people.length > 0 ? { people } : {};
}

async function fromTemporal(
  link: Link,
  { run, store }: RunPlace,
  id: RolloutId,
  { turns }: Why,
): Promise<Partial<Why>> {
  const { session } = link;
  const workflowId = rolloutWorkflowId(id);
  const { state } = await describeWorkflow(session, workflowId, 1);
  if (state !== 'running') {
    const of = await describeWorkflow(session, run, 1);
    const isOpen = of.state === 'running';
    const collection = (isOpen ? await progressOf(session, run) : undefined) ?? of.memo;
    return { state: isOpen && state === 'absent' ? 'waiting' : 'stopped', collection };
  }
  const { activity, waitsForWorker } = await pendingWork(session, workflowId);
  const turn = turns.filter(({ verdict }) => verdict !== null).length + 1;
  let chunksKept = 0;
  while (await store.get('chunk', id, turn, chunksKept + 1)) chunksKept++;
  const pending = activity && { ...activity, turn, chunksKept };
  return { state: 'playing', pending, waitsForWorker, url: workflowUrl(link, workflowId) };
}
