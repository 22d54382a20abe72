// Reads each solution before it is played: a row with a solution that the judge cannot use, or with fields that
// disagree, becomes a bad row. In file order, in batches, with a bounded number of rows in memory; bad rows pass through
// unchanged. The reader is an argument: it is the judge's own.

import { short } from '../../domain/text/foreign-text.ts';
import type { Examined, FinalAnswer, SolutionReader } from '../../domain/query/solution-reader.ts';
import type { GoodRow, Row, Stated, Statement } from './dataset.ts';
import { type RowFault, rowFault } from './row-fault.ts';

const BATCH_ROWS = 256;
const BATCH_CHARS = 1 << 20;
/** While one batch is judged, the next is read. */
const BATCHES_AT_ONCE = 3;

/** `file`: its name in error messages. */
export async function* examinedRows(
  rows: AsyncIterable<Row>,
  file: string,
  reader: SolutionReader,
): AsyncGenerator<Row> {
  const open: Promise<readonly Row[]>[] = [];
  for await (const batch of batches(rows)) {
    const examined = examineBatch(batch, file, reader);
    // It is awaited later; until then its failure must not count as an unhandled rejection.
    examined.catch(() => undefined);
    open.push(examined);
    if (open.length >= BATCHES_AT_ONCE) yield* await open.shift()!;
  }
  for (const examined of open) yield* await examined;
}

async function* batches(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let chars = 0;
  for await (const row of rows) {
    batch.push(row);
    if (row.ok) for (const solution of row.query.solutions) chars += solution.length;
    if (batch.length < BATCH_ROWS && chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

async function examineBatch(batch: readonly Row[], file: string, reader: SolutionReader): Promise<readonly Row[]> {
  const texts = new Set(batch.flatMap((row) => (row.ok ? textsOf(row) : [])));
  const examined = await reader.examine([...texts]);
  const byText = new Map([...texts].map((text, i) => [text, examined[i]!]));
  return Promise.all(
    batch.map(async (row): Promise<Row> => {
      if (!row.ok) return row;
      const problem = await problemOf(row, byText, reader);
      if (!problem) return { ...row, inWords: isInWords(row, byText) };
      const finals = await Promise.all(statementsOf(row).map(({ text }) => finalOf(text, byText, reader)));
      const inWords = statementsOf(row).some(({ text }, i) => !finals[i] && !/[\d\\]/.test(text));
      return { ok: false, bad: { file, line: row.line, ...problem }, inWords };
    }),
  );
}

function isInWords(row: Pick<GoodRow, 'stated'>, examined: ReadonlyMap<string, Examined>): boolean {
  const texts = textsOf(row).map((text) => examined.get(text));
  return texts.length > 0 && texts.every((one) => one?.usable === true && one.inWords === true);
}

const statementsOf = ({ stated }: Pick<GoodRow, 'stated'>): readonly Statement[] => stated?.solutions ?? [];
const textsOf = (row: Pick<GoodRow, 'stated'>): string[] => statementsOf(row).map(({ text }) => text);

/** Undefined of sentences without a mark, and not of one that the judge understands: "There is no solution". */
async function finalOf(
  text: string,
  examined: ReadonlyMap<string, Examined>,
  reader: SolutionReader,
): Promise<FinalAnswer | undefined> {
  const final = reader.finalAnswer(text);
  if (!final || final.by === 'prose') return undefined;
  if (!isSentence(final)) return final;
  const exam = examined.get(text) ?? (await reader.examine([text]))[0]!;
  return exam.usable && exam.inWords ? undefined : final;
}

/** The fault of a row's reference answer; undefined if there is none. */
export async function statedProblem(
  row: Pick<GoodRow, 'stated'>,
  reader: SolutionReader,
): Promise<RowFault | undefined> {
  const texts = textsOf(row);
  const examined = await reader.examine(texts);
  return problemOf(row, new Map(texts.map((text, i) => [text, examined[i]!])), reader);
}

/** Only what the texts say: a worked text without a mark, and fields that disagree. Whether the judge can use them is not asked. */
export const saidProblem = (stated: Stated | undefined, reader: SolutionReader): Promise<RowFault | undefined> =>
  problemOf({ stated }, new Map(), reader);

async function problemOf(
  { stated }: Pick<GoodRow, 'stated'>,
  examined: ReadonlyMap<string, Examined>,
  reader: SolutionReader,
): Promise<RowFault | undefined> {
  if (!stated) return undefined;
  for (const { field, text } of stated.solutions) {
    const final = await finalOf(text, examined, reader);
    if (!final) return unmarked(field, text);
    const result = examined.get(text);
    if (result && !result.usable) return unusable(field, final, result.reason);
  }
  for (const statement of stated.beside) {
    const problem = await disagreement(statement, stated.solutions, reader);
    if (problem) return problem;
  }
  return undefined;
}

/** A bare value may be a name or a few words ("Niels Bohr and his brother"); a sentence is not one. */
const isSentence = ({ text, by }: FinalAnswer): boolean =>
  by === 'whole' &&
  !/[\d\\$]/.test(text) &&
  text.trim().split(/\s+/).length > 3 &&
  /[A-Za-z][a-z] (?:is|are|was|were|has|have|had)\s/.test(text);

const SHOWN_CHARS = 80;

/** The text as written, including backslashes; on one line, and safe on a terminal. */
const quoted = (text: string): string => `"${short(text.trim().replace(/\s+/g, ' '), SHOWN_CHARS)}"`;

function unmarked(field: string, text: string): RowFault {
  const end = text.trimEnd().slice(-SHOWN_CHARS);
  return rowFault(
    field,
    `${end.length < text.trimEnd().length ? 'ends in' : 'is'} ${quoted(end)} and marks no final answer`,
    'Put it into \\boxed{…} or behind ####, or give the value alone as `answer`; a model judges answers in words: --environment rubric:./rubric.json.',
  );
}

const REASONS: Readonly<Record<string, string>> = {
  'too-big': 'is too much for the judge',
  timeout: 'is too much for the judge',
  crashed: 'is too much for the judge',
  'no-value': 'has no value',
  'not-shown': 'cannot be shown equal to itself',
  'not-equal-to-itself': 'cannot be shown equal to itself',
  empty: 'says no value',
};

function unusable(field: string, { text }: FinalAnswer, reason: string): RowFault {
  const why = REASONS[reason] ?? 'cannot be read by the judge';
  return rowFault(
    field,
    `says ${quoted(text)}, which ${why} (${reason})`,
    'Write one value, such as 42, \\frac{1}{2}, (1, 2) or x = 3; or leave the row out.',
  );
}

/** Prose beside an answer is ignored; a final answer marked in it must be the same. */
async function disagreement(
  { field, text }: Statement,
  solutions: readonly Statement[],
  reader: SolutionReader,
): Promise<RowFault | undefined> {
  const texts = solutions.map((one) => one.text);
  if (texts.includes(text)) return undefined;
  const final = reader.finalAnswer(text);
  if (!final || final.by === 'prose' || (final.by === 'whole' && !/\d/.test(final.text))) return undefined;
  if (await reader.mayBe(final.text, texts)) return undefined;
  const [first] = solutions;
  const decides = reader.finalAnswer(first!.text)?.text ?? first!.text;
  return rowFault(
    field,
    `says ${quoted(final.text)}, and \`${first!.field}\` says ${quoted(decides)}`,
    'Make them agree, or leave out the one that is wrong.',
  );
}
