// Sentences as NLTK's Punkt finds them, which the authors of IFEval and IFBench ask: a line break ends none. Its English model is not here:
// a list of abbreviations, and one of words that begin sentences, stand in for it.

import { BLANK, isBlank, strip } from './python-text.ts';

const ABBREVIATIONS = new Set(
  `mr mrs ms dr prof st jr sr gen col maj lt rep reps sen messrs inc ltd co corp bros vs v adm
  jan feb aug sep sept oct nov dec tues wed fri ave ft mg yr ct cos a.m p.m u.s u.k u.n u.s.a u.s.s.r
  d.c n.y n.j n.c s.c l.a w.va va pa ga fla calif ariz colo conn ill mich minn wash tenn nev ph.d m.b.a a.d j.p j.r`.split(
    /\s+/,
  ),
);
/** Words that begin sentences, and are no part of names. */
const STARTERS = new Set(
  `the this these there it he they i her in if but so when while which however although since without some many most
  yet please overall finally despite even both instead indeed moreover nevertheless similarly under though thus`.split(
    /\s+/,
  ),
);

const AFTER = String.raw`[)";}\]*:@'({[!?]`;
const CANDIDATE = new RegExp(`[.?!](?=${AFTER}|[${BLANK}]+([^${BLANK}]+))`, 'g');
const CLOSING = new RegExp(`^["')\\]}]+(?=[${BLANK}]|--|$)`);

export const countSentences = (text: string): number => sentencesOf(text).length;

/** Each without the blanks behind it. */
export function sentencesOf(text: string): string[] {
  const found: string[] = [];
  const skip = new RegExp(`[${BLANK}]*`, 'y');
  const behindBlanks = (at: number): number => {
    skip.lastIndex = at;
    skip.exec(text);
    return skip.lastIndex;
  };
  let [begin, from] = [0, 0];
  for (const end of [...endsIn(text), strip(text, undefined, 'end').length]) {
    // What closes a quotation or a bracket belongs to the sentence before.
    const closing = from === 0 ? '' : (CLOSING.exec(text.slice(from, from + MOST_CLOSING))?.[0] ?? '');
    if (closing !== '') {
      found[found.length - 1] = text.slice(begin, from + closing.length);
      from = behindBlanks(from + closing.length);
    }
    if (from < end) {
      begin = from;
      found.push(text.slice(begin, end));
    }
    from = behindBlanks(Math.max(from, end));
  }
  return found.filter((sentence) => !isBlank(sentence));
}

const MOST_CLOSING = 100;
const IS_BLANK = new RegExp(`[${BLANK}]`);

/** The places behind the marks that end sentences. */
function endsIn(text: string): number[] {
  const found = [...text.matchAll(CANDIDATE)];
  return found.flatMap(({ index, 0: mark, 1: next }, i) => {
    const later = found[i + 1]?.index;
    // Of marks in one run the last counts.
    if (later !== undefined && !IS_BLANK.test(text.slice(index, later + 1))) return [];
    return endsSentence(mark, wordBefore(text, index), next) ? [index + 1] : [];
  });
}

const MOST_WORD = 100;
const BEFORE_WORD = new RegExp(`[${BLANK}(["*]`);
function wordBefore(text: string, at: number): string {
  let from = at;
  while (from > 0 && at - from < MOST_WORD && !BEFORE_WORD.test(text[from - 1]!)) from--;
  return text.slice(from, at);
}

function endsSentence(mark: string, word: string, next: string | undefined): boolean {
  if (mark !== '.') return true;
  const bare = (next ?? '').replace(/[^\p{L}\p{N}]+$/u, '');
  const begins = /^\p{Lu}/u.test(bare) && STARTERS.has(bare.toLowerCase());
  const isLow = /^\p{Ll}/u.test(bare);
  if (word.endsWith('.')) return begins;
  if (ABBREVIATIONS.has(word.toLowerCase())) return begins;
  if (/^\p{L}$/u.test(word)) return !/^\p{L}/u.test(bare) || begins;
  return !(/^[\p{Nd}.,-]+$/u.test(word) && isLow);
}
