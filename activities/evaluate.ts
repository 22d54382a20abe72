// Lets the environment reply to one turn's answer. The first reply stands: a retry returns it. An environment that stays
// broken leaves the turn undecided, and one that is not the run's fails it; any other failure (a full disk) is retried.

import { Context } from '@temporalio/activity';
import { type EnvironmentReply, replyFields, verdictOf } from '../domain/rollout/environment.ts';
import { EnvironmentError, EverturnError, explain, JudgeError, SandboxError } from '../domain/errors/errors.ts';
import type { EvaluateInput, ReplyFacts } from '../domain/rollout/rollout-facts.ts';
import type { VerdictRecord } from '../domain/rollout/trajectory.ts';
import { answerToJudge, isCut } from '../domain/rollout/turn-facts.ts';
import { headAndTail } from '../domain/text/foreign-text.ts';
import type { readAgentEnd } from './agent-log.ts';
import type { replyToCalls } from './call-tool.ts';
import type { ProgramDeps } from './deps.ts';
import { beat, withHeartbeats } from './heartbeat.ts';
import { readJudgedTurns, recordedRollout, recordedTurn } from './recorded.ts';

const JUDGE_TRIES = 5;
const NOTE_CHARS = 2_000;

/** The replies that need no environment: the end of an agent that said its reward, and the results of a turn's calls. */
interface OtherReplies {
  readonly readAgentEnd: typeof readAgentEnd;
  readonly replyToCalls: typeof replyToCalls;
}

export function evaluateActivity({ openStore, environments, tools }: ProgramDeps, other: OtherReplies) {
  return async function evaluate({ rollout: id, turn, said }: EvaluateInput): Promise<ReplyFacts> {
    const store = openStore(id.out, id.run);
    const earlier = await store.get('verdict', id, turn);
    if (earlier) return shortVerdict(earlier.record);
    const { record: rollout } = await recordedRollout(store, id);
    const { record, hash } = await recordedTurn(store, id, turn);
    const before = () => readJudgedTurns(store, id, turn - 1);
    const toolSettings = rollout.settings?.tools;
    const ended = rollout.settings?.program && (await other.readAgentEnd(store, id, record));
    if (ended && (ended.reward !== undefined || ended.verdict)) {
      const { answer, callReward, verdict: given, note: seen, ...own } = ended;
      const beside = { ...(answer !== undefined && { answer }), ...(callReward !== undefined && { callReward }) };
      const what = {
        ...verdictOf({ ...own, ...(given && { verdict: given }) }),
        ...(seen !== undefined && { note: seen }),
      };
      const verdict = { turn, ...what, ...own, of: hash, tookMs: 0, ...beside };
      return shortVerdict((await store.put('verdict', id, verdict)).record);
    }
    if (record.calls && toolSettings && tools) {
      const reply = await other.replyToCalls(store, id, record, hash, await before(), toolSettings, tools);
      return shortVerdict((await store.put('verdict', id, reply)).record);
    }
    const mayBeSecond = wasPerhapsAsked();
    const environment = served();
    const answer = ended?.answer ?? answerToJudge(record);
    const move = { rollout, turn, answer, cut: ended?.answer === undefined && isCut(record), before };
    const startedAt = performance.now();
    const { note, ...reply } = await tryJudge((signal) =>
      environment.respond(move, { signal, mayBeSecond, ...(said && { said }) }),
    );
    const own = rollout.settings?.environments?.find(({ name }) => name === rollout.query.environment);
    const stored = await store.put('verdict', id, {
      turn,
      ...verdictOf(reply),
      ...(note === undefined ? {} : { note }),
      ...replyFields(reply),
      ...(own && { environment: own.fingerprint }),
      ...(ended?.done && { done: true }),
      of: hash,
      tookMs: Math.round(performance.now() - startedAt),
      ...(ended?.answer !== undefined && { answer: ended.answer }),
      ...(ended?.callReward !== undefined && { callReward: ended.callReward }),
    });
    return shortVerdict(stored.record);

    function served() {
      try {
        return environments.of(rollout, store.folder);
      } catch (error) {
        // Another worker may serve it: nothing was asked here.
        beat({ ...lastTries(), asked: mayBeSecond } satisfies JudgeTries);
        throw error;
      }
    }
  };
}

/** Heartbeat details. */
interface JudgeTries {
  /** Attempts that ended without an error, as when a program kills its worker. */
  readonly silent: number;
  /** False: no attempt so far has reached the environment. Absent: one may have. */
  readonly asked?: boolean;
}

function lastTries(): JudgeTries {
  return (Context.current().info.heartbeatDetails as JudgeTries | undefined) ?? { silent: 0 };
}

/** An attempt that says nothing, as one whose worker was killed, may have asked. */
function wasPerhapsAsked(): boolean {
  return Context.current().info.attempt > 1 && lastTries().asked !== false;
}

/** `note`: what broke. */
type Tried = EnvironmentReply & { readonly note?: string };

/** Gives up on a judge after some tries. Attempts that failed for other causes, a full disk say, do not count. */
async function tryJudge(judge: (signal: AbortSignal) => Promise<EnvironmentReply>): Promise<Tried> {
  const context = Context.current();
  const { silent } = lastTries();
  let asked = true;
  if (silent >= JUDGE_TRIES) return { verdict: { verdict: 'undecided', reason: 'judge-gave-up' } };
  const begun: JudgeTries = { silent: silent + 1 };
  beat(begun);
  try {
    return await withHeartbeats((signal, progress: (tries: JudgeTries) => void) => {
      progress(begun);
      return judge(signal);
    });
  } catch (error) {
    asked = !(error instanceof EverturnError && error.untaken && !wasPerhapsAsked());
    const own = error instanceof EnvironmentError && !FINAL.has(error.reason);
    const broken = own || error instanceof JudgeError || error instanceof SandboxError;
    if (!broken || (error.retryable && context.info.attempt < JUDGE_TRIES)) throw error;
    const verdict = { verdict: 'undecided', reason: error.reason } as const;
    return own ? { verdict, note: headAndTail(explain(error), NOTE_CHARS) } : { verdict };
  } finally {
    beat({ silent, asked } satisfies JudgeTries);
  }
}

/** The rollout cannot continue with this environment, or not on this worker. */
const FINAL: ReadonlySet<string> = new Set([
  'environment-lost',
  'environment-mismatch',
  'environment-missing',
  'environment-not-deterministic',
  'environment-not-served',
  'environment-closed',
]);

/** The part of a reply that the workflow needs. */
export function shortVerdict({ verdict, reason, reward, done }: VerdictRecord): ReplyFacts {
  return { verdict, reason, ...(reward === undefined ? {} : { reward }), ...(done === true && { done }) };
}
