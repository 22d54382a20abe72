// The final answer of a text: the first of the places in the table below that has one. The words around a mark do not count.
// A text that a limit cut has an answer by a mark alone. Linear in length.

import { isDenied, STATING } from '../read/choices.ts';
import { plainSigns } from '../read/plain-signs.ts';
import { LIMITS } from '../base/limits.ts';
import { isRelationSign } from '../compare/spelled.ts';
import { dateOf, timeOf } from '../read/moments.ts';
import { lastBoxes, scanBoxes } from './boxes.ts';
import { lastValue } from './last-value.ts';
import { ownText } from './own-text.ts';
import { percentInOneWord } from './percent.ts';
import { hasProse, mathSegments } from './segments.ts';

/** The places, in the order in which they count; but "final answer is" behind the last box counts before it. */
type Place =
  /** The last closed `\boxed{…}` or `\fbox{…}`, with its neighbours that "and", "or" or a comma joins. */
  | 'box'
  /** The line behind the last `####`. */
  | 'hash'
  /** The last `<answer>…</answer>` or `<final_answer>…`, in any case. */
  | 'tag'
  /** The statement behind the last "(final) answer is", "answer:". */
  | 'phrase'
  /** A short text that is one value with its words. */
  | 'whole'
  /** The last formula or number of the last sentence that has one: last-value.ts. */
  | 'last'
  /** Before `whole` and `last`, where the solution is one: a letter (choice.ts), a word (judge.ts). */
  | 'choice'
  | 'word';

export interface Found {
  readonly text: string;
  /** The same without a percent sign that stands outside the box: either may be meant. */
  readonly bare?: string;
  /** A part that counts where the whole does not: the last value of a short sentence, the last side of a chain that stands last. */
  readonly otherwise?: string;
  readonly by: Place;
}

/** `question`: its numbers yield to others where nothing is marked. `'cut-off'`: a limit cut the text before its answer was complete. */
export function findAnswer(source: string, cut = false, question = ''): Found | 'cut-off' | undefined {
  const text = ownText(source, cut);
  if (text === undefined) return cut ? 'cut-off' : undefined;
  if (cut && scanBoxes(text).unfinished) return 'cut-off';
  const found = marked(text, cut);
  if (found) return found;
  return cut || OPEN_BOX.test(text) ? 'cut-off' : (whole(text, question) ?? lastOf(text, question));
}

/** A solution in the layout of GSM8K ends with its mark, and a box that is never closed still says what it holds. */
export function findSolution(source: string): Found | undefined {
  const text = percentInOneWord(plainSigns(source.slice(-LIMITS.textChars))).trim();
  return (
    hash(text, false) ??
    boxed(text).box ??
    chosen(text) ??
    marked(text, false) ??
    openBox(text) ??
    whole(text) ??
    lastOf(text, '')
  );
}

/** A choice as a data set's reader writes it is an answer as it stands, however long and of whatever words. */
const chosen = (text: string): Found | undefined => (/^\([A-Z]\) \S/.test(text) ? { text, by: 'whole' } : undefined);

/** "The final answer is" behind a box takes its place. */
function marked(text: string, cut: boolean): Found | undefined {
  const { box, end } = boxed(text);
  const final = text.slice(end).search(/\bfinal answer\W*(?:\bis\b|:)/i);
  return (
    (final >= 0 ? phrase(text.slice(end + final), cut) : undefined) ??
    box ??
    hash(text, cut) ??
    tagged(text) ??
    phrase(text, cut)
  );
}

function boxed(text: string): { readonly box?: Found; readonly end: number } {
  const found = lastBoxes(text);
  return found ? { box: { ...found.value, by: 'box' }, end: found.end } : { end: 0 };
}

const OPEN_BOX = /\\(?:boxed|fbox)\s*\{(?!\s*\})/;
function openBox(text: string): Found | undefined {
  const at = OPEN_BOX.exec(text);
  return at ? { text: text.slice(at.index + at[0].length), by: 'box' } : undefined;
}

function hash(text: string, cut: boolean): Found | undefined {
  const at = text.lastIndexOf('####');
  const rest = at < 0 ? '' : text.slice(at + 4).trimStart();
  const [line = ''] = rest.split('\n', 1);
  // A line of words with more text behind it is a heading.
  const isHeading = /^[*\s]*\p{L}/u.test(line) && rest.slice(line.length).trim() !== '';
  if (!/[\p{L}\p{N}\\]/u.test(line) || isHeading || (cut && !rest.includes('\n'))) return undefined;
  return { ...said(line), by: 'hash' };
}

function tagged(text: string): Found | undefined {
  const marks = [...text.matchAll(/<(\/?)(?:final[ _-]?)?answer>/gi)];
  const close = marks.findLastIndex(([, slash], i) => slash === '/' && marks[i - 1]?.[1] === '');
  const [open, end] = [marks[close - 1], marks[close]];
  const inner = open && end ? text.slice(open.index + open[0].length, end.index).trim() : '';
  return inner === '' ? undefined : { ...(boxed(inner).box ?? said(inner)), by: 'tag' };
}

