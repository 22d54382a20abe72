// The part of a model's text that is its answer: behind its thought, before the mark at which a chat template ends the turn,
// without Markdown, drawings and GSM8K's calculations. A box within a thought counts only if nothing follows the thought. Linear.

import { plainSigns } from '../read/plain-signs.ts';
import { answerMessage, behindThoughts } from './thoughts.ts';
import { LIMITS } from '../base/limits.ts';
import { scanBoxes } from './boxes.ts';

/** The marks by which chat templates end a turn or open another one. */
const TURN =
  /<\|(?:im_end|im_start|end_?of_?text|eot_id|eom_id|eot|eom|end|return|call|start|start_header_id|header_start|user|assistant|system|observation|(?:end_of|start_of)_(?:turn|role)(?:_token)?|role_(?:end|start))\|>|<(?:start|end)_of_turn>|<｜(?:User|Assistant|end▁of▁sentence|begin▁of▁sentence)｜>|\[\/?INST\]|<\/s>|<eos>/gi;
/** A drawing in Asymptote holds numbers that are no values. */
const DRAWING = /\[asy\](?:(?!\[asy\])[^])*?\[\/asy\]/g;
/** GSM8K's calculations inside its prose: "$<<9*2=18>>18". */
const CALCULATION = /<<[^<>\n]{0,100}>>/g;
const EMPTY_BOX = /\\(?:boxed|fbox)\s*\{\s*\}/g;
/** The point of a title ends no sentence. */
const TITLE = /\b(Mr|Mrs|Ms|Dr|St|Prof)\.(?=\s\p{Lu})/gu;

/** Undefined: the text ends within its thought. `cut`: emphasis stays, as it shows what is complete. */
export function ownText(source: string, cut: boolean): string | undefined {
  const message = answerMessage(source.slice(-LIMITS.textChars));
  const text = inTurn(message.text);
  const { text: said, isOpen } = behindThoughts(text, cut);
  if (isOpen || message.isOpen) return undefined;
  const answer = said.trim() === '' && scanBoxes(text).boxes.length > 0 ? text : said;
  const signs = plainSigns(answer);
  const plain = cut ? signs : withoutMarkup(signs).replace(CALCULATION, '');
  return inOneWord(plain).replaceAll('−', '-').replace(TITLE, '$1').replace(DRAWING, '\n').replace(EMPTY_BOX, '');
}

/** "28 per cent", "28 per-cent" as 28 percent, "12 and a half" as 12.5. */
export const inOneWord = (text: string): string =>
  text.replace(/\b(p)er[\s~-]{1,3}cent\b/gi, '$1ercent').replace(/(?<![\w.,/:])(\d{1,9}) and a half\b/g, '$1.5');

function inTurn(text: string): string {
  for (const { index } of text.matchAll(TURN)) if (/\S/.test(text.slice(0, index))) return text.slice(0, index);
  return text;
}

// It opens behind no value and before no blank, and closes behind no blank and before no value.
const EMPHASIS = ['\\*\\*', '__', '\\*'].map(
  (mark) =>
    new RegExp(`(?<![\\w)}\\]*\\\\])${mark}(?=[^\\s*_])([^*_\\n]{1,300}?)(?<=[^\\s*_])${mark}(?![\\w({*\\\\])`, 'g'),
);

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  le: '≤',
  ge: '≥',
  ne: '≠',
  amp: '&',
  nbsp: ' ',
  minus: '-',
  times: '×',
  divide: '÷',
  pi: 'π',
  deg: '°',
  radic: '√',
  plusmn: '±',
  infin: '∞',
};
const ENTITY = new RegExp(`&(${Object.keys(ENTITIES).join('|')});`, 'g');

function withoutMarkup(text: string): string {
  let plain = text.includes('&') ? text.replace(ENTITY, (_, name: string) => ENTITIES[name] ?? '') : text;
  if (plain.includes('#')) plain = plain.replace(/^#{1,3}\s+(?=\S)/gm, '');
  if (!/[*_]/.test(plain)) return plain;
  plain = plain.replace(/^\s*[*•]\s+/gm, '');
  for (const pattern of EMPHASIS) plain = plain.replace(pattern, '$1');
  return plain;
}
