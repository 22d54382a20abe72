// The versions of an answer's tokens, from the server's reply: spans if it has spans, one version for all tokens
// if it has one. Guarantees contiguous spans that cover every token; other replies are refused.

import { FIRST_VERSION, versionNumber } from '../../domain/weight-version.ts';
import type { VersionSpan } from '../../domain/turn.ts';

/** Every record stores the string, so a long one is cut. */
export const LABEL_CHARS = 200;

export interface ReportedSpan {
  readonly version?: string | number | null | undefined;
  readonly start: number;
  readonly end: number;
}

/** Null if the spans do not cover `tokens` tokens. Empty ones are dropped, equal neighbours joined. */
export function reportedSpans(reported: readonly ReportedSpan[], tokens: number): VersionSpan[] | null {
  const spans: VersionSpan[] = [];
  let end = 0;
  for (const span of reported) {
    if (span.start !== end || span.end < span.start) return null;
    end = span.end;
    if (span.start === span.end) continue;
    const last = spans.at(-1);
    const next = oneSpan(span.version, span.start, span.end);
    if (last && last.versionLabel === next.versionLabel && last.version === next.version) {
      spans[spans.length - 1] = { ...last, end };
    } else spans.push(next);
  }
  return end === tokens ? spans : null;
}

/** One version for all tokens; version 0 if the server reports none. */
export function oneVersion(word: string | number | null | undefined, tokens: number): VersionSpan[] {
  return tokens === 0 ? [] : [oneSpan(word, 0, tokens)];
}

function oneSpan(word: string | number | null | undefined, start: number, end: number): VersionSpan {
  if (word === null || word === undefined) return { version: FIRST_VERSION, start, end };
  return { version: versionNumber(word), versionLabel: String(word).slice(0, LABEL_CHARS), start, end };
}
