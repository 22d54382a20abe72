// The errors of a model process that cannot answer: its own errors unchanged, its death, its shutdown, and weights
// that differ from those loaded before.

import { ModelError } from '../../domain/errors/errors.ts';
import type { ErrorMessage, LoadMessage } from './protocol.ts';

export function toModelError({ message, reason, fix, retryable, causes }: ErrorMessage): ModelError {
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, { cause: inner }), undefined);
  return new ModelError(message, { reason, retryable, cause, ...(fix === undefined ? {} : { fix }) });
}

export function diedError(how: string): ModelError {
  return new ModelError(`The model process died ${how}`, {
    reason: 'model-process-died',
    fix: 'It is started again; a retry will do.',
    retryable: true,
  });
}

export function closedModelError(): ModelError {
  return new ModelError('The model was closed', { reason: 'backend-closed', retryable: true });
}

export function changedError({ source }: LoadMessage): ModelError {
  return new ModelError(`The weights of ${source.name} are no longer those the program was started with`, {
    reason: 'model-changed',
    fix: 'Put the old file back, or start the worker again and begin a new run.',
  });
}
