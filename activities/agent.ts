// Runs the program of an agent to its end, once: its end is recorded, and a retry returns it. Each call that the program
// makes is written down, becomes a turn of the rollout's workflow, and is answered from the turn's record. A retry after a
// crash runs the program again, and answers the calls that have a turn at once.

import { Context } from '@temporalio/activity';
import type { AskedRecord } from '../domain/agent/call-record.ts';
import { replyOf } from '../domain/context/call-context.ts';
import type { AgentEnd } from '../domain/agent/program.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { type TrajectoryReference, turnSeed } from '../domain/names/ids.ts';
import type { Query } from '../domain/query/query.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { sha256Hex } from '../domain/text/sha256.ts';
import type { AgentEnded, AnswerCall } from '../endpoint/agents.ts';
import type { Backend } from '../inference/backend.ts';
import type { Store } from '../records/store.ts';
import { type AgentCalls, openAgentCalls, type Play } from './agent-calls.ts';
import { askedCall, contextOfCall, countCallTokens } from './agent-context.ts';
import { beginAttempt, type BegunAttempt, endOfAgent } from './agent-log.ts';
import { recordedRollout, recordedTurn } from './recorded.ts';
import type { ActivityDeps } from './deps.ts';
import { beat, withHeartbeats } from './heartbeat.ts';
import { patientStore } from './patient-store.ts';
import type { TurnNotices } from './turn-notices.ts';

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

/** Temporal takes ten Updates of a workflow at once. */
const IN_FLIGHT = 8;
/** A program that a signal ended is run again so many times. */
const TRIES = 5;
/** A failure's message keeps its first 500 characters, and a program says last why it ended. */
const TAIL_CHARS = 400;

export function agentActivity(
  { openStore, backend: backendOf, agents, askTurn }: ActivityDeps,
  turnNotices: TurnNotices,
) {
  return async function runAgent({ rollout: id }: { readonly rollout: TrajectoryReference }): Promise<AgentRan> {
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
      progress({ signals, waits: null });
      const patient = patientStore(store, (waits) => progress({ signals, waits }));
      const backend = await Promise.race([backendOf(settings, store.folder), Context.current().cancelled]);
      const ask = inFlight(IN_FLIGHT, (turn: number, call: string) =>
        askTurn!(workflowExecution!.workflowId, { turn, call }, signal),
      );
      const play: Play = async (turn, call) => {
        await turnNotices.toldOr(ask(turn, call), id, turn);
        return recordedTurn(store, id, turn);
      };
      await agents!.mayPlay(settings.program!, store.folder);
      const begun = await beginAttempt(patient, id, { attempt, token, scheduledAt });
      if (!('end' in begun)) return { turns: begun.turns };
      // No earlier attempt has a call of its own played from here on: what it had written down is there.
      const calls = openAgentCalls(store, id, play);
      await calls.readOn();
      const answered = new Set<string>();
      const recorded = calls.recorded();
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
          answer: answering(patient, id, { query, settings, hash, backend, calls, play, begun, answered }),
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
    });
  };
}

type Ask = (turn: number, call: string) => Promise<void>;

interface Answering {
  readonly query: Query;
  readonly settings: RolloutSettings;
  /** The hash of the rollout's record. */
  readonly hash: string;
  readonly backend: Backend;
  readonly calls: AgentCalls;
  readonly play: Play;
  readonly begun: BegunAttempt;
  /** Ids of the calls that this attempt asked for. */
  readonly answered: Set<string>;
}

function answering(store: Store, id: TrajectoryReference, parts: Answering): AnswerCall {
  const { hash, calls, play, begun, answered } = parts;
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
      await begun.mustBeLast();
      calls.add(await play(turn, stored.record.asked.call));
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

function endOf({ code, said, tail, cut, last, abandoned }: AgentEnded, calls: AgentCalls): AgentEnd {
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
  const left = abandoned.map((call) => calls.turnOf(call).record.turn).toSorted((a, b) => a - b);
  return {
    code,
    turns,
    answer: said.answer ?? null,
    ...(said.reward !== undefined && { reward: said.reward }),
    ...(said.rewards && { rewards: said.rewards }),
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

/** Lets at most so many calls be asked at once; the others wait. */
function inFlight(most: number, ask: Ask): Ask {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (turn, call) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      await ask(turn, call);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
