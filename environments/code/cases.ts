// The cases of a query: what goes into the sandbox, and what stays outside to be compared. Two shapes are known:
// texts with one JSON value a line (LiveCodeBench, AReaL), and lists of arguments (APPS, TACO).

import type { InputOutput } from '../../domain/query.ts';
import { type ExactValue, exactOf, parseExactJson } from './exact-json.ts';

export type Case =
  | { readonly kind: 'stdin'; readonly stdin: string; readonly expected: string }
  /** `args`: one JSON list, as text. Any of `expected` is right. */
  | { readonly kind: 'call'; readonly args: string; readonly expected: readonly ExactValue[] }
  /** The data set's fault: no program can be judged by it. */
  | { readonly kind: 'bad'; readonly reason: 'bad-case' | 'inexact-number' | 'case-too-big' };

/** `mostInput`, `mostOutput`: more than that many bytes could not be told to a program, or by one. */
export function casesOf(io: InputOutput, mostInput: number, mostOutput: number): readonly Case[] {
  return allCases(io).map((one) => {
    if (one.kind === 'bad') return one;
    const input = one.kind === 'stdin' ? one.stdin : one.args;
    const tooBig = Buffer.byteLength(input) > mostInput || (one.kind === 'stdin' && one.expected.length > mostOutput);
    return tooBig ? { kind: 'bad', reason: 'case-too-big' } : one;
  });
}

function allCases({ inputs, outputs, fn_name: name }: InputOutput): readonly Case[] {
  if (name === undefined) return inputs.map((input, i) => stdinCase(input, outputs[i]));
  const wrapped = outputs.every((output) => Array.isArray(output) && output.length === 1);
  return inputs.map((input, i) =>
    typeof input === 'string' ? textCall(input, outputs[i]) : listCall(input, outputs[i], wrapped),
  );
}

function stdinCase(input: unknown, output: unknown): Case {
  const stdin = textOf(input);
  const expected = textOf(output);
  if (stdin === undefined || expected === undefined) return { kind: 'bad', reason: 'bad-case' };
  return { kind: 'stdin', stdin, expected };
}

/** A text, or a list of lines. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((line) => typeof line === 'string')) return value.join('\n');
  return undefined;
}

function textCall(input: string, output: unknown): Case {
  const lines = input.trim() === '' ? [] : input.trim().split('\n');
  if (lines.some((line) => parseExactJson(line) === undefined)) return { kind: 'bad', reason: 'bad-case' };
  const expected = typeof output === 'string' ? (parseExactJson(output) ?? output) : exactOf(output);
  if (typeof output !== 'string' && inexact(output)) return { kind: 'bad', reason: 'inexact-number' };
  return { kind: 'call', args: `[${lines.join(',')}]`, expected: [expected] };
}

function listCall(input: unknown, output: unknown, wrapped: boolean): Case {
  const args = Array.isArray(input) ? input : [input];
  if (inexact(args) || inexact(output)) return { kind: 'bad', reason: 'inexact-number' };
  const expected = exactOf(output);
  // APPS keeps the value in a list of one: met bare or in its list.
  const bare = wrapped && Array.isArray(output) ? [exactOf(output[0])] : [];
  return { kind: 'call', args: JSON.stringify(args), expected: [expected, ...bare] };
}

/** Holds a whole number that JavaScript has already rounded: what was meant is not known any more. */
function inexact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(inexact);
}
