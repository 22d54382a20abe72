// The door `queue`: the user's own Temporal worker, in any language. The rollout's workflow calls its activities
// (`describe`, `begin`, `respond`, `end`) on its task queue; here their parameters are made and their results are read.
// State none or value: Temporal tries a call again whose worker ended, so a session could get a move twice. The texts pass
// through Temporal's history, so one call holds at most 1.5 MB.

import { type EnvironmentRecord, MAX_REPLY_BYTES, type QueueReply } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { Environment } from '../environment.ts';
import { statelessEnvironment } from './calls.ts';
import type { Described } from './command.ts';
import { reportedError, tooLarge } from '../processes/envelope.ts';
import { describedServer, mustBeServed } from './server.ts';
import { beginParams, endParams, respondParams } from '../wire.ts';

const MAX_CALL_BYTES = 1_500_000;

/** `hello`: the result of the queue's activity `describe`. */
export function describedQueue(queue: string, hello: unknown): Described {
  return describedServer({ door: 'queue', place: queue, who: `queue ${queue}`, states: ['none', 'value'] }, hello);
}

export function queueEnvironment(record: EnvironmentRecord): Environment {
  const { state: kind, name, ends } = record;
  const environment = statelessEnvironment(record, async (_, __, { said }) => resultOf(record, said));
  return {
    ...environment,
    ask: {
      begin: (rollout) => bounded(name, beginParams(rollout)),
      respond: async (move) => bounded(name, respondParams(move, await move.before(), kind)),
      end: async ({ rollout, before }) => bounded(name, endParams(rollout, await before(), kind)),
    },
    // Nothing of its result is needed.
    ...(ends && { end: async () => undefined }),
  };
}

/** The result of a call; throws its failure. */
function resultOf(record: EnvironmentRecord, said: QueueReply | undefined): unknown {
  const who = `${record.name} on the queue ${record.spec[0]}`;
  if (!said) throw new EnvironmentError(`The environment ${who} was not asked.`, { reason: 'environment-error' });
  if ('failure' in said) {
    const { reason, message } = said.failure;
    throw new EnvironmentError(`The environment ${who}: ${message}`, { reason });
  }
  const { result } = said;
  if (JSON.stringify(result ?? null).length > MAX_REPLY_BYTES) throw tooLarge(who);
  const { error, fingerprint, ...rest } = Object(result) as Record<string, unknown>;
  if (error !== undefined && error !== null) throw reportedError(who, 'call', error);
  mustBeServed(record, who, fingerprint);
  return fingerprint === undefined ? result : rest;
}

function bounded<T extends object>(who: string, params: T): T {
  const bytes = Buffer.byteLength(JSON.stringify(params));
  if (bytes <= MAX_CALL_BYTES) return params;
  throw new EnvironmentError(
    `A call of the environment ${who} has ${bytes} bytes, and a queue takes ${MAX_CALL_BYTES}.`,
    {
      reason: 'environment-too-large',
      fix: 'Play fewer or shorter turns, or serve it as a command or an address.',
    },
  );
}
