// A box in a sentence that names its value: "The outer perimeter is \boxed{30}". If its subject is a quantity of another kind,
// or the asked quantity of another thing of the question, the box claims something else. Reasoning before it in the same sentence, and
// what follows the box, leave the model free. Linear: one sentence is read.

import { isPreposition, namedIn, QUANTITY_ROW, type Token, tokensOf } from './named.ts';
import { readQuestion } from './question.ts';

const STATES =
  /^(?:[^\p{L}]*(?:so|thus|hence|therefore|then|now|and|finally|as a result|in conclusion)\b,?)?\s*the ([\p{L}\s'’-]{2,120}?(?:(?:plus|minus) \d+)?)\s(?:is|are|was|were|equals)(?: (?:therefore|thus|then|just|exactly|simply|equal to))?\s*[:$]?\s*$/iu;
/** Names of parts, of which the question has to speak. */
const PARTS = /^(?:outer|inner|other|larger|smaller|bigger)$/;

const meets = (own: ReadonlySet<number>, theirs: ReadonlySet<number>): boolean =>
  [...own].some((one) => theirs.has(one));

/** `before`: the words of the sentence up to the box. */
export function claimsAnother(before: string, behind: string, question: string): boolean {
  const subject = STATES.exec(before.replace(/\*\*|__/g, ''))?.[1];
  // ", our gcd"
  if (subject === undefined || /^[\s$)}\]*\\]*,/.test(behind)) return false;
  const asked = readQuestion(question);
  const tokens = tokensOf(subject);
  const at = tokens.findIndex(({ word }, k) => k > 0 && isPreposition(word));
  const [head, rest] = at < 0 ? [tokens, []] : [tokens.slice(0, at), tokens.slice(at + 1)];
  const own = namedIn(head).get(QUANTITY_ROW);
  const theirs = asked.headed.get(QUANTITY_ROW) ?? asked.named.get(QUANTITY_ROW);
  const noun = head.at(-1)?.word ?? '';
  if (!theirs) return false;
  if (noun === 'digit' && !asked.words.has('digit')) return true;
  if (!own) return false;
  if (!meets(own, theirs)) return true;
  const written = new Set(tokens.map((token) => token.written.toLowerCase()));
  return (
    [...written].some((word) => PARTS.test(word) && !asked.words.has(word)) ||
    isOfAnother(rest, asked.clause, asked.words)
  );
}

/** "The area of the garden" where the question asks for the area of the path. */
function isOfAnother(rest: readonly Token[], clause: readonly Token[], words: ReadonlySet<string>): boolean {
  const [owner] = rest.filter(({ word }) => /^\p{L}{3,}$/u.test(word) && word !== 'the');
  const of = clause.findIndex(({ word }, k) => word === 'of' && clause[k + 1]?.word === 'the');
  if (owner === undefined || of < 0 || rest.length > 2) return false;
  return words.has(owner.word) && !clause.some(({ word }) => word === owner.word);
}
