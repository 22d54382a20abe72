// A refusal of a budget says in each server's own words (budget-words.jsonl) how many new tokens fit; other refusals say nothing of
// it.

import { describe, expect, test } from 'vitest';
import { roomIn } from '../../inference/budget-room.ts';
import { rowsOf } from '../support/rows.ts';

describe('the budget that fits', () => {
  test.each(
    rowsOf<{ of: string; words: string; asked: number; most?: number }>('./budget-words.jsonl', import.meta.url),
  )('is read out of the refusal of $of', ({ words, asked, most }) => expect(roomIn(words, asked)?.most).toBe(most));
});
