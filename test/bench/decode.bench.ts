// Tokens per second of the embedded backend, through its process and with sampling and logprobs, against the least
// that anybody can do on the same weights: a loop that feeds a session its own outputs and takes the largest logit.
// Both alternate, so that whatever else the machine does hits both; the ratio of the medians counts.
//   npx vitest bench --run test/bench/decode.bench.ts

import { bench } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type { TokenBackend } from '../../inference/backend.ts';
import { createTokenBackend } from '../support/kinds.ts';
import { openTiny, TINY_FOLDER } from '../support/tiny.ts';

const PROMPT_TOKENS = 64;
const NEW_TOKENS = 128;
const ROUNDS = 7;

const prompt = (row: number) => Array.from({ length: PROMPT_TOKENS }, (_, i) => 3 + ((row * 37 + i * 11) % 600));
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

type Loop = (rows: number) => Promise<unknown>;

async function bareLoop(): Promise<Loop> {
  const { AutoModelForCausalLM, Tensor } = await import('@huggingface/transformers');
  const model = await AutoModelForCausalLM.from_pretrained(TINY_FOLDER, {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  type Tensors = Record<string, { data: Float32Array; dims: number[] }>;
  const session = (
    model.sessions as unknown as Record<string, { run(feeds: object): Promise<Tensors>; inputNames: string[] }>
  )['model']!;
  const layers = session.inputNames.filter((name) => name.endsWith('.key')).length;
  const ints = (values: number[], width: number) =>
    new Tensor('int64', BigInt64Array.from(values, BigInt), [values.length / width, width]).ort_tensor;

  return async (rows) => {
    let feeds: Record<string, unknown> = {};
    const range = Array.from({ length: rows }, (_, row) => row);
    for (let layer = 0; layer < layers; layer++) {
      for (const kind of ['key', 'value']) {
        const empty = new Tensor('float32', new Float32Array(0), [rows, 2, 0, 32]);
        feeds[`past_key_values.${layer}.${kind}`] = empty.ort_tensor;
      }
    }
    let next = range.flatMap(prompt);
    let width = PROMPT_TOKENS;
    for (let made = 0, total = PROMPT_TOKENS; made < NEW_TOKENS; made++, total++) {
      feeds['input_ids'] = ints(next, width);
      feeds['attention_mask'] = new Tensor('int64', new BigInt64Array(rows * total).fill(1n), [rows, total]).ort_tensor;
      feeds['position_ids'] = ints(
        range.flatMap(() => Array.from({ length: width }, (_, i) => total - width + i)),
        width,
      );
      const outputs = await session.run(feeds);
      const { data, dims } = outputs['logits']!;
      const vocab = dims[2]!;
      next = range.map((row) => {
        const at = ((row + 1) * width - 1) * vocab;
        let best = 0;
        for (let id = 1; id < vocab; id++) if (data[at + id]! > data[at + best]!) best = id;
        return best;
      });
      feeds = Object.fromEntries(
        Object.entries(outputs).flatMap(([name, tensor]) =>
          name === 'logits' ? [] : [[name.replace('present', 'past_key_values'), tensor]],
        ),
      );
      width = 1;
    }
  };
}

function ours(backend: TokenBackend, deterministic: boolean): Loop {
  let seed = 0;
  return (rows) =>
    Promise.all(
      Array.from({ length: rows }, (_, row) =>
        backend.generate(
          {
            requestId: `bench/${row}`,
            // its own first token each time, so that nothing is remembered from the round before
            contextIds: [3 + (seed++ % 600), ...prompt(row).slice(1)],
            maxNewTokens: NEW_TOKENS,
            sampling: DEFAULT_SAMPLING,
            seed,
            deterministic,
            stopTokenIds: [],
          },
          { signal: new AbortController().signal },
        ),
      ),
    );
}

async function tokensPerSecond(loop: Loop, rows: number): Promise<number> {
  const started = performance.now();
  await loop(rows);
  return (rows * NEW_TOKENS * 1000) / (performance.now() - started);
}

bench(
  'the embedded backend against a bare loop',
  async () => {
    const spec = process.env['EVERTURN_BENCH_MODEL'];
    const backend = spec
      ? await createTokenBackend(spec, { tokenizer: null, log: console.log })
      : await openTiny(console.log);
    const bare = await bareLoop();
    const loop = ours(backend, true);
    for (const rows of [1, 8, 32]) {
      await loop(rows);
      await bare(rows);
      const figures = { ours: [] as number[], bare: [] as number[] };
      for (let round = 0; round < ROUNDS; round++) {
        figures.ours.push(await tokensPerSecond(loop, rows));
        figures.bare.push(await tokensPerSecond(bare, rows));
      }
      const [own, least] = [median(figures.ours), median(figures.bare)];
      const ratios = figures.ours.map((value, i) => value / figures.bare[i]!);
      console.log(
        `batch ${rows}: ${own.toFixed(0)} tok/s, bare ${least.toFixed(0)}, ratio ${median(ratios).toFixed(2)} ` +
          `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
      );
    }
    await backend.close();
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
