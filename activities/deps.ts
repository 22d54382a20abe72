// The dependencies of activities: the plug points' interfaces, constructed by worker.ts.

import type { CallCounts } from '../domain/rollout/rollout-facts.ts';
import type { EvaluationOf } from '../domain/run/evaluation.ts';
import type { CollectionInput } from '../domain/run/messages.ts';
import type { Query } from '../domain/query/query.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { Environments } from '../environments/environment.ts';
import type { AdapterToLoad } from '../domain/weights/adapter.ts';
import type { DeclaredWeights, WeightServer, WeightsLedger } from '../domain/weights/weights.ts';
import type { Agents } from '../endpoint/index.ts';
import type { Backend } from '../inference/backend.ts';
import type { Tools } from '../environments/tools/tool.ts';
import type { Store } from '../records/store.ts';
import type { PassOn } from './agent-sides.ts';

interface WeightsParts {
  /** The updates of a run, by its folder. */
  ledger(runFolder: string): WeightsLedger;
  /** The servers of a model; null where it is embedded. Throws UsageError for one that takes no other weights. */
  servers(model: string): readonly string[] | null;
  /** `adapter`: what it is to load; null: weights of their own. */
  server(model: string, url: string, apiKeyEnv: string | null, adapter: AdapterToLoad | null): WeightServer;
  /** The SHA-256 of an adapter's files; throws what is wrong with its folder. */
  adapterHash(folder: string): Promise<string>;
  /** Loads weights of an embedded model, and returns their SHA-256; throws what is wrong with them. */
  prove(
    settings: RolloutSettings,
    runFolder: string,
    weights: Pick<DeclaredWeights, 'folder' | 'version' | 'label'>,
  ): Promise<string | null>;
  /** Throws `not-allowed` if the operator does not let workflows use this folder and key for this run. */
  permit(update: {
    readonly settings: RolloutSettings;
    readonly folder: string;
    readonly weights: string;
    readonly apiKeyEnv: string | null;
  }): void;
  /** Is this attempt still the one that the server waits for? */
  holdsStep(
    workflow: { readonly workflowId: string; readonly runId: string },
    activityId: string,
    attempt: number,
  ): Promise<boolean>;
}

/** How a workflow closed, as far as its records may not say it. */
export type WorkflowClosing = 'cancelled' | 'absent' | 'other';

/** The part of them that a program needs which answers for its own functions alone. */
export type ProgramDeps = Pick<
  ActivityDeps,
  | ('version' | 'worker' | 'openStore' | 'backend' | 'environments' | 'tools' | 'isStopping' | 'now')
  | ('permit' | 'parseRow' | 'readSolutions' | 'parseSettings')
>;

export interface ActivityDeps {
  /** Everturn's own, for run.json. */
  readonly version: string;
  /** `4711@host`: process and machine, for messages. */
  readonly worker?: string;
  openStore(out: string, run: string): Store;
  /** The backend that `settings.model` names; built once per worker. */
  backend(settings: RolloutSettings, runFolder: string): Promise<Backend>;
  readonly environments: Environments;
  /** Absent: this worker has none. */
  readonly tools?: Tools;
  /** Absent: this worker runs no agents. */
  readonly agents?: Agents;
  /** Absent: models beside a run's own are not asked here. */
  readonly passOn?: PassOn;
  /** Tells the rollout's workflow what its agent has done. */
  tellCalls(workflowId: string, counts: CallCounts): Promise<void>;
  /** Calls of agents that are generated at once. */
  readonly slots: number;
  /** The same function; its calls are counted as generations. Absent: nothing is counted. */
  measure?<A extends readonly unknown[], R>(generate: (...args: A) => Promise<R>): (...args: A) => Promise<R>;
  /** Throws `not-allowed` if the operator does not let workflows use this model with this key. */
  permit(settings: RolloutSettings, runFolder: string): void;
  /** Parses one data set row; throws DatasetError naming the field. */
  parseRow(row: Readonly<Record<string, unknown>>, settings: Pick<RolloutSettings, 'environments'>): Query;
  /** Throws DatasetError naming the field if the judge cannot use the row's solutions. */
  readSolutions?(
    row: Readonly<Record<string, unknown>>,
    settings: Pick<RolloutSettings, 'environments'>,
  ): Promise<void>;
  /** Checks and completes settings that came from outside; throws UsageError naming the field. */
  parseSettings(run: string, settings: Readonly<Record<string, unknown>>): RolloutSettings;
  /** Accepts a data set into a new run's folder; does nothing where that was done before. */
  createRun(input: CollectionInput & { readonly dataset: string }): Promise<void>;
  /** Makes the run of an evaluation, once; null if it has ended. `maxConcurrent`: that of its training run now. */
  makeEvaluation(of: EvaluationOf): Promise<{ readonly maxConcurrent: number } | null>;
  /** The closed or unknown ones of these workflows of a run, by how they closed; of many, not always all. */
  closedRollouts(run: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, WorkflowClosing>>;
  /** Whether a rollout's workflow only waits for a generation that no worker has begun. */
  isWaiting(workflowId: string): Promise<boolean>;
  /** Does nothing to one that has closed. */
  cancelRollout(workflowId: string): Promise<void>;
  /** Whether the rollouts of a run are being cancelled, because it was told to stop. */
  isStopping(out: string, run: string): Promise<boolean>;
  readonly weights: WeightsParts;
  now(): number;
}
