// Proves each rollout against its run: settings, samples and queries of the run, consecutive attempts; and run.json itself.

import { isDeepStrictEqual } from 'node:util';
import { mayRetry, type Outcome } from '../../domain/rollout/ending.ts';
import { samplesPerQuery } from '../../domain/rollout/group.ts';
import { isFolder } from '../../domain/weights/model-identity.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { type KnownModel, modelProblems } from './model.ts';
import type { CheckedRollout } from './rollout.ts';
import { runRecordProblems } from './run-record.ts';
import { namedModel, serverProblem, serversOf } from './servers.ts';
import { ROLLOUT_FILE, rolloutFolder, RUN_FILE, turnFile } from '../record/layout.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { OnBreach, Store } from '../store.ts';

export interface RunCheckFacts {
  /** The version that checks. */
  readonly everturn?: string | undefined;
  readonly model?: KnownModel | undefined;
}

/** The model and the budget of one turn. */
export interface TurnModel extends Pick<TurnRecord, 'model' | 'server' | 'contextLength' | 'maxNewTokens'> {
  readonly number: number;
  readonly hasIds: boolean;
  readonly wanted: Pick<RolloutSettings, 'model' | 'maxNewTokens'>;
}

export function turnModelsOf({ rollout: { settings }, turns }: CheckedRollout): TurnModel[] {
  const wanted = { model: settings.model, maxNewTokens: settings.maxNewTokens };
  return turns.flatMap((found) => {
    if (!found) return [];
    const { turn: number, model, server, contextLength, maxNewTokens, trainable } = found.record;
    return [{ number, model, server, contextLength, maxNewTokens, hasIds: trainable !== false, wanted }];
  });
}

export function openRunCheck(store: Store, run: RunRecord | undefined, onBreach: OnBreach, facts: RunCheckFacts = {}) {
  const budgets = openBudgetCheck();
  /** By server; an embedded model has none. */
  const models = new Map<string | null, string>();
  let settingsOfRun: string | undefined;

  return {
    /** run.json itself. */
    async run(): Promise<void> {
      if (!run) return;
      const say = (problem: string) => onBreach({ path: RUN_FILE, problem });
      for (const problem of runRecordProblems(run, facts.everturn)) say(problem);
      for (const problem of await modelProblems(run, facts.model)) say(problem);
    },

    /** One by itself. */
    async rollout({ id, rollout, turns }: CheckedRollout, report: OnBreach): Promise<void> {
      const folder = rolloutFolder(id);
      const say = (problem: string, file: string = ROLLOUT_FILE) => report({ path: `${folder}/${file}`, problem });
      if (run && rollout.run !== run.run) say(`is of the run ${JSON.stringify(rollout.run)}`);
      if (id.attempt > 1 && !(await isThere({ ...id, attempt: id.attempt - 1 })))
        say(`is attempt ${id.attempt}, and there is no attempt ${id.attempt - 1}`);
      const before = id.attempt > 1 ? await endBefore(id) : undefined;
      if (before && !mayRetry(before)) say(`is attempt ${id.attempt}, and attempt ${id.attempt - 1} is ${before}`);
      for (const turn of turns) {
        if (!turn) continue;
        const { model, server, turn: number } = turn.record;
        const problem = serverProblem(rollout.settings.model, server);
        if (problem) say(problem, turnFile(number));
        const right = namedModel(rollout.settings.model);
        if (right !== null && model !== right)
          say(`says the model ${JSON.stringify(model)}; its settings ask ${JSON.stringify(right)}`, turnFile(number));
        // A server of text may give the asked model another name, and a folder says which weights a server loaded.
        const named = right !== null || server === null || isFolder(model);
        const identified = named ? null : (run?.model?.name ?? null);
        if (identified !== null && model !== identified)
          say(
            `says the model ${JSON.stringify(model)}; ${RUN_FILE} says ${JSON.stringify(identified)}`,
            turnFile(number),
          );
      }
      // A rollout that a client started directly may have its own settings.
      if (!run?.dataset) return;
      if (rollout.index === null) return say(`was started by itself, in the run of a data set`);
      const samples = samplesPerQuery(run);
      if (rollout.sample >= samples) say(`is sample ${rollout.sample} of a run with ${samples} per query`);
      settingsOfRun ??= JSON.stringify(run.settings);
      // Nearly always the same, to the byte.
      if (JSON.stringify(rollout.settings) === settingsOfRun) return;
      const differs = [...new Set([...Object.keys(run.settings), ...Object.keys(rollout.settings)])].filter(
        (key) => !isDeepStrictEqual(valueOf(run.settings, key), valueOf(rollout.settings, key)),
      );
      for (const key of differs)
        say(
          `says ${key} ${JSON.stringify(valueOf(rollout.settings, key))}; ${RUN_FILE} says ${JSON.stringify(valueOf(run.settings, key))}`,
        );
    },

    /** One beside all others. */
    models(folder: string, turns: readonly TurnModel[]): void {
      for (const turn of turns) {
        const { number, model, server } = turn;
        const say = (problem: string) => onBreach({ path: `${folder}/${turnFile(number)}`, problem });
        const budget = budgets(turn);
        if (budget) say(budget);
        // A folder says which weights a server loaded, as the versions do.
        if (server !== null && isFolder(model)) continue;
        const known = models.get(server);
        if (known === undefined) models.set(server, model);
        else if (known !== model)
          say(`says the model ${JSON.stringify(model)}; another turn of the run says ${JSON.stringify(known)}`);
      }
    },
  };

  async function endBefore(id: RolloutId): Promise<Outcome | undefined> {
    return (await store.getEnd({ ...id, attempt: id.attempt - 1 }).catch(() => undefined))?.record.outcome;
  }

  async function isThere(id: RolloutId): Promise<boolean> {
    // Unreadable records are reported by the check of their rollout.
    return store.getRollout(id).then(
      (found) => found !== undefined,
      () => true,
    );
  }
}

