// The final answer of a text: the first of PLACES that has one. The words around a mark do not count. Linear in length.

import { LIMITS } from '../base/limits.ts';
import { plainSigns } from '../read/plain-signs.ts';
import { isRelationSign } from '../read/words.ts';
import { type Boxed, boxed } from './boxes.ts';
import { lastValue } from './last-value.ts';
import { ownText, inOneWord } from './own-text.ts';
import { hasProse } from './segments.ts';
import type { Sought } from './sought.ts';
import { type Answer, isSentence, said, stated } from './statements.ts';

export interface Found extends Answer {
  readonly by: 'box' | 'hash' | 'tag' | 'phrase' | 'choice' | 'word' | 'whole' | 'last';
}

/** A text that an answer is looked for in, with its boxes. */
export interface Source extends Boxed {
  readonly text: string;
  /** A limit cut it. */
  readonly cut: boolean;
  /** Its numbers yield to others where nothing is marked. */
  readonly question: string;
}

interface Place {
  readonly by: Found['by'];
  readonly find: (source: Source, sought: Sought) => Answer | undefined;
}

/** The places, in the order in which they count. Of a text that a limit cut, or whose last box is open, these marks alone do. */
const MARKS: readonly Place[] = [
  // "The final answer is" takes the place of the box before it; of a choice any statement does that names one.
  { by: 'phrase', find: statementBehindBox },
  // The last closed `\boxed{…}` or `\fbox{…}`, with its neighbours that "and", "or" or a comma joins.
  { by: 'box', find: ({ box }) => box },
  // The line behind the last `####`.
  { by: 'hash', find: hash },
  // The last `<answer>…</answer>` or `<final_answer>…`, in any case.
  { by: 'tag', find: tag },
  // The statement behind the last "(final) answer is", "answer:".
  { by: 'phrase', find: ({ text, cut }) => stated(text, cut) },
];
const PLACES: readonly Place[] = [
  ...MARKS,
  // A short text that is one value with its words.
  { by: 'whole', find: whole },
  // The last formula or number of the last sentence that has one.
  { by: 'last', find: last },
];

/** A reply as it is looked at; an unfinished thought says nothing. */
export function replySource(reply: string, cut = false, question = ''): Source {
  const text = ownText(reply, cut);
  const source = { text: text ?? '', cut, question, ...boxed(text ?? '') };
  return text === undefined ? { ...source, isOpen: cut } : source;
}

/** `'cut-off'`: the text ends before its answer is complete. */
export function findAnswer(source: Source, sought: Sought = {}): Found | 'cut-off' | undefined {
  const { text, behind, cut, isOpen } = source;
  if (cut && isOpen) return 'cut-off';
  const first = firstOf(cut || isOpen ? MARKS : PLACES, source, sought);
  if (!first && (cut || isOpen)) return 'cut-off';
  if (!sought.names || (first && sought.names(first.text))) return first;
  const letter = sought.letter?.(behind);
  if (letter !== undefined) return { text: letter, by: 'choice' };
  const word = first && MARKS.some(({ by }) => by === first.by) ? undefined : sought.word?.(text);
  return word === undefined ? first : { text: word, by: 'word' };
}

function firstOf(places: readonly Place[], source: Source, sought: Sought): Found | undefined {
  for (const { by, find } of places) {
    const answer = find(source, sought);
    if (answer) return { ...answer, by };
  }
  return undefined;
}

/** A solution that is a choice as a data set's reader writes it is an answer as it stands, however long and of whatever words. */
const LISTED = /^\([A-Z]\) \S/;
const OPEN_BOX = /\\(?:boxed|fbox)\s*\{(?!\s*\})([^]*)/;

export function findSolution(solution: string): Found | undefined {
  const text = inOneWord(plainSigns(solution.slice(-LIMITS.textChars))).trim();
  if (LISTED.test(text)) return { text, by: 'whole' };
  const source = { text, cut: false, question: '', ...boxed(text) };
  const found = findAnswer(source);
  // A box that is never closed still says what it holds.
  return found === 'cut-off' ? { text: OPEN_BOX.exec(text)![1]!, by: 'box' } : found;
}

/** The final answer that a worked solution states: marked by a box or `####`; the whole text, if it is nothing else; or somewhere in prose. */
export interface FinalAnswer {
  readonly text: string;
  readonly by: 'mark' | 'whole' | 'prose';
}

/** For whoever makes rows of a data set. Undefined if the text contains none, or ends inside its box. */
export function finalAnswer(text: string): FinalAnswer | undefined {
  const found = findSolution(text);
  const { isOpen, behind } = boxed(text);
  if (!found || (found.by === 'box' && isOpen)) return undefined;
  // "\boxed{5}. The final answer is 5."
  const isMarked = found.by === 'box' || found.by === 'hash' || (found.by === 'phrase' && behind !== text);
  const isWhole = found.by === 'whole' && found.otherwise === undefined;
  return { text: found.text, by: isMarked ? 'mark' : isWhole ? 'whole' : 'prose' };
}

function statementBehindBox({ behind, cut }: Source, { states }: Sought): Answer | undefined {
  const final = behind.search(/\bfinal answer\W*(?:\bis\b|:)/i);
  return (states && stated(behind, false, states)) ?? (final < 0 ? undefined : stated(behind.slice(final), cut));
}

function hash({ text, cut }: Source): Answer | undefined {
  const at = text.lastIndexOf('####');
  const rest = at < 0 ? '' : text.slice(at + 4).trimStart();
  const [line = ''] = rest.split('\n', 1);
  // A line of words with more text behind it is a heading.
  const isHeading = /^[*\s]*\p{L}/u.test(line) && rest.slice(line.length).trim() !== '';
  return !/[\p{L}\p{N}\\]/u.test(line) || isHeading || (cut && !rest.includes('\n')) ? undefined : said(line);
}

function tag({ text }: Source): Answer | undefined {
  const marks = [...text.matchAll(/<(\/?)(?:final[ _-]?)?answer>/gi)];
  const close = marks.findLastIndex(([, slash], i) => slash === '/' && marks[i - 1]?.[1] === '');
  const [open, end] = [marks[close - 1], marks[close]];
  const inner = open && end ? text.slice(open.index + open[0].length, end.index).trim() : '';
  return inner === '' ? undefined : (boxed(inner).box ?? said(inner));
}

const WHOLE_CHARS = 400;

/** However long it is: the last number of a long list is no answer. Two signs in a row that are not of ASCII may be words. */
const isFormula = (text: string): boolean => !hasProse(text) && !/[^\x00-~]{2}/.test(text);

/** One line of mathematics or of a few words. */
function whole(source: Source): Answer | undefined {
  const text = source.text.trim();
  const isLine = (text.length <= WHOLE_CHARS || isFormula(text)) && (!text.includes('\n') || /\\begin/.test(text));
  const saysSomething = isLine && (/[\p{L}\p{N}\\∅∞]/u.test(text) || isRelationSign(text));
  return saysSomething && !isSentence(text) ? said(text, source.question) : undefined;
}

function last({ text, question }: Source): Answer | undefined {
  const value = lastValue(text, question);
  if (value === undefined) return undefined;
  const side = value.slice(value.lastIndexOf('=') + 1);
  return { text: value, ...(side !== value && !/[,<>]/.test(value) && { otherwise: side }) };
}
