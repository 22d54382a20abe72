// Has the environment judge one turn's answer. The first verdict stands: a retry returns it. A judge that
// stays broken leaves the turn undecided; whatever else fails (a full disk, say) is tried again.

import { Context } from '@temporalio/activity';
import { JudgeError, SandboxError } from '../domain/errors.ts';
import type { Judged, TurnReference } from '../domain/rollout-facts.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ActivityDeps } from './deps.ts';
import { heartbeating } from './heartbeat.ts';
import { recordedRollout, recordedTurn } from './recorded.ts';

const JUDGE_TRIES = 5;

export function evaluateActivity({ openStore, environment, now }: ActivityDeps) {
  return async function evaluate({ rollout: id, turn }: TurnReference): Promise<Judged> {
    const store = openStore(id.out, id.run);
    const known = await store.getVerdict(id, turn);
    if (known) return judged(known.record);
    const { query } = (await recordedRollout(store, id)).record;
    const { record, hash } = await recordedTurn(store, id, turn);
    const startedAt = now();
    const verdict = await patiently(() =>
      heartbeating((signal) => environment.judge(query, record.answer, { signal })),
    );
    const stored = await store.putVerdict(id, { turn, ...verdict, of: hash, tookMs: Math.max(0, now() - startedAt) });
    return judged(stored.record);
  };
}

/** Gives up on a judge after some tries; those that ended without a word (a worker killed by one) count too. */
async function patiently(judge: () => Promise<Verdict>): Promise<Verdict> {
  const { attempt } = Context.current().info;
  if (attempt > JUDGE_TRIES) return { verdict: 'undecided', reason: 'judge-gave-up' };
  try {
    return await judge();
  } catch (error) {
    const broken = error instanceof JudgeError || error instanceof SandboxError;
    if (!broken || (error.retryable && attempt < JUDGE_TRIES)) throw error;
    return { verdict: 'undecided', reason: error.reason };
  }
}

function judged({ verdict, reason }: Judged): Judged {
  return { verdict, reason };
}
