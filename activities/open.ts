// A rollout's first step: records the query and the settings it plays; later changes of their sources have no effect.

import { Context } from '@temporalio/activity';
import { programFacts } from '../domain/agent/index.ts';
import { DatasetError, EnvironmentError, explain, StoreError, UsageError } from '../domain/errors/errors.ts';
import type { Begun, EnvironmentRecord, QueueReply } from '../domain/rollout/environment.ts';
import type { OpenedRollout } from '../domain/rollout/rollout-facts.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import { functionQueue } from '../domain/names/queues.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import { type Prompt, type Query, titleOf } from '../domain/query/query.ts';
import { isFunctionModel, type RolloutSettings } from '../domain/rollout/settings.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import type { ProgramDeps } from './deps.ts';
import { readEndedResult } from './recorded.ts';
import { withHeartbeats } from './heartbeat.ts';
import { mayRetry } from '../domain/rollout/ending.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';

/** Records the rollout, unless its environment has to begin it: then `begin` does. `unbegun`: records it all the same, for its end. */
export function openActivity(deps: ProgramDeps) {
  const opening = openingWith(deps);
  return (input: RolloutInput, unbegun = false): Promise<OpenedRollout> => opening(input, null, unbegun);
}

/** Asks the rollout's environment for its first messages and state, and records the rollout with them. */
export function beginActivity(deps: ProgramDeps) {
  const opening = openingWith(deps);
  return (input: RolloutInput, said?: QueueReply): Promise<OpenedRollout> =>
    withHeartbeats((signal) =>
      opening(input, (rollout, folder) => {
        const environment = deps.environments.of(rollout, folder);
        return environment.begin?.(rollout, said ? { signal, said } : { signal }) ?? Promise.resolve({});
      }),
    );
}

const BEGIN_TRIES = 5;

/** An environment that stays broken fails the rollout; one that another worker serves is waited for. */
function givenUp(error: unknown): EnvironmentError | undefined {
  if (!(error instanceof EnvironmentError) || error.reason === 'environment-not-served') return undefined;
  if (error.retryable && Context.current().info.attempt < BEGIN_TRIES) return undefined;
  return new EnvironmentError(explain(error), { reason: error.reason });
}

type Begin = (rollout: RolloutRecord, folder: string) => Promise<Begun>;

function openingWith(deps: ProgramDeps) {
  return async function opening(input: RolloutInput, begin: Begin | null, unbegun = false): Promise<OpenedRollout> {
    const { store, id, runRecord, settings, query } = await admitRollout(deps, input);
    const rollout = { out: input.out, ...id };
    const environment = settings.environments?.find(({ name }) => name === query.environment);
    // A rollout that was accepted before is not asked again; one that is refused leaves nothing in the folder.
    const earlier = input.row || environment?.begins ? await store.get('rollout', id) : undefined;
    if (input.row && !earlier) await deps.readSolutions?.(input.row, settings);
    if (!runRecord && input.row) await store.put('run', null, looseRun(deps, id.run, settings));
    const fresh: RolloutRecord = {
      run: id.run,
      query,
      index: input.index ?? null,
      sample: id.sample,
      attempt: id.attempt,
      settings,
      birthTime: deps.now(),
    };
    const mustBegin =
      environment?.begins === true && !earlier?.record.begun && !(earlier && (await store.get('end', id)));
    if (mustBegin && !begin && !unbegun) {
      const { ask } = environment.door === 'queue' ? deps.environments.of(fresh, store.folder) : {};
      return openedFrom(rollout, fresh, {
        ...{ ends: false, name: environment.name, begins: true },
        ...queueOf(id.run, environment),
        ...(ask && { ask: ask.begin(fresh) }),
      });
    }
    const begun = async () => {
      // An earlier workflow of this rollout recorded that it could not be begun.
      if (earlier) throw new EnvironmentError('It was given up before.', { reason: 'environment-error' });
      return withBeginning(fresh, environment!, await begin!(fresh, store.folder));
    };
    const first =
      mustBegin && begin ? await begun().catch((error: unknown) => failBeginning(store, id, fresh, error)) : fresh;
    const { record, created } = await store.put('rollout', id, first);
    const ended = created ? undefined : await readEndedResult(store, rollout);
    const facts = environment && { ends: environment.ends, name: environment.name, begins: false };
    return {
      ...openedFrom(rollout, record, facts && { ...facts, ...queueOf(id.run, environment) }),
      ...(ended && { ended }),
    };
  };
}

/** The record of a run whose rollouts are started one by one. */
const looseRun = ({ now, version }: ProgramDeps, run: string, settings: RolloutSettings): RunRecord => ({
  format: 'everturn-run/1',
  run,
  settings,
  origins: Object.fromEntries(Object.keys(settings).map((key) => [key, 'input'] as const)),
  samples: 1,
  dataset: null,
  versions: { everturn: version, node: process.version },
  createdAt: now(),
});

