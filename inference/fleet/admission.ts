// The admission of requests to the servers of a fleet: a policy ranks those that are neither down nor full, and a request waits
// while all are full.

import { ModelError } from '../../domain/errors/errors.ts';
import type { FleetPolicy } from '../../domain/rollout/settings.ts';
import type { Kind, Kinds } from '../backend.ts';
import { closedError } from '../http/http-errors.ts';
import type { Member } from './member.ts';
import { charge, rank } from './policies.ts';
import type { FleetRules } from './rules.ts';
import { rolloutKey } from './server-backend.ts';

/** A server with this many times its fair share, and more than a few requests, yields to the next-ranked. */
const OVERLOAD = 2;
const A_FEW = 8;
/** Other processes do not announce the leases they return. */
const LEASE_POLL_MS = 100;

export function openAdmission<K extends Kind>(
  members: readonly Member<K>[],
  rules: FleetRules<K>,
  policy: FleetPolicy,
) {
  const waiters = new Waiters();
  let closed = false;
  return {
    /** Takes a place on a server; waits for one if all are full. `leave` gives it back. */
    async admit(request: Kinds[K]['request'], signal: AbortSignal) {
      for (;;) {
        signal.throwIfAborted();
        if (closed) throw closedError(members.map(({ url }) => url).join(', '));
        const able = candidates(members, request, rules, policy);
        for (const member of able) {
          const end = member.begin(rules.tokensOf(request));
          const giveBack = member.leases ? await member.leases.tryAcquire().catch(() => null) : async () => undefined;
          const leave = () => {
            end();
            void giveBack?.();
          };
          if (giveBack !== null && !closed && !signal.aborted) {
            charge(member, able);
            return { member, leave: () => (leave(), waiters.wakeOne()) };
          }
          leave(); // wakes nobody: waiters without a lease would wake each other for ever
        }
        await waiters.wait(signal, able.length > 0 ? LEASE_POLL_MS * (0.5 + Math.random()) : null);
      }
    },
    wakeAll: () => waiters.wakeAll(),
    /** Requests that wait are rejected. */
    close() {
      closed = true;
      waiters.wakeAll();
    },
  };
}

/** The servers that can take a request now, best first. */
function candidates<K extends Kind>(
  members: readonly Member<K>[],
  request: Kinds[K]['request'],
  rules: FleetRules<K>,
  policy: FleetPolicy,
): Member<K>[] {
  const { requestId, avoid = [] } = request;
  const home = rules.homeOf(request);
  const up = members.filter(({ circuit }) => circuit.state !== 'down');
  if (up.length === 0) throw noServer(members);
  const requests = 1 + up.reduce((sum, { inFlight }) => sum + inFlight, 0);
  const weight = up.reduce((sum, member) => sum + member.weight, 0);
  const passedOver = (member: Member<K>) =>
    member.busy ||
    avoid.includes(member.url) ||
    (policy === 'sticky' && member.inFlight + 1 > Math.max(A_FEW, (OVERLOAD * requests * member.weight) / weight));
  const free = up.filter(
    ({ circuit, inFlight, limit }) => circuit.admits(inFlight) && inFlight < (limit ?? Number.POSITIVE_INFINITY),
  );
  // A chunk continues at the server with its prefix, while that has the same weights.
  const atHome = ({ url, version }: Member<K>) => url === home?.server && version === home.version;
  const ranked = rank(free, policy, rolloutKey(requestId));
  const best = ranked.filter((member) => !passedOver(member));
  return [...best.filter(atHome), ...best.filter((member) => !atHome(member)), ...ranked.filter(passedOver)];
}

export function areAllStrange(members: readonly Member<Kind>[]): boolean {
  return members.every(({ stranger }) => stranger !== null);
}

function noServer(members: readonly Member<Kind>[]): ModelError {
  const all = members.length;
  const { stranger } = members[0]!;
  if (stranger && areAllStrange(members)) return stranger;
  const last = members.map((member) => member.status().lastFailure).find((failure) => failure !== null);
  return new ModelError(
    `${all === 1 ? `${members[0]!.url} is` : `All ${all} servers are`} down: ${last ?? 'no answer'}`,
    {
      reason: 'server-unreachable',
      retryable: true,
      retryAfterMs: Math.ceil(Math.min(...members.map(({ circuit }) => circuit.retryInMs))) + 100,
    },
  );
}

class Waiters {
  readonly #wakes = new Set<() => void>();

  wakeOne(): void {
    for (const wake of this.#wakes) return wake();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  /** Resolves when woken, aborted, or after `ms`. Never rejects: the caller checks again. */
  wait(signal: AbortSignal, ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
        resolve();
      };
      const timer = ms === null ? undefined : setTimeout(wake, ms);
      signal.addEventListener('abort', wake, { once: true });
      this.#wakes.add(wake);
    });
  }
}
