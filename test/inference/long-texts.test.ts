// Long texts are tokenised in a thread: the same ids, and an event loop that goes on turning.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { LongTexts } from '../../inference/tokenizer/long-texts.ts';
import { LONG_TEXT_CHARS, openTokenizer, type ModelTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { createEncode } from '../../inference/tokenizer/tokenizer-engine.ts';
import { tokenizerFolder } from '../support/tokenizer-folder.ts';
import { randomSource, someText } from '../support/texts.ts';
import { trainTokenizer } from '../support/trained-tokenizers.ts';

const json = trainTokenizer('llama3', [{ content: '<|im_end|>', special: true }]);
let tokenizer: ModelTokenizer;
beforeAll(async () => {
  tokenizer = await openTokenizer(tokenizerFolder({ json, config: '{}' }));
});
afterAll(() => tokenizer.close());

function longText(seed: number, chars: number): string {
  const random = randomSource(seed);
  let text = '';
  while (text.length < chars) text += `${someText(random, { extra: ['<|im_end|>'] })} `;
  return text;
}

test('a long text has the ids that it has here', async () => {
  const encode = createEncode({ json, config: '{}' });
  for (const chars of [LONG_TEXT_CHARS - 100, LONG_TEXT_CHARS + 100, 50_000]) {
    const text = longText(chars, chars);
    expect(await tokenizer.encode(text)).toEqual(encode(text, true));
    expect(await tokenizer.encodeRendered(text)).toEqual(encode(text, false));
  }
});

test('the event loop turns while a long text is tokenised', async () => {
  await tokenizer.encode(longText(1, 5000)); // the thread is up
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  const ids = await tokenizer.encode(longText(2, 300_000));
  done = true;
  expect(ids.length).toBeGreaterThan(50_000);
  expect(turns).toBeGreaterThan(100);
});

test('long texts that are asked for at once get each their own ids', async () => {
  const encode = createEncode({ json, config: '{}' });
  const texts = Array.from({ length: 8 }, (_, i) => longText(i, 6000 + 1000 * i));
  expect(await Promise.all(texts.map((text) => tokenizer.encode(text)))).toEqual(
    texts.map((text) => encode(text, true)),
  );
});

test('a thread that cannot be started is told, and closing is possible at any time', async () => {
  const broken = new LongTexts(() => '/nowhere/thread.js', { json: '{}', config: '{}' });
  await broken.close();
  await expect(broken.encode('x', false)).rejects.toMatchObject({ name: 'ModelError', reason: 'tokenizer-failed' });
  await broken.close();
});

test('closing rejects what is under way, and the next text starts a new thread', async () => {
  const own = await openTokenizer(tokenizerFolder({ json, config: '{}' }));
  const [outcome] = await Promise.allSettled([own.encode(longText(3, 400_000)), own.close()]);
  expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'tokenizer-failed', retryable: true } });
  const text = longText(4, 5000);
  expect(await own.encode(text)).toEqual(createEncode({ json, config: '{}' })(text, true));
  await own.close();
});
