// The judge of answers that are to follow instructions: right if all are followed, as IFEval's strict accuracy has it. How many are,
// is told in numbers, so that the share of instructions is the quotient of two means.

import type { InstructionName } from '../../domain/query/instruction.ts';
import type { Query } from '../../domain/query/query.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { answerMessage, behindThoughts } from '../../domain/text/thoughts.ts';
import type { Environment } from '../environment.ts';
import { IFEVAL } from './ifeval.ts';
import { isBlank } from './python-text.ts';

const MOST_CHARS = 200;

/** The names of the instructions that the answer does not follow; `query` has some. */
function unfollowed({ instructions = [] }: Pick<Query, 'instructions'>, answer: string): string[] {
  const message = answerMessage(answer);
  const { text, isOpen } = behindThoughts(message.text);
  const isEmpty = isOpen || message.isOpen || isBlank(text);
  return instructions.flatMap(({ name, args }) => (!isEmpty && follows(name, args, text) ? [] : [name]));
}

const follows = (name: string, args: object, text: string): boolean =>
  (IFEVAL[name as InstructionName] as (text: string, args: object) => boolean)(text, args);

export function judgeRules(query: Pick<Query, 'instructions'>, answer: string): Verdict {
  return verdictOf(unfollowed(query, answer));
}

const verdictOf = (names: readonly string[]): Verdict =>
  names.length === 0
    ? { verdict: 'right', reason: 'all-followed' }
    : { verdict: 'wrong', reason: 'not-followed', extracted: names.join(', ').slice(0, MOST_CHARS) };

export const rulesEnvironment: Environment = {
  async respond({ rollout: { query }, answer }) {
    const names = unfollowed(query, answer);
    const instructions = query.instructions?.length ?? 0;
    return { verdict: verdictOf(names), metrics: { instructions, followed: instructions - names.length } };
  },
};
