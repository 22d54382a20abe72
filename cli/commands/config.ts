// `everturn config show`: each setting of a run with its value and where it comes from, as `run` would resolve them here
// and now, or as a run has them.

import { AGENTS } from '../../domain/rollout/agent.ts';
import { flagOf } from '../../domain/errors/unusable.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { withAgent } from '../../run/agents.ts';
import { variableOf } from '../../run/config.ts';
import { FIELDS, type RunOptions } from '../../run/options.ts';
import { homeOf } from '../../local/service/home.ts';
import { cacheFolder } from '../../local/machine/user-folders.ts';
import { type Origin, type RecordedSetting, settingsWithOrigins } from '../../records/format/run-record.ts';
import { clusterConfig } from '../../client/temporal/cluster-settings.ts';
import { command, flag, unusable } from '../command.ts';
import { findRun } from '../find/place.ts';
import { OUT } from '../flags.ts';
import { resolveRunFlags, runFlags, type RunFlags } from '../run-flags.ts';
import type { Io } from '../io.ts';
import { type Column, paintFor, table } from '../format.ts';

interface ShownSetting extends RecordedSetting {
  /** The file, the variable or the flag; null for a default, and for a run that exists. */
  readonly from: string | null;
}

export const config = command({
  args: {
    '<what>': { help: 'show', choices: ['show'] },
    '[run]': 'the settings that this run has, instead of those that a new one would get',
  },
  flags: { out: OUT, json: flag('the settings as one JSON object on stdout'), ...runFlags() },
  help: 'Examples:\n  everturn config show --config my.yaml\n  everturn config show my-run',
  async run(io, given) {
    const { run } = given;
    const settings = run === undefined ? resolved(io, given) : await ofRun(io, run, given);
    const places = run === undefined ? surroundings(io) : {};
    const tint = ({ origin }: ShownSetting) => (origin === 'default' ? undefined : 'bold');
    const columns: Column<ShownSetting>[] = [
      ['setting', ({ name }) => name, tint],
      ['value', ({ value }) => (value === null ? '–' : oneLine(JSON.stringify(value))), tint],
      ['from', ({ from, origin }) => from ?? origin, tint],
    ];
    const lines = Object.entries(places).map(([name, value]) => `\n${name.padEnd(10)} ${oneLine(value)}`);
    return {
      json: { ...(run === undefined ? {} : { run }), settings, ...places },
      text: `${table(settings, columns, paintFor(io.out, io.env))}${lines.length > 0 ? `\n${lines.join('')}` : ''}`,
    };
  },
});

function resolved(io: Io, flags: RunFlags): ShownSetting[] {
  const given = resolveRunFlags(flags, io);
  // An agent of the user's own is known to his environment alone.
  const isKnown = AGENTS.some(({ name }) => name === given.options.agent);
  const { options, origins } = isKnown ? withAgent(given, []).resolved : given;
  return (Object.keys(FIELDS) as (keyof RunOptions)[]).map((name) => ({
    name,
    value: options[name],
    origin: origins[name],
    from: fromOf(name, origins[name], flags),
  }));
}

function fromOf(name: keyof RunOptions, origin: Origin, flags: RunFlags): string | null {
  if (origin === 'config') return `--config ${flags.config}`;
  if (origin === 'environment') return variableOf(name);
  if (origin === 'flag') return flags[name] === undefined ? '--set' : flagOf(name);
  return null;
}

async function ofRun(io: Io, named: string, given: RunFlags & { readonly out: string }): Promise<ShownSetting[]> {
  if ([...Object.keys(FIELDS), 'config', 'set'].some((key) => given[key as keyof RunFlags] !== undefined)) {
    const fix = 'Leave the flags out, or leave the run out.';
    throw unusable('A run has its settings already: no flag changes them.', fix);
  }
  const place = await findRun(io, named, given.out);
  const { record } = (await place.store.get('run'))!;
  return settingsWithOrigins(record).map((setting) => ({ ...setting, from: null }));
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
