// A StepModel over an ONNX session with the layout of `optimum`'s text-generation-with-past exports: input_ids,
// attention_mask, optional position_ids and num_logits_to_keep, past_key_values.N.key|value; logits and
// present.N.key|value. Any other input is rejected by name: a guessed value would silently change the results.

import { ModelError } from '../../domain/errors/errors.ts';
import type { Kv, KvShape, StepInput, StepModel, StepOutput } from './step-model.ts';

export interface OnnxTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

interface Metadata {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type?: string;
  readonly shape?: readonly (number | string)[];
}

/** The used part of an onnxruntime session. */
export interface OnnxSession {
  readonly inputMetadata: readonly Metadata[];
  readonly outputMetadata: readonly Metadata[];
  run(feeds: Record<string, OnnxTensor>): Promise<Record<string, OnnxTensor>>;
}

type MakeTensor = (
  type: 'int64' | 'float32',
  data: BigInt64Array | Float32Array,
  dims: readonly number[],
) => OnnxTensor;

const PAST = /^past_key_values\.(\d+)\.(key|value)$/;
const KNOWN = ['input_ids', 'attention_mask', 'position_ids', 'num_logits_to_keep'];

interface Layout {
  readonly shape: KvShape;
  readonly vocabSize: number;
  readonly hasPositions: boolean;
  readonly keepsLogits: boolean;
}

/** `name`: as the user gave it, for errors. */
export function createOnnxModel(
  name: string,
  session: OnnxSession,
  makeTensor: MakeTensor,
  configVocabSize: number,
): StepModel {
  const { shape, vocabSize, hasPositions, keepsLogits } = readLayout(name, session, configVocabSize);
  const cacheNames = Array.from({ length: shape.tensors }, (_, i) => `${i >> 1}.${i & 1 ? 'value' : 'key'}`);

  async function step({ rows, width, ids, pads, past }: StepInput): Promise<StepOutput> {
    const slots = past?.slots ?? 0;
    const total = slots + width;
    const feeds: Record<string, OnnxTensor> = {
      input_ids: makeTensor(
        'int64',
        BigInt64Array.from({ length: rows * width }, (_, i) => BigInt(ids[i]!)),
        [rows, width],
      ),
      attention_mask: makeTensor('int64', maskOf(rows, total, pads), [rows, total]),
    };
    if (hasPositions) feeds['position_ids'] = makeTensor('int64', positionsOf(rows, width, slots, pads), [rows, width]);
    if (keepsLogits) feeds['num_logits_to_keep'] = makeTensor('int64', BigInt64Array.of(1n), []);
    const dims = [rows, shape.heads, slots, shape.dim];
    for (const [i, name] of cacheNames.entries()) {
      feeds[`past_key_values.${name}`] = makeTensor('float32', past ? past.tensors[i]! : new Float32Array(0), dims);
    }
    const outputs = await session.run(feeds);
    const tensors = cacheNames.map((name) => outputs[`present.${name}`]!.data as Float32Array);
    const kv: Kv = { rows, slots: total, tensors };
    return { logits: lastLogits(outputs['logits']!, rows, vocabSize), kv };
  }

  return { vocabSize, shape, step };
}

function maskOf(rows: number, total: number, pads: ArrayLike<number>): BigInt64Array {
  const mask = new BigInt64Array(rows * total).fill(1n);
  for (let row = 0; row < rows; row++) if (pads[row]! > 0) mask.fill(0n, row * total, row * total + pads[row]!);
  return mask;
}

function positionsOf(rows: number, width: number, slots: number, pads: ArrayLike<number>): BigInt64Array {
  const positions = new BigInt64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width; i++) positions[row * width + i] = BigInt(Math.max(0, slots + i - pads[row]!));
  }
  return positions;
}

/** [rows, positions, vocab] to [rows, vocab]: a view if the model returns one position per row. */
function lastLogits(logits: OnnxTensor, rows: number, vocabSize: number): Float32Array {
  const kept = logits.dims[1]!;
  const data = logits.data as Float32Array;
  if (kept === 1) return data;
  if (rows === 1) return data.subarray((kept - 1) * vocabSize, kept * vocabSize);
  const last = new Float32Array(rows * vocabSize);
  for (let row = 0; row < rows; row++) {
    const at = (row * kept + kept - 1) * vocabSize;
    last.set(data.subarray(at, at + vocabSize), row * vocabSize);
  }
  return last;
}

function readLayout(model: string, session: OnnxSession, configVocabSize: number): Layout {
  const inputs = new Map(session.inputMetadata.map((m) => [m.name, m]));
  const outputs = new Map(session.outputMetadata.map((m) => [m.name, m]));
  const unknown = [...inputs.keys()].filter((name) => !KNOWN.includes(name) && !PAST.test(name));
  if (unknown.length > 0) throw wrongLayout(model, `has inputs this program cannot fill: ${unknown.join(', ')}`);
  const tensors = [...inputs.keys()].filter((name) => PAST.test(name)).length;
  const names = Array.from({ length: tensors / 2 }, (_, i) => [`${i}.key`, `${i}.value`]).flat();
  const needed = ['input_ids', 'attention_mask', 'past_key_values.0.key', ...names.map((n) => `past_key_values.${n}`)];
  const missing = [
    ...needed.filter((name) => !inputs.has(name)),
    ...['logits', ...names.map((n) => `present.${n}`)].filter((name) => !outputs.has(name)).map((n) => `output ${n}`),
  ];
  if (missing.length > 0) throw wrongLayout(model, `lacks ${[...new Set(missing)].join(', ')}`);
  for (const name of names) expectType(model, inputs.get(`past_key_values.${name}`)!, 'float32');
  for (const name of ['input_ids', 'attention_mask']) expectType(model, inputs.get(name)!, 'int64');
  expectType(model, outputs.get('logits')!, 'float32');
  const [, heads, , dim] = inputs.get('past_key_values.0.key')!.shape ?? [];
  if (typeof heads !== 'number' || typeof dim !== 'number') {
    throw wrongLayout(model, 'does not say the number of heads and their size in past_key_values.0.key');
  }
  const declared = outputs.get('logits')!.shape?.[2];
  const vocabSize = typeof declared === 'number' ? declared : configVocabSize;
  return {
    shape: { tensors, heads, dim },
    vocabSize,
    hasPositions: inputs.has('position_ids'),
    keepsLogits: inputs.has('num_logits_to_keep'),
  };
}

function expectType(model: string, metadata: Metadata, type: string): void {
  if (metadata.type !== type) throw wrongLayout(model, `has ${metadata.name} as ${metadata.type}, not ${type}`);
}

function wrongLayout(model: string, what: string): ModelError {
  return new ModelError(`The ONNX model ${model} ${what}`, {
    reason: 'model-layout',
    fix:
      'Right would be inputs input_ids, attention_mask, past_key_values.N.key|value (and, if any, position_ids, ' +
      'num_logits_to_keep) and outputs logits, present.N.key|value, in float32, as `optimum-cli export onnx --task ' +
      'text-generation-with-past` writes them.',
  });
}
