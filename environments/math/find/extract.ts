// Finds the final answer in a text. The order, for an answer: the last box or the last "final answer is …",
// whichever comes later; "answer: …" or `#### …`; the whole text, if it is nothing but one value with its words; the last
// formula or number. For a solution: `####`, boxes, the whole text, then as for an answer. Linear in length.

import { scanBoxes, type Box } from './boxes.ts';
import { LIMITS } from '../limits.ts';
import { withoutMarkup } from '../markdown.ts';
import { lastNumber } from './numbers-in-text.ts';
import { dateOf, timeOf } from './moments.ts';
import { hasProse, mathSegments, type Segment } from './segments.ts';
import { answerPhrase, blank, type Extraction, finalPhrase, type Found, hash } from './phrases.ts';
import { isRefused, tailOf } from './statement.ts';
import { yesOrNo } from '../read/words.ts';

// The answer ends at a mark by which a chat template starts another turn.
const TURNS = [
  '<|im_end|>',
  '<|im_start|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|end_of_text|>',
  '<｜User｜>',
  '<｜end▁of▁sentence｜>',
  '</s>',
];

/** `cut`: the text was cut by a limit, so that only a closed box or a complete statement of the answer counts. */
export function extractAnswer(source: string, cut = false): Found {
  const text = ownText(source, cut);
  const thought = text.lastIndexOf('</think>');
  if (thought >= 0) {
    const said = text.slice(thought + 8);
    const found = fromAnswer(said, cut);
    // A thought counts only in a box.
    if (found || scanBoxes(text).boxes.length === 0) return found;
  }
  return fromAnswer(text, cut);
}

function ownText(source: string, cut = false): string {
  // In a text that was cut, emphasis shows what is complete.
  let text = source.slice(-LIMITS.textChars);
  if (!cut) text = withoutMarkup(text);
  for (const mark of TURNS) {
    const at = text.indexOf(mark);
    if (at > 0 && text.slice(0, at).trim() !== '') text = text.slice(0, at);
  }
  return text;
}

function fromAnswer(text: string, cut: boolean): Found {
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  if (unfinished) return 'cut-off';
  if (group) {
    const later = finalPhrase(text, group.end, cut);
    const said = !isRefused(text, group.start, group.end) && !isOperand(text, group);
    return later ?? (said ? boxed(group) : undefined);
  }
  if (boxes.length > 0) return fromAnswer(withoutBoxes(text, boxes), cut);
  const named = tagged(text) ?? hash(text, cut) ?? finalPhrase(text, 0, cut) ?? answerPhrase(text, cut);
  if (named || cut) return named ?? 'cut-off';
  return whole(text) ?? lastValue(text);
}

/** `-\boxed{5}`, `6 + \boxed{5}`, `\boxed{5} \times 10^3` show another value; `2 + \boxed{5} = 7` fills a gap. */
function isOperand(text: string, { start, end }: Group): boolean {
  const before = /(?:(?:^|[^-])-|[+*/]\s?|\\(?:times|cdot|pm|mp|sqrt|frac)\s?\{?)$/.test(
    text.slice(Math.max(0, start - 12), start),
  );
  const after = /^\}?\s*(?:[\^_]|[*/+]\s?[\d\\]|\\(?:times|cdot|div|pm)\b)/.test(text.slice(end, end + 12));
  return (before || after) && !/^[^$\n]{0,40}=/.test(text.slice(end));
}

/** Empty boxes say nothing, and are no words either. */
const withoutBoxes = (text: string, boxes: readonly Box[]): string =>
  boxes.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text);

export function extractSolution(source: string): Found {
  const text = source.slice(-LIMITS.textChars).trim();
  return marked(text) ?? whole(text) ?? finalPhrase(text, 0) ?? answerPhrase(text) ?? lastValue(text);
}

function marked(text: string): Extraction | undefined {
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  const found = hash(text) ?? (group && (finalPhrase(text, group.end) ?? boxed(group)));
  if (found || !unfinished) return found;
  // A solution that was cut inside its box still says what it says.
  const open = text.indexOf('{', text.lastIndexOf('\\boxed'));
  return open < 0 ? undefined : { text: text.slice(open + 1), by: 'box' };
}

