// The cases of a query: the input, which enters the sandbox, and the expected output, which never does. Two formats are
// supported: texts with one JSON value a line (LiveCodeBench, AReaL), and lists of arguments (APPS, TACO).

import type { InputOutput } from '../../domain/query/query.ts';
import { type ExactValue, exactOf, parseExactJson } from './exact-json.ts';

interface Sized {
  /** Length of the expected text. */
  readonly expectedChars: number;
}

export type GoodCase =
  | (Sized & { readonly kind: 'stdin'; readonly stdin: string; readonly expected: string })
  /** `args`: one JSON list, as text. `expected`: alternatives. */
  | (Sized & { readonly kind: 'call'; readonly args: string; readonly expected: readonly ExactValue[] });

/** The data set's fault: no program can be judged by this case. */
export interface BadCase {
  readonly kind: 'bad';
  readonly reason: 'bad-case' | 'inexact-number';
}

/** Parsed one after the other, because most programs fail at an early case. */
export function* casesOf({ inputs, outputs, fn_name: name }: InputOutput): Generator<GoodCase | BadCase> {
  // APPS wraps each value in a list of one.
  const wrapped = outputs.every((output) => Array.isArray(output) && output.length === 1);
  for (const [i, input] of inputs.entries()) {
    const output = outputs[i];
    if (output === undefined) yield BAD;
    else if (!name) yield stdinCase(input, output);
    else yield typeof input === 'string' ? textCall(input, output) : listCall(input, output, wrapped);
  }
}

const BAD: BadCase = { kind: 'bad', reason: 'bad-case' };

function stdinCase(input: unknown, output: unknown): GoodCase | BadCase {
  const stdin = textOf(input);
  const expected = textOf(output);
  if (stdin === undefined || expected === undefined) return BAD;
  return { kind: 'stdin', stdin, expected, expectedChars: expected.length };
}

/** A text, or a list of lines. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((line) => typeof line === 'string')) return value.join('\n');
  return undefined;
}

function textCall(input: string, output: unknown): GoodCase | BadCase {
  const lines = input.trim() === '' ? [] : input.trim().split('\n');
  if (lines.some((line) => parseExactJson(line) === undefined)) return BAD;
  if (inexact(output)) return { kind: 'bad', reason: 'inexact-number' };
  // A text that is not JSON is the value itself.
  const parsed = typeof output === 'string' ? parseExactJson(output) : exactOf(output);
  const expected = parsed === undefined ? String(output) : parsed;
  return { kind: 'call', args: `[${lines.join(',')}]`, expected: [expected], expectedChars: charsOf(output) };
}

function listCall(input: unknown, output: unknown, wrapped: boolean): GoodCase | BadCase {
  const args = Array.isArray(input) ? input : [input];
  if (inexact(args) || inexact(output)) return { kind: 'bad', reason: 'inexact-number' };
  const expected = exactOf(output);
  const bare = wrapped && Array.isArray(output) ? [exactOf(output[0])] : [];
  return { kind: 'call', args: JSON.stringify(args), expected: [expected, ...bare], expectedChars: charsOf(output) };
}

/** Contains a whole number that JavaScript has already rounded: the intended value is lost. */
function inexact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(inexact);
}

function charsOf(output: unknown): number {
  return typeof output === 'string' ? output.length : JSON.stringify(output).length;
}

export function inputOf(one: GoodCase): string {
  return one.kind === 'stdin' ? one.stdin : one.args;
}
