// A rollout's first step: records the query and the settings it plays; later changes of their sources have no effect.

import { Context } from '@temporalio/activity';
import { samplesPerQuery } from '../domain/samples/group.ts';
import { firstWords } from '../domain/text/foreign-text.ts';
import { mayRetry } from '../domain/rollout/ending.ts';
import type { Begun, EnvironmentRecord, QueueReply } from '../domain/rollout/environment.ts';
import { programFacts } from '../domain/agent/program.ts';
import { DatasetError, EnvironmentError, explain, StoreError, UsageError } from '../domain/errors/errors.ts';
import { type Prompt, questionOf } from '../domain/query/query.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';
import type { OpenedRollout } from '../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { endedResult } from './ended-result.ts';
import { heartbeating } from './heartbeat.ts';

/** Records the rollout, unless its environment has to begin it: then `begin` does. `unbegun`: records it all the same, for its end. */
export function openActivity(deps: ActivityDeps) {
  const opening = openingWith(deps);
  return (input: RolloutInput, unbegun = false): Promise<OpenedRollout> => opening(input, null, unbegun);
}

/** Asks the rollout's environment for its first messages and state, and records the rollout with them. */
export function beginActivity(deps: ActivityDeps) {
  const opening = openingWith(deps);
  return (input: RolloutInput, said?: QueueReply): Promise<OpenedRollout> =>
    heartbeating((signal) =>
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

function openingWith(deps: ActivityDeps) {
  const { openStore, parseRow, readSolutions, parseSettings, permit, now, version } = deps;
  /** The record of a run whose rollouts are started one by one. */
  const looseRun = (run: string, settings: RolloutSettings): RunRecord => ({
    format: 'everturn-run/1',
    run,
    settings,
    origins: Object.fromEntries(Object.keys(settings).map((key) => [key, 'input'] as const)),
    samples: 1,
    dataset: null,
    versions: { everturn: version, node: process.version },
    createdAt: now(),
  });

  return async function opening(input: RolloutInput, begin: Begin | null, unbegun = false): Promise<OpenedRollout> {
    const { run, out, sample = 0, attempt = 1 } = input;
    const store = openStore(out, run);
    const known = await store.getRun();
    if (known?.record.dataset && (input.row || input.settings)) throw ofItsOwn(run, store.folder);
    const settings = known && !input.settings ? known.record.settings : parseSettings(run, { ...input.settings });
    // A run's file may be made by hand; none of its rollouts could be exported.
    const unfit = unfitRewards(settings, settings.numTurns);
    if (unfit !== null) {
      const message = `The rewardScaling, rewardBias and turnDiscount of run "${run}" ${unfit}.`;
      throw new UsageError(message, { reason: 'bad-rewards', fix: 'Begin a run with others.' });
    }
    permit(settings, store.folder);
    const query = await queryOf();
    const id = { run, query: query.queryId, sample, attempt };
    if (known?.record.dataset && sample >= samplesPerQuery(known.record))
      throw noSuchSample(run, samplesPerQuery(known.record));
    if (attempt > 1) await mustHaveFailed(store, { ...id, attempt: attempt - 1 });
    // A rollout that was accepted before is not asked again; one that is refused leaves nothing in the folder.
    const environment = settings.environments?.find(({ name }) => name === query.environment);
    const there = input.row || environment?.begins ? await store.getRollout(id) : undefined;
    if (input.row && !there) await readSolutions?.(input.row, settings);
    if (!known && input.row) await store.putRun(looseRun(run, settings));
    const fresh: RolloutRecord = {
      run,
      query,
      index: input.index ?? null,
      sample,
      attempt,
      settings,
      birthTime: now(),
    };
    const begins = environment?.begins === true && !there?.record.begun && !(there && (await store.getEnd(id)));
    if (begins && !begin && !unbegun) {
      const { ask } = environment.door === 'queue' ? deps.environments.of(fresh, store.folder) : {};
      return openedOf(fresh, {
        name: environment.name,
        begins,
        ...queueIn(environment),
        ...(ask && { ask: ask.begin(fresh) }),
      });
    }
    const first = begins && begin ? await begunRollout(environment, fresh) : fresh;
    const { record, created } = await store.putRollout(id, first);
    const ended = created ? undefined : await endedResult(store, { out, ...id });
    return {
      ...openedOf(
        record,
        environment && { name: environment.name, begins: false, ends: environment.ends, ...queueIn(environment) },
      ),
      ...(ended && { ended }),
    };

    function openedOf(
      { query: played, settings: in_ }: RolloutRecord,
      own: (Omit<NonNullable<OpenedRollout['environment']>, 'ends'> & { readonly ends?: boolean }) | undefined,
    ): OpenedRollout {
      const { numTurns, stop, rewardScaling, rewardBias, turnDiscount } = in_;
      return {
        rollout: { out, ...id },
        limits: { numTurns, stop },
        reward: { rewardScaling, rewardBias, turnDiscount },
        title: firstWords(questionOf(played)),
        task: played.task,
        ...(in_.program && { program: programFacts(in_.program) }),
        ...(own && { environment: { ends: false, ...own } }),
      };
    }

    async function begunRollout(own: EnvironmentRecord, rollout: RolloutRecord): Promise<RolloutRecord> {
      try {
        // An earlier workflow of this rollout recorded that it could not be begun.
        if (there) throw new EnvironmentError('It was given up before.', { reason: 'environment-error' });
        return withBeginning(rollout, own, await begin!(rollout, store.folder));
      } catch (error) {
        const last = givenUp(error);
        // Its failure is recorded with it.
        if (last) await store.putRollout(id, rollout);
        throw last ?? error;
      }
    }

    async function queryOf() {
      if (input.row) return parseRow(input.row, settings);
      if (input.index === undefined) {
        throw new DatasetError(`The rollout of run "${run}" names no query.`, {
          reason: 'no-query',
          fix: "Give `row` (a data set row), or `index` (a place in the run's queries.jsonl).",
        });
      }
      const [found] = await store.readQueries(input.index, 1);
      if (found) return found;
      throw new StoreError(`Run "${run}" in ${out} has no query at index ${input.index}.`, {
        reason: 'no-such-query',
        fix: `It holds ${await store.countQueries()} queries.`,
      });
    }
  };
}

/** Of an environment whose calls the workflow makes. */
function queueIn({ door, spec, timeoutSeconds }: EnvironmentRecord) {
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

/** A workflow's input must not replace a query or a model that a run has yet to play. */
function ofItsOwn(run: string, folder: string): UsageError {
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
  const end = await store.getEnd(before);
  if (end && mayRetry(end.record.outcome)) return;
  throw new UsageError(`Attempt ${before.attempt} at "${before.query}" has not failed, and was not undecided.`, {
    reason: 'not-allowed',
    fix: 'Only such a rollout is tried again.',
  });
}
