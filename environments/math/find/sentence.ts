// The sentence around a value: its words before the value and behind it, also where a display, a colon or a line that was
// wrapped parts them. A formula that is complete stands for a noun. Linear: a few hundred characters a side are read.

import { inEnglish } from '../read/statement-words.ts';

const REACH = 500;
/** Stands for a formula among words. */
export const NOUN = '⟦';
const FORMULA =
  /\$\$[^$]{1,400}\$\$|\$[^$\n]{1,300}\$|\\\([^()]{0,150}(?:\([^()]{0,80}\)[^()]{0,80}){0,4}\\\)|\\\[[^\]]{1,300}\\\]/g;
/** `\\[x = 3.\\]Hence`: the sign that ends a sentence or a clause inside a formula. */
const STOP = /([.,;])\s*(?:\$\$?|\\[)\]])$/;
/** A dollar before an amount that words or another amount follow opens no formula. */
const MONEY = /\$(?=\d[\d,]*(?:\.\d+)?(?:\s?[-+−×÷*/=]\s?\$\d|[^$\\]{0,200}?[^$\\\p{L}{]\p{L}{3}))/gu;
const NEVER = /(?!)/g;
const TEXT = /\\(?:text|textbf|textit|mathrm|mbox|textrm|underline)\s*\{([^{}]*)\}/g;
/** Marks that strike out what they stand at. */
export const STRUCK = /~~|<\/?(?:s|del|strike)>|[❌✖✗✘⛔🚫👎🙅❎❓❔⁉⍻🗙]/u;
/** `~~6~~`: a single pair of tildes is LaTeX's blank. */
export const STRIKES = /~~[^~]+~~|<(?:s|del|strike)>/;
const SENTENCE = /[.!?;](?=[\s"'”’)*]|\$|\\[)\]]|$)|[。！？；]/;

const plain = (text: string): string =>
  inEnglish(
    text.includes('\\') || text.includes('<')
      ? text
          .replace(TEXT, ' $1 ')
          .replace(/\\(?:begin|end)\s*\{[^{}]*\}|<<[^<>]*>>|<\/?(?!s>|del>|strike>)[a-z]+>/g, ' ')
          .replace(/\\(?:n(?:e|eq|ot)|geq?|leq?|geqslant|leqslant)(?![A-Za-z])/g, ' ≠ ')
          .replace(/\\approx(?![A-Za-z])/g, ' approximately ')
          .replace(/\\[A-Za-z]+/g, ' ')
      : text,
  );

/** Words, numbers and the signs that say something between them. */
export const wordsOf = (text: string): string[] => text.match(/⟦|[=:]|\p{L}+(?:[’']\p{L}+)*|[≠≤≥<>]|\d[\d.,]*/gu) ?? [];

/** Running text with a noun for each formula. */
export const withNouns = (text: string): string => plain(text.replace(FORMULA, ` ${NOUN} `));

export interface Left {
  readonly words: string;
  /** Is the value inside a formula? */
  readonly inside: boolean;
}

const FORMULA_TO = /(?:\$\$?|\\\(|\\\[)(?!.*(?:\$|\\\)))([^$]*)$/s;
/** A line after which a display goes on with the sentence. */
const GOES_ON = /[:：,，][*\s]*$|(?:^|\s)(?:is|are|be|equals|get|that|to|the|of|=|not)\s*$/i;

export function leftOf(text: string, start: number): Left {
  const reach = text
    .slice(Math.max(0, start - REACH), start)
    .replace(/\\\$/g, ' ')
    .replace(text.startsWith('\\boxed', start) || text.startsWith('\\fbox', start) ? NEVER : MONEY, '')
    .replace(FORMULA, (m) => ` ${NOUN}${/\\n(?:e|eq|ot)(?![A-Za-z])|≠/.test(m) ? '≠' : ''}${STOP.exec(m)?.[1] ?? ''} `);
  const open = FORMULA_TO.exec(reach);
  const before = open ? reach.slice(0, open.index) : reach;
  const lines = before.split('\n');
  let kept = lines.pop() ?? '';
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const previous = line.trimEnd();
    if (previous === '' && kept.trim() === '') continue;
    const wrapped = /^\s*\p{Ll}/u.test(kept) && previous !== '' && !/[.!?;:。]\W*$/.test(previous);
    if (!wrapped && (kept.trim() !== '' || !GOES_ON.test(previous))) break;
    kept = `${previous} ${kept}`;
  }
  const sentence = kept.split(SENTENCE).at(-1) ?? '';
  return { words: plain(`${sentence} ${inFormula(open?.[1] ?? '')}`), inside: open !== null };
}

/** Of the formula up to the value: the words in it, a noun if anything else stands there, and the sign before the value. */
const inFormula = (math: string): string => {
  const said = [...math.matchAll(TEXT)].map((m) => m[1]).join(' ');
  const rest = math.replace(TEXT, ' ').replace(/\\(?:begin|end)\{[^{}]*\}|\\(?!approx|n)[A-Za-z]+|[&{}()]/g, ' ');
  const link = math.slice(math.lastIndexOf('=') + 1);
  // "40 \\cdot 2.67 \\approx" ends a calculation.
  const rounds =
    /(?:\\approx|≈)\s*$/.test(link) &&
    /\d/.test(link) &&
    /[-+*/^]|\d\.\d|\\(?:times|cdot|[dt]?frac|sqrt|div)/.test(link);
  return `${said} ${/[\p{L}\d]/u.test(rest) ? NOUN : ''} ${rounds || /[=:]\s*$/.test(rest) ? '=' : /(?:\\approx|≈)\s*$/.test(rest) ? 'approximately' : ''}`;
};

export function rightOf(text: string, end: number, inside: boolean): string {
  const reach = text.slice(end, end + REACH);
  // The rest of the formula around the value is read with the value.
  const rest = inside ? (/^[^$]{0,200}?(?:\$\$?|\\\)|\\\])/.exec(reach)?.[0] ?? '') : '';
  const said = [...rest.matchAll(TEXT)].map((m) => m[1]).join(' ');
  const behind = `${said} ${reach.slice(rest.length).replace(FORMULA, ` ${NOUN} `)}`.replace(
    /\\(?:end|begin)\{[^{}]*\}/g,
    ' ',
  );
  return plain(behind.slice(0, sentenceEnd(behind)));
}

const RIGHT_END = new RegExp(`${SENTENCE.source}|\\n|^[\\s$*)\\]}]*\\s(?=\\p{Lu}\\p{Ll}|I[\\s'’])`, 'u');
/** A capital opens no sentence where nouns have one. */
const GERMAN =
  /^[\s$*)\]}]*\s(?:\p{Lu}\p{Ll}{2,}(?:metern?|meilen|stunden?|minuten|tagen?|jahren?|euro|dollar|eiern?|personen|kindern?|grad)\b|\p{Lu}\p{Ll}+ (?:pro|auf|im|in der|in dem|für|und|von|des|der|an)\b)/iu;
const GERMAN_END = new RegExp(`${SENTENCE.source}|\\n`, 'u');
/** The end of the sentence in which a value stands, as an offset in what follows the value. */
export function sentenceEnd(behind: string): number {
  const closed = /^\s*(?:\\end\{\w+\*?\}\s*)*(?:\$\$?|\\\)|\\\])/.exec(behind)?.[0].length ?? 0;
  const end = (GERMAN.test(behind.slice(closed, closed + 200)) ? GERMAN_END : RIGHT_END).exec(behind.slice(closed));
  if (end === null) return behind.length;
  const to = closed + end.index + end[0].length;
  // `\boxed{6}.$ Then`
  return to + (/^(?:\$\$?|\\[)\]])/.exec(behind.slice(to, to + 2))?.[0].length ?? 0);
}

const ENDS = /(?<=[.!?;][)\]"'”’]{0,2})(?<!(?:^|\n)[ \t]{0,4}\d{1,2}\.)(?=\s)|[。！？；\n]/u;
const LABEL =
  /^(?:\\end\{\w+\*?\}|\\\]|\$\$(?=\s*\p{Lu}\p{Ll})|\$\\(?:blacksquare|square|Box|qed)\$|[-•>#(]|\d+[.)](?=\s\p{L})|note:|n\.?b\.?:|ps:)+\s*/iu;
const SENTENCE_CHARS = 600;

/** The sentences of a text, each once: a model that runs on says the same many times. */
export function* sentencesOf(text: string): Generator<string> {
  for (const raw of new Set(text.split(ENDS))) {
    const said = raw.trim().replace(LABEL, '').slice(0, SENTENCE_CHARS);
    if (said !== '') yield said;
  }
}
