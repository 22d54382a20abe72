// What a text states: the words behind "the answer is" up to the end of their sentence, and the value that such words end in.

import { deniesClause, isDenied, STATING, STATING_CHOICE } from '../read/choices.ts';
import { isHedged, isRefusing } from '../read/harmless-words.ts';
import { dateOf } from '../read/moments.ts';
import { lastValue } from './last-value.ts';
import { hasProse, mathSegments } from './segments.ts';

export interface Answer {
  readonly text: string;
  /** The same without a percent sign that stands outside the box: either may be meant. */
  readonly bare?: string;
  /** A part that counts where the whole does not: the last value of a short sentence, the last side of a chain that stands last. */
  readonly otherwise?: string;
}

const PHRASE_CHARS = 60_000;
const MOST_PHRASES = 20;
const BEFORE_CHARS = 80;
/** The end of a statement: of its sentence, which a point inside a number is not, or the reason behind it. */
const STATEMENT_END = /\.(?=\s|$|\*|")|[!?](?=\s|$|\*)|\n|！/;

/** "John F. Kennedy", "J. K. Rowling": the points of initials end no statement, and those of choices do. */
const INITIALS = /^[*"“]*((?:\p{Lu}[\p{L}'’-]* ){0,3}(?:\p{Lu}\. ?){1,3}\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2})/u;

/** ", since x > 0" and ", not 7" are no part of the statement. */
const REASON = /(?:,?\s+(?:because|since)|,\s+not)\s[^]*$/;

/** The last statement of a text, or the last that is accepted, such as the name of a choice. */
export function stated(source: string, cut: boolean, accepts?: (statement: string) => boolean): Answer | undefined {
  const text = source.slice(-PHRASE_CHARS);
  for (const { index, 0: words } of [...text.matchAll(accepts ? STATING_CHOICE : STATING)]
    .slice(-MOST_PHRASES)
    .toReversed()) {
    const rest = text.slice(index + words.length).replace(/^[\s*:}]+/, '');
    const end = endOfStatement(rest);
    const raw = rest.slice(0, end).replace(REASON, '').trim();
    const statement = raw.replace(/\*+$/, '').trim();
    // A limit may have cut a number or a sentence in two.
    if (cut && end >= rest.trimEnd().length - 1 && !/(?:\$|\\[)\]]|\*\*)$/.test(raw)) return undefined;
    const [before = ''] = text
      .slice(Math.max(0, index - BEFORE_CHARS), index)
      .split('\n')
      .slice(-1);
    if (accepts?.(statement) === false || isDenied(before)) continue;
    if (!/[\p{L}\p{N}\\<>=]/u.test(statement) || rest[end] === '?') continue;
    const name = INITIALS.exec(rest)?.[1] ?? '';
    return { ...said(statement), ...(name.length > statement.length && { otherwise: name }) };
  }
  return undefined;
}

function endOfStatement(text: string): number {
  const [formula] = mathSegments(text.slice(0, 4_000));
  const from = formula?.start === 0 ? formula.end : 0;
  const end = STATEMENT_END.exec(text.slice(from));
  return end ? from + end.index : text.length;
}

const WORDS = 6;

export const isSentence = (text: string): boolean => text.split(/\s+/).length > WORDS && hasProse(text);

/** A statement without the dollars of a formula that fills it; of a long sentence its last value, of a short one either. */
export function said(source: string, question = ''): Answer {
  const text = source.replace(/^(?:\*\*|\\?["“])|(?:\*\*|\\?["”])$/g, '').trim();
  const [only] = mathSegments(text);
  if (only?.start === 0 && only.end >= text.replace(/[.,;]$/, '').length) return { text: only.content };
  if (isSentence(text)) return { text: lastValue(text, '') ?? text };
  const value = valueOfStatement(text, question);
  return { text, ...(value !== undefined && { otherwise: value }) };
}

/** Words that bound or deny what stands directly behind them, and are harmless elsewhere; those of other languages. */
const KEEPS_OFF =
  /(?:\b(?:(?:close|up|different|not equal) (?:to|from)|mindestens|höchstens|(?:mehr|weniger) als|más de|menos de|(?:plus|moins) de|au (?:plus|moins))|大于|小于|大於|小於|少于|多于|超过|至少|至多|больше|меньше|не (?:более|менее))[\s$(\\]*$/i;

/** Words of another writing behind a value: "42個です", "42 яблока". */
const COUNTED = /[\s,]{0,9}(?![\p{Script=Latin}\p{Script=Greek}])\p{L}/u;

/** "She sold 5 apples" says its last value; "5 apples or more" and "at most 6" are answers as they stand. */
function valueOfStatement(text: string, question: string): string | undefined {
  const end = text.search(COUNTED);
  if (end > 0 && !hasProse(text.slice(0, end))) return deniesClause(text.slice(end)) ? undefined : text.slice(0, end);
  if (!/^["(*]*\p{L}[\p{L}\p{M}\s]/u.test(text) || !(hasProse(text) || /[^\P{L}\x00-\x7F]/u.test(text)))
    return undefined;
  if (dateOf(text) !== undefined) return undefined;
  const value = lastValue(text, question);
  if (value === undefined) return undefined;
  // In "not 99 but 6" and "not 10, it's 6" the denial is of another number.
  const before = text
    .slice(0, text.lastIndexOf(value.split(' ')[0]!))
    .replace(/\bnot\s[^]*(?:\bbut\b|\d(?=\W+it(?: is|['’]s)\b))/i, '');
  const words = (before.toLowerCase().match(/[a-z’']+|[<>≤≥≠±]/g) ?? []).filter((word) => word !== 'of');
  const last = words.slice(-2);
  const isBound = isHedged(last.join(' ')) && !/\d\.\d/.test(value);
  return isBound || isDenied(before) || last.at(-1) === 'or' || last.some(isRefusing) || KEEPS_OFF.test(before)
    ? undefined
    : value;
}
