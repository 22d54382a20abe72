// The record of an evaluation, `<out>/<name>.eval.json`: which runs are its cells. The same command finds it again, and another one
// with its name adds cells: what each run was played with stands in that run's own record.

import { StoreError } from '../../domain/errors/errors.ts';
import { unusable } from '../../domain/errors/unusable.ts';
import { isRunName } from '../../domain/names/ids.ts';
import { COUNT, flawOfWritten, listOf, NAME, objectOf, oneOf, TEXT, type TypeOf } from '../../domain/schema/fields.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { join } from '../place.ts';
import { namesIn, readText, replaceFile } from '../places/files.ts';

const CELL = objectOf({
  benchmark: NAME,
  label: NAME,
  run: NAME,
  /** What these short names mean, so that another one that would have the same gets its own. */
  of: objectOf({ benchmark: NAME, variant: TEXT }),
});
export type RecordedCell = TypeOf<typeof CELL>;

const EVALUATION = objectOf({
  format: oneOf('everturn-eval/1'),
  name: NAME,
  cells: listOf(CELL),
  /** Epoch milliseconds. */
  createdAt: COUNT,
});
export type EvaluationRecord = TypeOf<typeof EVALUATION>;

const ENDING = '.eval.json';
const fileOf = (out: string, name: string): string => join(out, `${name}${ENDING}`);

/** Of an evaluation that was given no name: it follows from its runs. */
export const derivedEvaluationName = (cells: readonly Pick<RecordedCell, 'run'>[]): string =>
  `eval-${sha256Hex(
    cells
      .map(({ run }) => run)
      .sort()
      .join('\n'),
  ).slice(0, 8)}`;

/** Undefined where there is none. Throws a StoreError for a damaged one. */
export async function readEvaluation(out: string, name: string): Promise<EvaluationRecord | undefined> {
  if (!isRunName(name)) return undefined;
  const file = fileOf(out, name);
  const text = await readText(file);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The schema says so.
  }
  const flaw = flawOfWritten(EVALUATION, value);
  if (flaw === undefined) return value as EvaluationRecord;
  throw new StoreError(`${file}: ${flaw}.`, {
    reason: 'record-broken',
    fix: 'Move the file away: the command that made the evaluation writes it again, and its runs stay as they are.',
  });
}

/** The record with these cells beside those that it has. */
export async function recordEvaluation(
  out: string,
  name: string,
  cells: readonly RecordedCell[],
  now: number,
): Promise<EvaluationRecord> {
  const there = await readEvaluation(out, name);
  const known = there?.cells ?? [];
  const added = cells.filter(({ run }) => !known.some((one) => one.run === run));
  if (there && added.length === 0) return there;
  const record: EvaluationRecord = {
    format: 'everturn-eval/1',
    name,
    cells: [...known, ...added],
    createdAt: there?.createdAt ?? now,
  };
  await replaceFile(fileOf(out, name), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

export async function evaluationNames(out: string): Promise<string[]> {
  return (await namesIn(out)).flatMap((file) => (file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : []));
}

/** Throws a UsageError where there is none. */
export async function mustReadEvaluation(out: string, name: string): Promise<EvaluationRecord> {
  const record = await readEvaluation(out, name);
  if (record) return record;
  const names = await evaluationNames(out);
  const some =
    names.length > 0 ? `There are: ${names.join(', ')}.` : 'Name the benchmarks to play, as in `everturn eval gsm8k`.';
  throw unusable(`There is no evaluation ${JSON.stringify(name)} in ${out}.`, some, 'no-such-run');
}
