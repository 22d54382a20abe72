// The final answer that a worked solution states, for whoever makes rows of a data set.

import { findSolution } from './answer.ts';
import { scanBoxes } from './boxes.ts';

/** Marked by a box or `####`; the whole text, if it is nothing else; or somewhere in prose. */
export interface FinalAnswer {
  readonly text: string;
  readonly by: 'mark' | 'whole' | 'prose';
}

/** Undefined if the text contains none, or ends inside its box. */
export function finalAnswer(text: string): FinalAnswer | undefined {
  const found = findSolution(text);
  if (!found) return undefined;
  const { boxes, unfinished } = scanBoxes(text);
  if (found.by === 'box' && unfinished) return undefined;
  // "\boxed{5}. The final answer is 5."
  const marked = found.by === 'box' || found.by === 'hash' || (found.by === 'phrase' && boxes.length > 0);
  return {
    text: found.text,
    by: marked ? 'mark' : found.by === 'whole' && found.otherwise === undefined ? 'whole' : 'prose',
  };
}
