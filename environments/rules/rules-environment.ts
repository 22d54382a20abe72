// The judge of answers that are to follow instructions: right if all are followed, strictly as IFEval's authors report it, or
// loosely as IFBench's do. How many are, and what the other way says, is told in numbers: the share of instructions is the quotient
// of two means.

import type { InstructionName } from '../../domain/query/instruction.ts';
import type { Query } from '../../domain/query/query.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { answerMessage, behindThoughts } from '../../packages/judge/index.ts';
import type { Environment } from '../environment.ts';
import { IFBENCH } from './ifbench.ts';
import { IFEVAL } from './ifeval.ts';
import { isBlank, strip } from './python-text.ts';

export const RULES = { ...IFEVAL, ...IFBENCH };
const MOST_CHARS = 200;

/** What is judged: nothing of an answer that has not left its thoughts. */
function textOf(answer: string): string {
  const message = answerMessage(answer);
  const { text, isOpen } = behindThoughts(message.text);
  return isOpen || message.isOpen ? '' : text;
}

/** The names of the instructions that the answer does not follow; `query` has some. */
function unfollowed({ instructions = [] }: Pick<Query, 'instructions'>, answer: string, loose = false): string[] {
  const text = textOf(answer);
  const texts = loose ? loosely(text) : [text];
  return instructions.flatMap(({ name, args }) =>
    texts.some((one) => !isBlank(one) && follows(name, args, one)) ? [] : [name],
  );
}

const follows = (name: string, args: object, text: string): boolean =>
  (RULES[name as InstructionName] as (text: string, args: object) => boolean)(text, args);

/** Also without the first line, the last one or both, and each of these without asterisks. */
function loosely(text: string): string[] {
  const lines = text.split('\n');
  const rest = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map((part) => strip(part.join('\n')));
  return [...new Set([text, ...rest].flatMap((one) => [one, one.replaceAll('*', '')]))];
}

export const judgeRules = (query: Pick<Query, 'instructions' | 'loose'>, answer: string): Verdict =>
  verdictOf(unfollowed(query, answer, query.loose));

const verdictOf = (names: readonly string[]): Verdict =>
  names.length === 0
    ? { verdict: 'right', reason: 'all-followed' }
    : { verdict: 'wrong', reason: 'not-followed', extracted: names.join(', ').slice(0, MOST_CHARS) };

export const rulesEnvironment: Environment = {
  async respond({ rollout: { query }, answer }) {
    const { instructions = [], loose = false } = query;
    const names = unfollowed(query, answer, loose);
    const other = unfollowed(query, answer, !loose).length === 0 ? 1 : 0;
    const followed = instructions.length - names.length;
    return {
      verdict: verdictOf(names),
      metrics: { instructions: instructions.length, followed, [loose ? 'strict' : 'loose']: other },
    };
  },
};
