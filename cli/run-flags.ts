// The flags of a run, generated from its options, and read back.

import { resolveOptions, type ResolvedOptions, type Sources } from '../run/config.ts';
import { DEFAULT_OPTIONS, type Field, FIELDS, type RunOptions } from '../run/options.ts';
import { type Flag, listFlag, text } from './command.ts';
import type { Io } from './io.ts';

export type RunFlags = { readonly config?: string | undefined; readonly set?: readonly string[] | undefined } & {
  readonly [K in keyof RunOptions]?: unknown;
};

/** The flags that help shows without --all. */
const COMMON: ReadonlySet<string> = new Set([
  ...['model', 'numTurns', 'stop', 'environment', 'agent', 'samples', 'train'],
  ...['maxNewTokens', 'temperature', 'maxConcurrent', 'limit'],
]);

const GROUP = 'Options of the run (each also as EVERTURN_NAME and in --config; --help --all shows all of them):';

/** --config, --set, and one flag for each option. */
export function runFlags(defaults: Partial<RunOptions> = {}) {
  const usual = { ...DEFAULT_OPTIONS, ...defaults };
  const options = Object.entries<Field<unknown>>(FIELDS).map(
    ([key, { argument, help, many }], i): [string, Flag<unknown>] => {
      const fallback = shown(usual[key as keyof RunOptions]);
      const whole = help + (fallback === '' ? '' : ` (default: ${fallback})`);
      const one: Flag<unknown> = argument === null ? { help: whole } : (many ? listFlag : text)(argument, whole);
      return [key, { ...one, rare: !COMMON.has(key), ...(i === 0 && { group: GROUP }) }];
    },
  );
  return {
    config: text('<file>', 'options from a YAML or JSON file'),
    set: listFlag('<name=value>', 'one option by its name; may be repeated'),
    ...(Object.fromEntries(options) as { readonly [K in keyof RunOptions]: Flag<unknown> }),
  };
}

export function resolveRunFlags(
  flags: RunFlags,
  io: Io,
  others: Pick<Sources, 'defaults' | 'benchmark'> = {},
): ResolvedOptions {
  return resolveOptions({
    ...others,
    configFile: flags.config,
    environment: io.env,
    ...(flags.set ? { set: flags.set } : {}),
    flags: Object.fromEntries(Object.keys(FIELDS).map((key) => [key, flags[key as keyof RunOptions]])),
  });
}

/** A default in a user's notation; empty if there is none. */
function shown(value: RunOptions[keyof RunOptions]): string {
  if (value === null || value === false) return '';
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([url, n]) => `${url}=${n}`)
      .join(',');
  return typeof value === 'number' && value >= 1e6 ? value.toExponential().replace('e+', 'e') : String(value);
}
