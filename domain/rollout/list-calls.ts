// The calls of an agent's program as people read them: the place of each in the tree, in words, and their order. Pure.

import type { TurnRecord } from './turn.ts';
import type { AgentMessage, AskedCall, BranchReason } from '../agent/index.ts';

/** `goes on from call 1`, `a root`, or `a root: edited, from message 3 on`. */
export function placeText({ parent, branch, differsAt }: Pick<AskedCall, 'parent' | 'branch' | 'differsAt'>): string {
  if (parent !== null) return `goes on from call ${parent}`;
  if (branch === null) return 'a root';
  const from = differsAt === null || ELSEWHERE.has(branch) ? '' : `, from message ${differsAt + 1} on`;
  return `a root: ${branch}${from}`;
}

/** Roots that no message of theirs made. */
const ELSEWHERE: ReadonlySet<BranchReason> = new Set(['new-conversation', 'tools-changed']);

/** The messages that a call adds, as the program sent them: all of a root's, and those behind the echo of its parent's reply. */
export const addedMessages = ({ shared, messages }: AskedCall): readonly AgentMessage[] =>
  messages.slice(shared === 0 ? 0 : 1);

interface Shown {
  readonly record: Pick<TurnRecord, 'turn' | 'asked'>;
}

/**
 * Each call before those that go on from it, and all of these before the next root. `depth`: the number of calls before it on
 * its path that several go on from. Turns of no program keep their order, at depth 0.
 */
export function listInTree<T extends Shown>(
  turns: readonly T[],
): readonly { readonly turn: T; readonly depth: number }[] {
  const [roots, children]: [T[], Map<number, T[]>] = [[], new Map()];
  for (const one of turns) {
    const { turn, asked } = one.record;
    (children.get(asked?.parent ?? turn) ?? roots).push(one);
    children.set(turn, []);
  }
  const waiting = roots.map((turn) => ({ turn, depth: 0 })).toReversed();
  const shown: { readonly turn: T; readonly depth: number }[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    shown.push(next);
    const after = children.get(next.turn.record.turn)!;
    const depth = next.depth + (after.length > 1 ? 1 : 0);
    waiting.push(...after.map((turn) => ({ turn, depth })).toReversed());
  }
  return shown;
}
