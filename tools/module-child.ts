// The process of a module of tools: runs one call at a time.

import { logStack, messageOf, mustBeSpelt, serveModule, Unfit } from '../environments/own/module-lines.ts';

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

/** NaN is no null. */
const textOf = (result: unknown): string =>
  typeof result === 'string' || typeof result === 'number' ? String(result) : (JSON.stringify(result) ?? '');

async function answered(tools: readonly UserTool[], { params }: Call): Promise<object> {
  const tool = tools.find(({ name }) => name === params.tool)!;
  const signal = AbortSignal.timeout(params.timeoutMs);
  try {
    const result = await tool.run!(params.arguments, { key: params.key, signal });
    return { text: textOf(result), failed: false };
  } catch (error) {
    // An error is the report of the tool, for the model; `outage: true` says that the tool itself could not be reached.
    logStack(error);
    if (typeof error === 'object' && error !== null && 'outage' in error && error.outage === true) throw error;
    return { text: error instanceof Error ? error.message : String(error), failed: true };
  }
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
    failure: (error) => ({ message: messageOf(error), retryable: true }),
  };
});
