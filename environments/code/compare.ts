// Compares a program's output with the expected one: printed lines and returned values. Outside the sandbox, by type and
// value. docs/sandbox.md has the rules for users.

import type { ExactValue } from './exact-json.ts';

/** The error that problems allow, absolute or relative. */
const ERROR = 1e-6;
/** The error of the binary form of two decimals that differ by just ERROR. */
const ROUNDING = 1e-15;

/** Floats are equal within a millionth, or within a millionth of the expected value. */
export function closeEnough(expected: number, got: number): boolean {
  if (Object.is(expected, got) || expected === got) return true;
  if (!Number.isFinite(expected) || !Number.isFinite(got)) return false;
  return Math.abs(expected - got) <= ERROR * Math.max(1, Math.abs(expected)) + ROUNDING;
}

/** Line by line, ignoring blanks around a line and blank lines. */
export function sameOutput(expected: string, got: string): boolean {
  const wanted = linesOf(expected);
  const given = linesOf(got);
  return wanted.length === given.length && wanted.every((line, i) => sameLine(line, given[i] ?? ''));
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Compares lines as text; or, if every word of the expected line is a number, word by word as numbers. */
function sameLine(expected: string, got: string): boolean {
  if (expected === got) return true;
  const wanted = expected.split(/\s+/);
  if (!wanted.every(isNumber)) return false;
  const given = got.split(/\s+/);
  return wanted.length === given.length && wanted.every((word, i) => sameNumber(word, given[i] ?? ''));
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
/** A text of digits that begins with 0 is a label (a bit string, a code), not a number. */
const LABEL = /^[+-]?0\d/;
const MAX_NUMBER_CHARS = 400;

function isNumber(word: string): boolean {
  return word.length <= MAX_NUMBER_CHARS && NUMBER.test(word) && !LABEL.test(word);
}

function sameNumber(expected: string, got: string): boolean {
  if (expected === got) return true;
  if (!isNumber(got)) return false;
  const whole = /^[+-]?\d+$/;
  // A whole number is exact: `3` equals `3`, `+3` and `3.0`, not `2.9999999`.
  if (whole.test(expected)) {
    const digits = got.replace(/\.0*$/, '');
    return whole.test(digits) && BigInt(digits.replace('+', '')) === BigInt(expected.replace('+', ''));
  }
  return closeEnough(Number(expected), Number(got));
}

/**
 * Same type and value. Whole numbers are exact; a float and a whole number are compared as floats; true and
 * false are not numbers; a tuple equals a list; keys of an object are texts.
 */
export function isSameValue(expected: ExactValue, got: ExactValue): boolean {
  if (typeof expected === 'bigint') return typeof got === 'number' ? sameWhole(expected, got) : expected === got;
  if (typeof expected === 'number')
    return (typeof got === 'number' || typeof got === 'bigint') && closeEnough(expected, Number(got));
  if (expected === null || typeof expected !== 'object') return expected === got;
  if (got === null || typeof got !== 'object') return false;
  if (isList(expected) || isList(got)) {
    if (!isList(expected) || !isList(got) || expected.length !== got.length) return false;
    return expected.every((item, i) => isSameValue(item, got[i] as ExactValue));
  }
  const keys = Object.keys(expected);
  if (keys.length !== Object.keys(got).length) return false;
  return keys.every((key) => Object.hasOwn(got, key) && isSameValue(expected[key] ?? null, got[key] ?? null));
}

function sameWhole(expected: bigint, got: number): boolean {
  return Number.isInteger(got) && BigInt(got) === expected;
}

function isList(value: ExactValue): value is readonly ExactValue[] {
  return Array.isArray(value);
}
