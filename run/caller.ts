// The program that asks for a run: in its folder paths are meant, in its environment homes and keys are found, and it hears what
// happens. Nothing in this room reads the process, or prints.

import type { ServerProgress } from '../local/machine/progress.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import type { ProgramParts } from './functions.ts';
import type { Rows } from './rows.ts';

export interface Caller {
  /** Absolute: relative paths are of this folder. */
  readonly cwd: string;
  readonly env: Environment;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onEvent: (event: RunEvent) => void;
  /** Ends what is done for it, up to the making of the run. */
  readonly signal?: AbortSignal | undefined;
  /** Code of the program itself. */
  readonly functions?: ProgramParts | undefined;
}

/** What happens while a run is planned, made and started. */
export type RunEvent =
  /** A line of a user's program, or of a model that is loaded. */
  | { readonly type: 'log'; readonly text: string }
  /** The local service starts. */
  | { readonly type: 'service'; readonly progress: ServerProgress }
  /** The rows are those of a benchmark; `verified`: by the sources that its page names. */
  | {
      readonly type: 'benchmark';
      readonly name: string;
      readonly title: string;
      readonly notes: readonly string[];
      readonly verified: boolean;
    }
  /** A large data set, which takes seconds to read. */
  | { readonly type: 'reading'; readonly dataset: string }
  /** `dataset`: as the caller named it. */
  | { readonly type: 'rows'; readonly isHeldOut: boolean; readonly dataset: string; readonly rows: RowCounts }
  /** Held-out problems that are trained on too. */
  | { readonly type: 'trained-on'; readonly queries: readonly string[] }
  /** A setting that changes nothing with this model. */
  | { readonly type: 'not-honoured'; readonly model: string; readonly setting: string; readonly why: string }
  /** Variables of the chat template that it does not name. */
  | { readonly type: 'variables-unknown'; readonly model: string; readonly names: readonly string[] }
  /** The chat template would show earlier answers in another form than the ids that a rollout keeps. */
  | { readonly type: 'answers-kept'; readonly model: string; readonly otherwise: string }
  /** A server that was busy or away is asked again. */
  | { readonly type: 'asked-again'; readonly why: string; readonly inMs: number }
  /** The model's chat template does not show its tools. */
  | { readonly type: 'tools-not-shown' }
  /** Every rollout of the run failed, and it is played again; its records of then are in `folder`. */
  | {
      readonly type: 'set-aside';
      readonly run: string;
      readonly folder: string;
      readonly reasons: readonly string[];
    }
  /** The run's folder is made: from here on the run goes on without the caller. */
  | { readonly type: 'made'; readonly run: string; readonly folder: string };

type RowCounts = Omit<Rows, 'queries' | 'close'>;

export const linkOptionsOf = ({ env, onEvent }: Caller) => ({
  env,
  onProgress: (progress: ServerProgress) => onEvent({ type: 'service', progress }),
});

/** A log of lines for parts that write one. */
export const logOf =
  ({ onEvent }: Pick<Caller, 'onEvent'>) =>
  (text: string): void =>
    onEvent({ type: 'log', text });
