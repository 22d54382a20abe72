// Finds the final answer in a text. The order, for an answer: the last box or the last "final answer is …",
// whichever comes later; "answer: …" or `#### …`; the whole text, if it is nothing but one expression or a few words; the last
// formula or number. For a solution: `####`, boxes, the whole text, then as for an answer. Linear in length.

import { scanBoxes, type Box } from './boxes.ts';
import { LIMITS } from './limits.ts';
import { withoutMarkup } from './markdown.ts';
import { lastNumber } from './numbers-in-text.ts';
import { hasProse, mathSegments, type Segment } from './segments.ts';
import { dateOf, timeOf } from './moments.ts';
import { choiceOf } from './words.ts';

export interface Extraction {
  readonly text: string;
  /** Where it was found. A marked one was named as the answer; the others are the last thing said. */
  /** The same without a percent sign that stands outside the box: either may be meant. */
  readonly bare?: string;
  readonly by: 'box' | 'phrase' | 'hash' | 'whole' | 'formula' | 'number' | 'choice';
}

export type Found = Extraction | 'cut-off' | undefined;

// Where a chat template would start another turn, the answer has ended.
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

export function extractAnswer(source: string): Found {
  const text = ownText(source);
  const thought = text.lastIndexOf('</think>');
  if (thought >= 0) {
    const said = text.slice(thought + 8);
    const found = fromAnswer(said);
    // What was only thought counts only in a box.
    if (found || scanBoxes(text).boxes.length === 0) return found;
  }
  return fromAnswer(text);
}

function ownText(source: string): string {
  let text = withoutMarkup(source.slice(-LIMITS.textChars));
  for (const mark of TURNS) {
    const at = text.indexOf(mark);
    if (at > 0 && text.slice(0, at).trim() !== '') text = text.slice(0, at);
  }
  return text;
}

function fromAnswer(text: string): Found {
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  const after = group?.end ?? 0;
  if (unfinished) return 'cut-off';
  if (group) return finalPhrase(text, after) ?? boxed(group);
  if (boxes.length > 0) return fromAnswer(withoutBoxes(text, boxes));
  return tagged(text) ?? hash(text) ?? finalPhrase(text, 0) ?? answerPhrase(text) ?? whole(text) ?? lastValue(text);
}

/** Empty boxes say nothing, and are no words either. */
const withoutBoxes = (text: string, boxes: readonly Box[]): string =>
  boxes.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text);

export function extractSolution(source: string): Found {
  const text = source.slice(-LIMITS.textChars).trim();
  const marked = hash(text);
  if (marked) return marked;
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  if (group) return finalPhrase(text, group.end) ?? boxed(group);
  if (unfinished) {
    // A solution that was cut inside its box still says what it says.
    const open = text.indexOf('{', text.lastIndexOf('\\boxed'));
    return open < 0 ? undefined : { text: text.slice(open + 1), by: 'box' };
  }
  return whole(text) ?? finalPhrase(text, 0) ?? answerPhrase(text) ?? lastValue(text);
}

/** `<answer>…</answer>`: the last one. */
function tagged(text: string): Extraction | undefined {
  const end = text.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : text.lastIndexOf('<answer>', end);
  if (start < 0) return undefined;
  const found = fromAnswer(text.slice(start + 8, end));
  return found && found !== 'cut-off' ? { ...found, by: 'phrase' } : undefined;
}

/** GSM8K's mark: what stands behind the last one on its line. */
function hash(text: string): Extraction | undefined {
  const at = text.lastIndexOf('####');
  if (at < 0) return undefined;
  const line = firstLine(text.slice(at + 4, at + 600));
  return /[\dA-Za-z\\]/.test(line) ? { text: line, by: 'hash' } : undefined;
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0]?.trim() ?? '';

interface Group {
  readonly text: string;
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
  const contents = [withPercent(last.content, text.slice(last.end, last.end + 30))];
  let start = last.start;
  for (k--; k >= 0 && contents.length < 30; k--) {
    const box = boxes[k];
    if (!box || box.content.trim() === '' || !joins(text.slice(box.end, start))) break;
    contents.unshift(withPercent(box.content, text.slice(box.end, box.end + 30)));
    start = box.start;
  }
  return {
    text: contents.length === 1 ? (contents[0] ?? '') : contents.map((c) => c.trim()).join(' , '),
    end: last.end,
    bare: contents.length === 1 && contents[0] !== last.content ? last.content : undefined,
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

/** A percent sign behind the box belongs to the answer. */
function withPercent(content: string, after: string): string {
  return /^[\s$]*(?:\\\)|\\\])?\s*(?:\\?%|percent|pct)/i.test(after) && !/%/.test(content) ? `${content}\\%` : content;
}

