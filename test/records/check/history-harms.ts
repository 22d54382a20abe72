// Every kind of harm that only Temporal's histories can tell: to the records, each forged with a right hash of its own
// so that the folder by itself is whole or nearly so, and to the histories.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RolloutHistory, TurnHistory } from '../../../domain/rollout/rollout-history.ts';
import { RESULT_FILE } from '../../../records/format/layout.ts';
import { at, forge } from './harms.ts';

export interface HistoryHarm {
  readonly toFolder?: (folder: string) => void | Promise<void>;
  /** Of the first rollout: query `one`, sample 0. */
  readonly toHistory?: (history: RolloutHistory) => RolloutHistory;
  readonly path: string;
  readonly problem: RegExp;
}

const one = at('one');
const turn = (number: number, change: (turn: TurnHistory) => TurnHistory) => (history: RolloutHistory) => ({
  ...history,
  turns: history.turns.map((found) => (found.turn === number ? change(found) : found)),
});
const remove = (path: string) => (folder: string) => rmSync(join(folder, path), { recursive: true });

export const historyHarms: Readonly<Record<string, HistoryHarm>> = {
  'a rollout that the folder lost': {
    toFolder: remove(one),
    path: `${one}/rollout.json`,
    problem: /^is missing, though the history of .* says it was written/,
  },
  'a last turn that the folder lost': {
    toFolder: remove(`${one}/turn-003.json`),
    path: `${one}/turn-003.json`,
    problem: /^is missing, though/,
  },
  'a verdict that the folder lost': {
    toFolder: remove(`${one}/verdict-002.json`),
    path: `${one}/verdict-002.json`,
    problem: /^is missing, though/,
  },
  'an end that the folder lost': {
    toFolder: remove(`${one}/end.json`),
    path: `${one}/end.json`,
    problem: /^is missing, though/,
  },
  'a result that the folder lost': {
    toFolder: remove(RESULT_FILE),
    path: RESULT_FILE,
    problem: /^is missing, though the collection/,
  },
  'another answer of the same length': {
    toFolder: forge(`${one}/turn-003.json`, 'turn', () => ({ outputIds: [7, 8, 9] })),
    path: `${one}/turn-003.json`,
    problem: /^is another record than the one that was generated/,
  },
  'another start': {
    toFolder: forge(`${one}/rollout.json`, 'rollout', () => ({ birthTime: 1 })),
    path: `${one}/rollout.json`,
    problem: /^is another record than the one that was fixed/,
  },
  'another verdict': {
    toFolder: forge(`${one}/verdict-003.json`, 'verdict', () => ({ verdict: 'right' })),
    path: `${one}/verdict-003.json`,
    problem: /^says verdict "right"; its history says "wrong"/,
  },
  'another reason of a verdict': {
    toFolder: forge(`${one}/verdict-003.json`, 'verdict', () => ({ reason: 'guessed' })),
    path: `${one}/verdict-003.json`,
    problem: /^says reason "guessed"; its history says/,
  },
  'another reward': {
    toFolder: forge(`${one}/end.json`, 'end', () => ({ returns: [1, 1, 1] })),
    path: `${one}/end.json`,
    problem: /^says returns \[1,1,1\]; its history says \[-0.75,0.5,-1\]/,
  },
  'an end with fewer turns': {
    toFolder: forge(`${one}/end.json`, 'end', ({ turns }) => ({ turns: (turns as string[]).slice(0, 2) })),
    path: `${one}/end.json`,
    problem: /^says turns 2; its history says 3/,
  },
  'another result': {
    toFolder: forge(RESULT_FILE, 'result', () => ({ cancelled: true })),
    path: RESULT_FILE,
    problem: /^says another result/,
  },
  'a turn that was generated again after its record': {
    toHistory: turn(2, (played) => ({ ...played, asked: 2 })),
    path: `${one}/turn-002.json`,
    problem: /^was asked for 2 times/,
  },
  'turns that were played in another order': {
    toHistory: (history) => ({ ...history, turns: [history.turns[1]!, history.turns[0]!, history.turns[2]!] }),
    path: `${one}/turn-002.json`,
    problem: /^was asked for as number 1/,
  },
  'another outcome': {
    toHistory: (history) => ({ ...history, result: { ...history.result!, outcome: 'failed', stopReason: 'failed' } }),
    path: `${one}/end.json`,
    problem: /^says outcome "complete"; its history says "failed"\nsays stopReason/,
  },
  'another number of tokens': {
    toHistory: (history) => ({ ...history, result: { ...history.result!, tokens: 1 } }),
    path: `${one}/end.json`,
    problem: /^says tokens 9; its history says 1/,
  },
};
