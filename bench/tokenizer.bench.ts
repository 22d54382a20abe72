// How long a prompt holds the event loop of a worker, by its length: the longest delay of a timer while it is
// tokenised, with a vocabulary of real size. Needs `npm run build` (the thread is compiled).
//   npx vitest bench --run bench/tokenizer.bench.ts

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { bench } from 'vitest';
import { openTokenizer } from '../inference/tokenizer/tokenizer.ts';
import { tokenizerFolder } from '../test/support/tokenizer-folder.ts';
import { randomSource, someText, someWord } from '../test/support/texts.ts';
import { trainTokenizer } from '../test/support/trained-tokenizers.ts';

const LENGTHS = [1000, 3900, 16_000, 64_000, 256_000, 1_000_000];
const ROUNDS = 5;
const NO_BREAK = '很长的没有空格的中文文本';

const texts: Record<string, (chars: number) => string> = {
  words: (chars) => filled(chars, (random) => `${someWord(random)} `),
  'hard texts': (chars) => filled(chars, (random) => someText(random)),
  'one word': (chars) => NO_BREAK.repeat(Math.ceil(chars / NO_BREAK.length)).slice(0, chars),
};

function filled(chars: number, next: (random: (below: number) => number) => string): string {
  const random = randomSource(chars);
  let text = '';
  while (text.length < chars) text += next(random);
  return text.slice(0, chars);
}

bench(
  'event loop while a prompt is tokenised',
  async () => {
    for (const family of ['qwen', 'llama2'] as const) {
      const tokenizer = await openTokenizer(tokenizerFolder({ json: trainTokenizer(family, []), config: '{}' }));
      await tokenizer.encode(filled(20_000, someWord));
      for (const [kind, make] of Object.entries(texts)) {
        for (const chars of LENGTHS) {
          const text = make(chars);
          const delays: number[] = [];
          const took: number[] = [];
          let tokens = 0;
          for (let round = 0; round < ROUNDS; round++) {
            const delay = monitorEventLoopDelay({ resolution: 1 });
            delay.enable();
            await new Promise((resolve) => setTimeout(resolve, 20));
            delay.reset();
            const start = performance.now();
            tokens = (await tokenizer.encode(`${round}${text}`)).length;
            took.push(performance.now() - start);
            await new Promise((resolve) => setTimeout(resolve, 5));
            delay.disable();
            delays.push(delay.max / 1e6);
          }
          const middle = (values: number[]) => values.toSorted((a, b) => a - b)[ROUNDS >> 1]!.toFixed(1);
          console.log(
            `${family}, ${kind}, ${chars} chars, ${tokens} tokens: loop held ${middle(delays)} ms (at most ${Math.max(...delays).toFixed(1)}), ready after ${middle(took)} ms`,
          );
        }
      }
      await tokenizer.close();
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
