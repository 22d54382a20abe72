// The export formats by name.

import { UsageError } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { areal, arealQueries, arealTurns } from './areal.ts';
import { dpo } from './dpo.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';
import { inspect } from './inspect.ts';
import { kto } from './kto.ts';
import { labels } from './labels.ts';
import { logs } from './logs.ts';
import { messages } from './messages.ts';
import { parquet, parquetTurns } from './parquet.ts';
import { rows, rowsWithTexts } from './rows.ts';

/** Formats of one file. */
export const EXPORTERS: readonly Exporter[] = [areal, rows, parquet, parquetTurns, messages, dpo, kto, labels];

/** All formats, for lists: `logs` is a folder of files, and `inspect` has numbers of the whole run in it. */
export const EXPORT_FORMATS: readonly Pick<
  Exporter,
  'name' | 'extension' | 'description' | 'note' | 'advantages' | 'masks'
>[] = [...EXPORTERS, inspect, logs];

/** Formats whose lines each follow from one trajectory and the labels of its group: those that `check` proves. */
export const PROVED: readonly string[] = EXPORTERS.filter(({ open }) => !open).map(({ name }) => name);

/** The format of a line of JSON; undefined if it is of none. */
export function formatOf(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value)
      ? EXPORTERS.find(({ fields }) => fields?.every((field) => Object.hasOwn(value, field)))?.name
      : undefined;
  } catch {
    return undefined;
  }
}

export const SEQUENCES = ['rollout', 'turn', 'query'] as const;
/** AReaL's ids: one per rollout with a sequence per turn, one per turn, or one per query with a sequence per answer. */
export type Sequences = (typeof SEQUENCES)[number];
/** Forms of a line within its format; `texts`: of `rows --texts`. */
export type Layout = Sequences | 'texts';

interface SampledRun {
  readonly settings?: { readonly stop: 'always' | 'success' };
  readonly agent?: { readonly sampleOf: 'rollout' | 'query' };
}

/**
 * The layout that AReaL's trainer loads: an agent's own; with `--stop success` rollouts differ in length, and only single
 * turns are alike. `run`: undefined if its record cannot be read.
 */
export function sequencesFor(run: SampledRun | undefined): Sequences {
  if (run?.agent?.sampleOf === 'query') return 'query';
  return run?.settings?.stop === 'success' ? 'turn' : 'rollout';
}

export function exporterNamed(name: string, layout: Layout = 'rollout'): Exporter {
  if (name === rows.name && layout === 'texts') return rowsWithTexts;
  if (name === areal.name && layout === 'turn') return arealTurns;
  if (name === areal.name && layout === 'query') return arealQueries;
  const found = EXPORTERS.find((exporter) => exporter.name === name);
  if (found) return found;
  throw unknownFormat(
    name,
    EXPORTERS.map((exporter) => exporter.name),
  );
}

export function unknownFormat(name: string, known: readonly string[]): UsageError {
  return new UsageError(`there is no export format ${JSON.stringify(name)}`, {
    reason: 'unknown-format',
    fix: `Choose one of: ${known.join(', ')}.`,
  });
}
