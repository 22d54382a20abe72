// One turn: the tokens new in its context, the model's answer, and the verdict on it.

import * as f from '../schema/fields.ts';
import { ASKED_CALL, GIVEN_REPLY } from '../agent/index.ts';
import { EXPERTS } from './experts.ts';
import { KEPT_SETS } from './kept-sets.ts';
import { CARRIED, SAID } from './lineage.ts';
import { GIVEN_CALLS, WRITTEN_CALLS } from '../tools/tool.ts';
import { LOGPROB_MEANINGS, WANTED_LOGPROBS } from './logprob-meaning.ts';

/** How a generation ended. `length` and `abort` are the original's `no_eos`; `unknown`: an endpoint of text named no end, or one that is not known. */
const FINISHES = ['stop', 'length', 'abort', 'unknown'] as const;
export type Finish = (typeof FINISHES)[number];

/** A span of output tokens made by one version of the weights: [start, end) in outputIds. */
const SPAN = {
  /** A number for every version; the rule is in domain/weights/weight-version.ts. */
  version: f.INT32,
  /** The version as the server reported it, if it did: `default`, `step-12`, `12`. */
  versionLabel: f.maybe(f.TEXT),
  start: f.COUNT,
  end: f.COUNT,
};
export type VersionSpan = f.ObjectOf<typeof SPAN>;
const SPANS: f.Test<readonly VersionSpan[]> = [
  f.listOf(f.objectOf(SPAN))[0],
  'a list of version spans, each of an int32 from 0',
];

/** Tokens as an endpoint counts them, each where it says it. `output` holds the `reasoning` ones, and `input` the `cached` ones. */
export const USAGE = {
  input: f.maybe(f.COUNT),
  cached: f.maybe(f.COUNT),
  output: f.maybe(f.COUNT),
  reasoning: f.maybe(f.COUNT),
};
export type Usage = f.ObjectOf<typeof USAGE>;

/**
 * The record of one generation; immutable, written once, its text in this order. Each token of a rollout is stored once:
 * the context of turn t is contextIds_1 ++ outputIds_1 ++ … ++ contextIds_t.
 */
export const TURN = {
  /** 1-based. */
  turn: f.PLACE,
  /** Tokens new in this turn's context: the prompt at turn 1, the feedback after that. */
  contextIds: f.TOKEN_IDS,
  /** The text that was tokenised to contextIds. */
  contextText: f.TEXT,
  /** Sampled token ids, the stop token included. */
  outputIds: f.TOKEN_IDS,
  /** Natural log probability of each output id, under the distribution it was sampled from. */
  logprobs: f.NUMBERS,
  /** The ids that each output id was drawn from, packed; absent if all of them, or if the server does not say. */
  kept: f.maybe(KEPT_SETS),
  /** Where the experts of its tokens lie, of a mixture of experts whose servers say them. */
  experts: f.maybe(EXPERTS),
  /** True of a mixture of experts: the experts that made each token are not recorded. */
  expertsMissing: f.maybe(f.oneOf(true)),
  /** outputIds as text, special tokens included. */
  outputText: f.TEXT,
  /** outputIds as text without special tokens: what is judged. */
  answer: f.TEXT,
  /** Where each output id begins in the text that is judged, in code points; present where the environment speaks of parts of answers. */
  tokenStarts: f.maybe(f.TOKEN_IDS),
  finish: f.oneOf(...FINISHES),
  /** Weight versions by output span, contiguous and covering all of outputIds; of none, an empty one. */
  versions: SPANS,
  versionStart: f.INT32,
  versionEnd: f.INT32,
  /** Tokens in the turn's whole context C_t (Σ of all stored before it, plus contextIds). */
  contextLength: f.COUNT,
  /** The budget this turn was given, after it was cut to the model's length. */
  maxNewTokens: f.PLACE,
  /** Seed of this turn's random stream; null when the backend takes none. */
  seed: f.orNull(f.COUNT),
  /** Hash of the previous turn's record; the first turn's is its rollout record's. */
  previous: f.HASH,
  /** The attempt of the generation activity that wrote it, 1-based. */
  attempt: f.PLACE,
  /** Epoch milliseconds. */
  startedAt: f.COUNT,
  finishedAt: f.COUNT,
  /** The model and the server that answered. */
  model: f.TEXT,
  server: f.orNull(f.TEXT),
  /** The distribution of the logprobs; absent if a server returned text only. */
  logprobsOf: f.maybe(f.oneOf(...WANTED_LOGPROBS)),
  /** The distribution that the model or its servers report; under the run's sampling it equals logprobsOf. */
  logprobsFound: f.maybe(f.oneOf(...LOGPROB_MEANINGS)),
  /** False if a server returned text only: no sample to train on. Absent means true. */
  trainable: f.maybe(f.BOOLEAN),
  /** The server's own tokens and logprobs of a text answer, if it returns them: never ids. */
  textLogprobs: f.maybe(f.listOf(f.objectOf({ token: f.TEXT, logprob: f.NUMBER }))),
  /** The endpoint's own counts of a text answer, if it gives any. */
  usage: f.maybe(f.objectOf(USAGE)),
  /** The model's thoughts before its answer, where the endpoint keeps them apart: shown, never judged, and sent back with the calls that they led to alone. */
  reasoning: f.maybe(f.TEXT),
  /** The calls that an endpoint gave with a text answer. */
  toolCalls: f.maybe(GIVEN_CALLS),
  /** A person's message in this turn's context, behind the feedback; absent if there is none. */
  said: f.maybe(SAID),
  /** The calls of tools in the reply; absent if it has none, and is an answer. */
  calls: f.maybe(WRITTEN_CALLS),
  /** Present if it was carried over from another run, and not generated in this one. */
  carried: f.maybe(CARRIED),
  /** The call of an agent's program that it answers: `previous` and the context are then those of the call's parent. */
  asked: f.maybe(ASKED_CALL),
  reply: f.maybe(GIVEN_REPLY),
};
export type TurnRecord = f.ObjectOf<typeof TURN>;

/** A part of an answer, stored before the next part is requested; the turn's record replaces it. Spans are of its own ids. */
export const CHUNK = {
  turn: TURN.turn,
  /** 1-based place among the chunks of this turn. */
  chunk: f.PLACE,
  outputIds: TURN.outputIds,
  logprobs: TURN.logprobs,
  kept: TURN.kept,
  experts: TURN.experts,
  finish: TURN.finish,
  versions: TURN.versions,
  server: TURN.server,
  attempt: TURN.attempt,
  startedAt: TURN.startedAt,
  finishedAt: TURN.finishedAt,
};
export type ChunkRecord = f.ObjectOf<typeof CHUNK>;
