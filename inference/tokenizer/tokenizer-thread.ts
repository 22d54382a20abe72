// The thread that tokenises long texts for long-texts.ts: one tokenizer, one text after the other.

import { parentPort, workerData } from 'node:worker_threads';

import { createEncode, type TokenizerFiles } from './tokenizer-engine.ts';

export interface ToThread {
  readonly id: number;
  readonly text: string;
  readonly addSpecialTokens: boolean;
}

export type FromThread =
  { readonly id: number; readonly ids: Int32Array } | { readonly id: number; readonly error: string };

const encode = createEncode(workerData as TokenizerFiles);

parentPort!.on('message', ({ id, text, addSpecialTokens }: ToThread) => {
  let answer: FromThread;
  const moved: ArrayBuffer[] = [];
  try {
    const ids = Int32Array.from(encode(text, addSpecialTokens));
    answer = { id, ids };
    moved.push(ids.buffer);
  } catch (error) {
    answer = { id, error: String(error) };
  }
  parentPort!.postMessage(answer, moved);
});
