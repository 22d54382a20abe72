// A value in bold that is the only one in bold: `The trip takes **75 minutes** …`. It counts where its sentence states it, like any
// other, and what is said behind it has to leave it as it is. Linear: the last characters of a text are read.

import { afterwards } from './afterwards.ts';
import type { Known } from './known.ts';
import type { Extraction } from './phrases.ts';
import { sentenceEnd } from './sentence.ts';
import { isStated } from './statement.ts';
import { tailOf } from './tail.ts';

const REACH = 6_000;
const BOLD = /\*\*(?=\S)([^*\n]{1,80}?)(?<=\S)\*\*/g;
const VALUE =
  /^(?:[A-Za-z]\s*=\s*)?[-−+]?[\d$€£½¼¾⅓⅔√π(\\][^:?!]*$|^[a-z](?:[²³]|\^\d)?(?:\s?[-+−]\s?\d*[a-z]?(?:[²³]|\^\d)?){1,5}$/;

/** `last`: what the text states last without regard to bold; in a later sentence it has to agree. */
export function boldValue(source: string, last: Extraction | undefined, known: Known): Extraction | undefined {
  const text = source.slice(-REACH);
  const marks = [...text.matchAll(BOLD)].filter((m) => VALUE.test(m[1] ?? ''));
  const said = new Set(marks.map((m) => m[1]?.replace(/\.$/, '')));
  const mark = marks.at(-1);
  const [content] = said;
  if (!mark || content === undefined || said.size > 1) return undefined;
  const plain = text.replaceAll('**', '  ');
  const [start, end] = [mark.index + 2, mark.index + mark[0].length - 2];
  if (!isStated(plain, start, end, known, false)) return undefined;
  // "4, 6, **9, 11**, 12": items of a longer list.
  if (
    /\d\s*,\s*$/.test(plain.slice(Math.max(0, start - 22), start - 2)) ||
    /^\s*,\s*\d/.test(plain.slice(end + 2, end + 22))
  )
    return undefined;
  const { withdrawn, also } = afterwards(plain, end, content, known);
  if (withdrawn) return undefined;
  const rest = plain.slice(end);
  const later = last && last.by !== 'whole' && rest.slice(sentenceEnd(rest)).includes(last.text);
  return { text: content + tailOf(plain, end), by: 'phrase', also: later ? [...also, last.text] : also };
}
