// The process of an environment that is a module: loads the bundle, whose bytes must have the run's hash, and answers
// the calls of a command. With state `replay` the module's state stays here, by rollout, and need not be JSON.
// Arguments: the bundle's path, and its SHA-256.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

interface Params {
  readonly episode: { readonly key: string };
  readonly state?: unknown;
}
type Step = (params: Params) => unknown;
interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: Params;
}

interface UserModule {
  readonly name?: unknown;
  readonly version?: unknown;
  readonly state?: unknown;
  readonly timeoutSeconds?: unknown;
  readonly begin?: Step;
  readonly respond?: Step;
  readonly end?: Step;
}

const put = process.stdout.write.bind(process.stdout);
const say = (line: object): void => void put(`${JSON.stringify(line)}\n`);
// Standard output belongs to the messages: console.log goes to the log.
process.stdout.write = process.stderr.write.bind(process.stderr);

const live = new Map<string, unknown>();

function loaded(path: string, sha256: string): readonly [UserModule, unknown] {
  const code = readFileSync(path);
  const found = createHash('sha256').update(code).digest('hex');
  if (found !== sha256) throw new Error(`the bundle has the hash ${found}, and the run names ${sha256}`);
  const parts = ['module', 'exports', 'require'];
  const run = compileFunction(code.toString('utf8'), parts, { filename: path }) as (...parts: unknown[]) => void;
  const bundle: {
    exports: { readonly default?: UserModule; readonly environment?: UserModule; readonly agents?: unknown };
  } = { exports: {} };
  run(bundle, bundle.exports, createRequire(path));
  const { exports: exported } = bundle;
  const environment = exported.environment ?? exported.default;
  if (typeof environment !== 'object' || environment === null)
    throw new Error('it exports no `environment`, and no default');
  if (typeof environment.respond !== 'function') throw new Error('its environment has no function `respond`');
  return [environment, exported.agents];
}

async function answered(environment: UserModule, { method, params }: Call): Promise<unknown> {
  const step = method === 'begin' || method === 'respond' || method === 'end' ? environment[method] : undefined;
  const { key } = params.episode;
  if (environment.state !== 'replay') return (await step?.call(environment, params)) ?? {};
  const result = await step?.call(environment, method === 'begin' ? params : { ...params, state: live.get(key) });
  if (method === 'end') live.delete(key);
  if (typeof result !== 'object' || result === null || method === 'end') return result ?? {};
  const { state, ...rest } = result as { readonly state?: unknown };
  if (state !== undefined) live.set(key, state);
  return rest;
}

async function serve(environment: UserModule, agents: unknown): Promise<void> {
  const { name, version, state, timeoutSeconds, begin, end } = environment;
  const begins = typeof begin === 'function';
  say({
    hello: { protocol: 1, name, version, state, timeoutSeconds, begins, ends: typeof end === 'function', agents },
  });
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const call = JSON.parse(line) as Call;
      try {
        say({ id: call.id, result: await answered(environment, call) });
      } catch (error) {
        if (error instanceof Error && error.stack) process.stderr.write(`${error.stack}\n`);
        say({ id: call.id, error: { message: messageOf(error), retryable: isRetryable(error) } });
      }
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isRetryable = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true;

const [path = '', sha256 = ''] = process.argv.slice(2);
try {
  await serve(...loaded(path, sha256));
} catch (error) {
  if (error instanceof Error && error.stack) process.stderr.write(`${error.stack}\n`);
  say({ error: { message: messageOf(error) } });
  process.exitCode = 1;
}