const valueOf = (settings: object, key: string): unknown =>
  (settings as Readonly<Record<string, unknown>>)[key] ?? null;

/** Servers may be restarted with another length. */
const LENGTHS_EACH = 2;

/** An embedded model has one context length: a budget that was cut reaches it, and no other goes beyond it. */
function openBudgetCheck() {
  /** By model: the length that a cut budget reached, and the longest that one that was not cut reached. */
  const lengths = new Map<string, { cut: number | null; longest: number }>();
  const cuts = new Map<string, Set<number>>();
  /** A budget is cut by the end of a context, and a fleet has few lengths of those. */
  const ofServer = (model: string, length: number): string | undefined => {
    const known = cuts.get(model) ?? new Set();
    cuts.set(model, known.add(length));
    return known.size > LENGTHS_EACH * (1 + (serversOf(model)?.length ?? 0))
      ? `has a budget that was cut at ${length} tokens; budgets of the run end at ${known.size} lengths, and a context has one`
      : undefined;
  };
  return ({ wanted: { model, maxNewTokens: wanted }, ...turn }: TurnModel): string | undefined => {
    if (!turn.hasIds) return undefined;
    const length = turn.contextLength + turn.maxNewTokens;
    if (turn.server !== null) return turn.maxNewTokens < wanted ? ofServer(model, length) : undefined;
    const known = lengths.get(model) ?? { cut: null, longest: 0 };
    lengths.set(model, known);
    if (turn.maxNewTokens < wanted) {
      known.cut ??= length;
      if (known.cut !== length)
        return `has a budget of ${turn.maxNewTokens} new tokens, up to ${length}; another was cut to ${known.cut}`;
    }
    known.longest = Math.max(known.longest, length);
    return known.cut !== null && known.longest > known.cut
      ? `has a budget up to ${length} tokens; the model's context was full at ${known.cut}`
      : undefined;
  };
}
