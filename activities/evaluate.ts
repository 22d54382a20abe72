// Has the environment judge one turn's answer. The first verdict stands: a retry returns it. A judge that
// stays broken leaves the turn undecided; whatever else fails (a full disk, say) is tried again.

import { Context } from '@temporalio/activity';
import { JudgeError, SandboxError } from '../domain/errors.ts';
import type { Judged, TurnReference } from '../domain/rollout-facts.ts';
import { noEos } from '../domain/turn.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, heartbeating } from './heartbeat.ts';
import { recordedRollout, recordedTurn } from './recorded.ts';

const JUDGE_TRIES = 5;

export function evaluateActivity({ openStore, environment }: ActivityDeps) {
  return async function evaluate({ rollout: id, turn }: TurnReference): Promise<Judged> {
    const store = openStore(id.out, id.run);
    const known = await store.getVerdict(id, turn);
    if (known) return judged(known.record);
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
    return judged(stored.record);
  };
}

/** What its heartbeats tell of a judging: attempts that ended without a word, as when a program kills its worker. */
interface Tries {
  readonly silent: number;
}

/** Gives up on a judge after some tries. Attempts that failed for anything else, a full disk say, are no try of it. */
async function tryJudge(judge: (signal: AbortSignal) => Promise<Verdict>): Promise<Verdict> {
  const context = Context.current();
  const { silent } = (context.info.heartbeatDetails as Tries | undefined) ?? { silent: 0 };
  if (silent >= JUDGE_TRIES) return { verdict: 'undecided', reason: 'judge-gave-up' };
  const begun: Tries = { silent: silent + 1 };
  beat(begun);
  try {
    return await heartbeating((signal, progress: (tries: Tries) => void) => {
      progress(begun);
      return judge(signal);
    });
  } catch (error) {
    const broken = error instanceof JudgeError || error instanceof SandboxError;
    if (!broken || (error.retryable && context.info.attempt < JUDGE_TRIES)) throw error;
    return { verdict: 'undecided', reason: error.reason };
  } finally {
    beat({ silent } satisfies Tries);
  }
}

function judged({ verdict, reason }: Judged): Judged {
  return { verdict, reason };
}
