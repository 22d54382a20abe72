// Reads the words around a value in running text: those that deny, doubt or bound it, and words behind it that belong to it.
// Linear: only a few hundred characters on either side are read.

import { isRefusing, SCALES } from '../read/harmless-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

/** The last of these links a value to what is said of it. */
const LINKS =
  /^(?:is|are|was|were|be|been|equals?|becomes?|gives?|yields?|=|(?:is|are|was|were|does|do|did|ca|wo|would|could|should)n[’']t)$/i;
const BEFORE_BE = /^(?:cannot|not|never|could|might|may|can[’']?t|n[’']t|hardly)$/i;
/** "I do not think", "it is not true that", "it would be wrong to say": of the statement, not of a thing in it. */
const DENIED_STATEMENT =
  /\b(?:not|never|cannot|hardly|n[’']t)\s+(?:be\s+)?(?:true|think|believe|say|claim|sure|certain|right|correct|the case|agree)\b|n[’']t (?:think|believe|say|claim|agree)\b|\bwhether\b|\b(?:not|n[’']t) know\b|\b(?:wrong|incorrect|false|doubt|unlikely|mistaken|untrue)\b/i;
const RETRACTED =
  /\b(?:that|this|it|which|answer|above)\b[^.!?\n]{0,30}(?:\b(?:wrong|incorrect|false|mistake|mistaken)\b|n[’']t (?:right|correct|true)\b|\bnot (?:right|correct|true|the answer)\b)|\bscratch that\b|^\W*no[,.!]/i;
const MARKUP = /<\/?[a-z]+>|\\[()[\]]|[$*{}"“”`~]|\\(?:text|mathrm|boxed|quad)\b/g;

/** Is the value at `start` to `end` denied, doubted, bounded or asked for by the words around it? */
export function isRefused(text: string, start: number, end: number): boolean {
  const left = text
    .slice(Math.max(0, start - 200), start)
    .replace(/<<[^<>]*>>/g, ' ')
    .replace(MARKUP, ' ');
  const clause = left.split(/[.!?:;](?=\s)|,\s|\n|—/).at(-1) ?? '';
  if (DENIED_STATEMENT.test(clause)) return true;
  const words = clause.replace(/^\s*but\b/i, ' ').match(/[A-Za-z][A-Za-z’']*|[=<>≤≥≠]/g) ?? [];
  const link = words.findLastIndex((word) => LINKS.test(word));
  const governing = link < 0 ? words.slice(-4) : words.slice(link);
  if (governing.some(isRefusing) || /[A-Za-z]{2,}\s+or\s*$/.test(clause)) return true;
  if (governing.some((word) => /^either$/i.test(word)) && !governing.some((word) => /^or$/i.test(word))) return true;
  if (
    /^(?:be|equals?)$/i.test(words[link] ?? '') &&
    words.slice(Math.max(0, link - 2), link).some((w) => BEFORE_BE.test(w))
  )
    return true;
  const right = text.slice(end, end + 300).replace(MARKUP, ' ');
  return ASKED_OR_DENIED.test(right) || RETRACTED.test(right);
}

const ASKED_OR_DENIED =
  /^[\s)]*(?:\?|,?\s*(?:is|are|was|were|may be|might be|could be)?\s*(?:not\b(?!\s*[\d$\\(-]|\s+\w+ing\b)|n[’']t\b|wrong\b|incorrect\b|false\b|untrue\b|impossible\b|excluded\b|doubtful\b|at (?:most|least)\b|squared\b|cubed\b|maybe\b|perhaps\b|possibly\b)|\s*(?:isn[’']t|aren[’']t|wasn[’']t|can(?:no|[’'])t|won[’']t|doesn[’']t)\b)/i;

/** The words behind a value that belong to it: a percent sign, factors and units, and what "or" adds to it. */
export function tailOf(text: string, end: number): string {
  const after = text.slice(end, end + 160).replace(/\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}|\\[,;:! ]|~/g, ' $1 ');
  const close = /^[\s$*]*(?:\\\)|\\\])?[\s*]*/.exec(after)?.[0] ?? '';
  const rest = after.slice(close.length);
  if (/^(?:\\?%|percent\b|pct\b)/i.test(rest)) return '\\%';
  let tail = '';
  for (const [piece, power, word = ''] of rest.matchAll(/\s*((?:square|cubic|per)\s+)?([A-Za-z]+)\.?/gy)) {
    const unit =
      isUnitWord(word) ||
      /^units?$/.test(word) ||
      (/^[msghlLNJWVK]$/.test(word) && !/\w/.test(rest[tail.length + piece.length] ?? ''));
    if (!unit && (power || !SCALES.has(word.toLowerCase()))) break;
    tail += piece;
  }
  const or =
    /^,?\s*(?:or(?=\s)(?!\s+(?:else|about|approximately|roughly|equivalently|simply|just|in)\b|\s*\\approx)|and(?=\s+[\d$\\(-]))[^.;!?\n]*(?:[.](?=\d)[^.;!?\n]*)*/i.exec(
      rest.slice(tail.length),
    )?.[0] ?? '';
  return `${tail === '' ? '' : ` ${tail.replace(/\.$/, '')}`}${or === '' ? '' : ` ${or.replace(/^,\s*/, '')}`}`;
}
