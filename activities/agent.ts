// Runs the program of an agent to its end, once: its end is recorded, and a retry returns it. Each call that the program makes is
// written down, generated here, and answered from its turn's record; the rollout's workflow hears of many together. A retry after
// a crash runs the program again, and answers the calls that have a turn at once.

import { Context } from '@temporalio/activity';
import type { AgentEnd, AskedRecord } from '../domain/agent/index.ts';
import { replyOf } from '../domain/context/call-context.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { type TrajectoryReference, turnSeed } from '../domain/names/ids.ts';
import type { Query } from '../domain/query/query.ts';
import { recordedFacts } from '../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import type { AgentEnded, AnswerCall } from '../endpoint/index.ts';
import type { Backend } from '../inference/backend.ts';
import type { Store } from '../records/store.ts';
import { type AgentCalls, openAgentCalls } from './agent-calls.ts';
import { askedCall, contextOfCall, countCallTokens } from './agent-context.ts';
import { beginAttempt, endOfAgent, pauseAgent } from './agent-log.ts';
import { type CallReports, openReports } from './agent-reports.ts';
import { openSides } from './agent-sides.ts';
import { type Play, playingCalls } from './agent-turns.ts';
import { answeringTurns } from './answer-turn.ts';
import { recordedRollout } from './recorded.ts';
import { openSlots } from './slots.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, withHeartbeats } from './heartbeat.ts';
import { patientStore } from './patient-store.ts';

export interface RolloutReference {
  readonly rollout: TrajectoryReference;
}

export type CallFacts = ReturnType<typeof recordedFacts>;

/** The small fact of a program that has ended. */
export interface AgentRan {
  /** Turns of the rollout: each call with a reply, of whichever attempt. */
  readonly turns: number;
}

/** Heartbeat details. */
interface AgentBeat {
  /** Attempts in which a signal ended the program. */
  readonly signals: number;
  /** The disk's error, while it keeps a call from being stored. */
  readonly waits: string | null;
}

/** A program that a signal ended is run again so many times. */
const TRIES = 5;
/** A failure's message keeps its first 500 characters, and a program says last why it ended. */
const TAIL_CHARS = 400;

export function agentActivity(deps: ActivityDeps) {
  const { openStore, backend: backendOf, agents, tellCalls } = deps;
  const { measure = (work) => work } = deps;
  const answerTurn = measure(answeringTurns(deps));
  const inSlot = openSlots(deps.slots);
  return async function runAgent({ rollout: id }: RolloutReference): Promise<AgentRan> {
    const store = openStore(id.out, id.run);
    const known = await endOfAgent(store, id);
    if (known) return { turns: known.turns };
    const { record: rollout, hash } = await recordedRollout(store, id);
    const { settings, query } = rollout;
    const { info } = Context.current();
    const { attempt, workflowExecution, currentAttemptScheduledTimestampMs: scheduledAt } = info;
    const token = sha256Hex(JSON.stringify([workflowExecution, info.activityId, attempt])).slice(0, 32);
    const signals = (info.heartbeatDetails as AgentBeat | undefined)?.signals ?? 0;
    return withHeartbeats(async (signal, progress: (beat: AgentBeat) => void) => {
      const waits = (what: string | null) => progress({ signals, waits: what });
      waits(null);
      const patient = patientStore(store, waits);
      const backend = await Promise.race([backendOf(settings, store.folder), Context.current().cancelled]);
      await agents!.mayPlay(settings.program!, store.folder);
      const begun = await beginAttempt(patient, id, { attempt, token, scheduledAt });
      if (!('end' in begun)) return { turns: begun.turns };
      const generated = playingCalls(deps, answerTurn, inSlot, {
        ...{ store: patient, id, rollout, backend, attempt, signal, waits },
      });
      // A later attempt finds the call that is written down: it must not have begun.
      const play: Play = (due) => begun.mayAsk(signal).then(() => generated(due));
      // No earlier attempt has a call of its own played from here on: what it had written down is there.
      const calls = openAgentCalls(store, id, play);
      await calls.readOn();
      const reports = openReports((counts) => tellCalls(workflowExecution!.workflowId, counts));
      const answered = new Set<string>();
      const recorded = calls.recorded();
      try {
        const ended = await agents!.play(
          {
            id,
            record: hash,
            attempt,
            token,
            mustBeLast: begun.mustBeLast,
            program: settings.program!,
            row: query.row ?? {},
            seed: turnSeed(settings.seed, id.query, id.sample, 0),
            model: backend.facts.name,
            ...('contextLength' in backend.facts && { contextLength: backend.facts.contextLength }),
            recorded,
            answer: answering(patient, id, {
              ...{ query, settings, hash, backend, calls, play, answered, reports },
            }),
            ...(deps.passOn && { side: openSides(patient, id, { passOn: deps.passOn, now: deps.now, signal }) }),
            count: (request) => countCallTokens(request, { query, settings, backend, calls }),
            signal,
          },
          store.folder,
        );
        if (ended.code === null || ended.code > SIGNALLED) throw signalled(signals + 1);
        const ownCalls = new Set([...answered, ...recorded.map(({ reply }) => reply.call)]);
        await calls.readOn();
        const others = calls.played.flatMap((call) => (ownCalls.has(call.id) ? [] : [call.id]));
        const end = endOf({ ...ended, abandoned: [...ended.abandoned, ...others] }, calls);
        if (settings.program!.onDivergence === 'fail') mustNotDiverge(ended, calls);
        await begun.end(end);
        return { turns: end.turns };
      } finally {
        reports.close();
      }
    });
  };
}