const PHRASE =
  /\banswers?\**\s{0,9}(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s{0,9}(?:is|are|:|=)\**\s{0,9}:?\**|\b(?:correct|right) (?:option|choice) is\**:?\**/gi;
const PHRASE_CHARS = 60_000;
const MOST_PHRASES = 20;
const BEFORE_CHARS = 80;
/** The end of a statement: of its sentence, which a point inside a number is not, or the reason behind it. */
const STATEMENT_END = /\.(?=\s|$|\*|")|[!?](?=\s|$|\*)|\n|！/;

/** "John F. Kennedy", "J. K. Rowling": the points of initials end no statement, and those of choices do. */
const INITIALS = /^[*"“]*((?:\p{Lu}[\p{L}'’-]* ){0,3}(?:\p{Lu}\. ?){1,3}\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2})/u;

/** ", since x > 0" and ", not 7" are no part of the statement. */
const REASON = /(?:,?\s+(?:because|since)|,\s+not)\s[^]*$/;

/** The text behind the last box; all of it, if there is none. */
export function behindBoxes(source: string): string {
  const text = ownText(source, false) ?? '';
  return text.slice(boxed(text).end);
}

/** The last statement of an answer that is accepted, such as the name of a choice. */
export const statedIn = (text: string, accepts: (statement: string) => boolean): Found | undefined =>
  phrase(text, false, accepts);

function phrase(source: string, cut: boolean, accepts?: (text: string) => boolean): Found | undefined {
  const text = source.slice(-PHRASE_CHARS);
  for (const { index, 0: words } of [...text.matchAll(accepts ? STATING : PHRASE)].slice(-MOST_PHRASES).toReversed()) {
    const rest = text.slice(index + words.length).replace(/^[\s*:}]+/, '');
    const end = endOfStatement(rest);
    const raw = rest.slice(0, end).replace(REASON, '').trim();
    const sentence = raw.replace(/\*+$/, '').trim();
    // A limit may have cut a number or a sentence in two.
    if (cut && end >= rest.trimEnd().length - 1 && !/(?:\$|\\[)\]]|\*\*)$/.test(raw)) return undefined;
    if (accepts && (!accepts(sentence) || isDenied(text.slice(Math.max(0, index - BEFORE_CHARS), index)))) continue;
    if (/[\p{L}\p{N}\\<>=]/u.test(sentence) && rest[end] !== '?') {
      const name = INITIALS.exec(rest)?.[1];
      return {
        ...(/:\W*$/.test(words) ? saidOrValue : said)(sentence),
        ...(name && name.length > sentence.length && { otherwise: name }),
        by: 'phrase',
      };
    }
  }
  return undefined;
}

function endOfStatement(text: string): number {
  const [formula] = mathSegments(text.slice(0, 4_000));
  const from = formula?.start === 0 ? formula.end : 0;
  const end = STATEMENT_END.exec(text.slice(from));
  return end ? from + end.index : text.length;
}

const WHOLE_CHARS = 400;
const WHOLE_WORDS = 6;

/** One line of mathematics or of a few words. */
function whole(source: string, question = ''): Found | undefined {
  const text = source.trim();
  const isLine = text.length <= WHOLE_CHARS && (!text.includes('\n') || /\\begin/.test(text));
  if (!isLine || !(/[\p{L}\p{N}\\∅∞]/u.test(text) || isRelationSign(text))) return undefined;
  if (isSentence(text)) return undefined;
  return { ...saidOrValue(text, question), by: 'whole' };
}

/** "She sold 5 apples" says its last value; "5 apples or more" and "at most 6" are answers as they stand. */
function valueOfStatement(text: string, question: string): string | undefined {
  if (!/^["(*]*\p{L}[\p{L}\p{M}\s]/u.test(text) || !(hasProse(text) || /[^\P{L}\x00-\x7F]/u.test(text)))
    return undefined;
  if (dateOf(text) !== undefined || timeOf(text) !== undefined) return undefined;
  const value = lastValue(text, question);
  const before = value === undefined ? '' : text.slice(0, text.lastIndexOf(value.split(' ')[0]!));
  return CHANGES.test(before) ? undefined : value;
}
const CHANGES =
  /\b(?:at (?:most|least)|(?:more|less|fewer|greater|larger|smaller|other) than|not|or|except|negative|minus|half|twice|double|triple|square)\s+(?:of\s+)?[$(\\]*$/i;

const isSentence = (text: string): boolean => text.split(/\s+/).length > WHOLE_WORDS && hasProse(text);

/** A statement without the dollars of a formula that fills it; of a long sentence its last value. */
function said(source: string): { readonly text: string } {
  const text = source.replace(/^(?:\*\*|\\?["“])|(?:\*\*|\\?["”])$/g, '').trim();
  const [only] = mathSegments(text);
  if (only?.start === 0 && only.end >= text.replace(/[.,;]$/, '').length) return { text: only.content };
  return { text: (isSentence(text) ? lastValue(text, '') : undefined) ?? text };
}

/** The same with the value of a short sentence: "Janet makes $18 per day." */
function saidOrValue(text: string, question = ''): Pick<Found, 'text' | 'otherwise'> {
  const value = isSentence(text) ? undefined : valueOfStatement(text, question);
  return { ...said(text), ...(value !== undefined && { otherwise: value }) };
}

function lastOf(text: string, question: string): Found | undefined {
  const value = lastValue(text, question);
  if (value === undefined) return undefined;
  const side = value.slice(value.lastIndexOf('=') + 1);
  return { text: value, ...(side !== value && !/[,<>]/.test(value) && { otherwise: side }), by: 'last' };
}
