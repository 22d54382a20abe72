// Lines of `{id, answer, solutions | input_output, question?, options?}`: answers to judge without a model or a run. Streamed;
// every non-blank line is returned, either good or with its fault, in file order. A field that is read nowhere is named.

import { short } from '../../domain/text/foreign-text.ts';
import type { Pair, PairOptions } from '../../domain/query/pair.ts';
import { questionOf } from '../../domain/query/query.ts';
import type { BadRow, Stated } from './dataset.ts';
import { inputOutputOf } from './input-output.ts';
import { MAX_LINE_BYTES, mustBeFile, parseJsonLine, unreadable } from './json-line.ts';
import { readLines, type Source } from './lines.ts';
import { ANSWER_FIELDS, found, ID_FIELDS, PROMPTS, WORKED, type Inexact } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, kindText, notObject, type RowFault, RowError } from './row-fault.ts';
import { promptOf } from './prompt.ts';
import { idFieldOf, idOf } from './row.ts';
import { statedOf } from './stated.ts';

export type JudgeName = Pair['judge'];

export type PairRow =
  /** `notes`: fields of the line that nothing reads, and an id that may be another line's. `stated`: not for code. */
  | {
      readonly ok: true;
      readonly line: number;
      readonly pair: Pair;
      readonly stated: Stated | undefined;
      readonly chars: number;
      readonly notes: readonly BadRow[];
    }
  /** `id`: the line's own, or its number. */
  | { readonly ok: false; readonly id: string; readonly bad: BadRow };

