// Finds the final answer in a text. The order, for an answer: the last box or the last "final answer is …",
// whichever comes later; "answer: …" or `#### …`; the whole text, if it is nothing but one value with its words; the last
// formula or number. For a solution: `####`, boxes, the whole text, then as for an answer. Linear in length.

import { aroundBox, equationAt, modulusBehind } from './around-box.ts';
import { boldValue } from './bold.ts';
import { scanBoxes, type Box } from './boxes.ts';
import { otherCases } from './claims.ts';
import { LIMITS } from '../limits.ts';
import { withoutMarkup } from '../markdown.ts';
import { lastLink, lastValue } from './last-value.ts';
import { dateOf, timeOf } from './moments.ts';
import { hasProse, mathSegments } from './segments.ts';
import { answerPhrase, type Extraction, finalPhrase, type Found, hash } from './phrases.ts';
import { isStated } from './statement.ts';
import { type Known, NOTHING } from './known.ts';
import { isAbout } from './closed.ts';
import { NOUN, STRUCK } from './sentence.ts';
import { afterwards } from './afterwards.ts';
import { percented, RESTATED, roundedBehind, tailOf, withTail } from './tail.ts';
import { spelledOut } from '../read/number-words.ts';
import { inEnglish } from '../read/statement-words.ts';
import { valueFirst } from './value-first.ts';
import { yesOrNo } from '../read/words.ts';

// The answer ends at a mark by which a chat template ends a turn or opens another.
const TURN =
  /<\|(?:im_end|im_start|end_?of_?text|eot_id|eom_id|eot|eom|end|return|call|start|start_header_id|header_start|user|assistant|system|observation|(?:end_of|start_of)_(?:turn|role)(?:_token)?|role_(?:end|start))\|>|<(?:start|end)_of_turn>|<｜(?:User|Assistant|end▁of▁sentence|begin▁of▁sentence)｜>|\[\/?INST\]|<\/s>|<eos>/gi;
/** gpt-oss thinks in one channel and answers in another. */
const FINAL = '<|channel|>final<|message|>';

/** `cut`: the text was cut by a limit, so that only a closed box or a complete statement of the answer counts. */

/** `known`: words that the question or a solution holds. */
export function extractAnswer(source: string, cut = false, known: Known = NOTHING): Found {
  const found = fromText(source, cut, known);
  const unmarked = !found || (found !== 'cut-off' && /^(?:number|formula|whole)$/.test(found.by));
  if (cut || !unmarked || !source.includes('**')) return found;
  return boldValue(source.slice(source.lastIndexOf('</think>') + 1), found || undefined, known) ?? found;
}

function fromText(source: string, cut: boolean, known: Known): Found {
  const text = ownText(source, cut);
  const thought = text.lastIndexOf('</think>');
  if (thought >= 0) {
    const said = text.slice(thought + 8);
    const found = fromAnswer(said, cut, known);
    // A thought counts only in a box.
    if (found || scanBoxes(text).boxes.length === 0) return found;
  }
  // A thought that was cut before it ended has answered nothing.
  if (cut && text.lastIndexOf('<think>') > thought) return 'cut-off';
  return fromAnswer(text, cut, known);
}

/** Marks of joy and lines change nothing; any other picture stays, and is not accounted for. */
const ORNAMENTS = /[✅✔☑✓✨🎉🎊🎯😀-😎😺🙂🙌👍👏👌💯🏆🥇🥳🤗🌟⭐💡🔥🚀💪📌📝🧮🔢🎓🏁🔍➡👉📐📏🍎🍏🟢🟩☺]\uFE0F?/gu;

/** The point of a title ends no sentence. */
export const TITLE = /\b(Mr|Mrs|Ms|Dr|St|Prof)\.(?=\s\p{Lu})/gu;

/** A drawing in Asymptote says nothing in words. */
const DRAWING = /\[asy\](?:(?!\[asy\])[^])*?\[\/asy\]/g;

/** GSM8K's calculations inside its prose: "$<<9*2=18>>18". */
const CALCULATION = /<<[^<>\n]{0,100}>>/g;

export function ownText(source: string, cut = false): string {
  // In a text that was cut, emphasis shows what is complete.
  let text = source.slice(-LIMITS.textChars);
  if (!cut) text = withoutMarkup(text).replace(ORNAMENTS, ' ').replace(CALCULATION, '');
  // Its places stay: one sign for one sign.
  text = text.replaceAll('−', '-').replace(TITLE, '$1 ').replace(DRAWING, '\n');
  const final = text.lastIndexOf(FINAL);
  if (final >= 0) text = text.slice(final + FINAL.length);
  for (const { index } of text.matchAll(TURN)) if (/\S/.test(text.slice(0, index))) return text.slice(0, index);
  return text;
}

