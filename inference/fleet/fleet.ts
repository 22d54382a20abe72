// Several servers as one backend: a policy sends each request to one that is neither down nor full. Failures go to the
// caller: only Temporal retries, and the retry finds another server. Rejects servers that cannot serve one run together
// (rules.ts).

import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { explain, ModelError } from '../../domain/errors/errors.ts';
import type { BackendOf, BackendOptions, FleetOptions, Kind, Kinds } from '../backend.ts';
import { Circuit, type CircuitOptions } from './circuit.ts';
import { openLeases } from './leases.ts';
import { isStrange, Member } from './member.ts';
import { charge, rank } from './policies.ts';
import { metOf, type FleetRules } from './rules.ts';
import { OLD_WEIGHTS, refuseLate } from './late.ts';
import { type Judge, mustBeSame, sameModel } from './same-model.ts';
import { mixed } from './token-fleet.ts';
import { Waiters } from './waiters.ts';
import { closedError } from '../http/http-errors.ts';
import { safeUrl } from '../http/safe-url.ts';
import { rolloutKey, type ServerBackend } from './server-backend.ts';

export interface FleetParts<K extends Kind> extends FleetOptions, Pick<BackendOptions, 'log' | 'late'> {
  readonly urls: readonly string[];
  readonly rules: FleetRules<K>;
  /** Connects to a server and reads its facts. Called again when one recovers. */
  readonly open: (url: string) => Promise<ServerBackend<K>>;
  readonly circuit?: Pick<CircuitOptions, 'coolDownMs' | 'longestCoolDownMs' | 'random'>;
}

/** A server with this many times its fair share, and more than a few requests, yields to the next-ranked. */
const OVERLOAD = 2;
const A_FEW = 8;
/** Other processes do not announce the leases they return. */
const LEASE_POLL_MS = 100;

