// A weight version as a number, derived from the server's string. Trainers store versions as int32, so every version is
// an integer in [0, 2^31). The string itself is stored too (VersionSpan.versionLabel).

import { sha256Hex } from '../text/sha256.ts';
import type { VersionSpan } from '../rollout/turn.ts';

/** SGLang and vLLM report `default` before the first update; a server that reports no version is at 0 too. */
export const FIRST_VERSION = 0;
const FIRST_LABELS = new Set(['', 'default']);
const INT32_END = 2 ** 31;
/** Strings without a number are above every realistic count of updates. */
export const UNNUMBERED = 2 ** 30;
const LONGEST_NUMBERED = 200;

/**
 * The rule:
 *   `default`, nothing        0
 *   `12`                      12
 *   `v3`, `step-12`, `actor/global_step_40`: a string that ends in digits, behind a letter and at most one of
 *                             `-`, `_` and space, with no other digits in its last part     those digits
 *   anything else             2^30 + 30 bits of its SHA-256: the same string is always the same number, no more
 * A number that int32 cannot hold is "anything else".
 */
export function versionNumber(label: string | number | null | undefined): number {
  const text = String(label ?? '').trim();
  if (FIRST_LABELS.has(text)) return FIRST_VERSION;
  const digits = text.length > LONGEST_NUMBERED ? undefined : numberIn(text);
  const number = digits === undefined ? Number.NaN : Number(digits);
  if (Number.isSafeInteger(number) && number < INT32_END) return number;
  return UNNUMBERED + (Number.parseInt(sha256Hex(text).slice(0, 8), 16) % UNNUMBERED);
}

function numberIn(text: string): string | undefined {
  return /^\d+$/.exec(text)?.[0] ?? /(?:^|[/:])[A-Za-z_. -]*[A-Za-z][_ -]?(\d+)$/.exec(text)?.[1];
}

/** The labels behind a rewind (weights.ts; feed/line.ts), where numbers come again on purpose. */
const LINE = /^(?:r|line)(\d{1,9}):/;

/** The labels of one run by their numbers: the label that had the number first, if it is another one; else null. */
export type FirstLabels = (version: number, label: string | undefined) => string | null;

export function openFirstLabels(): FirstLabels {
  const labels = new Map<string, string>();
  return (version, label) => {
    // The weights at the start are version 0, whatever they are called.
    if (label === undefined || FIRST_LABELS.has(label)) return null;
    const key = `${LINE.exec(label)?.[0] ?? ''}${version}`;
    const first = labels.get(key);
    if (first === undefined) labels.set(key, label);
    return first === undefined || first === label ? null : first;
  };
}

/** Whether weights are older than others of the same server or answer. */
export type IsOlder = (now: Named, before: Named) => boolean;

/** As their labels tell: of an earlier line, or of a lower number on the same one. */
export function isOlder(now: Named, before: Named): boolean {
  const [line, lineBefore] = [lineOf(now), lineOf(before)];
  if (line !== lineBefore) return line < lineBefore;
  return before.version < UNNUMBERED && now.version < before.version;
}

/**
 * Whether tokens of one version are more than `gap` versions older than the weights that they are trained into. Of weights
 * without a number no age is known: any other ones count as older.
 */
export function isBeyond(gap: number, version: number, into: number): boolean {
  return version !== into && (Math.max(version, into) >= UNNUMBERED || into - version > gap);
}

type Named = Pick<VersionSpan, 'version' | 'versionLabel'>;
const wordOf = ({ version, versionLabel }: Named): string => versionLabel ?? String(version);

/** As a run declared them: what it declared is older than what it declared later alone, whatever a server was called before. */
export function olderAmong(declared: readonly { readonly label: string }[]): IsOlder {
  const placeOf = (named: Named) => declared.findLastIndex(({ label }) => label === wordOf(named));
  return (now, before) => (placeOf(now) < 0 ? isOlder(now, before) : placeOf(now) < placeOf(before));
}

const lineOf = ({ versionLabel = '' }: Named): number => Number(LINE.exec(versionLabel)?.[1] ?? 0);

/** Within one answer no version string recurs, and none is older than the one before it. */
export function fallingVersions(versions: readonly VersionSpan[], isBack: IsOlder = isOlder): string | null {
  for (const [i, span] of versions.entries()) {
    const before = versions[i - 1];
    const again = i > 1 && versions.slice(0, i - 1).some((old) => wordOf(old) === wordOf(span));
    if (again || (before && isBack(span, before))) return versions.map(wordOf).join(', ');
  }
  return null;
}