/** `<answer>…</answer>`: the last one. */
function tagged(text: string): Extraction | undefined {
  const end = text.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : text.lastIndexOf('<answer>', end);
  if (start < 0) return undefined;
  const found = fromAnswer(text.slice(start + 8, end), false);
  return found && found !== 'cut-off' ? { ...found, by: 'phrase' } : undefined;
}

interface Group {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly bare: string | undefined;
}

const boxed = ({ text, bare }: Group): Extraction => ({ text, by: 'box', ...(bare !== undefined && { bare }) });

/** The last box, with those before it that "and", "or" or a comma joins to it. */
function lastGroup(text: string, boxes: readonly Box[]): Group | undefined {
  let k = boxes.length - 1;
  while (k >= 0 && boxes[k]?.content.trim() === '') k--;
  const last = boxes[k];
  if (!last) return undefined;
  const contents = [withTail(last.content, text, last.end)];
  let start = last.start;
  for (k--; k >= 0 && contents.length < 30; k--) {
    const box = boxes[k];
    if (!box || box.content.trim() === '' || !joins(text.slice(box.end, start))) break;
    contents.unshift(percented(box.content, tailOf(text, box.end)));
    start = box.start;
  }
  const percent = contents.length === 1 && contents[0] === `${last.content}\\%`;
  return {
    text: contents.length === 1 ? (contents[0] ?? '') : contents.map((c) => c.trim()).join(' , '),
    start,
    end: last.end,
    bare: percent ? last.content : undefined,
  };
}

function joins(gap: string): boolean {
  if (gap.length > 80) return false;
  const plain = gap
    .replace(/\\[()[\]]|\$|\\q?quad|\\[,;:! ]|\\text|\\mathrm|\\mbox|[{}~*]/g, ' ')
    .replace(/[A-Za-z](?:_\{?\w+\}?)?\s*=\s*$/, '')
    .trim();
  if (!/[A-Za-z0-9.=]/.test(plain)) return true;
  return plain.length <= 32 && !/[.=]/.test(plain) && /(^|\s)(and|or)(\s|$)/i.test(plain);
}

/** The words behind the box that belong to the answer: a percent sign, a unit, "or 6". */
function withTail(content: string, text: string, end: number): string {
  const tail = tailOf(text, end);
  return tail === '\\%' ? percented(content, tail) : content + tail;
}

const percented = (content: string, tail: string): string =>
  tail === '\\%' && !content.includes('%') ? `${content}\\%` : content;

