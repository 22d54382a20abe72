// The process in which a user's environment runs that is a module of JavaScript or TypeScript: it takes the calls of the
// protocol of environments (docs/environment-messages.md) as lines. With `replay` or `held` the environment's state stays in
// this process, by rollout, and need not be JSON.

import { mustBeSpelt, reportOf, serveModule, Unfit } from '../processes/module-lines.ts';

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
  readonly idleSeconds?: unknown;
  readonly credits?: unknown;
  readonly begin?: Step;
  readonly respond?: Step;
  readonly end?: Step;
}

const FIELDS = ['name', 'version', 'state', 'timeoutSeconds', 'idleSeconds', 'credits', 'begin', 'respond', 'end'];

const live = new Map<string, unknown>();

function environmentOf(exported: { readonly environment?: unknown; readonly default?: unknown }): UserModule {
  const environment = exported.environment ?? exported.default;
  if (typeof environment !== 'object' || environment === null)
    throw new Unfit('it exports no `environment`, and no default');
  if (typeof (environment as UserModule).respond !== 'function')
    throw new Unfit('its environment has no function `respond`');
  mustBeSpelt('its environment', environment, FIELDS);
  return environment;
}

async function answered(environment: UserModule, { method, params }: Call): Promise<unknown> {
  const step = method === 'begin' || method === 'respond' || method === 'end' ? environment[method] : undefined;
  const { key } = params.episode;
  if (environment.state !== 'replay' && environment.state !== 'held')
    return (await step?.call(environment, params)) ?? {};
  const result = await step?.call(environment, method === 'begin' ? params : { ...params, state: live.get(key) });
  if (method === 'end') live.delete(key);
  if (typeof result !== 'object' || result === null || method === 'end') return result ?? {};
  const { state, ...rest } = result as { readonly state?: unknown };
  if (state !== undefined) live.set(key, state);
  return rest;
}

const isRetryable = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === true;

await serveModule<Call>((exported) => {
  const environment = environmentOf(exported);
  const { name, version, state, timeoutSeconds, idleSeconds, credits, begin, end } = environment;
  const has = { begins: typeof begin === 'function', ends: typeof end === 'function' };
  return {
    hello: { name, version, state, timeoutSeconds, idleSeconds, credits, ...has, agents: exported['agents'] },
    answer: (call) => answered(environment, call),
    failure: (error) => ({ ...reportOf(error), retryable: isRetryable(error) }),
  };
});
