// Runs a model against itself when it is loaded: refuses one that would lie, and finds out how far its batches
// are bit-equal to single rows on this machine (traits.ts says what follows).

import { ModelError } from '../../domain/errors.ts';
import { gatherRows } from './kv.ts';
import { uniformAt } from './philox.ts';
import type { Kv, StepModel } from './step-model.ts';
import type { Traits } from './traits.ts';

/** Of the largest logit: float32 noise is far below, a wrong mask or position far above. */
const TOLERANCE = 1e-3;
const TEXT_TOKENS = 48;
const STEPS = 3;
const ALIGNMENTS = [8, 16, 32, 64];
/** Proving longer lengths stops after this; what is unproven runs alone. */
const PROOF_MS = 1500;

export interface CheckReport {
  readonly traits: Traits;
  /** Largest difference of a logit, in units of the largest logit: cached against uncached, padded against not. */
  readonly cacheError: number;
  readonly paddingError: number;
}

interface Sequence {
  readonly kv: Kv;
  readonly length: number;
  readonly next: number;
}

export async function checkModel(model: StepModel, contextLength: number, now = Date.now): Promise<CheckReport> {
  const ids = Array.from({ length: TEXT_TOKENS }, (_, i) => Math.floor(uniformAt(1, i) * model.vocabSize));
  const whole = await feed(model, ids, [ids.length]);
  const pieces = await feed(model, ids, [11, 7, ...Array.from({ length: ids.length - 18 }, () => 1)]);
  const cacheError = relativeError(whole.logits, pieces.logits);
  if (!(cacheError <= TOLERANCE)) {
    throw new ModelError(
      `The model answers differently with and without its cache (logits differ by ${cacheError.toPrecision(2)} of the largest)`,
      {
        reason: 'model-cache-broken',
        fix: 'Export it again with past key values (optimum: text-generation-with-past) and check `position_ids`.',
      },
    );
  }
  const reuse = equal(whole.logits, pieces.logits) && whole.kv.tensors.every((t, i) => equal(t, pieces.kv.tensors[i]!));

  const sequence = (length: number): Sequence => ({
    kv: tiled(model, whole.kv, length),
    length,
    next: ids[length % 40]!,
  });
  const paddingError = await companyError(model, [48, 37, 8].map(sequence));
  const padding = paddingError <= TOLERANCE;
  let alignment = 0;
  let exactUpTo = 0;
  if (padding) {
    for (const candidate of ALIGNMENTS) {
      const companies = [2, 3, 5, 8, 17, 32].map((rows) => company(rows, 41 + rows, candidate).map(sequence));
      if (!(await allEqual(model, companies))) continue;
      alignment = candidate;
      exactUpTo = 64;
      break;
    }
  }
  const started = now();
  for (let bound = 128; alignment > 0 && bound <= contextLength && now() - started < PROOF_MS; bound *= 2) {
    // all lengths that end at the bound after the last step, and every distance between them
    if (!(await allEqual(model, [company(12, bound - STEPS, alignment).map(sequence)]))) break;
    exactUpTo = bound;
  }
  return { traits: { padding, alignment, exactUpTo, reuse }, cacheError, paddingError };
}

/** Lengths of `rows` rows, the longest first, that differ by multiples of the alignment. */
function company(rows: number, longest: number, alignment: number): number[] {
  const units = Math.floor((longest - 1) / alignment);
  return Array.from({ length: rows }, (_, i) => longest - alignment * Math.round((units * i) / rows));
}

async function feed(model: StepModel, ids: readonly number[], widths: readonly number[]) {
  let past: Kv | null = null;
  let logits = new Float32Array();
  let at = 0;
  for (const width of widths) {
    const out = await model.step({ rows: 1, width, ids: ids.slice(at, at + width), pads: [0], past });
    past = out.kv;
    logits = Float32Array.from(out.logits);
    at += width;
  }
  return { logits, kv: past! };
}

/** A cache of any length: the arithmetic is tested, so the contents may repeat. */
function tiled(model: StepModel, kv: Kv, length: number): Kv {
  const { heads, dim } = model.shape;
  const tensors = kv.tensors.map((source) => {
    const out = new Float32Array(heads * length * dim);
    for (let head = 0; head < heads; head++) {
      for (let slot = 0; slot < length; slot++) {
        const at = (head * kv.slots + ((slot * 7) % kv.slots)) * dim;
        out.set(source.subarray(at, at + dim), (head * length + slot) * dim);
      }
    }
    return out;
  });
  return { rows: 1, slots: length, tensors };
}

/** The same few tokens for every sequence, together: one row of logits per sequence and step. */
async function steps(model: StepModel, sequences: readonly Sequence[]): Promise<Float32Array[]> {
  const slots = Math.max(...sequences.map((s) => s.length));
  const rows = sequences.map((s) => ({ from: s.kv, row: 0, pad: 0 }));
  const pads = sequences.map((s) => slots - s.length);
  let past = gatherRows(model.shape, rows, slots);
  const out: Float32Array[] = [];
  for (let step = 0; step < STEPS; step++) {
    const ids = sequences.map((s) => (s.next + step * 5) % model.vocabSize);
    const { logits, kv } = await model.step({ rows: rows.length, width: 1, ids, pads, past });
    past = kv;
    sequences.forEach((_, i) => out.push(logits.slice(i * model.vocabSize, (i + 1) * model.vocabSize)));
  }
  return out;
}

/** Per sequence alone, in the order of `steps`. */
async function stepsAlone(model: StepModel, sequences: readonly Sequence[]): Promise<Float32Array[]> {
  const alone: Float32Array[][] = [];
  for (const sequence of sequences) alone.push(await steps(model, [sequence]));
  return Array.from({ length: STEPS }, (_, step) => alone.map((rows) => rows[step]!)).flat();
}

async function companyError(model: StepModel, sequences: readonly Sequence[]): Promise<number> {
  const [together, alone] = [await steps(model, sequences), await stepsAlone(model, sequences)];
  return Math.max(...together.map((logits, i) => relativeError(alone[i]!, logits)));
}

async function allEqual(model: StepModel, companies: readonly (readonly Sequence[])[]): Promise<boolean> {
  for (const sequences of companies) {
    const [together, alone] = [await steps(model, sequences), await stepsAlone(model, sequences)];
    if (!together.every((logits, i) => equal(logits, alone[i]!))) return false;
  }
  return true;
}

function equal(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Infinity where either holds something that is no number. */
function relativeError(expected: Float32Array, actual: Float32Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs(expected[i]! - actual[i]!));
    size = Math.max(size, Math.abs(expected[i]!));
  }
  return Number.isNaN(difference) ? Infinity : difference / Math.max(1, size);
}
