// The model process: owns one model, sometimes with several weights, and answers the messages of protocol.ts. It is a
// separate process because a step of the model blocks its thread, which would stop a worker's heartbeats. It ends
// with its parent, also if that is killed.

import { packedKept } from '../../domain/rollout/kept-sets.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { DecodeEngine } from '../decode/engine.ts';
import { loadModel } from './load.ts';
import type { FromModel, GenerateMessage, LoadMessage, ToModel } from './protocol.ts';
import type { ModelTraits } from '../decode/step-model.ts';

const PROGRESS_MS = 250;
const RELEASE_AFTER_MS = 10_000;

process.title = 'everturn-model';
// SIGKILL and not exit(): exit handlers of the native runtime may abort, and nothing here needs cleanup.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ctrl-C reaches the whole process group; the parent alone handles it.
process.on('SIGINT', () => undefined);

interface Loaded {
  readonly engine: DecodeEngine;
  readonly release: () => Promise<unknown>;
  answers: number;
  unwanted: boolean;
}

const loaded = new Map<string, Loaded>();
/** Traits of the first weights: others of the same architecture behave alike in batches. */
let traits: ModelTraits | null = null;
let loading: Promise<unknown> = Promise.resolve();

process.on('message', (message: ToModel) => {
  switch (message.type) {
    case 'load':
      // One at a time: each is a burst of work.
      loading = loading.then(() => load(message)).catch((error: unknown) => tellError(message.id, error));
      break;
    case 'generate':
      generate(message).catch((error: unknown) => tellError(message.id, error));
      break;
    case 'cancel':
      for (const { engine } of loaded.values()) engine.cancel(message.id);
      break;
    case 'unload': {
      const weights = loaded.get(message.key);
      if (!weights) break;
      loaded.delete(message.key);
      weights.unwanted = true;
      releaseIfIdle(weights);
      break;
    }
  }
});

setInterval(() => {
  const tokens = [...loaded.values()].flatMap(({ engine }) => engine.progress());
  if (tokens.length > 0) send({ type: 'progress', tokens: tokens.map((row) => [row.id, row.tokens] as const) });
}, PROGRESS_MS);

async function load(message: LoadMessage): Promise<void> {
  if (!loaded.has(message.key)) {
    const { model, traits: found, facts, release } = await loadModel(message, traits);
    traits ??= found;
    loaded.set(message.key, { engine: new DecodeEngine(model, found), release, answers: 0, unwanted: false });
    send({ type: 'ready', id: message.id, facts });
  }
}

async function generate({ id, key, ...request }: GenerateMessage): Promise<void> {
  const weights = loaded.get(key);
  if (!weights) {
    throw new ModelError('These weights were replaced by later ones', { reason: 'backend-closed', retryable: true });
  }
  weights.answers++;
  try {
    const { outputIds, logprobs, kept = [], finish } = await weights.engine.generate(id, request);
    const lists = { outputIds: Int32Array.from(outputIds), logprobs: Float64Array.from(logprobs) };
    send({ type: 'result', id, ...lists, kept: packedKept(kept), finish });
  } finally {
    weights.answers--;
    releaseIfIdle(weights);
  }
}

function releaseIfIdle({ unwanted, answers, release }: Loaded): void {
  // A step for a cancelled row may still run: weights are freed only after it.
  if (unwanted && answers === 0) setTimeout(() => void release().catch(() => undefined), RELEASE_AFTER_MS);
}

function send(message: FromModel): void {
  if (process.connected) process.send!(message);
}

function tellError(id: number | null, error: unknown): void {
  const wrapped =
    error instanceof ModelError
      ? error
      : new ModelError('The model process has a defect', {
          reason: 'model-process-defect',
          retryable: true,
          cause: error,
        });
  const { message, reason, fix, retryable } = wrapped;
  const causes: string[] = [];
  for (let e = wrapped.cause; e instanceof Error && causes.length < 4; e = e.cause) causes.push(e.message);
  send({ type: 'error', id, message, reason, fix, retryable, causes });
}
