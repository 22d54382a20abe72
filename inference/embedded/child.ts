// The model process: owns one model and answers the messages of transformers-protocol.ts. It is a process of its
// own because a step of the model blocks the thread that runs it, which would stop a worker's heartbeats.
// It ends with its parent, also when that is killed.

import { ModelError } from '../../domain/errors.ts';
import { DecodeEngine } from '../decode/engine.ts';
import { loadModel } from './load.ts';
import type { FromModel, GenerateMessage, ToModel } from './protocol.ts';

const PROGRESS_MS = 250;

process.title = 'everturn-model';
// SIGKILL and not exit(): exit handlers of the native runtime may abort, and nothing here needs a farewell.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ctrl-C reaches the whole terminal group; the parent decides what it means.
process.on('SIGINT', () => undefined);

let engine: DecodeEngine | null = null;

process.on('message', (message: ToModel) => {
  switch (message.type) {
    case 'load':
      loadModel(message).then(
        ({ model, traits, facts }) => {
          engine = new DecodeEngine(model, traits);
          tell({ type: 'ready', facts });
        },
        (error: unknown) => tellError(null, error),
      );
      break;
    case 'generate':
      generate(message).catch((error: unknown) => tellError(message.id, error));
      break;
    case 'cancel':
      engine?.cancel(message.id);
      break;
  }
});

setInterval(() => {
  const tokens = engine?.progress() ?? [];
  if (tokens.length > 0) tell({ type: 'progress', tokens: tokens.map((row) => [row.id, row.tokens] as const) });
}, PROGRESS_MS);

async function generate({ id, ...request }: GenerateMessage): Promise<void> {
  const { outputIds, logprobs, finish } = await engine!.generate(id, request);
  tell({ type: 'result', id, outputIds: Int32Array.from(outputIds), logprobs: Float64Array.from(logprobs), finish });
}

function tell(message: FromModel): void {
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
  tell({ type: 'error', id, message, reason, fix, retryable, causes });
}