/** The small facts of the calls with a reply, up to the first without one: whatever the agent's end was. */
export function agentTurnsActivity({ openStore }: ActivityDeps) {
  return async function agentTurns({ rollout: id }: RolloutReference): Promise<readonly CallFacts[]> {
    const store = openStore(id.out, id.run);
    const facts: CallFacts[] = [];
    for (let turn = 1; ; turn++) {
      const there = await store.get('turn', id, turn);
      if (!there) return facts;
      facts.push(recordedFacts(there.record));
    }
  };
}

/** The agent reads it before each call. */
export function pauseAgentActivity({ openStore }: ActivityDeps) {
  return async function pause({ rollout: id, paused }: RolloutReference & { readonly paused: boolean }): Promise<void> {
    const { attempt, currentAttemptScheduledTimestampMs: scheduledAt } = Context.current().info;
    await pauseAgent(openStore(id.out, id.run), id, { attempt, token: 'pause', scheduledAt }, paused);
  };
}

interface Answering {
  readonly query: Query;
  readonly settings: RolloutSettings;
  /** The hash of the rollout's record. */
  readonly hash: string;
  readonly backend: Backend;
  readonly calls: AgentCalls;
  readonly play: Play;
  /** Ids of the calls that this attempt asked for. */
  readonly answered: Set<string>;
  readonly reports: CallReports;
}

function answering(store: Store, id: TrajectoryReference, parts: Answering): AnswerCall {
  const { hash, calls, play, answered, reports } = parts;
  return async (taken, request, dialect) => {
    const context = await contextOfCall(request, parts);
    if ('refused' in context) return context;
    const parent = context.parent === null ? undefined : calls.turnOf(context.parent);
    const asked = askedCall(taken, request, dialect, context, parent?.record.turn ?? null);
    answered.add(asked.call);
    // Another attempt, thought dead, may have given the number to a call of its own, or have made this one.
    while (!calls.has(asked.call)) {
      const turn = calls.nextTurn();
      const record: AskedRecord = {
        turn,
        asked,
        contextIds: context.ids,
        contextText: context.text,
        previous: parent?.hash ?? hash,
      };
      const stored = await store.put('asked', id, record);
      const end = reports.begin();
      try {
        calls.add(await play(calls.due(stored)));
      } finally {
        end({ calls: calls.played.length, branches: calls.roots() });
      }
      // A call that stays behind is of a turn that is there, and harms nothing.
      store.dropChunks(id, turn).catch(() => undefined);
    }
    return replyOf(calls.turnOf(asked.call).record);
  };
}

function mustNotDiverge({ unmade = [] }: AgentEnded, calls: AgentCalls): void {
  const [first] = unmade.map((call) => calls.turnOf(call).record.turn).toSorted((a, b) => a - b);
  if (first === undefined) return;
  throw new AgentError(`The agent, run again after a crash, did not make its call ${first} again.`, {
    reason: 'agent-diverged',
    fix: '`everturn show` has both branches; with `--on-divergence branch` it goes on from where it differs.',
  });
}

function endOf(
  { code, said, callRewards: rewarded = {}, tail, cut, verified, last, abandoned }: AgentEnded,
  calls: AgentCalls,
): AgentEnd {
  const isFine = code === 0 || cut !== undefined;
  if (!isFine) {
    const words =
      tail === '' ? '' : ` Its last lines: ${tail.length > TAIL_CHARS ? '…' : ''}${tail.slice(-TAIL_CHARS)}`;
    throw new AgentError(`The agent ended with exit code ${code}.${words}`, { reason: 'agent-exited' });
  }
  const { length: turns } = calls.played;
  if (turns === 0) {
    throw new AgentError('The agent ended without a call of the model.', {
      reason: 'agent-no-call',
      fix: 'It finds the address and the key in OPENAI_BASE_URL and OPENAI_API_KEY, or ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.',
    });
  }
  const callRewards = Object.entries(rewarded)
    .map(([call, reward]) => ({ turn: calls.turnOf(call).record.turn, reward }))
    .toSorted((a, b) => a.turn - b.turn);
  const left = abandoned.map((call) => calls.turnOf(call).record.turn).toSorted((a, b) => a - b);
  return {
    code,
    turns,
    answer: said.answer ?? null,
    ...(said.reward !== undefined && { reward: said.reward }),
    ...(said.rewards && { rewards: said.rewards }),
    ...(callRewards.length > 0 && { callRewards }),
    ...(verified && { verified }),
    ...(cut !== undefined && { cut }),
    last: last === null ? turns : calls.turnOf(last).record.turn,
    ...(left.length > 0 && { abandoned: left }),
  };
}

function signalled(signals: number): AgentError {
  beat({ signals, waits: null } satisfies AgentBeat);
  return new AgentError('A signal ended the agent.', { reason: 'agent-ended-by-signal', retryable: signals < TRIES });
}

/** A shell's exit code of a process that a signal ended is above it. */
const SIGNALLED = 128;
