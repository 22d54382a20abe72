// Continuous batching: every request in flight is a row; rows join and leave running batches between steps and
// finish on their own. Guarantees for a deterministic request: its ids and logprobs depend on the request alone,
// never on other requests in its batch (`ModelTraits` of step-model.ts says which models can). Leaves out: processes, text, files.

import { setImmediate as nextTurn } from 'node:timers/promises';

import { ModelError } from '../../domain/errors/errors.ts';
import { DecodeBatch } from './batch.ts';
import { gatherRows } from './kv.ts';
import { advance, tokenAt, type DecodeRequest, type DecodeResult, type DecodeRow } from './row.ts';
import { createSampler, type DrawToken } from './sampler.ts';
import type { StepModel, ModelTraits } from './step-model.ts';

export interface EngineLimits {
  /** Rows decoded at once; further requests wait their turn, first come first served. */
  readonly maxRows: number;
  /** Rows prepared beyond that, ready to take the place of a row that finishes. */
  readonly readyRows: number;
  /** Prompt tokens per call of the model; a cancelled request stops after a call. */
  readonly prefillBlock: number;
  /** Prompt tokens between two decode steps of the rows that are already running. */
  readonly prefillPerStep: number;
  /** Keys and values of one batch. */
  readonly batchBytes: number;
}

export const ENGINE_LIMITS: EngineLimits = {
  maxRows: 32,
  readyRows: 8,
  prefillBlock: 128,
  prefillPerStep: 256,
  batchBytes: 2 ** 30,
};

export class DecodeEngine {
  readonly #model: StepModel;
  readonly #traits: ModelTraits;
  readonly #limits: EngineLimits;
  readonly #draw: DrawToken;
  readonly #queue: DecodeRow[] = [];
  #prefilling: DecodeRow[] = [];
  #ready: DecodeRow[] = [];
  /** Rows that are bit-identical to a run alone. */
  readonly #shared: DecodeBatch;
  /** Longer rows that did not request it. */
  readonly #free: DecodeBatch;
  /** Longer rows that requested it: each runs alone. */
  readonly #solo = new Set<DecodeBatch>();
  #running = false;

  constructor(model: StepModel, traits: ModelTraits, limits: EngineLimits = ENGINE_LIMITS) {
    this.#model = model;
    this.#traits = traits;
    this.#limits = limits;
    this.#draw = createSampler(model.vocabSize);
    this.#shared = new DecodeBatch(model.shape, Math.max(1, traits.alignment));
    this.#free = new DecodeBatch(model.shape, 1);
  }

