// A StepModel for tests of the decode loop. Its cache holds the tokens themselves and its logits are a hash of all a
// row has been shown, so one key out of place changes every answer. It rounds as real runtimes do: where padding moves
// a key to another lane or block, the logits change a little.

import { setImmediate as nextTurn } from 'node:timers/promises';

import type { StepInput, StepModel, StepOutput } from '../../inference/decode/step-model.ts';

export const HISTORY_VOCABULARY = 23;
const HEADS = 2;

export interface Flaws {
  /** Padding by other than multiples of this rounds differently. */
  readonly lane: number;
  /** … and any padding does when there are more slots than this. */
  readonly block: number;
  /** Padding changes the meaning, not the rounding. */
  readonly ignoresPadding?: boolean;
  /** Forgets this many of the first cached tokens. */
  readonly forgets?: number;
}

export interface HistoryModel extends StepModel {
  readonly steps: StepInput[];
}

export function historyModel(flaws: Flaws = { lane: 8, block: 64 }): HistoryModel {
  const steps: StepInput[] = [];
  const shape = { tensors: 2, heads: HEADS, dim: 1 };
  return {
    vocabSize: HISTORY_VOCABULARY,
    shape,
    steps,
    async step(input: StepInput): Promise<StepOutput> {
      steps.push(input);
      await nextTurn(); // as onnxruntime does
      const { rows, width, ids, past } = input;
      const slots = (past?.slots ?? 0) + width;
      const tensors = Array.from({ length: shape.tensors }, () => new Float32Array(rows * HEADS * slots));
      const logits = new Float32Array(rows * HISTORY_VOCABULARY);
      for (let row = 0; row < rows; row++) {
        for (const [t, tensor] of tensors.entries()) {
          for (let head = 0; head < HEADS; head++) {
            for (let slot = 0; slot < slots; slot++) {
              const cached = past && slot < past.slots;
              const at = (row * HEADS + head) * (past?.slots ?? 0) + slot;
              const token = ids[row * width + slot - (slots - width)]!;
              // keys and values, and the heads, are told apart
              tensor[(row * HEADS + head) * slots + slot] = cached
                ? past.tensors[t]![at]!
                : (token + 1) * (t + 1) * (head + 1);
            }
          }
        }
        logits.set(logitsOf(tensors, row, slots, input, flaws), row * HISTORY_VOCABULARY);
      }
      return { logits, kv: { rows, slots, tensors } };
    },
  };
}

function logitsOf(tensors: Float32Array[], row: number, slots: number, input: StepInput, flaws: Flaws): Float32Array {
  const pad = input.pads[row]!;
  let hash = 17;
  const first = flaws.ignoresPadding ? 0 : pad;
  const forgotten = input.past && input.rows === 1 ? (flaws.forgets ?? 0) : 0;
  for (let slot = first + forgotten; slot < slots; slot++) {
    const token = tensors[0]![row * HEADS * slots + slot]!;
    for (const [t, tensor] of tensors.entries()) {
      for (let head = 0; head < HEADS; head++) {
        const value = tensor[(row * HEADS + head) * slots + slot]!;
        if (value !== token * (t + 1) * (head + 1)) throw new Error(`the cache of row ${row} is torn at slot ${slot}`);
      }
    }
    if (token === 0 && slot >= pad && pad < slots - 1) throw new Error(`row ${row} has a hole at slot ${slot}`);
    hash = Math.imul(hash ^ token, 0x01000193) >>> 0;
  }
  const moved = pad % flaws.lane !== 0 || (pad > 0 && slots > flaws.block);
  const rounding = moved ? 1e-4 : 0;
  return Float32Array.from({ length: HISTORY_VOCABULARY }, (_, id) => {
    const mixed = Math.imul(hash ^ (id * 0x9e3779b1), 0x85ebca6b) >>> 0;
    return (mixed / 2 ** 32) * 4 + rounding * (id % 3);
  });
}
