// Numbers, times and names as the pages write them. Pure.

import type { Trouble } from '../model/summary.ts';

const WHOLE = new Intl.NumberFormat('en-US');

export const count = (n: number): string => WHOLE.format(Math.round(n));
export const plural = (n: number, noun: string, several = `${noun}s`): string =>
  `${count(n)} ${n === 1 ? noun : several}`;

/** 12,345,678 as 12.3 M. */
export function brief(n: number): string {
  for (const [limit, unit] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const) {
    if (n >= limit) return `${decimals(n / (limit === 1e4 ? 1e3 : limit), 3)} ${unit}`;
  }
  return count(n);
}

export function percent(part: number, whole: number, digits = 1): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(digits)} %`;
}

/** A number that may be unknown. */
export const orNone = (value: number | null, text: (value: number) => string): string =>
  value === null ? '–' : text(value);

export const share = (value: number | null): string => orNone(value, (known) => percent(known, 1));
export const shares = ([low, high]: readonly [number, number]): string => `${share(low)} to ${share(high)}`;

/** A number of any size has four digits that say something. */
export const fourDigits = (value: number): string => String(Number(value.toPrecision(4)));
/** `digits`: about so many significant ones. */
export function decimals(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  const before = Math.max(1, Math.floor(Math.log10(Math.abs(value) || 1)) + 1);
  return value.toFixed(Math.max(0, Math.min(6, digits - before))).replace('-', '−');
}

export const signed = (value: number, digits = 3): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${decimals(Math.abs(value), digits)}`;

export function duration(ms: number): string {
  if (ms < 995) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${decimals(ms / 1000, 2)} s`;
  const minutes = Math.round(ms / 60_000);
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.round(minutes / 1440)} days`;
}

/** Without parts of a second, and from a minute on without seconds. */
export const roughly = (ms: number): string =>
  duration(Math.max(1000, ms))
    .replace(/ min \d+ s$/, ' min')
    .replace(/\.\d+ s$/, ' s');

export function ago(then: number, now: number): string {
  const ms = now - then;
  return ms < 5_000 ? 'just now' : `${roughly(ms)} ago`;
}

export function moment(ms: number): string {
  return new Date(ms).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

/** `maxNewTokens` as `max new tokens`. */
export const spaced = (name: string): string => name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** `every rollout failed: server timeout`, `3 undecided: judge unreachable`. */
export const troubleText = ({ state, count: n, reason }: Trouble, ended: number): string =>
  `${n === ended ? 'every rollout' : count(n)} ${n === ended && state === 'undecided' ? 'is ' : ''}${state}${reason === null ? '' : `: ${spacedWords(reason)}`}`;

/** `context-length` as `context length`. */
export const spacedWords = (name: string): string => name.replaceAll('-', ' ');

export const FINISH: Readonly<Record<string, string>> = {
  stop: 'ended by a stop token',
  length: 'cut at its limit',
  abort: 'aborted',
  unknown: 'ended for a reason that is not known',
};

/** The probability of a logprob; never rounded to certainty or to nothing. */
export function chance(logprob: number): string {
  const percent = 100 * Math.exp(logprob);
  if (percent > 99.95 && logprob < 0) return '> 99.9 %';
  return percent < 0.001 ? '< 0.001 %' : `${decimals(percent)} %`;
}

/** A difference of shares in points. */
export function points(difference: number | null): string {
  if (difference === null) return '–';
  const value = 100 * difference;
  const text = Math.abs(value).toFixed(1);
  return `${Number(text) === 0 ? '' : value > 0 ? '+' : '−'}${text} points`;
}

export const pValue = (p: number | null): string => (p === null ? '–' : p < 0.0001 ? '< 0.0001' : p.toFixed(4));
