// The part of a model's text that is its answer: behind its thought, before the mark at which a chat template ends the turn,
// without Markdown, drawings and GSM8K's calculations. A box within a thought counts only if nothing follows the thought. Linear.

import { LIMITS } from '../limits.ts';
import { scanBoxes } from './boxes.ts';
import { withoutMarkup } from './markdown.ts';

/** The marks by which chat templates end a turn or open another one. */
const TURN =
  /<\|(?:im_end|im_start|end_?of_?text|eot_id|eom_id|eot|eom|end|return|call|start|start_header_id|header_start|user|assistant|system|observation|(?:end_of|start_of)_(?:turn|role)(?:_token)?|role_(?:end|start))\|>|<(?:start|end)_of_turn>|<｜(?:User|Assistant|end▁of▁sentence|begin▁of▁sentence)｜>|\[\/?INST\]|<\/s>|<eos>/gi;
/** gpt-oss thinks in one channel and answers in another. */
const FINAL = '<|channel|>final<|message|>';
const THOUGHT = '</think>';
/** A drawing in Asymptote holds numbers that are no values. */
const DRAWING = /\[asy\](?:(?!\[asy\])[^])*?\[\/asy\]/g;
/** GSM8K's calculations inside its prose: "$<<9*2=18>>18". */
const CALCULATION = /<<[^<>\n]{0,100}>>/g;
const EMPTY_BOX = /\\(?:boxed|fbox)\s*\{\s*\}/g;
/** The point of a title ends no sentence. */
const TITLE = /\b(Mr|Mrs|Ms|Dr|St|Prof)\.(?=\s\p{Lu})/gu;

/** `undefined`: a limit cut the text within its thought. `cut`: emphasis stays, as it shows what is complete. */
export function ownText(source: string, cut: boolean): string | undefined {
  const text = inTurn(source.slice(-LIMITS.textChars));
  const thought = text.lastIndexOf(THOUGHT);
  if (cut && text.lastIndexOf('<think>') > thought) return undefined;
  const said = thought < 0 ? text : text.slice(thought + THOUGHT.length);
  const answer = said.trim() === '' && scanBoxes(text).boxes.length > 0 ? text : said;
  const plain = cut ? answer : withoutMarkup(answer).replace(CALCULATION, '');
  return plain.replaceAll('−', '-').replace(TITLE, '$1').replace(DRAWING, '\n').replace(EMPTY_BOX, '');
}

function inTurn(source: string): string {
  const final = source.lastIndexOf(FINAL);
  const text = final < 0 ? source : source.slice(final + FINAL.length);
  for (const { index } of text.matchAll(TURN)) if (/\S/.test(text.slice(0, index))) return text.slice(0, index);
  return text;
}
