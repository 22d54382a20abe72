// The process of a module of tools: loads the bundle, whose bytes must have the run's hash, and runs one call at a time.
// Arguments: the bundle's path, and its SHA-256. Standard output belongs to the messages; console.log goes to the log.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

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

const put = process.stdout.write.bind(process.stdout);
const say = (line: object): void => void put(`${JSON.stringify(line)}\n`);
process.stdout.write = process.stderr.write.bind(process.stderr);

function loaded(path: string, sha256: string): readonly UserTool[] {
  const code = readFileSync(path);
  const found = createHash('sha256').update(code).digest('hex');
  if (found !== sha256) throw new Error(`the bundle has the hash ${found}, and the run names ${sha256}`);
  const run = compileFunction(code.toString('utf8'), ['module', 'exports', 'require'], { filename: path }) as (
    ...parts: unknown[]
  ) => void;
  const bundle: { exports: { readonly default?: unknown; readonly tools?: unknown } } = { exports: {} };
  run(bundle, bundle.exports, createRequire(path));
  const tools = bundle.exports.tools ?? bundle.exports.default;
  if (!Array.isArray(tools) || tools.length === 0)
    throw new Error('it exports no list `tools`, and none as its default');
  for (const [i, tool] of (tools as (UserTool | null)[]).entries()) {
    if (typeof tool !== 'object' || tool === null || typeof tool.run !== 'function')
      throw new Error(`tools[${i}] has no function \`run\``);
  }
  return tools as UserTool[];
}

async function answered(tools: readonly UserTool[], { params }: Call): Promise<object> {
  const tool = tools.find(({ name }) => name === params.tool)!;
  const signal = AbortSignal.timeout(params.timeoutMs);
  try {
    const result = await tool.run!(params.arguments, { key: params.key, signal });
    return { text: typeof result === 'string' ? result : (JSON.stringify(result) ?? ''), failed: false };
  } catch (error) {
    // What the tool throws is its own report, for the model; `outage: true` says that the tool itself could not be reached.
    if (error instanceof Error && error.stack) process.stderr.write(`${error.stack}\n`);
    if (typeof error === 'object' && error !== null && 'outage' in error && error.outage === true) throw error;
    return { text: error instanceof Error ? error.message : String(error), failed: true };
  }
}

async function serve(tools: readonly UserTool[]): Promise<void> {
  const described = tools.map(({ name, description, parameters, effect, timeoutSeconds }) => ({
    name,
    description,
    parameters,
    effect,
    timeoutSeconds,
  }));
  say({ hello: { protocol: 1, tools: described } });
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const call = JSON.parse(line) as Call;
      try {
        say({ id: call.id, result: await answered(tools, call) });
      } catch (error) {
        say({
          id: call.id,
          error: { message: error instanceof Error ? error.message : String(error), retryable: true },
        });
      }
    }
  }
}

const [path = '', sha256 = ''] = process.argv.slice(2);
try {
  await serve(loaded(path, sha256));
} catch (error) {
  if (error instanceof Error && error.stack) process.stderr.write(`${error.stack}\n`);
  say({ error: { message: error instanceof Error ? error.message : String(error) } });
  process.exitCode = 1;
}
