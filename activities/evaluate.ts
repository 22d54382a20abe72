// Lets the environment judge one turn's answer. The first verdict stands: a retry returns it. A judge that stays
// broken leaves the turn undecided; any other failure (a full disk, say) is retried.

import { Context } from '@temporalio/activity';
import { JudgeError, SandboxError } from '../domain/errors.ts';
import type { TurnReference } from '../domain/rollout-facts.ts';
import { noEos } from '../domain/turn.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, heartbeating } from './heartbeat.ts';
import { recordedRollout, recordedTurn } from './recorded.ts';

const JUDGE_TRIES = 5;

export function evaluateActivity({ openStore, environment }: ActivityDeps) {
  return async function evaluate({ rollout: id, turn }: TurnReference): Promise<Verdict> {
    const store = openStore(id.out, id.run);
    const known = await store.getVerdict(id, turn);
    if (known) return inShort(known.record);
    const { query } = (await recordedRollout(store, id)).record;
    const { record, hash } = await recordedTurn(store, id, turn);
    const cut = noEos(record.finish);
    const startedAt = performance.now();
    const verdict = await tryJudge((signal) => environment.judge(query, record.answer, { signal, cut }));
    const stored = await store.putVerdict(id, {
      turn,
      ...verdict,
      of: hash,
      tookMs: Math.round(performance.now() - startedAt),
    });
    return inShort(stored.record);
  };
}

/** Heartbeat details: attempts that ended without an error, as when a program kills its worker. */
interface JudgeTries {
  readonly silent: number;
}

/** Gives up on a judge after some tries. Attempts that failed for other causes, a full disk say, do not count. */
async function tryJudge(judge: (signal: AbortSignal) => Promise<Verdict>): Promise<Verdict> {
  const context = Context.current();
  const { silent } = (context.info.heartbeatDetails as JudgeTries | undefined) ?? { silent: 0 };
  if (silent >= JUDGE_TRIES) return { verdict: 'undecided', reason: 'judge-gave-up' };
  const begun: JudgeTries = { silent: silent + 1 };
  beat(begun);
  try {
    return await heartbeating((signal, progress: (tries: JudgeTries) => void) => {
      progress(begun);
      return judge(signal);
    });
  } catch (error) {
    const broken = error instanceof JudgeError || error instanceof SandboxError;
    if (!broken || (error.retryable && context.info.attempt < JUDGE_TRIES)) throw error;
    return { verdict: 'undecided', reason: error.reason };
  } finally {
    beat({ silent } satisfies JudgeTries);
  }
}

/** The part of a verdict that the workflow needs. */
function inShort({ verdict, reason }: Verdict): Verdict {
  return { verdict, reason };
}
