// A command: its arguments and flags, each declared once with the type of its value, and what it does with them. Its
// answer is a value: one line of JSON with --json, a text without.

import { Argument, type Command, Option } from 'commander';
import { flagOf, unusable } from '../domain/errors/unusable.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Io, print, printJson, say } from './io.ts';

export { unusable };

/** A flag, under the name in which a program writes it: `atTurn` is `--at-turn`. */
export interface Flag<T> {
  /** The name of its value, as in `<n>`; a switch takes nothing. */
  readonly takes?: string;
  readonly help?: string;
  /** The help of the flag with `--no-` before it, which gives false. Without `help`, the flag exists in that form alone. */
  readonly no?: string;
  readonly choices?: readonly string[];
  /** Throws a UsageError. `before`: what the same flag gave earlier in this command. */
  readonly parse?: (text: string, flag: string, before: unknown) => T;
  /** The value without the flag, and how help shows it. */
  readonly fallback?: T;
  readonly shown?: string;
  readonly required?: boolean;
  readonly hidden?: boolean;
  /** Shown by `--help --all` alone. */
  readonly rare?: boolean;
  /** The name of a flag that excludes this one. */
  readonly excludes?: string;
  /** The heading in help, for this flag and those after it. */
  readonly group?: string;
}

type Details = Pick<Flag<unknown>, 'hidden' | 'excludes' | 'group'>;

/** A switch. */
export const flag = (help: string, details: Details = {}): Flag<boolean> => ({ help, fallback: false, ...details });

export const text = (takes: string, help: string, details: Details = {}): Flag<string | undefined> => ({
  takes,
  help,
  ...details,
});

export const parsed = <T>(
  takes: string,
  help: string,
  parse: (text: string, flag: string) => T,
  details: Details = {},
): Flag<T | undefined> => ({ takes, help, parse, ...details });

export const wholeFlag = (
  takes: string,
  help: string,
  least: number,
  details: Details = {},
): Flag<number | undefined> => parsed(takes, help, (given, name) => parseWholeNumber(name, given, least), details);

export const portNumber = (help: string): Flag<number | undefined> =>
  parsed('<n>', help, (given, name) => {
    if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
    throw unusable(`${name} is ${JSON.stringify(given)}.`, 'It takes a whole number from 0 to 65535.');
  });

/** A number of at least 0, without an exponent. `wanted`: what it takes, in a sentence. */
export const number = (takes: string, help: string, most: number, wanted: string, details: Details = {}) =>
  parsed(
    takes,
    help,
    (given, name) => {
      if (/^(?=\.?\d)\d{0,9}(\.\d{0,12})?$/.test(given) && Number(given) <= most) return Number(given);
      throw unusable(`${name} is ${JSON.stringify(given)}.`, wanted);
    },
    details,
  );

export const choiceFlag = <const T extends string>(
  takes: string,
  choices: readonly T[],
  help: string,
  details: Details = {},
): Flag<T | undefined> => ({ takes, help, choices, ...details });

/** May be repeated. */
export const listFlag = (takes: string, help: string, details: Details = {}): Flag<readonly string[] | undefined> => ({
  takes,
  help,
  parse: (given, _, before) => [...((before as readonly string[] | undefined) ?? []), given],
  ...details,
});

export const required = <T>(of: Flag<T | undefined>): Flag<T> => ({ ...(of as Flag<T>), required: true });

export const withDefault = <T>(of: Flag<T | undefined>, fallback: T, shown?: string): Flag<T> => ({
  ...(of as Flag<T>),
  fallback,
  ...(shown !== undefined && { shown }),
});

/** The help of each argument, by its notation: `<run>` or `[run]`. */
type Arguments = Readonly<Record<string, string | { readonly help: string; readonly choices: readonly string[] }>>;
type Flags = Readonly<Record<string, Flag<unknown>>>;

type Given<A, F> = { readonly [K in keyof A as K extends `<${infer N}>` ? N : never]: string } & {
  readonly [K in keyof A as K extends `[${infer N}]` ? (N extends `${string}...` ? never : N) : never]:
    string | undefined;
} & { readonly [K in keyof A as K extends `[${infer N}...]` ? N : never]: readonly string[] } & Values<F>;