  generate(id: number, request: DecodeRequest): Promise<DecodeResult> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: DecodeResult | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
      const row: DecodeRow = {
        id,
        request,
        length: 0,
        kv: null,
        outputIds: [],
        logprobs: [],
        kept: [],
        finish: null,
        settle,
      };
      this.#queue.push(row);
      if (!this.#running) void this.#run();
    });
  }

  /** Drops the request before the next step. */
  cancel(id: number): void {
    const cancelled = (row: DecodeRow) => row.id === id;
    for (const list of [this.#queue, this.#prefilling, this.#ready]) {
      const at = list.findIndex(cancelled);
      if (at >= 0) return this.#abandon(list.splice(at, 1)[0]!);
    }
    for (const batch of this.#batches()) {
      const row = batch.rows.find(cancelled);
      if (!row) continue;
      batch.remove(row);
      row.kv = null;
      return this.#abandon(row);
    }
  }

  /** Tokens so far, of every request that has some. */
  progress(): { id: number; tokens: number }[] {
    const rows = [...this.#ready, ...this.#batches().flatMap((batch) => batch.rows)];
    return rows.map((row) => ({ id: row.id, tokens: row.outputIds.length }));
  }

  async #run(): Promise<void> {
    this.#running = true;
    await nextTurn(); // requests that arrive together start together
    while (this.#queue.length + this.#inFlight() > 0) {
      this.#admit();
      await this.#prefill();
      this.#place();
      for (const batch of this.#batches()) await this.#step(batch);
    }
    this.#running = false;
  }

  #batches(): DecodeBatch[] {
    return [this.#shared, this.#free, ...this.#solo];
  }

  #decoding(): number {
    return this.#batches().reduce((sum, batch) => sum + batch.rows.length, 0);
  }

  #inFlight(): number {
    return this.#prefilling.length + this.#ready.length + this.#decoding();
  }

  #admit(): void {
    const room = this.#limits.maxRows + this.#limits.readyRows;
    while (this.#queue.length > 0 && this.#inFlight() < room) this.#prefilling.push(this.#queue.shift()!);
  }

  /** Each prompt alone, block by block: its keys and values cannot depend on other rows. */
  async #prefill(): Promise<void> {
    let budget = this.#limits.prefillPerStep;
    while (budget > 0 && this.#prefilling.length > 0 && this.#ready.length < this.#limits.maxRows) {
      const row = this.#prefilling[0]!;
      const width = Math.min(this.#limits.prefillBlock, row.request.contextIds.length - row.length);
      const ids = Array.from({ length: width }, (_, i) => tokenAt(row, row.length + i));
      budget -= width;
      try {
        const { logits, kv } = await this.#model.step({ rows: 1, width, ids, pads: [0], past: row.kv?.from ?? null });
        if (this.#prefilling[0] !== row) continue; // cancelled meanwhile
        row.kv = { from: kv, row: 0, pad: 0 };
        row.length += width;
        if (row.length < row.request.contextIds.length) continue;
        this.#prefilling.shift();
        advance(row, logits, this.#draw);
        if (row.finish) this.#finish(row);
        else this.#ready.push(row);
      } catch (error) {
        this.#prefilling = this.#prefilling.filter((other) => other !== row);
        this.#fail(row, error);
      }
    }
  }

  /** Adds ready rows to the batches that they may join now; the others wait for the next step. */
  #place(): void {
    if (this.#ready.length === 0) return;
    const joining = new Map<DecodeBatch, DecodeRow[]>();
    let room = this.#limits.maxRows - this.#decoding();
    this.#ready = this.#ready.filter((row) => {
      if (room <= 0) return true;
      const batch = this.#homeOf(row);
      const others = joining.get(batch) ?? [];
      // One batch takes several rows at once only if these also fit each other.
      const fits = batch.fits(row) && others.every((o) => (o.length - row.length) % this.#modulusOf(batch) === 0);
      const inUse = batch.rows.length + others.length > 0;
      if (!fits || (inUse && batch.bytesWith([...others, row]) > this.#limits.batchBytes)) return true;
      joining.set(batch, [...others, row]);
      room--;
      return false;
    });
    for (const [batch, rows] of joining) batch.add(rows);
  }

  #modulusOf(batch: DecodeBatch): number {
    return batch === this.#shared ? Math.max(1, this.#traits.alignment) : 1;
  }

  #homeOf(row: DecodeRow): DecodeBatch {
    const { padding, exactUpTo } = this.#traits;
    if (padding && row.length < exactUpTo) return this.#shared;
    if (padding && !row.request.deterministic) return this.#free;
    const alone = new DecodeBatch(this.#model.shape, 1);
    this.#solo.add(alone);
    return alone;
  }

  async #step(batch: DecodeBatch): Promise<void> {
    if (batch === this.#shared && batch.slots >= this.#traits.exactUpTo) this.#shorten();
    if (batch.rows.length === 0) return batch.tidy(0);
    try {
      for (const { row, logits } of await batch.step(this.#model)) {
        this.#advance(batch, row, logits);
      }
    } catch (error) {
      for (const row of batch.rows) {
        batch.remove(row);
        this.#fail(row, error);
      }
    }
    batch.tidy(this.#ready.length + this.#prefilling.length + this.#queue.length);
    if (batch.rows.length === 0) this.#solo.delete(batch);
  }

  #advance(batch: DecodeBatch, row: DecodeRow, logits: Float32Array): void {
    try {
      advance(row, logits, this.#draw);
      if (!row.finish) return;
      batch.remove(row);
      this.#finish(row);
    } catch (error) {
      batch.remove(row);
      this.#fail(row, error);
    }
  }

  /** Rows that reached the proven length leave; the others lose their common padding. */
  #shorten(): void {
    for (const row of this.#shared.rows) {
      if (row.length < this.#traits.exactUpTo) continue;
      this.#shared.remove(row);
      // A copy, because another row may soon overwrite its place.
      row.kv = { from: gatherRows(this.#model.shape, [row.kv], row.length), row: 0, pad: 0 };
      this.#ready.push(row);
    }
    this.#shared.tidy(0, true);
    this.#place();
  }

  #finish(row: DecodeRow): void {
    row.kv = null;
    const { outputIds, logprobs, kept, finish } = row;
    row.settle({ outputIds, logprobs, ...(kept.length > 0 && { kept }), finish: finish! });
  }

  #fail(row: DecodeRow, cause: unknown): void {
    row.kv = null;
    if (cause instanceof ModelError) return row.settle(cause);
    row.settle(
      new ModelError('The model failed in a decode step', { reason: 'decode-failed', retryable: true, cause }),
    );
  }

  #abandon(row: DecodeRow): void {
    row.settle(new ModelError('The request was cancelled', { reason: 'cancelled', retryable: true }));
  }
}