export async function openFleet<K extends Kind>(parts: FleetParts<K>): Promise<BackendOf<K>> {
  const { urls, log, rules, recheckEvery, late } = parts;
  const { fleetPolicy, maxInFlightPerServer, serverLimits, serverWeights, leaseFolder } = parts;
  const waiters = new Waiters();
  const isSame = sameModel();
  const judge: Judge = async (url, identity) => {
    // Its identity is checked even while it waits for its weights.
    const differs = isSame(url, identity);
    await refuseLate(url, identity.canary?.version ?? null, late);
    return differs;
  };
  const weightOf = byServer('weight', urls, serverWeights, 1);
  const limitOf = byServer('limit', urls, serverLimits, maxInFlightPerServer);
  const members = urls.map(
    (url) => new Member<K>({ url, rules, recheckEvery, log, late, weight: weightOf(url), limit: limitOf(url) }),
  );
  let closed = false;

  // A probe repeats the whole first contact, canary included: a server may come back with another model.
  async function meetAgain(member: Member<K>): Promise<void> {
    try {
      const fresh = await parts.open(member.url);
      try {
        rules.mustAgree([{ url: 'the others', facts: first.facts }, metOf(fresh)], facts);
        await mustBeSame(fresh, judge);
        if (closed) throw closedError(member.url);
      } catch (error) {
        await fresh.close();
        throw error;
      }
      member.meet(fresh);
      log(`${member.url} is back.`);
    } catch (error) {
      member.note(error);
      member.stranger = isStrange(error) ? (error as ModelError) : null;
      throw error;
    }
  }
  for (const member of members) {
    const probe = () => meetAgain(member);
    member.circuit = new Circuit({ ...parts.circuit, probe, onChange: () => waiters.wakeAll() });
  }

  async function close(): Promise<void> {
    closed = true;
    waiters.wakeAll();
    await Promise.allSettled([...members.map((member) => member.close())]);
  }

  try {
    await meetAll(members, parts, judge);
    for (const member of members) {
      const { url, limit } = member;
      if (limit === null || leaseFolder === null) continue;
      member.leases = await openLeases({ folder: join(leaseFolder, folderName(url)), limit });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const met = members.flatMap(({ backend }) => backend ?? []);
  const first = met[0]!;
  const facts = rules.factsOf(met.map(metOf));

  // A server may come back with other switches: facts, and the records that depend on them, are those of the start.
  const atStart = { url: `${first.url} at the start`, facts: first.facts };
  const serversNow = () => [
    ...(members.some(({ backend }) => backend === first) ? [] : [atStart]),
    ...serversOf(members),
  ];

  /** The servers that can take a request now, best first. */
  function candidates(request: Kinds[K]['request']): Member<K>[] {
    const { requestId, avoid = [] } = request;
    const home = rules.homeOf(request);
    const up = members.filter(({ circuit }) => circuit.state !== 'down');
    if (up.length === 0) throw noServer(members);
    const requests = 1 + up.reduce((sum, { inFlight }) => sum + inFlight, 0);
    const weight = up.reduce((sum, member) => sum + member.weight, 0);
    const passedOver = (member: Member<K>) =>
      member.busy ||
      avoid.includes(member.url) ||
      (fleetPolicy === 'sticky' &&
        member.inFlight + 1 > Math.max(A_FEW, (OVERLOAD * requests * member.weight) / weight));
    const free = up.filter(
      ({ circuit, inFlight, limit }) => circuit.admits(inFlight) && inFlight < (limit ?? Number.POSITIVE_INFINITY),
    );
    // A chunk continues at the server with its prefix, while that has the same weights.
    const atHome = ({ url, version }: Member<K>) => url === home?.server && version === home.version;
    const ranked = rank(free, fleetPolicy, rolloutKey(requestId));
    const best = ranked.filter((member) => !passedOver(member));
    return [...best.filter(atHome), ...best.filter((member) => !atHome(member)), ...ranked.filter(passedOver)];
  }

  /** Takes a place on a server; waits for one if all are full. */
  async function admit(request: Kinds[K]['request'], signal: AbortSignal) {
    for (;;) {
      signal.throwIfAborted();
      if (closed) throw closedError(urls.join(', '));
      const able = candidates(request);
      for (const member of able) {
        const leave = member.begin(rules.tokensOf(request));
        const giveBack = member.leases ? await member.leases.tryAcquire().catch(() => null) : async () => undefined;
        const end = () => {
          leave();
          void giveBack?.();
        };
        if (giveBack !== null && !closed && !signal.aborted) {
          charge(member, able);
          return { member, end };
        }
        end(); // wakes nobody: waiters without a lease would wake each other for ever
      }
      await waiters.wait(signal, able.length > 0 ? LEASE_POLL_MS * (0.5 + Math.random()) : null);
    }
  }

  /** Other servers may have the right model: a retry asks them. */
  function strangerHere({ message, reason, fix }: ModelError): ModelError {
    const retryable = reason === OLD_WEIGHTS || !strangersOnly(members);
    return new ModelError(message, { reason, retryable, ...(fix === undefined ? {} : { fix }) });
  }

  return {
    ...rules.partsOf(first),
    facts,
    async generate(request, options) {
      rules.mayAnswer(request, serversNow);
      const { member, end } = await admit(request, options.signal);
      try {
        return await member.ask(request, options);
      } catch (error) {
        throw member.stranger === error ? strangerHere(error as ModelError) : error;
      } finally {
        end();
        waiters.wakeOne();
      }
    },
    serverStatus: () => members.map((member) => member.status()),
    close,
  };
}

/** Numbers by url as users write urls: a trailing slash or `/v1` is ignored. A url of no server is an error. */
function byServer<T extends number | null>(
  what: string,
  urls: readonly string[],
  given: Readonly<Record<string, number>>,
  otherwise: T,
): (url: string) => number | T {
  const numbers = new Map<string, number>();
  const mistake = (message: string, fix: string) => new ModelError(message, { reason: 'bad-fleet', fix });
  for (const [named, number] of Object.entries(given)) {
    const plain = named.trim().replace(/\/+$/, '');
    const url = urls.find((each) => each === plain || each === plain.replace(/\/v1$/, ''));
    if (url === undefined) {
      throw mistake(
        `A ${what} is given for ${safeUrl(named)}, which is no server here`,
        `There are ${urls.join(', ')}.`,
      );
    }
    if (!(number > 0 && Number.isFinite(number))) {
      throw mistake(`The ${what} of ${url} is ${number}`, 'Give a number above 0.');
    }
    numbers.set(url, number);
  }
  return (url) => numbers.get(url) ?? otherwise;
}

/** An unreachable server is retried later if others are reachable; one that rejects the request is a usage error. */
async function meetAll<K extends Kind>(
  members: readonly Member<K>[],
  { open, log, rules }: FleetParts<K>,
  judge: Judge,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    members.map(async (member) => {
      member.meet(await open(member.url));
    }),
  );
  const failures = outcomes.flatMap((outcome, i) =>
    outcome.status === 'rejected' ? [{ member: members[i]!, error: outcome.reason as unknown }] : [],
  );
  const fatal = failures.find(({ error }) => !(error instanceof ModelError) || !error.retryable);
  if (fatal) {
    const mixes = isStrange(fatal.error) && failures.length < members.length;
    throw mixes ? mixed((fatal.error as ModelError).message) : fatal.error;
  }
  if (failures.length === members.length) throw failures[0]!.error;
  for (const { member, error } of failures) {
    log(`${explain(error)}. The others are used; it is tried again.`);
    member.note(error);
    member.circuit.open();
  }
  rules.mustAgree(serversOf(members));
  for (const member of members) {
    if (!member.backend) continue;
    // The first request finds out whether the server has gone.
    await mustBeSame(member.backend, judge).catch((error: unknown) => {
      if (!(error instanceof ModelError)) throw error;
      if (error.reason === OLD_WEIGHTS) return member.refuse(error);
      if (!error.retryable) throw mixed(error.message);
    });
  }
}

function serversOf<K extends Kind>(members: readonly Member<K>[]) {
  return members.flatMap(({ backend }) => (backend ? [metOf(backend)] : []));
}

function strangersOnly(members: readonly Member<Kind>[]): boolean {
  return members.every(({ stranger }) => stranger !== null);
}

function noServer(members: readonly Member<Kind>[]): ModelError {
  const all = members.length;
  const { stranger } = members[0]!;
  if (stranger && strangersOnly(members)) return stranger;
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

/** The same in every worker. */
function folderName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}
