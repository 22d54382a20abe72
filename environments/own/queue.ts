// The door `queue`: the user's own Temporal worker, in any language. The rollout's workflow calls its activities
// (`describe`, `begin`, `respond`, `end`) on its task queue; here their parameters are made and their results are read.
// State none or value. The texts pass through Temporal's history, so one call holds at most 1.5 MB.

import { createHash } from 'node:crypto';
import { type EnvironmentRecord, MAX_REPLY_BYTES, type Said } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { Environment } from '../environment.ts';
import { type Described, mismatch } from './command.ts';
import { reported } from './line-process.ts';
import { broken, parseBegun, parseHello, parseReply, tooLarge } from './reply.ts';
import { beginParams, endParams, respondParams, stateAfter } from './wire.ts';

const MAX_CALL_BYTES = 1_500_000;

/** `hello`: the result of the queue's activity `describe`. */
export function describedQueue(queue: string, hello: unknown): Described {
  const who = `queue ${queue}`;
  const { fingerprint, agents = [], ...said } = parseHello(who, hello);
  // Temporal tries a call again whose worker ended: a session could get a move twice.
  if (said.state !== 'none' && said.state !== 'value') {
    throw broken(who, 'describe', `its state is "${said.state}", which no queue has`, 'Keep the state as a value.');
  }
  const own = hashOf(fingerprint ?? `${said.name} ${said.version} ${queue}`);
  const claimed = fingerprint === undefined ? ({ claimed: true } as const) : {};
  return { record: { door: 'queue', spec: [queue], ...said, fingerprint: own, ...claimed }, agents };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function queueEnvironment(record: EnvironmentRecord): Environment {
  const { state: kind, begins, ends, name } = record;

  /** The result of a call; throws its failure. */
  function resultOf(said: Said | undefined): unknown {
    if (!said) throw new EnvironmentError(`The queue of ${name} was not asked.`, { reason: 'environment-error' });
    if ('failure' in said) {
      const { reason, message } = said.failure;
      throw new EnvironmentError(`The environment ${name} on the queue ${record.spec[0]}: ${message}`, { reason });
    }
    const { result } = said;
    if (JSON.stringify(result ?? null).length > MAX_REPLY_BYTES)
      throw tooLarge(`${name} on the queue ${record.spec[0]}`);
    if (typeof result === 'object' && result !== null && 'error' in result) throw reported(name, 'call', result.error);
    if (typeof result !== 'object' || result === null || !('fingerprint' in result)) {
      if (!record.claimed) throw mismatch(record, 'a reply without a fingerprint', '');
      return result;
    }
    const { fingerprint, ...rest } = result;
    if (typeof fingerprint !== 'string') throw broken(name, 'reply', 'its `fingerprint` is no text');
    if (!record.claimed && hashOf(fingerprint) !== record.fingerprint)
      throw mismatch(record, name, hashOf(fingerprint));
    return rest;
  }

  return {
    ask: {
      begin: (rollout) => bounded(name, beginParams(rollout)),
      respond: async (move) => bounded(name, respondParams(move, await move.before(), kind)),
      end: async ({ rollout, before }) => bounded(name, endParams(rollout, await before(), kind)),
    },
    ...(begins && { begin: async (_, { said }) => parseBegun(name, kind, resultOf(said)) }),
    async respond(move, { said }) {
      const state = kind === 'value' ? stateAfter(move.rollout, await move.before()) : undefined;
      return parseReply(name, kind, resultOf(said), state);
    },
    ...(ends && { end: async () => undefined }),
  };
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
