// Fencing: every rewind begins a line, also one that changes nothing, and its number is the token that the verbs of a trainer
// carry. So a trainer that another one replaced is refused, whatever it does next.

import type { RewindRequest } from './line.ts';
import type { Refusal } from './rules.ts';
import type { FeedState } from './state.ts';

/** `line`: what the caller sent; a trainer that never called `rewind` is on line 0. */
export function checkLine(state: FeedState, line: number | null | undefined): Refusal | undefined {
  if ((line ?? 0) === state.line) return undefined;
  const fix = 'Call `rewind` with the version of your checkpoint, and send the `line` that it answers with every verb.';
  if (line == null) {
    return {
      reason: 'stale-line',
      message: `\`line\` is missing: a trainer began line ${state.line} of run "${state.run}" with \`rewind\`.`,
      fix,
    };
  }
  if (line > state.line) {
    const message = `Line ${line} has not begun: line ${state.line} of run "${state.run}" is the newest.`;
    return { reason: 'stale-line', message, fix };
  }
  return {
    reason: 'stale-line',
    message: `Line ${line} has ended: a later \`rewind\` began line ${state.line} of run "${state.run}".`,
    fix: `If another trainer lives, end this one: its step counts no more. Else: ${fix.charAt(0).toLowerCase()}${fix.slice(1)}`,
  };
}

/** The same rewind from before, or its refusal; undefined for one that is new. */
export function repeatedRewind(
  state: FeedState,
  request: string | null | undefined,
): RewindRequest | Refusal | undefined {
  const known = state.rewinds.find((made) => made.request === request);
  if (!known) return undefined;
  return known.line === state.line ? known : checkLine(state, known.line);
}
