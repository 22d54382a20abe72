// Lines of `{id, answer, solutions | input_output, question?, options?}`: answers to judge without a model or a run. Streamed;
// every non-blank line is returned, either good or with its fault, in file order. A field that is read nowhere is named.

import { short } from '../domain/foreign-text.ts';
import type { Pair, PairOptions } from '../domain/pair.ts';
import { questionOf } from '../domain/query.ts';
import type { BadRow } from './dataset.ts';
import { inputOutputOf } from './input-output.ts';
import { MAX_LINE_BYTES, mustBeFile, readJson, unreadable } from './json-line.ts';
import { readLines, type Source } from './lines.ts';
import { ANSWERS, found, IDS, PROMPTS, WORKED } from './names.ts';
import type { Inexact } from './number-text.ts';
import { fail, isObject, kindOf, notObject, type Problem, RowError } from './problem.ts';
import { promptOf } from './prompt.ts';
import { statedOf } from './stated.ts';

export type JudgeName = Pair['judge'];

export type PairRow =
  /** `unread`: fields of the line that nothing reads. */
  | { readonly ok: true; readonly pair: Pair; readonly chars: number; readonly unread: readonly BadRow[] }
  /** `id`: the line's own, or its number. */
  | { readonly ok: false; readonly id: string; readonly bad: BadRow };

/** `file`: its name for people. `judge`: for all lines; by default `input_output` means code. */
export async function* readPairs(source: Source, file: string, judge: JudgeName | undefined): AsyncGenerator<PairRow> {
  try {
    if (typeof source === 'string') await mustBeFile(source);
    for await (const lines of readLines(source, MAX_LINE_BYTES)) {
      for (const line of lines) {
        const read = readJson(line);
        if (!read) continue;
        const bad = (problem: Problem, id = String(line.number)): PairRow => ({
          ok: false,
          id,
          bad: { file, line: line.number, ...problem },
        });
        if ('problem' in read) yield bad(read.problem);
        else {
          const id = idOf(read.json) ?? String(line.number);
          const pair = pairFrom(read.json, id, judge, read.inexact);
          const chars = line.text?.length ?? 0;
          if ('problem' in pair) yield bad(pair, id);
          else yield { ok: true, pair, chars, unread: unreadIn(read.json, file, line.number) };
        }
      }
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

function idOf(row: unknown): string | undefined {
  const id = isObject(row) ? row['id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

function pairFrom(row: unknown, id: string, wanted: JudgeName | undefined, inexact: Inexact): Pair | Problem {
  try {
    return pairOf(row, id, wanted, inexact);
  } catch (error) {
    if (error instanceof RowError) return error.problem;
    throw error;
  }
}

function pairOf(row: unknown, id: string, wanted: JudgeName | undefined, inexact: Inexact): Pair {
  if (!isObject(row)) throw new RowError(notObject(row));
  const { answer } = row;
  if (typeof answer !== 'string')
    return fail('answer', `is ${kindOf(answer)}, not a text`, 'Give what the model wrote, as a text.');
  const judge = wanted ?? (row['input_output'] == null ? 'math' : 'code');
  const options = withQuestion(row, optionsOf(row['options']));
  const given = { id, answer, judge, ...(Object.keys(options).length === 0 ? {} : { options }) };
  if (judge === 'math')
    return { ...given, solutions: statedOf(row, inexact, 'answer').solutions.map(({ text }) => text) };
  if (row['input_output'] == null)
    return fail('input_output', 'is missing, and the judge is code', 'Give the cases, or --judge math.');
  return { ...given, solutions: [], inputOutput: inputOutputOf(row['input_output'], inexact) };
}

const OPTIONS = ['decimals', 'strict', 'cut'] as const;
const READ: ReadonlySet<string> = new Set([
  ...[...IDS, ...PROMPTS, ...ANSWERS, ...WORKED].flatMap((name) => [name, name[0]!.toUpperCase() + name.slice(1)]),
  ...['options', 'input_output', 'reward_model'],
]);

/** A question beside the answer is read as in a data set; `options.question` goes before it. */
function withQuestion(row: Readonly<Record<string, unknown>>, options: PairOptions): PairOptions {
  for (const name of OPTIONS)
    if (row[name] != null) fail(name, 'is an option', `Write it into \`options\`: {"${name}": …}.`);
  if (options.question !== undefined || found(row, PROMPTS).length === 0) return options;
  return { ...options, question: questionOf({ prompt: promptOf(row) }) };
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
  if (!isObject(value)) return fail('options', `is ${kindOf(value)}, not an object`, 'Give such as {"decimals": 2}.');
  const { decimals, strict, cut, question, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return fail(
      'options',
      `has ${JSON.stringify(unknown)}, which is no option`,
      'There are `decimals`, `strict`, `cut` and `question`.',
    );
  const isPlaces = Number.isInteger(decimals) && (decimals as number) >= 0 && (decimals as number) <= MAX_DECIMALS;
  if (decimals != null && !isPlaces)
    return fail('options.decimals', 'is no number of places', `Give a whole number from 0 to ${MAX_DECIMALS}.`);
  if (strict != null && typeof strict !== 'boolean')
    return fail('options.strict', `is ${kindOf(strict)}`, 'Give true or false.');
  if (cut != null && typeof cut !== 'boolean')
    return fail('options.cut', `is ${kindOf(cut)}`, 'Give true if a limit cut the answer, else false.');
  if (question != null && typeof question !== 'string')
    return fail('options.question', `is ${kindOf(question)}`, 'Give the text of the question.');
  return {
    ...(question == null ? {} : { question: question as string }),
    ...(decimals == null ? {} : { decimals: decimals as number }),
    ...(strict == null ? {} : { strict: strict as boolean }),
    ...(cut == null ? {} : { cut: cut as boolean }),
  };
}