/** The values of a command's flags. */
export type Values<F> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

export interface Answer {
  /** Printed with --json. */
  readonly json?: unknown;
  /** Printed without, and where there is no value. */
  readonly text?: string | (() => string);
  /** Lines of stderr after the text; not said beside JSON. */
  readonly about?: readonly string[];
  /** Lines of stderr, last. */
  readonly notes?: readonly string[];
  /** Default: ok. */
  readonly code?: ExitCode;
  /** Thrown once the value is printed: the command has an answer, and failed. */
  readonly error?: Error;
}

interface Declared<A extends Arguments, F extends Flags> {
  readonly args?: A;
  readonly flags: F;
  /** After the flags: what else to know, and an example. */
  readonly help?: string;
  readonly description?: string;
  run(io: Io, given: Given<A, F>): Promise<Answer | ExitCode | void>;
}

/** A command that is ready to be put into the program. */
export interface CommandModule {
  /** `all`: help shows every flag. */
  define(command: Command, io: Io, exit: (code: ExitCode) => void, all: boolean): void;
}

export function command<const A extends Arguments, const F extends Flags>(declared: Declared<A, F>): CommandModule {
  return {
    define(program, io, exit, all) {
      const { flags, help, description } = declared;
      const args: Arguments = declared.args ?? {};
      if (description !== undefined) program.description(description);
      for (const [notation, of] of Object.entries(args)) {
        const argument = new Argument(notation, typeof of === 'string' ? of : of.help);
        program.addArgument(typeof of === 'string' ? argument : argument.choices(of.choices));
      }
      for (const [key, one] of Object.entries(flags)) {
        if (one.group !== undefined) program.optionsGroup(one.group);
        for (const option of optionsOf(key, one))
          program.addOption(option.hideHelp(one.hidden === true || (one.rare === true && !all)));
      }
      program.optionsGroup('');
      if (help !== undefined) program.addHelpText('after', `\n${help}`);
      program.action(async () => {
        const names = Object.keys(args).map((notation) => notation.replace(/[<>[\].]/g, ''));
        const values = program.opts<Record<string, unknown>>();
        const given = Object.fromEntries([
          ...Object.entries(flags).map(([key, { fallback }]) => [key, values[key] ?? fallback]),
          ...names.map((name, i) => [name, program.processedArgs[i]]),
        ]) as Given<A, F>;
        exit(answered(io, await declared.run(io, given), values['json'] === true));
      });
    },
  };
}

/** A command of commands. */
export function commands(inner: Readonly<Record<string, CommandModule>>): CommandModule {
  return {
    define(program, io, exit, all) {
      for (const [name, one] of Object.entries(inner)) one.define(program.command(name), io, exit, all);
    },
  };
}

export function answered(io: Io, answer: Answer | ExitCode | void, json: boolean): ExitCode {
  if (answer === undefined) return EXIT.ok;
  if (typeof answer === 'number') return answer;
  const { json: value, text: shown, about = [], notes = [], code = EXIT.ok } = answer;
  if (json && value !== undefined) printJson(io, value);
  else if (shown !== undefined) print(io, typeof shown === 'string' ? shown : shown());
  for (const note of json ? notes : [...about, ...notes]) say(io, note);
  if (answer.error) throw answer.error;
  return code;
}

function optionsOf(key: string, one: Flag<unknown>): Option[] {
  const { takes, help, no, choices, parse, fallback, shown, excludes } = one;
  const name = flagOf(key);
  const positive = help === undefined ? [] : [new Option(takes === undefined ? name : `${name} ${takes}`, help)];
  for (const option of positive) {
    if (parse) option.argParser((given, before) => parse(given, name, before));
    if (choices) option.choices(choices);
    if (fallback !== undefined && takes !== undefined) option.default(fallback, shown);
    if (excludes !== undefined) option.conflicts(excludes);
    if (one.required) option.makeOptionMandatory();
  }
  return no === undefined ? positive : [...positive, new Option(name.replace('--', '--no-'), no)];
}

export function parseWholeNumber(flag: string, given: string, least: number): number {
  if (/^\d{1,9}$/.test(given) && Number(given) >= least) return Number(given);
  throw unusable(`${flag} is "${given}".`, `It takes a whole number of at least ${least}.`);
}
