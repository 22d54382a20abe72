// A run with every kind of turn that a row for a turn meets: answers without token ids, without tokens, of tools, at the
// limits of their types; rollouts that failed, were cancelled, could not be judged or have not ended.

import type { StopReason } from '../../../domain/rollout/ending.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import type { VerdictValue } from '../../../domain/rollout/verdict.ts';
import type { Store } from '../../../records/store.ts';
import { aQuery, play, putRun, someSettings } from '../../records/play.ts';

/** As `answerInText` (activities/answer.ts) records it. */
const WORDS = { contextIds: [], outputIds: [], logprobs: [], versions: [], versionStart: 0, versionEnd: 0 };
const WITHOUT_IDS: Partial<TurnRecord> = { ...WORDS, trainable: false };
const EMPTY: Partial<TurnRecord> = { ...WORDS, contextIds: [7], versionStart: 3, versionEnd: 3, answer: '' };
export const LARGEST = 2 ** 31 - 1;
/** Of a float32: the least, a subnormal, one that rounds, the greatest. */
export const LOGPROBS = [-(2 ** -149), -1e-40, -0.1, -(2 - 2 ** -23) * 2 ** 127, 0];
const EXTREME: Partial<TurnRecord> = {
  contextIds: [0, LARGEST],
  outputIds: LOGPROBS.map((_, i) => (i === 0 ? 0 : LARGEST - i)),
  logprobs: LOGPROBS,
  versions: [
    { version: 0, start: 0, end: 1 },
    { version: LARGEST, start: 1, end: LOGPROBS.length },
  ],
  versionStart: 0,
  versionEnd: LARGEST,
  answer: 'a "b"\n\t\u0000 é 😀 \\boxed{4}, NaN, null',
  finish: 'length',
  server: 'http://127.0.0.1:1',
};

type Turns = (turn: number) => Partial<TurnRecord>;
export const ODD: readonly (readonly [string, readonly VerdictValue[], StopReason | null, Turns?])[] = [
  ['words', ['wrong', 'right'], 'success', () => WITHOUT_IDS],
  [
    'counted',
    ['right'],
    'success',
    () => ({ ...WITHOUT_IDS, textLogprobs: ['4', '2'].map((token) => ({ token, logprob: -1 })) }),
  ],
  ['empty', ['wrong', 'right'], 'success', (turn) => (turn === 1 ? EMPTY : {})],
  ['tools', ['called', 'wrong', 'called', 'right'], 'success', (turn) => ({ contextText: `result ${turn}` })],
  ['lost', ['wrong', 'called'], 'context-length'],
  ['extreme', ['right'], 'success', () => EXTREME],
  ['failed', ['wrong'], 'failed'],
  ['at-once', [], 'failed'],
  ['undecided', ['wrong', 'undecided'], 'undecided'],
  ['cancelled', ['right', 'wrong'], 'cancelled'],
  ['unfinished', ['wrong'], null],
];

export async function oddRun(store: Store): Promise<void> {
  const settings = someSettings({ numTurns: 4, rewardScaling: 0.3, rewardBias: 0.1, turnDiscount: 0.9 });
  const queries = ODD.map(([id], i) =>
    i % 2 === 0
      ? aQuery(id, { prompt: { kind: 'messages', messages: [{ role: 'user', content: `${id}?` }] } })
      : aQuery(id),
  );
  await putRun(store, queries, { samples: 1, settings });
  for (const [index, [, verdicts, stop, turn]] of ODD.entries())
    await play(store, { query: queries[index]!, index, settings, verdicts, stop, ...(turn && { turn }) });
}
