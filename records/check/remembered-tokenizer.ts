// A tokenizer that remembers what it was asked: the rollouts of a run share questions, feedback and stop tokens, and a check asks
// for each of them again. Memory: the latest short texts.

import type { CheckTokenizer } from './checked.ts';

const MOST_KEPT = 4096;
const MOST_CHARS = 4000;

export function rememberedTokenizer(tokenizer: CheckTokenizer): CheckTokenizer {
  const rendered = openMemory<string>();
  const encoded = openMemory<Promise<number[]>>();
  const decoded = openMemory<Promise<string>>();
  return {
    ...tokenizer,
    renderChat: (...asked) => rendered(JSON.stringify(asked), () => tokenizer.renderChat(...asked)),
    encode: (text) => encoded(`plain ${text}`, () => tokenizer.encode(text)),
    encodeRendered: (text, most) =>
      most === undefined ? encoded(text, () => tokenizer.encodeRendered(text)) : tokenizer.encodeRendered(text, most),
    decode: (ids, options) =>
      decoded(`${options.skipSpecialTokens} ${ids.join(' ')}`, () => tokenizer.decode(ids, options)),
  };
}

/** Its errors are not remembered as such: they come again. */
function openMemory<T>() {
  const known = new Map<string, T>();
  return (key: string, make: () => T): T => {
    if (key.length > MOST_CHARS) return make();
    const found = known.get(key) ?? make();
    known.delete(key);
    known.set(key, found);
    if (known.size > MOST_KEPT) known.delete(known.keys().next().value!);
    return found;
  };
}
