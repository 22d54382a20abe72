// `everturn why <run> <query>`: the cause of a rollout's wait, or of its end, from its records, its
// workflow and its servers. Starts nothing; reports if Temporal does not answer.

import { leavesOf } from '../../domain/samples/branches.ts';
import { describeWorkflow, progressOf } from '../../client/temporal/runs.ts';
import { pendingWork } from '../../client/temporal/pending.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { rolloutWorkflowId, type RolloutId } from '../../domain/names/ids.ts';
import { trajectoryResult, type Trajectory } from '../../domain/rollout/trajectory.ts';
import { outputTokens } from '../../domain/rollout/turn-facts.ts';
import { mustHoldRollouts } from '../../records/run/present.ts';
import { readFleet, STALE_MS } from '../../records/run/fleet-status.ts';
import { actsOn, readActs } from '../../records/run/steering.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { command } from '../command.ts';
import { ifUp } from '../find/link.ts';
import { type Link, workflowUrl } from '../../local/service/link.ts';
import { findRollout, findRun, isQuery, type WhichRollout } from '../find/place.ts';
import type { RunPlace } from '../../run/place.ts';
import { JSON_FLAG, OF_ROLLOUT, ROLLOUT_ARGUMENTS } from '../flags.ts';
import { saidOf } from '../view/people.ts';
import { type Why, whyText } from '../view/why-text.ts';

export const why = command({
  args: ROLLOUT_ARGUMENTS,
  flags: { ...OF_ROLLOUT, json: JSON_FLAG },
  help: 'Example:\n  everturn why my-run arith-0001',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    await mustHoldRollouts(place.store);
    const id = await rolloutOf(place, given);
    const found = {
      ...fromRecords(id, await readTrajectory(place.store, id), place.out),
      servers: await readFleet(place.store.folder, Date.now() - STALE_MS),
      ...(await saidByPeople(place, id)),
    };
    const live = found.state === 'ended' ? {} : await ifUp(io, (link) => fromTemporal(link, place, id, found));
    const known = { ...found, ...live };
    return { json: known, text: () => whyText(io, place, known) };
  },
});

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