/** `file`: its name for people. `judge`: for all lines; by default `input_output` means code. */
export async function* readPairs(source: Source, file: string, judge: JudgeName | undefined): AsyncGenerator<PairRow> {
  const ids = openIdNote(file);
  try {
    if (typeof source === 'string') await mustBeFile(source);
    for await (const lines of readLines(source, MAX_LINE_BYTES)) {
      for (const line of lines) {
        const read = parseJsonLine(line);
        if (!read) continue;
        const bad = (fault: RowFault, id = String(line.number)): PairRow => ({
          ok: false,
          id,
          bad: { file, line: line.number, ...fault },
        });
        if ('fault' in read) yield bad(read.fault);
        else {
          const parsed = pairFrom(read.json, line.number, judge, read.inexact);
          const chars = line.text?.length ?? 0;
          if ('problem' in parsed) yield bad(parsed, plainIdOf(read.json));
          else {
            const notes = [...unreadIn(read.json, file, line.number), ...ids(read.json, parsed.pair.id, line.number)];
            yield { ok: true, line: line.number, ...parsed, chars, notes };
          }
        }
      }
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The id of a line that is bad for another reason. */
function plainIdOf(row: unknown): string | undefined {
  const field = idFieldOf(row);
  const id = field && isObject(row) ? row[field] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

/** Answers to one question may share its id. A line without one has its number as id, which another line may have written: said once. */
function openIdNote(file: string): (row: unknown, id: string, line: number) => BadRow[] {
  const seen = { missing: false, number: false, said: false };
  return (row, id, line) => {
    if (idFieldOf(row) === undefined) seen.missing = true;
    else if (/^\d+$/.test(id)) seen.number = true;
    if (seen.said || !seen.missing || !seen.number) return [];
    seen.said = true;
    const problem =
      'is a number in some lines and missing in others, whose number is their id: two lines may have one id';
    return [{ file, line, field: 'id', problem, fix: 'Give each line an `id`, or none.' }];
  };
}

interface Parsed {
  readonly pair: Pair;
  readonly stated: Stated | undefined;
}

function pairFrom(row: unknown, line: number, wanted: JudgeName | undefined, inexact: Inexact): Parsed | RowFault {
  try {
    return pairOf(row, line, wanted, inexact);
  } catch (error) {
    if (error instanceof RowError) return error.fault;
    throw error;
  }
}

function pairOf(row: unknown, line: number, wanted: JudgeName | undefined, inexact: Inexact): Parsed {
  if (!isObject(row)) throw new RowError(notObject(row));
  const id = idOf(row, inexact) ?? String(line);
  const { answer } = row;
  if (typeof answer !== 'string')
    return failRow('answer', `is ${kindText(answer)}, not a text`, 'Give what the model wrote, as a text.');
  const judge = wanted ?? (row['input_output'] == null ? 'math' : 'code');
  const options = withQuestion(row, optionsOf(row['options']));
  const given = { id, answer, judge, ...(Object.keys(options).length === 0 ? {} : { options }) };
  if (judge === 'math') {
    const stated = statedOf(row, inexact, 'answer');
    return { pair: { ...given, solutions: stated.solutions.map(({ text }) => text) }, stated };
  }
  if (row['input_output'] == null)
    return failRow('input_output', 'is missing, and the judge is code', 'Give the cases, or --judge math.');
  const inputOutput = inputOutputOf(row['input_output'], inexact);
  return { pair: { ...given, solutions: [], inputOutput }, stated: undefined };
}

const OPTIONS = ['decimals', 'strict', 'cut'] as const;
const READ: ReadonlySet<string> = new Set([
  ...[...ID_FIELDS, ...PROMPTS, ...ANSWER_FIELDS, ...WORKED].flatMap((name) => [
    name,
    name[0]!.toUpperCase() + name.slice(1),
  ]),
  ...['options', 'input_output', 'reward_model'],
]);

/** A question beside the answer is read as in a data set; `options.question` may only say the same. */
function withQuestion(row: Readonly<Record<string, unknown>>, options: PairOptions): PairOptions {
  for (const name of OPTIONS)
    if (row[name] != null) failRow(name, 'is an option', `Write it into \`options\`: {"${name}": …}.`);
  const [beside] = found(row, PROMPTS);
  if (!beside) return options;
  // The `options` of a pair are the judge's.
  const question = questionOf({ prompt: promptOf({ ...row, options: null }) });
  if (options.question !== undefined && options.question.trim() !== question.trim())
    failRow('options.question', `is another text than \`${beside.field}\``, 'Make them agree, or leave one out.');
  return { ...options, question };
}

function unreadIn(row: unknown, file: string, line: number): BadRow[] {
  const fix = 'The judge reads `answer`, `solution` or `solutions`, `input_output`, `question`, `options` and `id`.';
  return Object.keys(isObject(row) ? row : {})
    .filter((field) => !READ.has(field))
    .map((field) => ({ file, line, field: short(field, 40), problem: 'is not read', fix }));
}

const MAX_DECIMALS = 100;

function optionsOf(value: unknown): PairOptions {
  if (value == null) return {};
  if (!isObject(value))
    return failRow('options', `is ${kindText(value)}, not an object`, 'Give such as {"decimals": 2}.');
  const { decimals, strict, cut, question, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return failRow(
      'options',
      `has ${JSON.stringify(unknown)}, which is no option`,
      'There are `decimals`, `strict`, `cut` and `question`.',
    );
  const isPlaces = Number.isInteger(decimals) && (decimals as number) >= 0 && (decimals as number) <= MAX_DECIMALS;
  if (decimals != null && !isPlaces)
    return failRow('options.decimals', 'is no number of places', `Give a whole number from 0 to ${MAX_DECIMALS}.`);
  if (strict != null && typeof strict !== 'boolean')
    return failRow('options.strict', `is ${kindText(strict)}`, 'Give true or false.');
  if (cut != null && typeof cut !== 'boolean')
    return failRow('options.cut', `is ${kindText(cut)}`, 'Give true if a limit cut the answer, else false.');
  if (question != null && typeof question !== 'string')
    return failRow('options.question', `is ${kindText(question)}`, 'Give the text of the question.');
  return {
    ...(question == null ? {} : { question: question as string }),
    ...(decimals == null ? {} : { decimals: decimals as number }),
    ...(strict == null ? {} : { strict: strict as boolean }),
    ...(cut == null ? {} : { cut: cut as boolean }),
  };
}
