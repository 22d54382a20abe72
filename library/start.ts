// Starts a run for a program, as `everturn run` does for a person: the same options, the same refusals before anything is
// written, and the same run where the call is repeated. Nothing is printed.

import { resolve } from 'node:path';
import { unusable } from '../domain/errors/unusable.ts';
import type { RunEvent } from '../run/caller.ts';
import type { RunOptions } from '../run/options.ts';
import { DEFAULT_OUT, knownResult } from '../run/place.ts';
import { openRun, type OpenOptions } from './open-run.ts';
import type { Run } from './run.ts';

/** A list of one may be given as a text. */
type OneOrMore<T> = T extends readonly string[] ? T | string : T;
type Options = { readonly [K in keyof RunOptions]?: OneOrMore<RunOptions[K]> | undefined };

/** Beside these, the options of `everturn run` by their names in config files, with the same ranges and defaults (docs/settings.md). */
export interface StartOptions extends OpenOptions, Options {
  /** A file of problems: JSON lines, CSV, TSV or Parquet; relative to `cwd`. */
  readonly dataset: string;
  /** Default: derived from data and settings, so that the same call finds the same run. */
  readonly name?: string | undefined;
  /** A file of YAML or JSON with options, relative to `cwd`; an option that is given in the call has precedence. */
  readonly config?: string | undefined;
  /** Refuses a data set with a bad row, which is else left out. Default false. */
  readonly strict?: boolean | undefined;
  /** Called with what happens until the run has started. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

export interface StartedRun extends Run {
  /** `attached`: it was being played already; `ended`: it has ended, and is not played again. */
  readonly found: 'new' | 'attached' | 'ended';
}

/** A program that only reads runs does without them. */
const startingParts = () =>
  Promise.all([import('../run/config.ts'), import('../run/prepare-run.ts'), import('../run/start-run.ts')]);

/**
 * Starts a run, or finds the one that the same call started, and resolves once it goes on by itself: it outlives this program.
 * Starts the local service where no cluster is named (`TEMPORAL_ADDRESS`). Rejects with an `EverturnError`: a `UsageError` for
 * options that do not fit or a name that another run has, a `DatasetError`, a `ModelError` where the model does not answer, a
 * `TemporalError`. A run that is refused leaves nothing. `signal` is looked at before each step; later it ends the waits of the
 * run's methods.
 */
export async function start(options: StartOptions): Promise<StartedRun> {
  const { dataset, name, config, strict = false, onEvent = () => {}, ...rest } = options;
  const { out = DEFAULT_OUT, home, env: given = process.env, cwd = process.cwd(), signal, ...input } = rest;
  if (typeof dataset !== 'string') throw unusable('start() has no `dataset`.', 'Name a file of problems.');
  const env = home === undefined ? given : { ...given, EVERTURN_HOME: home };
  const caller = { cwd, env, now: Date.now, onEvent };
  const [{ resolveOptions }, { prepareRun, proveRun }, { newRunOf, startRun }] = await startingParts();
  const resolved = resolveOptions({ configFile: config === undefined ? undefined : resolve(cwd, config), input });
  signal?.throwIfAborted();
  const prepared = await prepareRun({ dataset, out, name, strict, resolved }, caller);
  const { place, rows, heldOut, isThere } = prepared;
  try {
    if (isThere && (await knownResult(place))) return { ...(await opened()), found: 'ended' };
    signal?.throwIfAborted();
    const proved = await proveRun(prepared, caller);
    signal?.throwIfAborted();
    const { link, attached } = await startRun(newRunOf(proved, dataset), caller);
    await link.close();
    return { ...(await opened()), found: attached ? 'attached' : 'new' };
  } finally {
    for (const some of [rows, heldOut]) some?.close();
  }

  function opened(): Promise<Run> {
    return openRun(place.run, { out: place.out, env, cwd, signal });
  }
}

/** Starts a run, or finds it as `start` does, and waits for its end. A run that was cancelled has ended, too (`result`). */
export async function run(options: StartOptions): Promise<StartedRun> {
  const started = await start(options);
  await started.result();
  return started;
}
