// The parameters of an environment's calls, made from the records of a rollout; and its state, read back from them.

import { isDeepStrictEqual } from 'node:util';
import {
  type BeginParams,
  type Begun,
  type EndParams,
  type EnvironmentReply,
  type Episode,
  replyFields,
  type RespondParams,
  type StateKind,
  verdictOf,
} from '../domain/rollout/environment.ts';
import type { Json, JsonObject } from '../domain/text/json.ts';
import { rolloutWorkflowId, turnSeed } from '../domain/names/ids.ts';
import { conversationOf, type EarlierTurn } from '../domain/context/new-context.ts';
import { answerToJudge, isCut } from '../domain/rollout/turn-facts.ts';
import type { Move, Played } from './environment.ts';

/** Turns are numbered from 1: this seed is no turn's. */
const EPISODE_SEED = 0;

export function episodeOf({ run, query, sample, attempt, settings }: Played): Episode {
  const { queryId } = query;
  return {
    key: rolloutWorkflowId({ run, query: queryId, sample, attempt }),
    query: queryId,
    sample,
    seed: turnSeed(settings.seed, queryId, sample, EPISODE_SEED),
    row: query.row ?? rowOf(query),
  };
}

/** The row of a query whose own is not stored, as in the runs of Everturn's own judges. */
function rowOf({ queryId, task, solutions, inputOutput, tests, instructions, prompt }: Played['query']): JsonObject {
  const asked = prompt.kind === 'text' ? { prompt: prompt.text } : { messages: [...prompt.messages] };
  const cases = inputOutput ? { input_output: inputOutput as unknown as JsonObject } : {};
  return {
    query_id: queryId,
    task,
    solutions,
    ...cases,
    ...(tests && { tests }),
    ...(instructions && { instructions }),
    ...asked,
  } as JsonObject;
}

export function beginParams(rollout: Played): BeginParams {
  return { episode: episodeOf(rollout), messages: conversationOf(rollout.begun?.asked ?? rollout.query.prompt, []) };
}

export type Answer = Pick<Move, 'rollout' | 'turn' | 'answer' | 'cut'>;

export function respondParams(
  { rollout, turn, answer, cut }: Answer,
  before: readonly EarlierTurn[],
  kind: StateKind,
): RespondParams {
  const messages = conversationOf(rollout.query.prompt, before);
  const state = given(rollout, before, kind);
  return { episode: episodeOf(rollout), turn, answer, cut, messages, ...state };
}

export function endParams(rollout: Played, before: readonly EarlierTurn[], kind: StateKind): EndParams {
  return { episode: episodeOf(rollout), ...given(rollout, before, kind) };
}

/** The state that a call gets: the last value, or the handle of a session that a server holds. */
function given(rollout: Played, before: readonly EarlierTurn[], kind: StateKind) {
  if (kind === 'value') return { state: stateAfter(rollout, before) };
  return kind === 'held' && rollout.begun?.state !== undefined ? { state: rollout.begun.state } : {};
}

/** The state after these turns; those that called tools have none. */
export function stateAfter({ begun }: Pick<Played, 'begun'>, before: readonly EarlierTurn[]): Json {
  return answeredIn(before).at(-1)?.verdict.state ?? begun?.state ?? null;
}

/** Without turns that called tools: the environment was not asked about them. */
export function answeredIn(before: readonly EarlierTurn[]): readonly EarlierTurn[] {
  return before.filter(({ turn }) => !turn.calls);
}

/** The number of the last turn that the environment replied to; 0 before all. */
export const lastAnswered = (before: readonly EarlierTurn[]): number => answeredIn(before).at(-1)?.turn.turn ?? 0;

/** The call that led to an earlier turn's reply. */
export function earlierMove(rollout: Played, { turn }: EarlierTurn): Answer {
  return { rollout, turn: turn.turn, answer: answerToJudge(turn), cut: isCut(turn) };
}

/** Is this the reply that was recorded? */
export function isRecorded(reply: EnvironmentReply, { verdict: record }: EarlierTurn): boolean {
  const { verdict, reason, extracted, reward, rewards, base, credit, train, metrics, messages, done, state } = record;
  const was = { verdict, reason, extracted, reward, rewards, base, credit, train, metrics, messages, done, state };
  return isDeepStrictEqual(defined({ ...verdictOf(reply), ...replyFields(reply) }), defined(was));
}

/** Is this how the rollout began? */
export function isBegun({ messages }: Begun, { query }: Played): boolean {
  if (!messages) return true;
  const { prompt } = query;
  return prompt.kind === 'messages' && isDeepStrictEqual(defined(prompt.messages), defined(messages));
}

const defined = (value: object): unknown => JSON.parse(JSON.stringify(value));
