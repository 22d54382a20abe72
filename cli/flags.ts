// Flags that several commands share, and the flags of a run, generated from its options.

import { type Command, Option } from 'commander';
import { flagOf, resolveOptions, type ResolvedOptions } from '../run/config.ts';
import { UNDECIDED, type UndecidedPolicy } from '../domain/finished-turns.ts';
import { CONTRADICTED, VERDICT_SOURCES, type VerdictSource } from '../domain/judged-by-people.ts';
import { DEFAULT_OPTIONS, FIELDS, type RunOptions } from '../run/options.ts';
import { HUMAN_TURNS, type HumanTurnsPolicy } from '../storage/reading.ts';
import type { Io } from './io.ts';

export const DEFAULT_OUT = 'runs';

export function outOption(): Option {
  return new Option('--out <dir>', 'the folder that holds runs').default(DEFAULT_OUT, './runs');
}

export function jsonOption(what = 'facts as JSON on stdout, everything else on stderr'): Option {
  return new Option('--json', what);
}

/** A turn that our side could not judge ends its rollout. */
export function undecidedOption(): Option {
  return new Option(
    '--undecided <what>',
    'rollouts that end with a turn that could not be judged: drop them, or export the turns before it',
  )
    .choices(UNDECIDED)
    .default('drop' satisfies UndecidedPolicy);
}

/** Statistics are of the model alone, unless asked otherwise. */
export function steeredOption(): Option {
  return new Option(
    '--include-steered',
    'count rollouts that a person had a part in too: with a message in their context, or of a fork',
  );
}

/** People's part in an export: by whose verdicts it counts, and whether their messages are in it. */
export function peopleOptions(): Option[] {
  return [
    new Option('--verdicts <whose>', "the judge's verdicts, or people's where they gave one (everturn verdict)")
      .choices(VERDICT_SOURCES)
      .default('judge' satisfies VerdictSource),
    new Option(
      '--contradicted <what>',
      "with --verdicts human: rollouts that went on after feedback which people's verdict contradicts: drop them " +
        '(default), cut them after that turn, or keep them whole',
    ).choices(CONTRADICTED),
    new Option('--human-turns <what>', 'rollouts with a person’s message in their context: drop or include them')
      .choices(HUMAN_TURNS)
      .default('drop' satisfies HumanTurnsPolicy),
  ];
}

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