/** "The final answer is …" behind `from`, if a value follows it. */
function finalPhrase(text: string, from: number): Extraction | undefined {
  return phrase(text, from, /final answer\**\s*(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s*(?:is|:|=)\**\s*:?\**/gi);
}

function answerPhrase(text: string): Extraction | undefined {
  return phrase(
    text,
    0,
    /\banswers?\**\s*(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s*(?:is|are|:|=)\**\s*:?\**|\b(?:correct|right) (?:option|choice) is\**:?\**/gi,
    NEAR_END_CHARS,
  );
}

/** Said further from the end than this, "the answer is" was a thought on the way. */
const NEAR_END_CHARS = 600;

/** "Perhaps the answer is" names nothing. */
const HEDGE = /\b(?:perhaps|maybe|might|could|would|if|whether|suppose|assume|guess|not|wrong|incorrect)\b[^.!?\n]*$/i;

function phrase(text: string, from: number, pattern: RegExp, near = Infinity): Extraction | undefined {
  const tail = text.slice(from).slice(-60_000);
  let last: RegExpExecArray | undefined;
  for (const m of tail.matchAll(pattern)) if (!HEDGE.test(tail.slice(Math.max(0, m.index - 60), m.index))) last = m;
  if (!last || tail.length - last.index > near) return undefined;
  const rest = firstLine(
    tail.slice(last.index + last[0].length, last.index + last[0].length + 2_000).replace(/^[\s*:]+/, ''),
  );
  const found = /^not\b/i.test(rest) ? undefined : statement(rest);
  return found === undefined ? undefined : { text: found, by: 'phrase' };
}

/** What a line that follows "the answer is" says: its formulas, or its text up to the end of the sentence. */
function statement(line: string): string | undefined {
  // "The answer is 42? No, …" asks.
  if (/^[^.!\n]{0,120}?\?(?:\s|$)/.test(line)) return undefined;
  const segments = mathSegments(line);
  const first = segments[0];
  if (first && /^["'“\s*\\]*$/.test(line.slice(0, first.start))) return joined(line, segments, 0);
  const sentence =
    line
      .split(/(?<=[^\d\s]|\d\d|\s\d|^\d)\.(?=\s|$|\*)|[!?](?=\s|$)/, 1)[0]
      ?.replace(/[*"“”]+/g, '')
      .trim() ?? '';
  if (sentence === '') return undefined;
  // "B because A and C are wrong."
  const reasoned = /^\(?([A-J])\)?,? (?:because|since|as)\b/.exec(sentence);
  if (reasoned) return reasoned[1];
  if (segments.length === 0 && (choiceOf(sentence) || isShort(sentence))) return sentence;
  const value = lastValue(line)?.text;
  return value;
}

const isShort = (text: string): boolean =>
  (text.length <= 120 && !hasProse(text)) || (!/\d/.test(text) && text.length <= 60 && text.split(/\s+/).length <= 5);

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
  if (text.includes('\n') && !/\\begin/.test(text)) return undefined;
  if (!/[\p{L}\p{N}\\∅∞]/u.test(text)) return undefined;
  if (dateOf(text) || timeOf(text)) return { text, by: 'whole' };
  if (!hasProse(text)) return /\d\s*:\s*$/.test(text) ? undefined : { text, by: 'whole' };
  const plainWords = !/[\d$\\=]/.test(text) && text.split(/\s+/).length <= 8;
  return plainWords || /^\\(text|mathrm|textbf)\{[^{}]*\}$/.test(text) ? { text, by: 'whole' } : undefined;
}

/** The last formula or number. A formula that is only a name does not count if a value stands anywhere. */
function lastValue(text: string): Extraction | undefined {
  const tail = text.slice(-60_000);
  const segments = mathSegments(tail);
  const number = lastNumber(blank(tail, segments));
  for (let k = segments.length - 1; k >= 0; k--) {
    const segment = segments[k];
    if (!segment) break;
    if (number && number.start > segment.start) break;
    if (isNameOnly(segment.content) && (number || segments.some((s) => !isNameOnly(s.content)))) continue;
    return { text: joined(tail, segments, k), by: 'formula' };
  }
  return number ? { text: number.content, by: 'number' } : undefined;
}

/** Keeps the places of what remains. */
function blank(text: string, segments: readonly Segment[]): string {
  let out = '';
  let at = 0;
  for (const { start, end } of segments) {
    out += text.slice(at, start) + '\n'.repeat(end - start);
    at = end;
  }
  return out + text.slice(at);
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
  return withPercent(parts.join(' , '), last ? text.slice(last.end, last.end + 30) : '');
}

const CHOICE_CHARS = 160;
/** Two letters joined name none. */
const SEVERAL = /(?<![A-Za-z])\(?[A-J]\)?\s*(?:or|and|,|\/|&)\s*\(?[A-J]\)?(?![A-Za-z])/;

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
    if (/\b(?:not|isn't|never|than)\s+(?:option |choice )?\**$/i.test(text.slice(Math.max(0, m.index - 24), m.index)))
      continue;
    last = m[1];
  }
  const letter = opening?.[1] ?? last;
  return letter ? { text: letter, by: 'choice' } : undefined;
}
