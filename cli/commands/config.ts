// `everturn config show`: each setting of a run with its value and where it comes from, as `run` would resolve them here
// and now, or as a run has them.

import { Argument, type Command } from 'commander';
import { AGENTS } from '../../domain/rollout/agent.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { withAgent } from '../../run/agents.ts';
import { flagOf, variableOf } from '../../run/config.ts';
import { FIELDS, type RunOptions } from '../../run/options.ts';
import { cacheFolder, homeOf } from '../../local/service/home.ts';
import type { Origin } from '../../records/record/run-record.ts';
import { clusterConfig } from '../../client/temporal/cluster-settings.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { jsonOption, outOption } from '../flags.ts';
import { addRunFlags, resolveRunFlags, type RunFlags } from '../run-flags.ts';
import { type Io, print, printJson } from '../io.ts';
import { paintFor } from '../view/paint.ts';
import { table } from '../view/table.ts';

interface Flags extends RunFlags {
  readonly out: string;
  readonly json?: boolean;
}

export interface ShownSetting {
  readonly name: string;
  readonly value: unknown;
  readonly origin: Origin;
  /** The file, the variable or the flag; null for a default, and for a run that exists. */
  readonly from: string | null;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addArgument(new Argument('<what>', 'show').choices(['show']))
    .argument('[run]', 'the settings that this run has, instead of those that a new one would get')
    .addOption(outOption())
    .addOption(jsonOption('the settings as one JSON object on stdout'));
  addRunFlags(command)
    .addHelpText('after', '\nExamples:\n  everturn config show --config my.yaml\n  everturn config show my-run')
    .action(async (_: string, run: string | undefined, flags: Flags) => exit(await show(io, run, flags)));
}

async function show(io: Io, run: string | undefined, flags: Flags): Promise<ExitCode> {
  const settings = run === undefined ? resolved(io, flags) : await ofRun(io, run, flags);
  const places = run === undefined ? surroundings(io) : {};
  if (flags.json) {
    printJson(io, { ...(run === undefined ? {} : { run }), settings, ...places });
    return EXIT.ok;
  }
  const paint = paintFor(io.out, io.env);
  const rows = settings.map(({ name, value, origin, from }) => [name, shown(value), from ?? origin]);
  const given = (row: number) => settings[row]!.origin !== 'default';
  print(
    io,
    table([{ title: 'setting' }, { title: 'value' }, { title: 'from' }], rows, paint, (row) =>
      given(row) ? 'bold' : undefined,
    ),
  );
  const lines = Object.entries(places).map(([name, value]) => `${name.padEnd(10)} ${oneLine(String(value))}`);
  if (lines.length > 0) print(io, `\n${lines.join('\n')}`);
  return EXIT.ok;
}

function resolved(io: Io, flags: Flags): ShownSetting[] {
  const given = resolveRunFlags(flags, io);
  // An agent of the user's own is known to his environment alone.
  const { options, origins } = isNamed(given.options.agent) ? withAgent(given, []).resolved : given;
  return (Object.keys(FIELDS) as (keyof RunOptions)[]).map((name) => ({
    name,
    value: options[name],
    origin: origins[name],
    from: fromOf(name, origins[name], flags),
  }));
}

const isNamed = (agent: string | null): boolean => AGENTS.some(({ name }) => name === agent);

function fromOf(name: string, origin: Origin, flags: Flags): string | null {
  if (origin === 'config') return `--config ${flags.config}`;
  if (origin === 'environment') return variableOf(name);
  if (origin === 'flag') return flags[name] === undefined ? '--set' : flagOf(name);
  return null;
}

async function ofRun(io: Io, named: string, flags: Flags): Promise<ShownSetting[]> {
  const given = Object.keys(FIELDS).find((key) => flags[key] !== undefined);
  if (given !== undefined || flags.config !== undefined || flags.set !== undefined) {
    throw new UsageError('A run has its settings already: no flag changes them.', {
      reason: 'bad-value',
      fix: 'Leave the flags out, or leave the run out.',
    });
  }
  const place = await findRun(io, named, flags.out);
  const { settings, origins, samples, epochs = 1 } = (await place.store.getRun())!.record;
  // Origins of options that are no setting of a rollout, such as samples, are recorded beside the settings'.
  return Object.entries({ ...settings, samples, epochs }).map(([name, value]) => ({
    name,
    value,
    origin: origins[name] ?? 'default',
    from: null,
  }));
}

function surroundings(io: Io): Readonly<Record<string, string>> {
  const { connectionOptions, namespace } = clusterConfig();
  const address = connectionOptions?.address;
  return {
    temporal: address ? `${address}, namespace ${namespace ?? 'default'}` : 'the local service (no TEMPORAL_ADDRESS)',
    home: homeOf(io.env).folder,
    cache: cacheFolder(io.env),
  };
}

const shown = (value: unknown): string => (value === null ? '–' : oneLine(JSON.stringify(value)));
