// Environments that others serve, behind an address or on a queue. A server says the fingerprint of its code with its hello,
// and each reply repeats it; of one that says none only the address is known.

import { createHash } from 'node:crypto';
import type { EnvironmentRecord, StateKind } from '../../domain/rollout/environment.ts';
import type { Described } from './command.ts';
import { brokenError } from '../processes/envelope.ts';
import { parseHello } from './reply.ts';
import { mismatch } from '../other-code.ts';

interface Served {
  readonly door: 'url' | 'queue';
  /** The address, or the queue's name. */
  readonly place: string;
  /** The environment's name in messages. */
  readonly who: string;
  /** States that this transport can keep. */
  readonly states: readonly StateKind[];
}

export function describedServer({ door, place, who, states }: Served, hello: unknown): Described {
  const { fingerprint, agents = [], ...said } = parseHello(who, hello);
  if (!states.includes(said.state)) {
    throw brokenError(
      who,
      'describe',
      `its state is "${said.state}", and behind a ${door} it is one of: ${states.join(', ')}`,
      'Keep the state as a value, or serve it as a command.',
    );
  }
  const own = hashOf(fingerprint ?? `${said.name} ${said.version} ${place}`);
  const claimed = fingerprint === undefined ? ({ claimed: true } as const) : {};
  return { record: { door, spec: [place], ...said, fingerprint: own, ...claimed }, agents };
}

/** `fingerprint`: of a reply. Throws where the server has other code than the run's. */
export function mustBeServed(record: EnvironmentRecord, who: string, fingerprint: unknown): void {
  if (fingerprint !== undefined && typeof fingerprint !== 'string')
    throw brokenError(who, 'reply', 'its `fingerprint` is no text');
  if (record.claimed) return;
  if (fingerprint === undefined) throw mismatch(record, 'a reply without a fingerprint', '');
  const found = hashOf(fingerprint);
  if (found !== record.fingerprint) throw mismatch(record, who, found);
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
