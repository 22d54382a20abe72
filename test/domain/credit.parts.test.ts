// Where tokens begin, with the tokenizers of the families that language models use.

import { describe, expect, test } from 'vitest';
import { codePoints } from '../../domain/rollout/credit.ts';
import { openTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { randomSource, someText } from '../support/texts.ts';
import { tokenizerFolder } from '../support/tokenizer-folder.ts';
import { FAMILY_NAMES, trainTokenizer } from '../support/trained-tokenizers.ts';
import { startsOf } from './token-starts.ts';

describe.each(FAMILY_NAMES)('a token of %s', (family) => {
  const added = [{ content: '<|im_end|>', special: true }];
  const config = JSON.stringify({ tokenizer_class: 'PreTrainedTokenizerFast' });
  const open = () => openTokenizer(tokenizerFolder({ json: trainTokenizer(family, added), config }));

  test('begins where the text of those before it ends, a character in parts where its first part does', async () => {
    const tokenizer = await open();
    const random = randomSource(3);
    const asText = (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: true });
    for (let n = 0; n < 60; n++) {
      const said = someText(random, { extra: ['<|im_end|>', '\u20ac', '\u{1f600}'] }).toWellFormed();
      const ids = await tokenizer.encodeRendered(said.replaceAll('\ufffd', ''));
      const { answer, starts } = await startsOf(ids, tokenizer);
      const right: number[] = [];
      for (const k of ids.keys()) {
        const before = (await asText(ids.slice(0, k))).replace(/\ufffd+$/, '');
        expect(answer.startsWith(before)).toBe(true);
        // Some tokenizers show no character of a run of bytes that ends within one.
        right.push(Math.max(right.at(-1) ?? 0, codePoints(before)));
      }
      expect(starts).toEqual(right);
    }
  });

  test('begins within the answer and in order, whatever the ids are, and costs some ids to decode', async () => {
    const tokenizer = await open();
    const random = randomSource(5);
    const [whole] = [await tokenizer.encodeRendered('\u{1f600}')];
    const drawn = Array.from({ length: 60 }, () => Array.from({ length: random(40) }, () => random(tokenizer.size)));
    const cut = [...(await tokenizer.encodeRendered('So it is 4, '.repeat(40))), ...whole.slice(0, -1)];
    for (const ids of [...drawn, cut, Array<number>(500).fill(whole.at(-1)!)]) {
      const { answer, starts, asked } = await startsOf(ids, tokenizer);
      expect(starts).toHaveLength(ids.length);
      for (const [k, at] of starts.entries()) expect(at >= (starts[k - 1] ?? 0) && at <= codePoints(answer)).toBe(true);
      expect(asked).toBeLessThanOrEqual(60 * ids.length);
    }
  });
});
