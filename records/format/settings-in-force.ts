// What the runs of an evaluation were played with: the settings that all of them share, and those that differ.

import type { RecordedSetting } from './run-record.ts';

export interface InForce {
  readonly name: string;
  readonly value: unknown;
}

export interface SettingsInForce {
  /** What all of its runs were played with. */
  readonly settings: readonly InForce[];
  /** What differs, by run. */
  readonly differing: Readonly<Record<string, readonly InForce[]>>;
}

interface PlayedRun {
  readonly run: string;
  readonly settings: readonly RecordedSetting[];
}

/** They decide answers: shown whatever their source. */
const ALWAYS: ReadonlySet<string> = new Set(['numTurns', 'samples', 'temperature', 'topP', 'topK', 'maxNewTokens']);
/** The model is in the table, and the seed follows from a run's name. */
const NEVER: ReadonlySet<string> = new Set(['model', 'seed']);

export function settingsInForce(runs: readonly PlayedRun[]): SettingsInForce {
  const shown = (all: readonly RecordedSetting[]) =>
    all.filter(({ name, origin }) => ALWAYS.has(name) || (origin !== 'default' && !NEVER.has(name)));
  const names = [...new Set(runs.flatMap(({ settings }) => shown(settings).map(({ name }) => name)))];
  const valueIn = ({ settings }: PlayedRun, name: string) => settings.find((one) => one.name === name)?.value ?? null;
  const differs = (name: string) => new Set(runs.map((run) => JSON.stringify(valueIn(run, name)))).size > 1;
  const given = (of: readonly string[], run: PlayedRun) => of.map((name) => ({ name, value: valueIn(run, name) }));
  const [first] = runs;
  const others = names.filter(differs);
  return {
    settings: first
      ? given(
          names.filter((name) => !differs(name)),
          first,
        )
      : [],
    differing: others.length === 0 ? {} : Object.fromEntries(runs.map((run) => [run.run, given(others, run)])),
  };
}
