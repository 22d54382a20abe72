// An export file as `check` takes it: its format is seen by the fields of its lines; its layout and its advantages, by what the
// records give. Throws a UsageError that says why a format cannot be told, or cannot be proved.

import { oneLine } from '../domain/text/foreign-text.ts';
import { areal } from '../formats/exports/areal.ts';
import type { Exporter } from '../domain/samples/exporter.ts';
import { exporterNamed, formatOf, type Layout, PROVED, sequencesFor } from '../formats/exports/index.ts';
import type { ExportOptions } from './export-plan.ts';
import { parquet } from '../formats/exports/parquet.ts';
import { rows } from '../formats/exports/rows.ts';
import { asWritten } from '../records/check/export.ts';
import { ADVANTAGES } from '../records/export/group-labels.ts';
import type { PartOptions } from '../records/export/exported-parts.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { linesOf, readPart } from '../records/places/files.ts';

export interface SeenExport {
  readonly exporter: Exporter;
  readonly layout: Layout;
  readonly selection: PartOptions;
}

/** A line that is torn says nothing: the next one may. */
const MOST_LINES = 100;
/** A Parquet file begins so. */
const PARQUET = 'PAR1';
const LAYOUTS: Readonly<Record<string, readonly Layout[]>> = {
  [areal.name]: ['rollout', 'turn'],
  [rows.name]: ['rollout', 'texts'],
};

export async function seenExport(
  store: Store,
  run: RunRecord | undefined,
  file: string,
  wanted: Pick<ExportOptions, 'sequences'> & Pick<SeenExport, 'selection'> & { readonly format: string | undefined },
): Promise<SeenExport> {
  const { sequences: per, selection } = wanted;
  const format = wanted.format ?? (await formatIn(file));
  if (!PROVED.includes(format)) {
    const fix = `Proofs are known for ${PROVED.join(', ')}.`;
    throw unusable(`--export: no proof is known for a file of the format ${format}.`, fix, 'unknown-format');
  }
  if (format === areal.name && (per ?? sequencesFor(run)) === 'query') {
    const fix = 'Export with --sequences rollout, and check with it, to prove the samples; or check without --export.';
    throw unusable('No proof is known for exports with one sample a query.', fix, 'unknown-format');
  }
  const layouts = format === areal.name && per ? [per] : (LAYOUTS[format] ?? ['rollout' as const]);
  const candidates = layouts.flatMap((layout) => {
    const exporter = exporterNamed(format, layout);
    const kinds = exporter.advantages ? ADVANTAGES : (['none'] as const);
    return kinds.map((advantages) => ({ exporter, layout, selection: { ...selection, advantages } }));
  });
  return asWritten(store, file, candidates);
}

async function formatIn(file: string): Promise<string> {
  const head = await readPart(file, 0, PARQUET.length);
  if (head.toString('latin1') === PARQUET) return parquet.name;
  let lines = 0;
  for await (const line of linesOf(file)) {
    const format = formatOf(line);
    if (format !== undefined) return format;
    if (++lines === MOST_LINES) break;
  }
  const none = lines === 1 ? 'its first line has not' : `none of its first ${lines} lines has`;
  throw unusable(
    `--export: the format of ${oneLine(file)} cannot be told: ${lines === 0 ? 'it is empty' : `${none} the fields of one`}.`,
    `Name a file that \`everturn export --to\` wrote; of one whose lines are damaged, its format too, with --format.`,
    'unknown-format',
  );
}