function openedFrom(
  rollout: OpenedRollout['rollout'],
  { query, settings }: RolloutRecord,
  environment: OpenedRollout['environment'],
): OpenedRollout {
  const { model, numTurns, stop, rewardScaling, rewardBias, turnDiscount, program } = settings;
  return {
    rollout,
    limits: { numTurns, stop },
    reward: { rewardScaling, rewardBias, turnDiscount },
    title: titleOf(query),
    task: query.task,
    ...(isFunctionModel(model) && { modelQueue: functionQueue(rollout.run) }),
    ...(program && { program: programFacts(program) }),
    ...(environment && { environment }),
  };
}

/** A rollout that can never be begun is recorded, so that its failure is recorded with it. */
async function failBeginning(store: Store, id: RolloutId, rollout: RolloutRecord, error: unknown): Promise<never> {
  const last = givenUp(error);
  if (last) await store.put('rollout', id, rollout);
  throw last ?? error;
}

/** The queue of an environment whose calls the workflow makes, or that is a function of the run's program. */
function queueOf(run: string, { door, spec, timeoutSeconds }: EnvironmentRecord) {
  if (door === 'function') return { queue: functionQueue(run) };
  return door === 'queue' ? { own: { queue: spec[0]!, timeoutSeconds } } : {};
}

function withBeginning(rollout: RolloutRecord, environment: EnvironmentRecord, begun: Begun): RolloutRecord {
  const { query } = rollout;
  const { messages, state } = begun;
  const prompt: Prompt = messages ? { kind: 'messages', messages } : query.prompt;
  if (prompt.kind === 'messages' && prompt.messages.length === 0) {
    throw new EnvironmentError(`The environment ${environment.name} gave no messages, and the row has no prompt.`, {
      reason: 'environment-broken',
      fix: 'Let `begin` return `messages`, or give the row a prompt.',
    });
  }
  const kept = state === undefined ? {} : { state };
  return {
    ...rollout,
    query: { ...query, prompt },
    begun: { asked: query.prompt, ...kept, environment: environment.fingerprint },
  };
}

async function admitRollout(deps: ProgramDeps, input: RolloutInput) {
  const { run, out, sample = 0, attempt = 1 } = input;
  const store = deps.openStore(out, run);
  const runRecord = (await store.get('run'))?.record;
  if (runRecord?.dataset && (input.row || input.settings)) throw playsItsDataset(run, store.folder);
  const settings = runRecord && !input.settings ? runRecord.settings : deps.parseSettings(run, { ...input.settings });
  // A run's file may be made by hand; none of its rollouts could be exported.
  const unfit = unfitRewards(settings, settings.numTurns);
  if (unfit !== null) {
    const message = `The rewardScaling, rewardBias and turnDiscount of run "${run}" ${unfit}.`;
    throw new UsageError(message, { reason: 'bad-rewards', fix: 'Begin a run with others.' });
  }
  deps.permit(settings, store.folder);
  const query = input.row ? deps.parseRow(input.row, settings) : await queryAt(store, input);
  const id = { run, query: query.queryId, sample, attempt };
  if (runRecord?.dataset && sample >= samplesPerQuery(runRecord)) throw noSuchSample(run, samplesPerQuery(runRecord));
  if (attempt > 1) await mustHaveFailed(store, { ...id, attempt: attempt - 1 });
  // A run that a client's rollout begins has no record yet.
  return { store, id, runRecord, settings, query };
}

async function queryAt(store: Store, { run, out, index }: RolloutInput): Promise<Query> {
  if (index === undefined) {
    throw new DatasetError(`The rollout of run "${run}" names no query.`, {
      reason: 'no-query',
      fix: "Give `row` (a data set row), or `index` (a place in the run's queries.jsonl).",
    });
  }
  const [query] = await store.readQueries(index, 1);
  if (query) return query;
  throw new StoreError(`Run "${run}" in ${out} has no query at index ${index}.`, {
    reason: 'no-such-query',
    fix: `It holds ${await store.countQueries()} queries.`,
  });
}

/** A workflow's input must not replace a query or a model that a run has yet to play. */
function playsItsDataset(run: string, folder: string): UsageError {
  return new UsageError(`Run "${run}" in ${folder} plays its data set, with its own settings.`, {
    reason: 'not-allowed',
    fix: 'Give `index` without `row` and `settings`, or give the rollout another run.',
  });
}

function noSuchSample(run: string, samples: number): UsageError {
  return new UsageError(`Run "${run}" plays ${samples} of each query.`, {
    reason: 'not-allowed',
    fix: `Give a sample from 0 to ${samples - 1}, or give the rollout another run.`,
  });
}

/** A new attempt takes the place of one that failed or could not be judged, and of no other. */
async function mustHaveFailed(store: Store, before: RolloutId): Promise<void> {
  const end = await store.get('end', before);
  if (end && mayRetry(end.record.outcome)) return;
  throw new UsageError(`Attempt ${before.attempt} at "${before.query}" has not failed, and was not undecided.`, {
    reason: 'not-allowed',
    fix: 'Only such a rollout is tried again.',
  });
}
