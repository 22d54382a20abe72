// What activities are given: the plug points' interfaces and nothing built. worker.ts constructs.

import type { Query } from '../domain/query.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { Environment } from '../environments/environment.ts';
import type { Backend } from '../inference/backend.ts';
import type { Store } from '../storage/store.ts';

export interface NewRun {
  readonly run: string;
  readonly out: string;
  readonly dataset: string;
  readonly samples: number;
  readonly limit: number | null;
  readonly shuffleSeed: number | null;
  readonly settings: Partial<RolloutSettings>;
}

/** How a workflow closed, as far as its records may not say it. */
export type WorkflowClosing = 'cancelled' | 'other';

export interface ActivityDeps {
  /** Everturn's own, for run.json. */
  readonly version: string;
  openStore(out: string, run: string): Store;
  /** The backend that `settings.model` names; built once per worker and kept. */
  backend(settings: RolloutSettings, runFolder: string): Promise<Backend>;
  readonly environment: Environment;
  /** Throws `not-allowed` where the operator does not let a workflow have this model asked, with that key. */
  permit(settings: RolloutSettings, runFolder: string): void;
  /** Parses one data set row; throws DatasetError naming the field. */
  parseRow(row: Readonly<Record<string, unknown>>): Query;
  /** Throws DatasetError naming the field where the judge cannot use what the row says is right. */
  readSolutions?(row: Readonly<Record<string, unknown>>): Promise<void>;
  /** Checks and completes settings that came from outside; throws UsageError naming the field. */
  parseSettings(run: string, settings: Readonly<Record<string, unknown>>): RolloutSettings;
  /** Accepts a data set into a new run's folder; does nothing where that was done before. */
  createRun(run: NewRun): Promise<void>;
  /** Those of these workflows of a run that are closed or forgotten, with how; of many, not always all. */
  closedRollouts(run: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, WorkflowClosing>>;
  now(): number;
}