/** A box in a line of mathematics alone, without dollars, stands in a formula: `7, \boxed{6}`, `2 + \boxed{5} = 7`. */
function withDollars(text: string): string {
  const at = text.lastIndexOf('\\boxed');
  const from = text.lastIndexOf('\n', at) + 1;
  const to = at < 0 ? -1 : text.indexOf('\n', at);
  const line = text.slice(from, to < 0 ? undefined : to);
  const isFormula =
    at >= 0 &&
    line.length <= 300 &&
    !/\$|\\[([\])]|&|\\\\|\\(?:begin|end)|[A-Za-z]{2}|[^\p{ASCII}×÷·⋅−–≤≥≠≈π√∞°]/u.test(
      line.replace(/\\(?![([\])\\])(?!begin|end)[A-Za-z]+/g, ' '),
    ) &&
    /\d[^{}]*[,=]|[-+*/×=]\s*\\boxed/.test(line);
  const before = isFormula ? text.slice(0, from) : '';
  const isOpen = before.lastIndexOf('\\[') > before.lastIndexOf('\\]') || before.split('$$').length % 2 === 0;
  return isFormula && !isOpen ? `${before}$${line.trim()}$${text.slice(from + line.length)}` : text;
}

function fromAnswer(source: string, cut: boolean, known: Known): Found {
  const text = withDollars(source);
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  if (unfinished) return 'cut-off';
  if (group) {
    if (boxes.at(-1)?.content.trim() === '') return undefined;
    // A later "final answer" takes its place.
    const later = finalPhrase(text.slice(group.end), cut, known);
    if (later) return inSentence(later, known);
    const said = cut ? text.slice(0, group.end) + text.slice(group.end).replace(UNFINISHED, '') : text;
    if (!isStated(said, group.start, group.end, known, true)) return undefined;
    const after = afterwards(text, group.end, group.text, known, cut);
    if (after.withdrawn) return undefined;
    const around = aroundBox(text, group);
    if (around === '') return undefined;
    if (cut && continues(text.slice(group.end))) return 'cut-off';
    const bare = known.asked && modulusBehind(text, group) > 0 ? { bare: group.text } : undefined;
    const found: Extraction = around === undefined ? boxed(group) : { text: around, by: 'box', ...bare };
    return {
      ...found,
      also: [
        ...after.also,
        ...otherCases(text, boxes, group.start),
        ...(RESTATED.exec(text.slice(group.end, group.end + 80))?.slice(1) ?? []).filter(Boolean),
      ],
      about: () => equationAt(text, group),
      rounded: () => roundedBehind(text, group.end),
    };
  }
  if (boxes.length > 0) return fromAnswer(withoutBoxes(text, boxes), cut, known);
  return unboxed(text, inEnglish(text), cut, known);
}

function unboxed(said: string, read: string, cut: boolean, known: Known): Found {
  const [source, text] = known.asked ? ([said, read].map(spelledOut) as [string, string]) : [said, read];
  const named =
    tagged(text, known, cut) ?? hash(text, cut) ?? finalPhrase(text, cut, known) ?? answerPhrase(text, cut, known);
  if (named || cut) return named ? inSentence(named, known) : 'cut-off';
  return (
    valueFirst(text, known) ??
    (text.includes('=') && !text.includes('\n') ? lastLink(text, known) : undefined) ??
    whole(source, known) ??
    lastValue(text, known)
  );
}

/** "Final answer: It takes 25 days." names a sentence, and the sentence the value. */
const SENTENCE = /^\p{Lu}[^\d$\\]*?\p{L}\s(?:[^\d\\]*\s)?[-−]?[$\\]?[\d\\(]/u;
function inSentence(named: Extraction, known: Known): Extraction {
  if (named.by !== 'phrase' || !SENTENCE.test(named.text) || !hasProse(named.text)) return named;
  const value = lastValue(named.text, known, true);
  return value ? { ...value, by: 'phrase', also: [...(value.also ?? []), ...(named.also ?? [])] } : named;
}

/** The beginning of a word for the answer, where a limit ended the text. */
const UNFINISHED = /(?<=\s)(?:an|ans|answ|answe|so|sol|solu|solut|soluti|solutio|fi|fin|fina|res|resu|resul)$/;
/** Behind the box of a text that was cut: something that may have gone on to make it another answer. */
const continues = (after: string): boolean =>
  /^[\s$)}\]]*(?:\\?$|[-+*/^=<>,&]|\\(?:times|cdot|text\s*\{\s*,?\s*(?:or|and)\b)|,?\s*(?:or|and)\b[^.!?\n]{0,20}$|[A-Za-z]{1,12}$)/.test(
    after
      .replace(/^\$+|^\s*\\[)\]]/, '')
      .replace(/^\s*$/, '.')
      .trimEnd(),
  ) || /\b(?:wait|hmm|actually|however|but|final answer is|let me (?:check|re\w+|verify|double))\b/i.test(after);

