// Judges lines of `{id, answer, solutions}` (or `input_output` for code) without a model or a workflow: for
// users who want to try the judge and for judging a finished run again. One result a line, in the lines' order,
// a bounded number in flight. A line that cannot be read is undecided with its problem, and the others go on.

import type { InputOutput, Query } from '../domain/query.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Environment } from './environment.ts';
import type { JudgeOptions } from './math/judge.ts';
import type { MathJudge } from './math/math-environment.ts';

export interface PairVerdict extends Verdict {
  /** The line's own `id`, or its number from 1. */
  readonly id: string;
  /** What was wrong with the line, when its reason is `bad-line`. */
  readonly problem?: string;
}

export interface PairJudges {
  readonly math: MathJudge;
  /** Absent: lines with `input_output` are undecided, `no-code-judge`. */
  readonly code?: Environment;
}

export interface JudgePairsOptions {
  /** Which judge takes lines that do not say by what they hold. Default: `input_output` means code, else math. */
  readonly judge?: 'math' | 'code';
  /** For lines without options of their own. */
  readonly options?: JudgeOptions;
  /** Judgements in flight; default 256. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

export async function* judgePairs(
  lines: AsyncIterable<string> | Iterable<string>,
  judges: PairJudges,
  options: JudgePairsOptions = {},
): AsyncGenerator<PairVerdict> {
  const open: Promise<PairVerdict>[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    const text = number === 1 ? line.replace(/^\ufeff/, '') : line;
    if (text.trim() === '') continue;
    const verdict = judgeLine(text, number, judges, options);
    // It is awaited below, in its turn; an earlier failure must not leave it unhandled.
    verdict.catch(() => undefined);
    open.push(verdict);
    const first = open.length >= (options.concurrency ?? 256) ? open.shift() : undefined;
    if (first) yield await first;
  }
  for (const verdict of open) yield await verdict;
}

interface Pair {
  readonly id: string;
  readonly answer: string;
  readonly solutions: readonly string[];
  readonly inputOutput: InputOutput | undefined;
  readonly options: JudgeOptions | undefined;
}

async function judgeLine(
  line: string,
  number: number,
  judges: PairJudges,
  options: JudgePairsOptions,
): Promise<PairVerdict> {
  const pair = readPair(line, number);
  if ('problem' in pair) return { ...pair, verdict: 'undecided', reason: 'bad-line' };
  const judge = options.judge ?? (pair.inputOutput ? 'code' : 'math');
  const verdict =
    judge === 'code'
      ? await judgeCode(pair, judges, options.signal)
      : await judges.math.judge(pair.answer, pair.solutions, pair.options ?? options.options, options.signal);
  return { id: pair.id, ...verdict };
}

async function judgeCode(pair: Pair, judges: PairJudges, signal: AbortSignal | undefined): Promise<Verdict> {
  if (!judges.code) return { verdict: 'undecided', reason: 'no-code-judge' };
  const query: Query = {
    queryId: pair.id,
    prompt: { kind: 'text', text: '' },
    task: 'code',
    solutions: pair.solutions,
    ...(pair.inputOutput && { inputOutput: pair.inputOutput }),
  };
  return judges.code.judge(query, pair.answer, { signal: signal ?? new AbortController().signal });
}

function readPair(line: string, number: number): Pair | { readonly id: string; readonly problem: string } {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return { id: String(number), problem: `line ${number} is not JSON` };
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    return { id: String(number), problem: `line ${number} is not an object` };
  const fields = row as Readonly<Record<string, unknown>>;
  const id =
    typeof fields['id'] === 'string' || typeof fields['id'] === 'number' ? String(fields['id']) : String(number);
  const { answer } = fields;
  if (typeof answer !== 'string') return { id, problem: `line ${number}: \`answer\` must be a text` };
  const inputOutput = readInputOutput(fields['input_output']);
  const given = fields['solutions'] ?? fields['solution'];
  const solutions = typeof given === 'string' ? [given] : given;
  if (inputOutput === undefined && !isTexts(solutions))
    return { id, problem: `line ${number}: \`solutions\` must be a list of texts (or \`input_output\` be given)` };
  const options = readOptions(fields['options']);
  if (typeof options === 'string') return { id, problem: `line ${number}: ${options}` };
  return { id, answer, solutions: isTexts(solutions) ? solutions : [], inputOutput, options };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === 'string');

function readInputOutput(value: unknown): InputOutput | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { inputs, outputs, fn_name: name } = value as Readonly<Record<string, unknown>>;
  if (!Array.isArray(inputs) || !Array.isArray(outputs)) return undefined;
  return { inputs, outputs, ...(typeof name === 'string' && { fn_name: name }) };
}

function readOptions(value: unknown): JudgeOptions | string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return '`options` must be an object';
  const { decimals, strict } = value as Readonly<Record<string, unknown>>;
  if (
    decimals !== undefined &&
    !(Number.isInteger(decimals) && (decimals as number) >= 0 && (decimals as number) <= 100)
  )
    return '`options.decimals` must be a whole number from 0 to 100';
  if (strict !== undefined && typeof strict !== 'boolean') return '`options.strict` must be true or false';
  return { ...(decimals !== undefined && { decimals: decimals as number }), ...(strict !== undefined && { strict }) };
}
