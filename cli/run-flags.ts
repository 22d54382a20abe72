// The flags of a run, generated from its options, and read back.

import { type Command, Option } from 'commander';
import { flagOf, resolveOptions, type ResolvedOptions } from '../run/config.ts';
import { DEFAULT_OPTIONS, FIELDS, type RunOptions } from '../run/options.ts';
import type { Io } from './io.ts';

export interface RunFlags {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly [flag: string]: unknown;
}

/** --config, --set, and one flag for each option. */
export function addRunFlags(command: Command, defaults: Partial<RunOptions> = {}): Command {
  command
    .addOption(new Option('--config <file>', 'options from a YAML or JSON file'))
    .addOption(new Option('--set <name=value>', 'one option by its name; may be repeated').argParser(collected))
    .optionsGroup('Options of the run (each also as EVERTURN_NAME and in --config):');
  for (const [key, { argument, help, many }] of Object.entries(FIELDS)) {
    const value = { ...DEFAULT_OPTIONS, ...defaults }[key as keyof RunOptions];
    const text = shown(value);
    const said = text === '' ? '' : ` (default: ${text})`;
    const option = new Option(argument === null ? flagOf(key) : `${flagOf(key)} ${argument}`, help + said);
    command.addOption(many ? option.argParser(collected) : option);
  }
  return command.optionsGroup('');
}

const collected = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

export function resolveRunFlags(flags: RunFlags, io: Io, defaults: Partial<RunOptions> = {}): ResolvedOptions {
  const { options, origins } = resolveOptions({
    configFile: flags.config,
    environment: io.env,
    ...(flags.set ? { set: flags.set } : {}),
    flags: Object.fromEntries(Object.keys(FIELDS).map((key) => [key, flags[key]])),
  });
  const unsaid = Object.entries(defaults).filter(([key]) => origins[key as keyof RunOptions] === 'default');
  return { options: { ...options, ...Object.fromEntries(unsaid) }, origins };
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
