// `everturn why <run> <query>`: the cause of a rollout's wait, or of its end, from its records, its
// workflow and its servers. Starts nothing; reports if Temporal does not answer.

import type { Command } from 'commander';
import { isServerFailure } from '../../client/temporal/connection.ts';
import { describeWorkflow, progressOf } from '../../client/temporal/runs.ts';
import { pendingWork } from '../../client/temporal/pending.ts';
import { samplesPerQuery } from '../../domain/rollout/group.ts';
import { rolloutWorkflowId, type RolloutId } from '../../domain/run/ids.ts';
import { type PlayedTurn, resultOf, type Trajectory } from '../../domain/rollout/trajectory.ts';
import { outputTokens } from '../../domain/rollout/turn.ts';
import { mustHoldRollouts } from '../../records/present.ts';
import { readFleet, STALE_MS } from '../../records/fleet-status.ts';
import { actsOn, readActs } from '../../records/steering.ts';
import { readTrajectory } from '../../records/trajectories.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRollout, isQuery, rolloutArguments, whole, type WhichRollout } from '../find/rollout.ts';
import { jsonOption } from '../flags.ts';
import { type Io, print, printJson } from '../io.ts';
import { openLinkIfUp, workflowUrl } from '../find/link.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { saidOf } from '../view/people.ts';
import { type Why, whyText } from '../view/why-text.ts';

interface Flags extends WhichRollout {
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  rolloutArguments(command)
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  everturn why my-run arith-0001')
    .action(async (named: string, query: string, flags: Flags) => exit(await why(io, named, query, flags)));
}

async function why(io: Io, named: string, query: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  await mustHoldRollouts(place.store);
  const id = await rolloutOf(place, query, flags);
  const found = {
    ...fromRecords(id, await readTrajectory(place.store, id), place.out),
    ...(await askedServers(place)),
    ...(await saidByPeople(place, id)),
  };
  const known = found.state === 'ended' ? found : { ...found, ...(await fromTemporal(io, place, id, found)) };
  if (flags.json) printJson(io, known);
  else print(io, whyText(io, place, known));
  return EXIT.ok;
}

/** A rollout that has not begun has no records, but is part of the run. */
async function rolloutOf(place: RunPlace, query: string, flags: Flags): Promise<RolloutId> {
  const sample = whole('--sample', flags.sample, 0);
  const record = (await place.store.getRun())?.record;
  const samples = record ? samplesPerQuery(record) : 1;
  const begun = await place.store.listRolloutsOf(query);
  const isNext = flags.attempt === undefined && sample < samples && !begun.some((id) => id.sample === sample);
  if (isNext && (begun.length > 0 || (await isQuery(place, query))))
    return { run: place.run, query, sample, attempt: 1 };
  return findRollout(place, query, flags);
}

function fromRecords({ run, query, sample, attempt }: RolloutId, trajectory: Trajectory | undefined, out: string): Why {
  const { turns = [], end = null } = trajectory ?? {};
  const result = trajectory && resultOf(out, trajectory);
  return {
    run,
    query,
    sample,
    attempt,
    state: result ? 'ended' : 'unknown',
    outcome: result ? (result.outcome === 'complete' ? result.stopReason : result.outcome) : null,
    reason: result?.reason ?? null,
    message: end?.failure?.message ?? (result?.outcome === 'undecided' ? turns.at(-1)?.verdict?.note : null) ?? null,
    turns: turns.map(({ record, verdict }) => ({
      turn: record.turn,
      verdict: verdict?.verdict ?? null,
      reason: verdict?.reason ?? null,
      tokens: outputTokens(record),
      seconds: (record.finishedAt - record.startedAt) / 1000,
      attempt: record.attempt,
      server: record.server,
      ...numbersOf(verdict),
      ...(verdict?.calls && { calls: verdict.calls.map(({ name, outcome: came }) => ({ name, outcome: came })) }),
    })),
    pending: null,
    waitsForWorker: false,
    collection: null,
    servers: [],
    url: null,
  };
}

function numbersOf(
  verdict: PlayedTurn['verdict'],
): Pick<Why['turns'][number], 'reward' | 'rewards' | 'metrics' | 'note'> {
  const { reward, rewards, metrics, note } = verdict ?? {};
  return {
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
    ...(metrics && { metrics }),
    ...(note !== undefined && { note }),
  };
}

async function saidByPeople({ store }: RunPlace, id: RolloutId): Promise<Pick<Why, 'people'>> {
  // Damaged files are for `check` to name.
  const acts = actsOn(await readActs(store, () => {}), id);
  const turns = new Set(acts.flatMap(({ act }) => act.of.turn ?? []));
  const people = [null, ...[...turns].sort((a, b) => a - b)].flatMap((turn) => saidOf(acts, turn));
  return people.length > 0 ? { people } : {};
}

async function askedServers({ store }: RunPlace): Promise<Pick<Why, 'servers'>> {
  return { servers: await readFleet(store.folder, Date.now() - STALE_MS) };
}

async function fromTemporal(io: Io, place: RunPlace, id: RolloutId, { turns }: Why): Promise<Partial<Why>> {
  const link = await openLinkIfUp(io);
  if (!link) return {};
  try {
    const workflowId = rolloutWorkflowId(id);
    const { state } = await describeWorkflow(link.session, workflowId, 1);
    if (state !== 'running') {
      const run = await describeWorkflow(link.session, place.run, 1);
      const progress = run.state === 'running' ? await progressOf(link.session, place.run) : undefined;
      return {
        state: run.state === 'running' && state === 'absent' ? 'waiting' : 'stopped',
        collection: progress ?? run.memo,
      };
    }
    const { activity, waitsForWorker } = await pendingWork(link.session, workflowId);
    const judged = turns.filter(({ verdict }) => verdict !== null).length;
    const turn = judged + 1;
    const chunksKept = await keptChunks(place, id, turn);
    return {
      state: 'playing',
      pending: activity && { ...activity, turn, chunksKept },
      waitsForWorker,
      url: workflowUrl(link, workflowId),
    };
  } catch (error) {
    if (!isServerFailure(error)) throw error;
    return {}; // no answer: as if Temporal were away
  } finally {
    await link.close();
  }
}

async function keptChunks({ store }: RunPlace, id: RolloutId, turn: number): Promise<number> {
  for (let chunk = 1; ; chunk++) if (!(await store.getChunk(id, turn, chunk))) return chunk - 1;
}
