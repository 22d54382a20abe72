// The hostile model server as its tests hold it: a process that they start, kill and start again on the same port,
// and the count of what it was asked, which outlives it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../local/machine/ports.ts';
import { tokenizerLoader } from '../../inference/tokenizer/server-tokenizer.ts';
import { type Kept, keepNode } from './kept.ts';
import { compiledModelServer } from '../support/compiled.ts';
import type { Ask, HostileConfig } from '../support/hostile-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

export interface HostileModel extends Kept {
  /** For `--model`. */
  readonly spec: string;
  /** Every generation it was asked for, and each one's end, in order. */
  asks(): Ask[];
  /** Ends it, and starts it again as somebody else. */
  become(more: Partial<HostileConfig>): Promise<void>;
}

export type HostileOptions = Pick<HostileConfig, 'kind' | 'latencyMs' | 'seed'> & Partial<HostileConfig>;

/** `says`: texts of several lengths. */
export async function startHostileModel(
  folder: string,
  given: HostileOptions,
  says: readonly string[] = NUMBERS,
): Promise<HostileModel> {
  const asksFile = join(folder, 'asks.jsonl');
  const port = given.port ?? (await freePort([]));
  let config: HostileConfig = { ...(await tinyAnswers(says)), length: 4096, asksFile, port, ...given };
  const log = join(folder, 'model-server.log');
  const kept = keepNode('model server', () => [compiledModelServer(), JSON.stringify(config)], process.env, log);
  await kept.ready();
  const url = `http://${given.host ?? '127.0.0.1'}:${port}`;
  const spec = { sglang: `sglang:${url}`, vllm: `vllm:${url}`, openai: `openai:${url}/v1#tiny` }[given.kind];
  return {
    ...kept,
    spec,
    asks: () => readAsks(asksFile),
    async become(more) {
      config = { ...config, ...more };
      await kept.stop();
      kept.start();
      await kept.ready();
    },
  };
}

/** Its whole lines: the server may be writing another. */
function readAsks(file: string): Ask[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => JSON.parse(line) as Ask);
}

/** One number in a box, now and then in many words. */
const NUMBERS = Array.from({ length: 10 }, (_, n) => `${'Let me think. '.repeat(n % 3)}The answer is \\boxed{${n}}.`);

/** What the model may say, in the shipped model's tokens. */
async function tinyAnswers(texts: readonly string[]): Promise<Pick<HostileConfig, 'answers' | 'vocabSize'>> {
  const { tokenizer, vocabSize } = await tokenizerLoader(TINY_FOLDER).load(null, '');
  return { answers: await Promise.all(texts.map((text) => tokenizer.encode(text))), vocabSize };
}
