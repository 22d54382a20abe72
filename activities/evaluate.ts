// Has the environment judge one turn's answer. The first verdict stands: a retry returns it.

import type { Judged, TurnReference } from '../domain/rollout-facts.ts';
import type { ActivityDeps } from './deps.ts';
import { heartbeating } from './heartbeat.ts';
import { recordedRollout, recordedTurn } from './recorded.ts';

export function evaluateActivity({ openStore, environment, now }: ActivityDeps) {
  return async function evaluate({ rollout: id, turn }: TurnReference): Promise<Judged> {
    const store = openStore(id.out, id.run);
    const known = await store.getVerdict(id, turn);
    if (known) return judged(known.record);
    const rollout = await recordedRollout(store, id);
    const played = await recordedTurn(store, id, turn);
    const startedAt = now();
    const verdict = await heartbeating((signal) =>
      environment.judge(rollout.record.query, played.record.answer, { signal }),
    );
    const stored = await store.putVerdict(id, { turn, ...verdict, of: played.hash, tookMs: now() - startedAt });
    return judged(stored.record);
  };
}

export interface UndecidedInput extends TurnReference {
  /** Why no verdict could be had. */
  readonly reason: string;
}

/** Gives up on a judge that broke again and again: the turn is undecided, unless a verdict came after all. */
export function undecideActivity({ openStore }: ActivityDeps) {
  return async function undecide({ rollout: id, turn, reason }: UndecidedInput): Promise<Judged> {
    const store = openStore(id.out, id.run);
    const { hash } = await recordedTurn(store, id, turn);
    const { record } = await store.putVerdict(id, { turn, verdict: 'undecided', reason, of: hash, tookMs: 0 });
    return judged(record);
  };
}

function judged({ verdict, reason }: Judged): Judged {
  return { verdict, reason };
}
