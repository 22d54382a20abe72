// Whether this installation can run a model itself. That for inference servers (the image `worker`) has no runtime of models.

import { createRequire } from 'node:module';
import { ModelError } from '../../domain/errors/errors.ts';

/** Throws where it cannot. The rollouts of such a model wait for a worker that can. */
export function mustRunModels(model: string): void {
  try {
    createRequire(import.meta.url).resolve('@huggingface/transformers');
  } catch {
    throw new ModelError(
      `${model} is a model in the worker itself, and this installation, made for inference servers, cannot run one`,
      {
        reason: 'no-embedded-models',
        fix: 'A worker of the image worker-cpu, or of a whole installation, takes over what waits; or name a model on a server (sglang:, vllm:, openai:).',
        retryable: true,
        ofThisWorker: true,
      },
    );
  }
}
