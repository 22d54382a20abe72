// Starts a run for a program, as `everturn run` does for a person: the same options, the same refusals before anything is
// written, and the same run where the call is repeated. Nothing is printed.

import { resolve } from 'node:path';
import { explain } from '../domain/errors/errors.ts';
import type { EnvironmentFunction, EnvironmentFunctions } from '../environments/own/function.ts';
import type { ToolFunction } from '../environments/tools/function.ts';
import type { ModelFunction } from '../inference/function-model.ts';
import { orAborted } from '../local/machine/aborted-wait.ts';
import { homeOf } from '../local/service/home.ts';
import { type Caller, logOf, type RunEvent } from '../run/caller.ts';
import type { GivenFunctions, ProgramParts } from '../run/functions.ts';
import type { RunOptions } from '../run/options.ts';
import { type Begun, DEFAULT_OUT, type RunPlace } from '../run/place.ts';
import { mustTake, openRun, type OpenOptions } from './open-run.ts';
import type { Run } from './run-handle.ts';
import { told } from './told.ts';

/** A list of one may be given as a text. */
type OneOrMore<T> = T extends readonly string[] ? T | string : T;
type Options = {
  readonly [K in Exclude<keyof RunOptions, 'model' | 'environment'>]?: OneOrMore<RunOptions[K]> | undefined;
};

/** Beside these, the options of `everturn run` by their names in config files, with the same ranges and defaults (docs/settings.md). */
export interface StartOptions extends OpenOptions, Options {
  /** As `everturn run` takes it, such as `vllm:http://…`; or a function of this program: messages in, text out. */
  readonly model?: string | ModelFunction | undefined;
  /** As `everturn run` takes it; or functions of this program: one that judges an answer, or `begin`, `respond` and `end`. */
  readonly environment?: string | readonly string[] | EnvironmentFunction | EnvironmentFunctions | undefined;
  /** Functions of this program that the model may call; beside `tool` and `mcp`. */
  readonly tools?: readonly ToolFunction[] | undefined;
  /**
   * A file of problems: JSON lines, CSV, TSV or Parquet; relative to `cwd`. Or `hf:<org>/<name>[@revision][/config/split]`, a
   * benchmark, or the page of one.
   */
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

export interface StartedRun extends Run, Pick<Begun, 'found'> {
  /** Of a run with functions of this program: answers no further call. The run then waits, until it is started again. */
  close(): Promise<void>;
}

/** A program that only reads runs does without them. */
const startingParts = () =>
  Promise.all([
    import('../run/config.ts'),
    import('../run/prepare-run.ts'),
    import('../run/start-run.ts'),
    import('./option-names.ts'),
    import('../inference/function-model.ts'),
  ]);

/**
 * Starts a run, or finds the one that the same call started, and resolves once it goes on by itself: it outlives this program.
 * Starts the local service where no cluster is named (`TEMPORAL_ADDRESS`). Rejects with an `EverturnError`: a `UsageError` for
 * options that do not fit or a name that another run has, a `DatasetError`, a `ModelError` where the model does not answer, a
 * `TemporalError`. A run that is refused leaves nothing. `signal` ends the call at once, whatever it waits for: before the run is
 * made nothing is left, and from then on the run goes on (`cancel()` ends it). Later it ends the waits of the run's methods. With
 * functions of its own the program answers for them until the run has ended, and lives as long; killed and started again, it
 * goes on. A second one is refused meanwhile (`still-played`).
 */
export function start(options: StartOptions): Promise<StartedRun> {
  return told(startGiven(options));
}

async function startGiven(options: StartOptions): Promise<StartedRun> {
  await mustTake('start', options);
  const { dataset, name, config, strict = false, onEvent = () => {}, model, environment, tools, ...rest } = options;
  const { out = DEFAULT_OUT, home, env: given = process.env, cwd = process.cwd(), signal, ...plain } = rest;
  const env = home === undefined ? given : { ...given, EVERTURN_HOME: home };
  // Loading the parts takes a second.
  const [{ resolveOptions }, { prepareRun }, { beginRun }, { eventInOptionNames }, { functionModelName }] =
    await orAborted(signal, startingParts());
  const tell = (event: RunEvent) => onEvent(eventInOptionNames(event));
  const named = typeof model === 'function' ? functionModelName(model) : model;
  const input = {
    ...plain,
    ...(named !== undefined && { model: named }),
    ...(environment !== undefined && !isCode(environment) && { environment }),
  };
  const resolved = resolveOptions({ configFile: config === undefined ? undefined : resolve(cwd, config), input });
  const functions = await partsOf(
    {
      model: typeof model === 'function' ? model : undefined,
      environment: isCode(environment) ? environment : undefined,
      tools,
    },
    resolved.options,
  );
  const caller = { cwd, env, now: Date.now, onEvent: tell, functions, signal };
  signal?.throwIfAborted();
  const { place, found, at } = await orAborted(signal, begun());
  const run = await openRun(place.run, { out: place.out, env, cwd, signal });
  const isServed = functions && found !== 'ended';
  const close = isServed ? await serveUntilItsEnd(place, run, functions, { at, caller, signal }) : async () => {};
  return { ...run, found, close };

  async function begun(): Promise<Begun> {
    const prepared = await prepareRun({ dataset, out, name, strict, resolved }, caller);
    return beginRun(prepared, caller).finally(prepared.close);
  }
}

/** Starts a run, or finds it as `start` does, and waits for its end. A run that was cancelled has ended, too (`result`). */
export async function run(options: StartOptions): Promise<StartedRun> {
  const started = await start(options);
  await started.result();
  return started;
}

const partsOf = async (given: GivenFunctions, options: RunOptions): Promise<ProgramParts | undefined> =>
  Object.values(given).some((one) => one !== undefined)
    ? (await import('../run/functions.ts')).programParts(given, options)
    : undefined;

const isCode = (given: StartOptions['environment']): given is EnvironmentFunction | EnvironmentFunctions =>
  given !== undefined && typeof given !== 'string' && !Array.isArray(given);

interface Serving {
  readonly at: Begun['at'];
  readonly caller: Caller;
  readonly signal: AbortSignal | undefined;
}

/** Returns what ends it before the run's end. */
async function serveUntilItsEnd(
  { out, run }: RunPlace,
  opened: Run,
  functions: ProgramParts,
  { at, caller, signal }: Serving,
): Promise<() => Promise<void>> {
  const { serveProgram } = await import('../program-worker.ts');
  const ended = new AbortController();
  const stop = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
  const worker = await serveProgram({ out, run }, functions, {
    ...{ at, home: homeOf(caller.env), log: logOf(caller), signal: stop },
  });
  const end = () => ended.abort();
  // Whoever waits for the run hears of its failures.
  void opened.result({ signal: stop }).then(end, end);
  worker.done.catch((error: unknown) => caller.onEvent({ type: 'log', text: explain(error) }));
  return async () => {
    end();
    await worker.done;
  };
}
