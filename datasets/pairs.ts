// Lines of `{id, answer, solutions | input_output, options?}`: answers that are judged without a model or a run.
// Streamed; every line that is not blank comes out good or with what is wrong with it, in file order.

import type { Pair, PairOptions } from '../domain/pair.ts';
import type { BadRow } from './dataset.ts';
import { inputOutputOf } from './input-output.ts';
import { MAX_LINE_BYTES, mustBeFile, readJson, unreadable } from './json-line.ts';
import { readLines, type Source } from './lines.ts';
import { isObject, kindOf, type Problem, wrong } from './problem.ts';
import { FROM_ARRAY } from './row.ts';

export type JudgeName = Pair['judge'];

export type PairRow =
  | { readonly ok: true; readonly pair: Pair; readonly chars: number }
  /** `id`: the line's own, or its number. */
  | { readonly ok: false; readonly id: string; readonly bad: BadRow };

/** `file`: its name for people. `judge`: for all lines; without it `input_output` means code. */
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
          const pair = pairOf(read.json, id, judge);
          yield 'problem' in pair ? bad(pair, id) : { ok: true, pair, chars: line.text?.length ?? 0 };
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

function pairOf(row: unknown, id: string, wanted: JudgeName | undefined): Pair | Problem {
  if (!isObject(row)) {
    const hint = Array.isArray(row) ? FROM_ARRAY : '';
    return wrong(null, `is ${kindOf(row)}, not an object`, `Write one JSON object per line.${hint}`);
  }
  const { answer } = row;
  if (typeof answer !== 'string')
    return wrong('answer', `is ${kindOf(answer)}, not a text`, 'Give what the model wrote, as a text.');
  const judge = wanted ?? (row['input_output'] == null ? 'math' : 'code');
  const options = optionsOf(row['options']);
  if ('problem' in options) return options;
  const given = { id, answer, judge, ...(row['options'] == null ? {} : { options }) };
  if (judge === 'code') {
    const inputOutput = inputOutputOf(row['input_output']);
    return 'problem' in inputOutput ? codeProblem(inputOutput, row) : { ...given, solutions: [], inputOutput };
  }
  const solutions = solutionsOf(row);
  return 'problem' in solutions ? solutions : { ...given, solutions };
}

function codeProblem(problem: Problem, row: Readonly<Record<string, unknown>>): Problem {
  return row['input_output'] == null ? { ...problem, problem: 'is missing, and the judge is code' } : problem;
}

const SOLUTIONS = 'Give `solutions` (a list of texts, any of which is right), or `input_output` for code.';

function solutionsOf(row: Readonly<Record<string, unknown>>): string[] | Problem {
  const field = row['solutions'] == null && row['solution'] != null ? 'solution' : 'solutions';
  const given = row[field];
  const list: readonly unknown[] = Array.isArray(given) ? given : given == null ? [] : [given];
  if (list.length === 0) return wrong(field, given == null ? 'is missing' : 'is an empty list', SOLUTIONS);
  const texts: string[] = [];
  for (const [i, value] of list.entries()) {
    const at = Array.isArray(given) ? `${field}[${i}]` : field;
    if (typeof value === 'string') texts.push(value);
    else if (typeof value !== 'number') return wrong(at, `is ${kindOf(value)}, not a text`, SOLUTIONS);
    else if (Number.isInteger(value) && !Number.isSafeInteger(value))
      return wrong(at, 'is a number too large to be exact', 'Write it as text, in quotes.');
    else texts.push(String(value));
  }
  return texts;
}

const MAX_DECIMALS = 100;

function optionsOf(value: unknown): PairOptions | Problem {
  if (value == null) return {};
  if (!isObject(value)) return wrong('options', `is ${kindOf(value)}, not an object`, 'Give such as {"decimals": 2}.');
  const { decimals, strict, cut, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return wrong(
      'options',
      `has ${JSON.stringify(unknown)}, which is no option`,
      'There are `decimals`, `strict` and `cut`.',
    );
  const isPlaces = Number.isInteger(decimals) && (decimals as number) >= 0 && (decimals as number) <= MAX_DECIMALS;
  if (decimals != null && !isPlaces)
    return wrong('options.decimals', 'is no number of places', `Give a whole number from 0 to ${MAX_DECIMALS}.`);
  if (strict != null && typeof strict !== 'boolean')
    return wrong('options.strict', `is ${kindOf(strict)}`, 'Give true or false.');
  if (cut != null && typeof cut !== 'boolean')
    return wrong('options.cut', `is ${kindOf(cut)}`, 'Give true where a limit cut the answer, else false.');
  return {
    ...(decimals == null ? {} : { decimals: decimals as number }),
    ...(strict == null ? {} : { strict: strict as boolean }),
    ...(cut == null ? {} : { cut: cut as boolean }),
  };
}
