// Reads the words around a value in running text: those that deny, doubt or bound it, and words behind it that belong to it.
// Linear: only a few hundred characters on either side are read.

import { isHedged, isRefusing, SCALES } from '../read/harmless-words.ts';
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
  if (governing.some(isHedged) && !/\d[.,]\d/.test(text.slice(start, end))) return true;
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

const BEHIND =
  /^[\s),]*(?:(?:factorial|minus|plus)\b|\(\s*or\b(?! (?:else|about|approximately|equivalently|simply))|(?:times|over|to|divided by|multiplied by)\s+(?:(?!\d+ (?:decimal|significant|d\.?p|s\.?f|places))[\d$\\(]|one|two|three|four|five|ten)|(?:(?!\(|,|\bbecause\b|\bsince\b|\bas\b|\bnot\b)\S+\s+){0,4}?(?:fails?|wrong|extraneous|contradict(?:s|ion|ory)|absurd|impossible|excluded|rejected|discarded|ruled out|false|unless|invalid|inadmissible|might think|(?:does|do|is|can|could|will)\s?n[o’']t(?!\s+[\d$\\(-]))\b)/i;
const AHEAD =
  /\b(?:exclud(?:e|es|ing)|reject(?:s|ing)?|discard(?:s|ing)?|rul(?:e|es|ing) out|eliminat(?:e|es|ing)|suppos(?:e|es|ing)|assum(?:e|es|ing)|(?:reciprocal|inverse|opposite|negative|square|square root|factorial|multiples?|divisors?|factors?|digits?) of)\s+(?:(?:the|a|that|value|case|answer|solution|[a-z] ?=)\s*)*$/i;

/** Do the words directly around a box deny it, or make another value of it? */
export function isChanged(text: string, start: number, end: number): boolean {
  const clause =
    text
      .slice(Math.max(0, start - 160), start)
      .replace(MARKUP, ' ')
      .split(/[.!?;](?=\s)|\n/)
      .at(-1) ?? '';
  if (AHEAD.test(clause)) return true;
  const right =
    text
      .slice(end, end + 200)
      .replace(MARKUP, ' ')
      .split(/[.!?](?=\s|$)|\n/)[0] ?? '';
  return BEHIND.test(right);
}

const LABEL =
  /\b(?:pages?|pp?\.|lemma|theorem|proposition|corollary|definition|step|case|equation|eq\.|figure|fig\.|table|problem|question|part|section|chapter|exercise|example|item|option|check|try|test)\s*[([]?\s*$/i;
const UNSAID =
  /\b(?:suppos(?:e|es|ing)|assum(?:e|es|ing)|if|were|unless|except|no|never|cannot|differs?|differ|close|approach(?:es)?|tends?|exclud(?:e|es|ing)|reject(?:s|ing)?|rul(?:e|es|ing) out|check(?:ing)?|consider|try|log|logarithm|(?:roots?|reciprocal|multiples?|divisors?|factors|digits?|square|cube|inverse|power|pairs?) of)\b/i;
const TAKEN_BACK =
  /\b(?:fails?|wrong|extraneous|contradict\w*|absurd|impossible|excluded|rejected|discarded|ruled out|false|invalid|inadmissible|(?:does|do|can|could|will)(?:n[’']t| not)|cannot)\b/i;

/** Unmarked, a value counts only where its sentence states it: not "page 6", "suppose x = 6", "x = 6 is extraneous". */
export function isUnstated(text: string, start: number, end: number): boolean {
  const left = text.slice(Math.max(0, start - 200), start).replace(MARKUP, ' ');
  const clause = left.split(/[.!?;:](?=\s)|,\s|\n|\b(?:then|so|but|and)\b/).at(-1) ?? '';
  if (LABEL.test(left) || UNSAID.test(clause)) return true;
  const behind = text.slice(end, end + 300).replace(MARKUP, ' ');
  if (
    /(?:^|\n)\s*$/.test(left) &&
    /^[.)] +[A-Za-z]/.test(behind) &&
    /\n/.test(text.slice(0, start).trimEnd() + (left.includes('\n') ? '\n' : ''))
  )
    return true;
  const said = (behind.split(/[.!?](?=\s|$)|\n/)[0] ?? '').replace(/\b(?:because|since|as|while|whereas)\b.*/s, '');
  return (
    TAKEN_BACK.test(said) ||
    /^[^.!?]{0,60}[.!?]\s+(?:this is |that is |a )?(?:contradiction|absurd|impossible)/i.test(behind)
  );
}

/** "$4$ when $x = 2$", "4, attained at x = 2": the place of a value is no part of it. */
export const PLACE =
  /,?\s+\(?(?:with equality |attained |achieved |reached |occurring )?(?:when|where|at|if and only if|iff)\s+\$?\\?\(?\s*[A-Za-z](?:_\w)?(?:\s*=\s*[A-Za-z](?:_\w)?)*\s*=[^=.\n]{1,60}(?:\.\d+)?\$?\)?(?=\s*\.?\s*$)/;