/** Empty boxes say nothing, and are no words either. */
const withoutBoxes = (text: string, boxes: readonly Box[]): string =>
  [...boxes.map(({ start }, k) => text.slice(boxes[k - 1]?.end ?? 0, start)), text.slice(boxes.at(-1)?.end)].join(' ');

export function extractSolution(source: string): Found {
  const text = source.slice(-LIMITS.textChars).trim();
  return marked(text) ?? whole(text) ?? finalPhrase(text) ?? answerPhrase(text) ?? lastValue(text);
}

function marked(text: string): Extraction | undefined {
  const { boxes, unfinished } = scanBoxes(text);
  const group = lastGroup(text, boxes);
  const found = hash(text) ?? (group && boxed(group));
  if (found || !unfinished) return found;
  // A solution that was cut inside its box still says what it says.
  const open = text.indexOf('{', text.lastIndexOf('\\boxed'));
  return open < 0 ? undefined : { text: text.slice(open + 1), by: 'box' };
}

/** `<answer>…</answer>`: the last one. */
function tagged(text: string, known: Known, cut: boolean): Extraction | undefined {
  const end = text.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : text.lastIndexOf('<answer>', end);
  if (
    start < 0 ||
    /\b(?:not|rather than|instead of)\s*$/.test(text.slice(0, start)) ||
    /^\s*(?:or|and)\b/i.test(text.slice(end + 9)) ||
    afterwards(text, end + 9, '', known, cut).withdrawn
  )
    return undefined;
  const found = fromAnswer(text.slice(start + 8, end), false, known);
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

/** An answer that is nothing but one expression, or a few words. */
function whole(source: string, known?: Known): Extraction | undefined {
  const text = source
    .trim()
    .replace(/^\*\*|\*\*$/g, '')
    // Of steps the last one counts.
    .replace(/^[^\n]*[→⇒⟹](?=[^→⇒⟹\n]*=)/u, '')
    .trim();
  if (text === '' || text.length > LIMITS.candidateChars || STRUCK.test(text)) return undefined;
  if (/\bof (?:the|my|our) (?:answer|solution|result)\b/.test(text)) return undefined;
  const short = text.length <= 400 || !/\s/.test(text);
  if (!short || /,\s+(?:so|hence|thus|therefore)\s/.test(text)) return undefined;
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
  if (isForeignSentence(text)) return undefined;
  if (!hasProse(text)) return /\d\s*:\s*$/.test(text) ? undefined : { text, by: 'whole' };
  if (afterwards(text, 0, '').withdrawn) return undefined;
  const length = text.split(/\s+/).length;
  // A value and its label: "42 apples", "$x = 5$ units".
  if (SENTENCE_OF.test(text)) return undefined;
  const isShort = length <= 8 && (/^[-−+]?\s?(?:[\d$€£¥₹(.]|\\[([\w])/.test(text) || !/[\d$\\=]/.test(text));
  if (!isShort && !/^\\(text|mathrm|textbf)\{[^{}]*\}$/.test(text)) return undefined;
  const said = `; ${text.replace(/^[-−+\d$€£¥₹(.,\\/)]+/, NOUN)}`;
  return known?.asked && /[\d$\\=]/.test(text) && !isAbout(said, known.question ?? '', text)
    ? undefined
    : { text, by: 'whole' };
}

/** "10 workers need 12 days" says 12. */
const SENTENCE_OF =
  /^[\d.,%!]+(?:\s[A-Za-z\d]+){0,4}\s(?:ends?|needs?|has|have|is|are|takes?|makes?|can|will|equals?)\s.*\d/;

/** Chinese or Japanese words that lead to a value. */
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const isForeignSentence = (text: string): boolean => {
  const [words, value] = [text.search(HAN), text.search(/[\d$\\]/)];
  return words >= 0 && words < value && /[，。、：$]|[是为得有]\s*[-−]?\d/.test(text);
};

/** Lines that hold a value each, and no steps, are a list. */
function onlyValues(text: string): Extraction | undefined {
  const lines = text.split(/\n+/);
  return lines.length <= 40 && lines.every((line) => /^[-−\s]*[\d.,/]+\s*$/.test(line))
    ? { text: lines.join(' ; '), by: 'whole' }
    : undefined;
}
