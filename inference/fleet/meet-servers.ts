// How a fleet meets its servers: all of them at the start, and each one again when it comes back. A server that is not of the
// run's model is rejected.

import { explain, ModelError } from '../../domain/errors/errors.ts';
import type { Kind, Kinds, LateServers } from '../backend.ts';
import { isStrange, type Member, mustHaveAdapter, OLD_WEIGHTS } from './member.ts';
import { asFleetServer, type FleetRules } from './rules.ts';
import { type ModelJudge, mustBeRunsModel } from './same-model.ts';
import type { ServerBackend } from './server-backend.ts';
import { mixedFleetError } from './token-fleet.ts';

export interface MeetParts<K extends Kind> {
  readonly rules: FleetRules<K>;
  /** Connects to a server and reads its facts. Called again when one recovers. */
  readonly open: (url: string) => Promise<ServerBackend<K>>;
  readonly log: (line: string) => void;
  readonly late?: LateServers | undefined;
}

/** An unreachable server is retried later if others are reachable; one that rejects the request is a usage error. */
export async function meetAll<K extends Kind>(
  members: readonly Member<K>[],
  { open, log, rules, late }: MeetParts<K>,
  judge: ModelJudge,
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
    throw mixes ? mixedFleetError((fatal.error as ModelError).message) : fatal.error;
  }
  if (failures.length === members.length) throw failures[0]!.error;
  for (const { member, error } of failures) {
    log(`${explain(error)}. The others are used; it is tried again.`);
    member.note(error);
    member.circuit.open();
  }
  rules.mustAgree(connectedServers(members));
  for (const member of members) {
    if (!member.backend) continue;
    // The first request finds out whether the server has gone.
    const { backend } = member;
    const met = mustBeRunsModel(backend, judge).then(() => mustHaveAdapter(backend, late));
    await met.catch((error: unknown) => {
      if (!(error instanceof ModelError)) throw error;
      if (error.reason === OLD_WEIGHTS) return member.refuse(error);
      if (!error.retryable) throw mixedFleetError(error.message);
    });
  }
}

/** The fleet as it was when it opened. */
interface FleetAtStart<K extends Kind> {
  readonly first: ServerBackend<K>;
  readonly facts: Kinds[K]['facts'];
}

/** Repeats the whole first contact, canary included: a server may come back with another model. */
export async function meetAgain<K extends Kind>(
  member: Member<K>,
  { open, log, rules, late }: MeetParts<K>,
  judge: ModelJudge,
  { first, facts }: FleetAtStart<K>,
): Promise<void> {
  try {
    const fresh = await open(member.url);
    try {
      rules.mustAgree([{ url: 'the others', facts: first.facts }, asFleetServer(fresh)], facts);
      await mustBeRunsModel(fresh, judge);
      await mustHaveAdapter(fresh, late);
      member.meet(fresh);
    } catch (error) {
      await fresh.close();
      throw error;
    }
    log(`${member.url} is back.`);
  } catch (error) {
    member.note(error);
    member.stranger = isStrange(error) ? (error as ModelError) : null;
    throw error;
  }
}

export function connectedServers<K extends Kind>(members: readonly Member<K>[]) {
  return members.flatMap(({ backend }) => (backend ? [asFleetServer(backend)] : []));
}
