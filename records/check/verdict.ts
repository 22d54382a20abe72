// Proves that a verdict of Everturn's own judges can have its reason: a reason that says equal is of `right`, one that
// says different is not. Reasons of a user's environment prove nothing. Not covered: whether the verdict is right (`everturn judge --run`).

import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

/** docs/judge.md and docs/sandbox.md list them. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  right: ['equal', 'equal-text', 'equal-form', 'equal-sampled', 'equal-rounded', 'all-cases'],
  wrong: [
    ...['different', 'no-answer', 'unreadable', 'too-big', 'not-shown', 'cut-off', 'no-value'],
    ...['no-code', 'unsupported-language', 'syntax-error', 'runtime-error', 'cpu-limit', 'memory-limit'],
    ...['output-limit', 'disk-limit', 'file-limit', 'no-function', 'early-exit', 'forged-result'],
  ],
  undecided: [
    ...['no-solution', 'solution-unreadable', 'solution-unparsed', 'unparsed', 'judge-gave-up', 'judge-killed'],
    ...['judge-stalled', 'judge-process', 'no-cases', 'bad-case', 'case-too-big', 'sandbox-trouble'],
  ],
  called: ['tools'],
};

export function* verdictProblem(record: VerdictRecord, { answer }: Pick<TurnRecord, 'answer'>): Generator<string> {
  const { verdict, reason, environment, extracted } = record;
  if (environment !== undefined) return;
  if (verdict === 'scored') yield 'gives a reward without a verdict, which no judge of Everturn’s does';
  const right = Object.keys(ONLY).find((value) => ONLY[value]!.includes(reason));
  if (verdict !== 'scored' && right !== undefined && right !== verdict)
    yield `says ${verdict}, with the reason ${reason}, which is of ${right}`;
  if (answer.trim() === '' && (verdict === 'right' || extracted !== undefined))
    yield `says ${verdict} of a final answer, and the turn has no text`;
}
