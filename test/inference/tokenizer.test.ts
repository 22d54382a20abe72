// What a model's folder says about its tokenizer is what its ids are.

import { describe, expect, test } from 'vitest';
import { openTokenizer, type ModelTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { randomSource, someText } from '../support/texts.ts';
import { tokenizerFolder } from '../support/tokenizer-folder.ts';
import { FAMILY_NAMES, trainTokenizer } from '../support/trained-tokenizers.ts';

const [BOS, EOS] = [1, 2];
const open = (config: object, json = trainTokenizer('llama2', [])): Promise<ModelTokenizer> =>
  openTokenizer(tokenizerFolder({ json, config: JSON.stringify(config) }));
const tokens = { bos_token: '<s>', eos_token: { content: '</s>', lstrip: false }, pad_token: null };
/** As the first Llama folders were converted: nothing surrounds a text. */
const bare = JSON.stringify({ ...(JSON.parse(trainTokenizer('llama2', [])) as object), post_processor: null });

describe('the tokenizer of a model folder', () => {
  test.each([
    ['LlamaTokenizer', {}, bare, [BOS], []],
    ['LlamaTokenizerFast', { add_bos_token: true, add_eos_token: true }, bare, [BOS], [EOS]],
    ['LlamaTokenizer', { add_bos_token: false }, undefined, [], []],
    ['GemmaTokenizerFast', { add_bos_token: true }, bare, [BOS], []],
    ['CodeLlamaTokenizer', { add_bos_token: false, add_eos_token: true }, undefined, [], [EOS]],
    ['PreTrainedTokenizerFast', { add_bos_token: false }, undefined, [BOS], []],
    ['Qwen2Tokenizer', { add_bos_token: true }, bare, [], []],
  ])('surrounds a text as %s with %o does in Python', async (tokenizer_class, flags, json, before, after) => {
    const tokenizer = await open({ ...tokens, ...flags, tokenizer_class }, json);
    const inner = await tokenizer.encodeRendered('So it is 4.');
    expect(inner.length).toBeGreaterThan(2);
    expect(await tokenizer.encode('So it is 4.')).toEqual([...before, ...inner, ...after]);
  });

  test('has the pad and EOS ids as stop ids, as text or as object', async () => {
    const config = { tokenizer_class: 'PreTrainedTokenizerFast', ...tokens, pad_token: '<unk>' };
    expect((await open(config)).stopTokenIds).toEqual([0, EOS]);
    expect((await open({ ...config, pad_token: '</s>' })).stopTokenIds).toEqual([EOS]);
    expect((await open({ tokenizer_class: 'PreTrainedTokenizerFast' })).stopTokenIds).toEqual([]);
  });

  test('gives no text to ids without a token, and none to no ids', async () => {
    const tokenizer = await open({ tokenizer_class: 'PreTrainedTokenizerFast', ...tokens });
    const ids = await tokenizer.encodeRendered('4');
    expect(await tokenizer.decode([...ids, tokenizer.size + 7], { skipSpecialTokens: false })).toBe(
      await tokenizer.decode(ids, { skipSpecialTokens: false }),
    );
    expect(await tokenizer.decode([], { skipSpecialTokens: false })).toBe('');
    expect(await tokenizer.decode([BOS, EOS], { skipSpecialTokens: true })).toBe('');
  });

  test.each(FAMILY_NAMES.filter((name) => name === 'qwen' || name === 'llama3' || name === 'gpt2'))(
    'gives back every text that it encoded: %s',
    async (family) => {
      const tokenizer = await open({ tokenizer_class: 'PreTrainedTokenizerFast' }, trainTokenizer(family, []));
      const random = randomSource(7);
      for (let i = 0; i < 200; i++) {
        const text = someText(random, { extra: [] }).toWellFormed().normalize('NFC');
        const ids = await tokenizer.encodeRendered(text);
        expect(await tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(text);
      }
    },
  );
});
