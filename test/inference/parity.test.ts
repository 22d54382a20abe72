// Token ids and texts are those of the Rust tokenizers, which Python and every inference server use: 5,000 texts per
// family, encoded and decoded by both.

import { Tokenizer } from 'tokenizers';
import { describe, expect, test } from 'vitest';
import { createEncode } from '../../inference/tokenizer/tokenizer-engine.ts';
import { openTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { tokenizerFolder } from '../support/tokenizer-folder.ts';
import { FAMILY_NAMES, trainTokenizer, type AddedToken } from '../support/trained-tokenizers.ts';
import { pick, randomSource, someText } from '../support/texts.ts';

const TEXTS = 5000;
const ADDED: readonly AddedToken[] = [
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<|end|>', special: true, rstrip: true },
  { content: '<|mask|>', special: true, lstrip: true },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
];

describe.each(FAMILY_NAMES)('%s', (family) => {
  const json = trainTokenizer(family, ADDED);
  const theirs = Tokenizer.fromString(json);
  const same = sameUpToTies(json);

  test('encodes as Rust does', async () => {
    const encode = createEncode({ json, config: '{}' });
    const random = randomSource(2026);
    const extra = [...ADDED.map(({ content }) => content), '<s>', '</s>'];
    const texts = Array.from({ length: TEXTS }, () => someText(random, { extra }));
    for (const addSpecialTokens of [true, false]) {
      const right = await theirs.encodeBatch(texts, { addSpecialTokens });
      const wrong = texts.filter((text, i) => !same(encode(text, addSpecialTokens), right[i]!.getIds()));
      expect(wrong.map((text) => JSON.stringify(text)).slice(0, 5)).toEqual([]);
    }
  });

  test('decodes as Rust does', async () => {
    const ours = await openTokenizer(tokenizerFolder({ json, config: '{"clean_up_tokenization_spaces": true}' }));
    const random = randomSource(2027);
    const size = theirs.getVocabSize(true);
    const usual = (await theirs.encode(someText(randomSource(1)))).getIds();
    const rows = Array.from({ length: TEXTS }, () =>
      Array.from({ length: 1 + random(30) }, () => (random(3) > 0 ? random(size + 2) : pick(random, usual))),
    );
    for (const skipSpecialTokens of [true, false]) {
      const right = await theirs.decodeBatch(rows, skipSpecialTokens);
      const wrong = rows.filter((row, i) => ours.decode(row, { skipSpecialTokens }) !== right[i]);
      expect(wrong.slice(0, 5)).toEqual([]);
    }
    await ours.close();
  });
});

/**
 * Equal ids; or, of a unigram model, two ways to cut a text that are equally likely: which of them is taken is nobody's
 * promise, and training, which is not repeatable, makes such ties now and then.
 */
function sameUpToTies(json: string): (a: readonly number[], b: readonly number[]) => boolean {
  const { model } = JSON.parse(json) as { model: { type?: string; vocab: unknown } };
  if (model.type !== 'Unigram') return (a, b) => String(a) === String(b);
  const scores = (model.vocab as [string, number][]).map(([, score]) => score);
  const likely = (ids: readonly number[]) => ids.reduce((sum, id) => sum + (scores[id] ?? 0), 0);
  return (a, b) => String(a) === String(b) || Math.abs(likely(a) - likely(b)) < 1e-6;
}
