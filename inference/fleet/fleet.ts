// Several servers as one backend: a policy sends each request to one that is neither down nor full (admission.ts). Failures go
// to the caller: only Temporal retries, and the retry finds another server. Rejects servers that cannot serve one run together
// (rules.ts).

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ModelError } from '../../domain/errors/errors.ts';
import { safeUrl } from '../http/safe-url.ts';
import type { BackendOf, FleetOptions, Kind } from '../backend.ts';
import { openAdmission, areAllStrange } from './admission.ts';
import { Circuit, type CircuitOptions } from './circuit.ts';
import { Member, OLD_WEIGHTS, refuseLate } from './member.ts';
import { openLeases } from './leases.ts';
import { meetAgain, meetAll, type MeetParts, connectedServers } from './meet-servers.ts';
import { asFleetServer } from './rules.ts';
import { type ModelJudge, openModelJudge } from './same-model.ts';

export interface FleetParts<K extends Kind> extends MeetParts<K>, FleetOptions {
  readonly urls: readonly string[];
  readonly circuit?: Pick<CircuitOptions, 'coolDownMs' | 'longestCoolDownMs' | 'random'>;
}

export async function openFleet<K extends Kind>(parts: FleetParts<K>): Promise<BackendOf<K>> {
  const { rules } = parts;
  const members = membersOf(parts);
  const judge = judgeOf(parts);
  const admission = openAdmission(members, rules, parts.fleetPolicy);
  for (const member of members) {
    const probe = () => meetAgain(member, parts, judge, atStart);
    member.circuit = new Circuit({ ...parts.circuit, probe, onChange: admission.wakeAll });
  }

  async function close(): Promise<void> {
    admission.close();
    await Promise.allSettled(members.map((member) => member.close()));
  }

  try {
    await meetAll(members, parts, judge);
    await openAllLeases(members, parts.leaseFolder);
  } catch (error) {
    await close();
    throw error;
  }
  const met = members.flatMap(({ backend }) => backend ?? []);
  const first = met[0]!;
  const atStart = { first, facts: rules.factsOf(met.map(asFleetServer)) };

  // A server may come back with other switches: facts, and the records that depend on them, are those of the start.
  const serversNow = () => [
    ...(members.some(({ backend }) => backend === first)
      ? []
      : [{ url: `${first.url} at the start`, facts: first.facts }]),
    ...connectedServers(members),
  ];

  return {
    ...rules.partsOf(first),
    facts: atStart.facts,
    async generate(request, options) {
      rules.mayAnswer(request, serversNow);
      const { member, leave } = await admission.admit(request, options.signal);
      try {
        // Named as late as this: one that no later request names can be unloaded.
        const adapter = await parts.late?.adapter();
        return await member.ask(adapter ? { ...request, adapter } : request, options);
      } catch (error) {
        throw member.stranger === error ? strangerHere(error as ModelError, members) : error;
      } finally {
        leave();
      }
    },
    serverStatus: () => members.map((member) => member.status()),
    close,
  };
}

function membersOf<K extends Kind>({ urls, rules, recheckEvery, log, late, ...numbers }: FleetParts<K>): Member<K>[] {
  const weightOf = numbersByServer('weight', urls, numbers.serverWeights, 1);
  const limitOf = numbersByServer('limit', urls, numbers.serverLimits, numbers.maxInFlightPerServer);
  return urls.map(
    (url) => new Member({ url, rules, recheckEvery, log, late, weight: weightOf(url), limit: limitOf(url) }),
  );
}

/** The identity of a server is checked even while it waits for its weights. */
function judgeOf<K extends Kind>({ late }: FleetParts<K>): ModelJudge {
  const isSame = openModelJudge();
  return async (url, identity) => {
    const differs = isSame(url, identity);
    await refuseLate(url, identity.canary?.version ?? null, late);
    return differs;
  };
}

/** Limits count over all processes that share the folder. */
async function openAllLeases(members: readonly Member<Kind>[], leaseFolder: string | null): Promise<void> {
  for (const member of members) {
    const { url, limit } = member;
    if (limit === null || leaseFolder === null) continue;
    member.leases = await openLeases({ folder: join(leaseFolder, folderName(url)), limit });
  }
}

/** Other servers may have the right model: a retry asks them. */
function strangerHere({ message, reason, fix }: ModelError, members: readonly Member<Kind>[]): ModelError {
  const retryable = reason === OLD_WEIGHTS || !areAllStrange(members);
  return new ModelError(message, { reason, retryable, ...(fix === undefined ? {} : { fix }) });
}

/** The same in every worker. */
function folderName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}

/** Numbers by url as users write urls: a trailing slash or `/v1` is ignored. A url of no server is an error. */
function numbersByServer<T extends number | null>(
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
