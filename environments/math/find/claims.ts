// A box that nobody claims: what still has to be checked, shown or decided, what was picked at random, a first estimate, a placeholder,
// what somebody else wants to see. And boxes of several cases of which none is said to be the answer. Linear: one sentence is read.

import type { Box } from './boxes.ts';
import type { Known } from './known.ts';

const TASK =
  '(check|verif(?:y|ied)|confirm|prove|show|test|try|examine|establish|justify|guess|investigate|double-check|decide)';
const DONE = '(?:checked|verified|confirmed|prove[dn]|shown|tested|tried|examined|established|justified|decided)';
/** Each of these before the box, where no separator ends what it says. */
const BEFORE = [
  new RegExp(String.raw`\blet(?:'s|’s| us| me) (?:now |first )?${TASK}[\s$]*$`, 'i'),
  // "We must check", "we still have to prove"; "had to" is past.
  new RegExp(
    String.raw`\b(?:must|should|needs? to|(?:have|has) to|ought to|remains? to|yet to|wants? to|trying to|going to|wish(?:es)? to)\s+(?:(?:now|still|also|first|then)\s+)?${TASK}\b[^.,;:=⟦]*$`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:must|should|needs? to|(?:has|have)(?: yet| still)? to|remains? to|yet to)\s+(?:still\s+)?be\s+${DONE}\b[^.,;:=⟦]*$`,
    'i',
  ),
  new RegExp(
    String.raw`^\W*(?:still )?to be (?:${DONE}|determined|found|computed|calculated|discussed|continued)\W*$`,
    'i',
  ),
  /^\W*(?:TBD|TBC|TBA|TODO|FIXME)\b/,
  /\b(?:seed|dummy|filler|placeholder|mock|default)(?: (?:value|number|answer|text|box))?\W*(?:(?:is|of|=)\W*)?$/i,
  /\bhere(?:'s|’s| is) (?:a|an|your|the|another) (?:\p{L}+ )?box\W*$/iu,
];
/** These count wherever they stand before or behind the box, unless the question holds them. */
const ANYWHERE =
  /\b(?:at (random)|(randomly)|(arbitrar)(?:il)?y|(tentative)(?:ly)?|(provisional)(?:ly)?|(?:first|initial|crude|rough|rudimentary|preliminary) (approximation|estimate|guess)|working (hypothesis|assumption|guess)|(hypothesis|conjecture|placeholder)|by a (coin) (?:flip|toss))\b/giu;
const CHANCE = /probab|chance|random|\bodds\b|expected|likel/i;
/** Somebody else's wish. */
const WANTED =
  /\b(?:the|an?|our|this|my) (?:\p{L}+ )?(user|grader|verifier|evaluator|checker|rubric|prompt|reward|reward model|reward function|grading script|autograder)\s+(?:\p{L}+ )?(?:wants?|expects?|looks? for|requires?|asks? for|needs?|likes?|rewards?|accepts?|prefers?)\b/iu;
const BEHIND = [
  /^[\s,.$)}\]*\\(–—-]*(?:give or take|more or less|or so\b|or thereabouts|plus or minus|-ish\b|-(?:style|type|like|shaped|format(?:ted)?)\b)/i,
  new RegExp(
    String.raw`^[\s$)}\]*\\]*(?:(?:(?:still )?(?:remains?|needs?|has(?: yet| still)?|have|ought|is yet|is still|is) to|must|should)(?: still)? be (?:${DONE}|determined|seen)|still (?:has|needs) to be ${DONE}|(?:still )?(?:needs?|awaits?|requires?|lacks?) (?:a |more |further |some )?(?:check(?:ing)?|proof|verification|confirmation|justification)\b)`,
    'i',
  ),
];

/** `before` and `behind`: the sentence around a box. */
export function isUnclaimed(before: string, behind: string, known: Known): boolean {
  const plain = before.replace(/\*\*|__/g, '');
  // "She has to test 5 doors" where the question tests them.
  const unclaimed = (form: RegExp): boolean => {
    const found = form.exec(plain);
    return found !== null && !(found[1] !== undefined && known(found[1].toLowerCase()));
  };
  if (BEFORE.some(unclaimed) || BEHIND.some((form) => form.test(behind))) return true;
  const wanting = WANTED.exec(plain)?.[1];
  if (wanting !== undefined && !known(wanting.toLowerCase())) return true;
  return [...`${plain} ⟦ ${behind}`.matchAll(ANYWHERE)].some((found) => {
    const word = found.slice(1).find((one) => one !== undefined) ?? '';
    return !known(word.toLowerCase()) && !CHANCE.test(known.question ?? '');
  });
}

const CASE =
  /\b(?:(case|option|scenario|possibility|alternative|candidate|reading|interpretation|variant|version|method|approach|way|solution|answer)\s+#?(?:\d{1,2}|[A-H]|I{1,3}|IV|V|one|two|three|four)\b|(?:first|second|third|fourth|other) (case|option|scenario|possibility|alternative|candidate|reading|interpretation|variant|version|method|approach))(?=[^\p{L}\d])/giu;
const CONCLUDES =
  /\b(?:total|altogether|final|overall|sum|adding|together|combin\p{L}+|therefore|hence|both|all|either|answer)\b/iu;

/** The boxes of the other cases, where the last one answers its own case alone: "Case 1: \\boxed{28}. Case 2: \\boxed{30}." */
export function otherCases(text: string, boxes: readonly Box[], start: number): string[] {
  const from = Math.max(0, start - 4_000);
  const earlier = boxes.filter((box) => box.end <= start && box.start >= from);
  if (earlier.length === 0) return [];
  const labels = [...text.slice(from, start).matchAll(CASE)];
  const last = labels.at(-1);
  const own = text.slice(from + (last?.index ?? 0) + (last?.[0].length ?? 0), start);
  if (!last || own.includes('\n\n') || /\\f?boxed/.test(own) || CONCLUDES.test(own)) return [];
  const kind = (label: RegExpExecArray): string => (label[1] ?? label[2] ?? '').toLowerCase();
  const first = labels.find((label) => kind(label) === kind(last) && label !== last);
  return first === undefined
    ? []
    : earlier.filter((box) => box.start > from + first.index).map(({ content }) => content);
}
