// Asks the model for one turn's answer, once: the stored record is the answer. A retry, or a second worker that was
// thought dead, gets that record back and generates nothing. The two kinds of model part in one line here.

import { Context } from '@temporalio/activity';
import { callsInReply, callsToRun, replyGiven, ENDPOINT_CALLS } from '../domain/rollout/calls.ts';
import { ModelError, StoreError } from '../domain/errors/errors.ts';
import { type TrajectoryReference, turnSeed } from '../domain/names/ids.ts';
import { requestBehind } from '../domain/agent/whole-request.ts';
import type { GivenReply } from '../domain/agent/call-record.ts';
import type { AskedRequest } from '../domain/agent/conversation.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { Backend, TextBackend } from '../inference/backend.ts';
import type { Store, Stored } from '../records/store.ts';
import { type Generated, recordedFacts, type TurnReference } from '../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { ToolSettings } from '../domain/tools/tool.ts';
import type { Tools } from '../environments/tools/tool.ts';
import type { Answered, NoRoom, Turn } from './answer.ts';
import { answerInText } from './answer-in-text.ts';
import { answerInTokens } from './answer-in-tokens.ts';
import type { ActivityDeps } from './deps.ts';
import { afterFlaw, type Flaws, flawsIn, withFlaw } from './flaws.ts';
import { beat as beatNow, heartbeating } from './heartbeat.ts';
import { patientStore } from './patient-store.ts';
import { recordedAsked, recordedPath, recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';
import type { TurnNotices } from './turn-notices.ts';

/** Heartbeat details. */
interface GenerateBeat {
  readonly tokens: number;
  /** The disk's error, while it keeps the answer from being stored. */
  readonly waits?: string | null;
  /** Answers to this turn that could not be read, over all attempts. */
  readonly flaws?: Flaws;
}

export function generateActivity(
  { openStore, backend: backendOf, tools, isStopping, now }: ActivityDeps,
  turnNotices: TurnNotices,
) {
  return async function generate({ rollout: id, turn }: TurnReference): Promise<Generated> {
    const store = openStore(id.out, id.run);
    const stopping = () => isStopping(id.out, id.run);
    // All in one round trip to the disk.
    const [there, firstChunk, end, isStopped] = await Promise.all([
      store.getTurn(id, turn),
      store.getChunk(id, turn, 1),
      store.getEnd(id),
      stopping(),
    ]);
    if (there) return factsOf(there, there.record.calls && (await recordedRollout(store, id)).record.settings);
    if (end) throw await hasEnded(store, id);

    return heartbeating(async (signal, progress: (beat: GenerateBeat) => void) => {
      const flaws = flawsIn(Context.current().info.heartbeatDetails);
      let beat: GenerateBeat = { tokens: 0, flaws };
      const report = (more: Partial<GenerateBeat>) => progress((beat = { ...beat, ...more }));
      const counted = (error: unknown): never => {
        const more = withFlaw(flaws, error);
        if (!more) throw error;
        beatNow({ ...beat, flaws: more } satisfies GenerateBeat);
        throw afterFlaw(error as ModelError, more);
      };
      report({}); // an attempt that dies must not take the count with it
      if (isStopped) await waitWhile(stopping, CANCELLED_MS);
      const patient = patientStore(store, (waits) => report({ waits }));
      const rollout = await recordedRollout(store, id);
      const { settings } = rollout.record;
      const asked = settings.program && (await recordedAsked(store, id, turn));
      const before = asked
        ? await recordedPath(store, id, asked.asked.parent)
        : await recordedTurns(store, id, turn - 1);
      const request =
        asked &&
        requestBehind(
          asked.asked,
          before.map(({ record }) => record.asked!),
        );
      const said = asked || turn === 1 ? undefined : await store.getSay(id, turn);
      const { cancelled } = Context.current();
      const backend = await Promise.race([backendOf(settings, store.folder), cancelled]).catch(counted);
      const startedAt = now();
      const seed = turnSeed(settings.seed, id.query, id.sample, asked ? asked.asked.call : turn);
      const { attempt } = Context.current().info;
      const due: Turn = {
        store: patient,
        id,
        rollout: rollout.record,
        turn,
        before,
        judged: (place) => answeredTurn(store, id, before[place]!.record),
        seed,
        avoid: flaws.servers,
        ...(asked && request && { asked, request }),
        firstChunk: firstChunk?.record,
        attempt,
        now,
        options: { signal, onProgress: (tokens) => report({ tokens }) },
      };
      const answering = givesText(backend) ? answerInText(backend, due) : answerInTokens(backend, due);
      const answer = await answering.catch(counted);
      if ('noRoom' in answer) return noRoom(asked ? 1 : turn, answer);
      const earlierRecords = before.map(({ record }) => record);
      const calls = asked
        ? undefined
        : tools && callsInReply(answer.fields, earlierRecords, settings, tools, answer.spelled ?? []);
      const reply = request && replyIn(answer, request, settings.tools, tools);
      const stored = await patient.putTurn(id, {
        turn,
        ...answer.fields,
        seed,
        previous: asked?.previous ?? before.at(-1)?.hash ?? rollout.hash,
        attempt,
        startedAt,
        // The clock may have been set back meanwhile.
        finishedAt: Math.max(startedAt, now()),
        model: backend.facts.name,
        ...(said && { said: { text: said.record.text, hash: said.hash } }),
        ...(calls && { calls }),
        ...(asked && { asked: asked.asked }),
        ...(reply && { reply }),
      });
      turnNotices.tell(id, turn);
      if (answer.chunks > 0) await store.dropChunks(id, turn);
      return factsOf(stored, settings);
    });
  };
}

/** The reply that an agent gets, where the answer holds calls or thoughts, or was ended by its own stop text. */
function replyIn(
  { fields, spelled = [] }: Answered,
  { tools: offered, limits }: AskedRequest,
  own: ToolSettings | undefined,
  tools: Tools | undefined,
): GivenReply | undefined {
  if (own?.format === ENDPOINT_CALLS) return replyGiven(fields, { limits });
  if (fields.reply || !own || !tools || fields.finish !== 'stop' || limits.toolChoice === 'none') return fields.reply;
  if (spelled.length > 0) return undefined;
  const reply = tools.replyIn(fields.outputText, fields.contextText, own.format, offered);
  return reply.calls || reply.reasoning !== undefined ? reply : undefined;
}

async function answeredTurn(store: Store, id: TrajectoryReference, turn: TurnRecord): Promise<EarlierTurn> {
  const [verdict, said] = await Promise.all([recordedVerdict(store, id, turn.turn), store.getSay(id, turn.turn + 1)]);
  return { turn, verdict: verdict.record, ...(said && { said: said.record.text }) };
}

const POLL_MS = 1000;
const COUNTED_MS = 60_000;
/**
 * A run that is being stopped cancels this rollout as soon as a busy server lets it, and its answer would come to nothing.
 * Limited, because a block that is started again meanwhile waits for what had begun.
 */
const CANCELLED_MS = 120_000;

/** A cancellation ends it by an error. */
async function waitWhile(condition: () => Promise<boolean>, mostMs: number): Promise<void> {
  const began = performance.now();
  while (performance.now() - began < mostMs && (await condition())) await Context.current().sleep(POLL_MS);
}

/**
 * Its run was cancelled while this waited (cancel-waiting.ts), or somebody reset its workflow, which takes the end now. Not
 * before the run has its result: thousands of such workflows would delay those that it still waits for.
 */
async function hasEnded(store: Store, { query, sample }: TrajectoryReference): Promise<StoreError> {
  await heartbeating(() => waitWhile(async () => !(await store.getResult()), COUNTED_MS));
  const message = `Query "${query}", sample ${sample} has ended: its record takes no further turn.`;
  return new StoreError(message, { reason: 'rollout-ended', retryable: false });
}

function givesText(backend: Backend): backend is TextBackend {
  return backend.facts.kind === 'text';
}

/** An agent's call was measured before: only a server whose context is shorter than it says has no room for it. */
function noRoom(turn: number, { contextTokens, modelLength }: NoRoom): Generated {
  if (turn > 1) return { noRoom: true, contextTokens };
  throw new ModelError(`The prompt has ${contextTokens} tokens, and the model's context holds ${modelLength}.`, {
    reason: 'prompt-too-long',
    fix: 'Shorten the prompt, or use a model with a longer context.',
  });
}

function factsOf({ record, hash }: Stored<TurnRecord>, settings?: RolloutSettings): Generated {
  const calls = record.calls && settings?.tools ? { calls: callsToRun(record.calls, settings.tools) } : {};
  return { noRoom: false, ...recordedFacts(record), hash, ...calls };
}
