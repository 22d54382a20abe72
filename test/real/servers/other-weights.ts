// A second model for weight updates: the shipped one with its last norm halved, so that its logits are half as far
// apart, in the file that servers load and in the one that the embedded engine loads. And the embedded engine as a
// judge of logprobs.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kv } from '../../../inference/decode/step-model.ts';
import { loadModel } from '../../../inference/embedded/load.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';

const NORM = 'model.norm.weight';
/** Of a float16 that is no denormal: half of it. */
const ONE_EXPONENT = 0x0400;

let made: string | undefined;

/** Made once; the folder goes with the process. */
export function otherWeights(): string {
  return (made ??= makeWeights());
}

function makeWeights(): string {
  const home = mkdtempSync(join(tmpdir(), 'everturn-weights-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, 'step-1');
  cpSync(TINY_FOLDER, folder, { recursive: true });
  const weights = join(folder, 'model.safetensors');
  const onnx = join(folder, 'onnx/model.onnx');
  const [tensors, graph] = [readFileSync(weights), readFileSync(onnx)];
  const headerBytes = Number(tensors.readBigUInt64LE(0));
  const header = JSON.parse(tensors.subarray(8, 8 + headerBytes).toString()) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  const [start, end] = header[NORM]!.data_offsets.map((at) => 8 + headerBytes + at) as [number, number];
  const values = tensors.subarray(start, end);
  // Both files hold the same float16 values, a vector in the same order.
  const at = graph.indexOf(values);
  if (at < 0 || graph.indexOf(values, at + 1) >= 0) throw new Error(`${NORM} is not once in onnx/model.onnx`);
  for (let i = 0; i < values.length; i += 2) {
    const halved = values.readUInt16LE(i) - ONE_EXPONENT;
    values.writeUInt16LE(halved, i);
    graph.writeUInt16LE(halved, at + i);
  }
  writeFileSync(weights, tensors);
  writeFileSync(onnx, graph);
  return folder;
}

/** Logprobs of these tokens, each after all before it. */
export type Scorer = (context: readonly number[], outputs: readonly number[], temperature: number) => Promise<number[]>;

/** The model in `folder`, in this process. */
export async function openScorer(folder: string): Promise<Scorer> {
  const { model } = await loadModel({
    type: 'load',
    source: { kind: 'folder', path: folder, name: folder },
    tokenizerSize: 0,
  });
  return async (context, outputs, temperature) => {
    let past: Kv | null = null;
    let ids = context;
    const logprobs: number[] = [];
    for (const id of outputs) {
      const { logits, kv } = await model.step({ rows: 1, width: ids.length, ids, pads: [0], past });
      logprobs.push(logprobOf(id, logits, temperature));
      [past, ids] = [kv, [id]];
    }
    return logprobs;
  };
}

function logprobOf(id: number, logits: Float32Array, temperature: number): number {
  const warm = Array.from(logits, (logit) => logit / temperature);
  const most = Math.max(...warm);
  return warm[id]! - most - Math.log(warm.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

export function worstError(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new Error(`${a.length} logprobs against ${b.length}`);
  return a.reduce((worst, x, i) => Math.max(worst, Math.abs(x - b[i]!)), 0);
}
