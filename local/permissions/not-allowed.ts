// The refusal of a folder, model or key, with the list of the operator that would permit it.

import { UsageError } from '../../domain/errors/errors.ts';
import { OPERATOR_VARIABLES } from './operator.ts';

const FLAGS = { runsUnder: '--runs-under', models: '--models', apiKeyEnv: '--api-key-env' } as const;

/** `entry`: what the operator would add to the list. */
export function notAllowed(what: string, list: keyof typeof OPERATOR_VARIABLES, entry: string): UsageError {
  return new UsageError(`This worker does not ${what} for a workflow.`, {
    reason: 'not-allowed',
    fix:
      `\`everturn worker ${FLAGS[list]} ${entry}\` allows it, or ${OPERATOR_VARIABLES[list]} (docs/security.md); ` +
      'what `everturn run` starts is allowed by itself, for the workers of the same user.',
    ofThisWorker: true,
  });
}

export function quotedShort(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 200));
}

/** A text that a shell takes as one plain word, or a stand-in for it. */
export function plainWord(text: string): string {
  return /^[\w./:@+-]{1,200}$/.test(text) ? text : '<name>';
}