/** An answer that is nothing but one expression, or a few words. */
function whole(source: string): Extraction | undefined {
  const text = source
    .trim()
    .replace(/^\*\*|\*\*$/g, '')
    .trim();
  if (text === '' || text.length > LIMITS.candidateChars) return undefined;
  const short = text.length <= 400 || !/\s/.test(text);
  if (!short) return undefined;
  const segments = mathSegments(text);
  const only = segments[0];
  if (
    segments.length === 1 &&
    only &&
    /^[\s"*]*$/.test(text.slice(0, only.start)) &&
    /^[\s".,;*]*$/.test(text.slice(only.end))
  )
    return { text: only.content, by: 'whole' };
  if (text.includes('\n') && !/\\begin/.test(text)) return onlyValues(text);
  if (!/[\p{L}\p{N}\\∅∞]/u.test(text)) return undefined;
  if (dateOf(text) || timeOf(text) || yesOrNo(text)) return { text, by: 'whole' };
  if (!hasProse(text)) return /\d\s*:\s*$/.test(text) ? undefined : { text, by: 'whole' };
  const length = text.split(/\s+/).length;
  // A value and its label: "42 apples", "$x = 5$ units".
  if (length <= 8 && /^[-−+]?\s?(?:[\d$€£¥₹(.]|\\[([\w])/.test(text)) return { text, by: 'whole' };
  const plainWords = !/[\d$\\=]/.test(text) && length <= 8;
  return plainWords || /^\\(text|mathrm|textbf)\{[^{}]*\}$/.test(text) ? { text, by: 'whole' } : undefined;
}

/** Lines that hold a value each, and no steps, are a list. */
function onlyValues(text: string): Extraction | undefined {
  const lines = text.split(/\n+/);
  return lines.length <= 40 && lines.every((line) => /^[-−\s]*[\d.,/]+\s*$/.test(line))
    ? { text: lines.join(' ; '), by: 'whole' }
    : undefined;
}

/** The last formula or number. A formula that is only a name does not count if a value stands anywhere. */
function lastValue(text: string): Extraction | undefined {
  // "The minimum is 6, attained at x = 2." says 6.
  const tail = text.slice(-60_000).replace(/,\s(?:since|because|attained|achieved|reached)\s[^.\n]{0,200}\.?\s*$/, '');
  const segments = mathSegments(tail);
  const number = lastNumber(blank(tail, segments, '\n'));
  for (let k = segments.length - 1; k >= 0; k--) {
    const segment = segments[k];
    if (!segment) break;
    if (number && number.start > segment.start) break;
    if (isNameOnly(segment.content) && (number || segments.some((s) => !isNameOnly(s.content)))) continue;
    if (isRefused(tail, segment.start, segment.end)) return undefined;
    return { text: joined(tail, segments, k), by: 'formula' };
  }
  if (!number || isRefused(tail, number.start, number.end)) return undefined;
  return { text: withTail(number.content, tail, number.end), by: 'number' };
}

const isNameOnly = (content: string): boolean =>
  /^\s*\\?[A-Za-z]{1,12}\s*(?:_\{?\w{1,4}\}?)?(?:\s*\([A-Za-z, ]{1,8}\))?\s*$/.test(content);

/** The formula at `k` (or all from it on), with its neighbours that "and", "or" or a comma joins to it. */
function joined(text: string, segments: readonly Segment[], k: number): string {
  let [from, to] = [k, k];
  const touches = (a: Segment | undefined, b: Segment | undefined): boolean =>
    a !== undefined && b !== undefined && /^\s*(?:,|,?\s*(?:and|or))\s*$/i.test(text.slice(a.end, b.start));
  while (from > 0 && touches(segments[from - 1], segments[from])) from--;
  while (to < segments.length - 1 && touches(segments[to], segments[to + 1])) to++;
  const parts = segments.slice(from, to + 1).map((s) => s.content.trim().replace(/[.,;]$/, ''));
  const last = segments[to];
  return last ? withTail(parts.join(' , '), text, last.end) : parts.join(' , ');
}

const CHOICE_CHARS = 160;
/** Two letters joined name none. */
const SEVERAL = /(?<![A-Za-z])\(?[A-J]\)?\s*(?:or|and|,|\/|&)\s*(?:[a-z]+ )?\(?[A-J]\)?(?![A-Za-z])/;

/** A choice letter near the end of running text, for solutions that are one: "(B)", "B. …" at the start, the last lone capital. */
export function extractChoice(source: string): Extraction | undefined {
  const text = ownText(source).slice(-CHOICE_CHARS);
  if (SEVERAL.test(text)) return undefined;
  const opening = /^\s*\**\(?([A-J])\)?[.):]\**(?=\s|$)/.exec(text);
  let last: string | undefined;
  for (const m of text.matchAll(
    /(?<![A-Za-z0-9$\\_^{=+*/-])(?:\*\*)?\(?([A-J])\)?(?:\*\*)?(?=[.,:;!?\s]|$)(?! [a-z]+ [a-z]+ (?:is|are|was)\b)/g,
  )) {
    // "A" and "I" are words as well.
    if ((m[1] === 'A' || m[1] === 'I') && /^ [a-z]/.test(text.slice(m.index + m[0].length))) continue;
    if (isRefused(text, m.index, m.index + m[0].length)) continue;
    last = m[1];
  }
  const letter = opening?.[1] ?? last;
  return letter ? { text: letter, by: 'choice' } : undefined;
}
