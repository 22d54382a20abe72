// The dependencies of activities: the plug points' interfaces, constructed by worker.ts.

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
  /** Throws `not-allowed` if the operator does not let workflows use this model with this key. */
  permit(settings: RolloutSettings, runFolder: string): void;
  /** Parses one data set row; throws DatasetError naming the field. */
  parseRow(row: Readonly<Record<string, unknown>>): Query;
  /** Throws DatasetError naming the field if the judge cannot use the row's solutions. */
  readSolutions?(row: Readonly<Record<string, unknown>>): Promise<void>;
  /** Checks and completes settings that came from outside; throws UsageError naming the field. */
  parseSettings(run: string, settings: Readonly<Record<string, unknown>>): RolloutSettings;
  /** Accepts a data set into a new run's folder; does nothing where that was done before. */
  createRun(run: NewRun): Promise<void>;
  /** The closed or unknown ones of these workflows of a run, by how they closed; of many, not always all. */
  closedRollouts(run: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, WorkflowClosing>>;
  now(): number;
}
