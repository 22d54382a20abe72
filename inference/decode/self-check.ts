// Compares a model with itself when it is loaded: rejects an inconsistent one, and finds out how far its batches
// are bit-equal to single rows on this machine (`ModelTraits` in step-model.ts).

import { ModelError } from '../../domain/errors/errors.ts';
import { gatherRows } from './kv.ts';
import { uniformAt } from './philox.ts';
import type { Kv, StepModel, ModelTraits } from './step-model.ts';

/** A share of the largest logit: float32 noise is far below, a wrong mask or position far above. */
const TOLERANCE = 1e-3;
const TEXT_TOKENS = 48;
const STEPS = 3;
const ALIGNMENTS = [8, 16, 32];
/** Milliseconds after which the search for longer lengths stops; longer rows run alone. */
const PROOF_MS = 1500;

export interface CheckReport {
  readonly traits: ModelTraits;
  /** Largest difference of a logit, in units of the largest logit: cached against uncached, padded against not. */
  readonly cacheError: number;
  readonly paddingError: number;
}

export async function checkDecoding(model: StepModel, contextLength: number, now = Date.now): Promise<CheckReport> {
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

  const trial = createTrial(model, whole.kv, ids);
  const paddingError = await trial.error([48, 37, 8]);
  const padding = paddingError <= TOLERANCE;
  const alignment = padding ? await findAlignment(trial.error) : 0;
  let exactUpTo = 0;
  const started = now();
  for (let bound = 128; alignment > 0 && bound <= contextLength && now() - started < PROOF_MS; bound *= 2) {
    // the longest ends at the bound after the last step
    if ((await trial.error(spread(6, bound - STEPS, alignment))) > 0) break;
    exactUpTo = bound;
  }
  return { traits: { padding, alignment, exactUpTo }, cacheError, paddingError };
}

type CompanyError = (lengths: readonly number[]) => Promise<number>;

/** The smallest padding that changes no bit, in batches of many sizes; 0 when there is none. */
async function findAlignment(error: CompanyError): Promise<number> {
  for (const alignment of ALIGNMENTS) {
    let worst = 0;
    for (const [i, rows] of [2, 3, 5, 8, 17, 32].entries()) {
      if (worst > 0) break;
      worst = await error(Array.from({ length: rows }, (_, row) => (i % 2 ? 1 : 6) + alignment * (row % 4)));
    }
    if (worst === 0) return alignment;
  }
  return 0;
}

/** Lengths of `rows` rows, the longest first, that differ by multiples of the alignment. */
function spread(rows: number, longest: number, alignment: number): number[] {
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

/** Decodes a few tokens on top of caches of given lengths, together and each alone, and compares. */
function createTrial(model: StepModel, kv: Kv, ids: readonly number[]) {
  async function steps(lengths: readonly number[]): Promise<Float32Array[][]> {
    const slots = Math.max(...lengths);
    const pads = lengths.map((length) => slots - length);
    const rows = lengths.map((length) => ({ from: tiled(model, kv, length), row: 0, pad: 0 }));
    let past = gatherRows(model.shape, rows, slots);
    const logits: Float32Array[][] = lengths.map(() => []);
    for (let step = 0; step < STEPS; step++) {
      const next = lengths.map((length) => ids[(length + step) % ids.length]!);
      const out = await model.step({ rows: rows.length, width: 1, ids: next, pads, past });
      past = out.kv;
      logits.forEach((own, i) => own.push(out.logits.slice(i * model.vocabSize, (i + 1) * model.vocabSize)));
    }
    return logits;
  }

  const alone = new Map<number, Float32Array[]>();
  return {
    /** The largest difference that a batch makes to any logit; 0 if every bit is the same. */
    async error(lengths: readonly number[]): Promise<number> {
      for (const length of lengths) if (!alone.has(length)) alone.set(length, (await steps([length]))[0]!);
      const together = await steps(lengths);
      const errors = together.flatMap((own, i) =>
        own.map((logits, step) => relativeError(alone.get(lengths[i]!)![step]!, logits)),
      );
      return Math.max(...errors);
    },
  };
}

/** Infinity if either contains NaN. */
function relativeError(expected: Float32Array, actual: Float32Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs(expected[i]! - actual[i]!));
    size = Math.max(size, Math.abs(expected[i]!));
  }
  return Number.isNaN(difference) ? Infinity : difference / Math.max(1, size);
}
