// The process of a module of tools: runs one call at a time. The time limit of a call is counted by call-clock.ts, in a
// thread of this process: the worker's own clock says nothing about how long the tool ran.

import { Worker } from 'node:worker_threads';
import { mustBeSpelt, reportOf, serveModule, spellNonFinite, Unfit } from '../processes/module-lines.ts';
import type { WatchedCall } from './call-clock.ts';

interface UserTool {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly parameters?: unknown;
  readonly effect?: unknown;
  readonly timeoutSeconds?: unknown;
  readonly run?: (args: unknown, at: { readonly key: string; readonly signal: AbortSignal }) => unknown;
}
interface Call {
  readonly id: number;
  readonly params: {
    readonly tool: string;
    readonly arguments: unknown;
    readonly key: string;
    readonly timeoutMs: number;
    readonly graceMs: number;
  };
}

const FIELDS = ['name', 'description', 'parameters', 'effect', 'timeoutSeconds', 'run'];
/** The names that others give to `parameters`. */
const SCHEMAS = ['inputSchema', 'input_schema', 'args_schema', 'schema'];

/** The list that the module exports. */
function toolsOf(exported: { readonly tools?: unknown; readonly default?: unknown }): readonly UserTool[] {
  const tools = exported.tools ?? exported.default;
  if (!Array.isArray(tools) || tools.length === 0)
    throw new Unfit('it exports no list `tools`, and none as its default');
  for (const [i, tool] of (tools as (UserTool | null)[]).entries()) {
    if (typeof tool !== 'object' || tool === null || typeof tool.run !== 'function')
      throw new Unfit(`tools[${i}] has no function \`run\``);
    mustBeSpelt(`tools[${i}]`, tool, FIELDS);
    const schema = SCHEMAS.find((name) => name in tool);
    if (schema !== undefined) throw new Unfit(`tools[${i}] has the field \`${schema}\`: \`parameters\` is meant`);
  }
  return tools as UserTool[];
}

/** NaN is no null, also not in a list or an object. */
const textOf = (result: unknown): string =>
  typeof result === 'string' || typeof result === 'number'
    ? String(result)
    : (JSON.stringify(result, spellNonFinite) ?? '');

/** The number of the call that has no reply yet, shared with the clock. */
const open = new Int32Array(new SharedArrayBuffer(4));
let clock: Worker | undefined;
let running: { readonly id: number; readonly limit: AbortController } | undefined;

function watch(watched: WatchedCall): void {
  if (!clock) {
    clock = new Worker(new URL('./call-clock.js', import.meta.url), { workerData: open });
    clock.unref();
    clock.on('message', (id: number) => {
      if (running?.id === id)
        running.limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    });
  }
  Atomics.store(open, 0, watched.id);
  clock.postMessage(watched, []);
}

async function answered(tools: readonly UserTool[], { id, params }: Call): Promise<object> {
  const { timeoutMs, graceMs, key } = params;
  const tool = tools.find(({ name }) => name === params.tool)!;
  const limit = new AbortController();
  running = { id, limit };
  watch({ id, timeoutMs, graceMs });
  try {
    const result = await tool.run!(params.arguments, { key, signal: limit.signal });
    await mine(id);
    return { text: textOf(result), failed: false };
  } catch (error) {
    await mine(id);
    // An error is the report of the tool, for the model; `outage: true` says that the tool itself could not be reached.
    if (typeof error === 'object' && error !== null && 'outage' in error && error.outage === true) throw error;
    const { message: text, trace } = reportOf(error);
    return { text, failed: true, late: limit.signal.aborted, trace };
  }
}

/** Never resolves for a call to which the clock has replied: this process is about to be killed. */
function mine(id: number): Promise<void> | undefined {
  if (Atomics.compareExchange(open, 0, id, 0) === id) return undefined;
  return new Promise(() => void setInterval(() => undefined, 2 ** 30));
}

await serveModule<Call>((exported) => {
  const tools = toolsOf(exported);
  const described = tools.map(({ name, description, parameters, effect, timeoutSeconds }) => ({
    name,
    description,
    parameters,
    effect,
    timeoutSeconds,
  }));
  return {
    hello: { tools: described },
    answer: (call) => answered(tools, call),
    failure: (error) => ({ ...reportOf(error), retryable: true }),
  };
});
