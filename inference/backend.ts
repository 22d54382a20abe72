// The interface of every inference backend: of ids and logprobs, for training, or of text alone, without vocabulary, ids
// and tokenizer. A backend never retries: it throws a ModelError whose `retryable` says whether Temporal does.

import type { ReplyForm, ToolChoice } from '../domain/agent/index.ts';
import type { LogprobMeaning } from '../domain/rollout/logprob-meaning.ts';
import type { CallToShow, ShownCall } from '../domain/context/call-text.ts';
import type { ModelIdentity } from '../domain/weights/model-identity.ts';
import type { ChatMessage, Message } from '../domain/query/query.ts';
import type { ServerStatus } from '../domain/run/server-status.ts';
import type { GivenExperts } from '../domain/rollout/experts.ts';
import type { KeptSet } from '../domain/rollout/kept-sets.ts';
import type { NamedAdapter } from '../domain/weights/adapter.ts';
import type { Sampling } from '../domain/rollout/sampling.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { Finish, Usage, VersionSpan } from '../domain/rollout/turn.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { GivenCall, ToolSchema } from '../domain/tools/tool.ts';

interface AnyRequest {
  /** Stable over retries: `<run>/<query>/<sample>/<turn>`. */
  readonly requestId: string;
  /** At least 1. */
  readonly maxNewTokens: number;
  readonly sampling: Sampling;
  /** Seed of this request's own random stream. */
  readonly seed: number;
  /** Servers whose answers to this turn were unreadable: others are preferred. */
  readonly avoid?: readonly string[];
}

export interface GenerateRequest extends AnyRequest {
  /** The whole context; every id is inside the vocabulary. Its length and maxNewTokens fit the model's contextLength. */
  readonly contextIds: readonly number[];
  /** The same seed gives the same ids, whatever else is in flight. */
  readonly deterministic: boolean;
  /** Generation ends after one of these; it stays in the output. */
  readonly stopTokenIds: readonly number[];
  /** The server of the chunk before: it holds the prefix. Null for a first chunk. */
  readonly prefer?: { readonly server: string; readonly version: number } | null;
  /** The server holds the answer to it. */
  readonly form?: ReplyForm;
  /** The first token whose experts are wanted; absent: none are. */
  readonly expertsFrom?: number;
  /** Set by the fleet: the adapter that answers; absent: the model itself. */
  readonly adapter?: NamedAdapter;
}

export interface TextRequest extends AnyRequest {
  /** The whole conversation. */
  readonly messages: readonly TextMessage[];
  readonly tools?: readonly ToolSchema[];
  /** `none`: the tools are shown, and none may be called. */
  readonly toolChoice?: ToolChoice;
  /** The endpoint holds the answer to it: a schema, or any object. */
  readonly form?: ReplyForm;
  /** Variables of the chat template, which the server renders. */
  readonly variables?: JsonObject;
}

export interface TextMessage extends Message {
  /** Calls of the assistant; a result names its call by `tool_call_id`. */
  readonly toolCalls?: readonly GivenCall[];
  /** Thoughts that led to its calls. */
  readonly reasoning?: string;
}

/** A model's answer to one request. */
export interface Reply {
  readonly outputIds: readonly number[];
  /** One natural logprob per output id, under the distribution it was sampled from. Finite. */
  readonly logprobs: readonly number[];
  /** The set that each output id was drawn from, where the request leaves tokens out; absent if the server does not say. */
  readonly kept?: readonly KeptSet[];
  /** One logprob per output id over its set, where `logprobs` are of another distribution. */
  readonly keptLogprobs?: readonly number[];
  /** The experts of the tokens from the request's `expertsFrom` on; absent if the server does not say. */
  readonly experts?: GivenExperts;
  readonly finish: Finish;
  /** Contiguous, covering all of outputIds; of none, an empty one. */
  readonly versions: readonly VersionSpan[];
  /** The server that answered; null for an embedded model. */
  readonly server: string | null;
}

export interface TextReply {
  /** The answer as the server wrote it. */
  readonly text: string;
  readonly finish: Finish;
  /** The budget that it was given, cut to what the server takes; absent: all that was asked for. */
  readonly maxNewTokens?: number;
  readonly server: string | null;
  /** The server's own tokens of `text` and their logprobs, if it sent them: never ids. */
  readonly textLogprobs: readonly TextLogprob[];
  /** Absent: it counted nothing. */
  readonly usage?: Usage;
  /** Thoughts that the server keeps apart from the answer. */
  readonly reasoning?: string;
  /** Calls of the tools that were offered; absent if there are none. */
  readonly toolCalls?: readonly GivenCall[];
}

interface TextLogprob {
  readonly token: string;
  readonly logprob: number;
}

export interface GenerateOptions {
  /** Aborts within one decode step; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called from time to time with the number of tokens generated so far. */
  readonly onProgress?: (tokens: number) => void;
}

interface AnyFacts {
  /** Short name for people: `tiny`, `qwen2.5-0.5b`. */
  readonly name: string;
  /** Content hash or server id of the weights, if known. */
  readonly fingerprint: string | null;
  /** The distribution of the logprobs; absent: `policy`. Probed at start. */
  readonly logprobs?: LogprobMeaning;
  /** The same for each server that was reachable at start. */
  readonly logprobsBy?: Readonly<Record<string, LogprobMeaning>>;
  /** Identifies the model permanently; absent if it cannot be identified. */
  readonly identity?: ModelIdentity;
  /** False if the server ignores the seed. */
  readonly seeded?: boolean;
}

export interface TokenFacts extends AnyFacts {
  readonly kind: 'tokens';
  readonly vocabSize: number;
  /** Its replies have `kept` wherever tokens are left out. */
  readonly givesKept?: boolean;
  /** Its replies have `experts` where they are wanted. */
  readonly givesExperts?: boolean;
  /** Context plus answer, at most. */
  readonly contextLength: number;
  /** Pad and EOS ids of the tokenizer: the seed's stop ids. */
  readonly stopTokenIds: readonly number[];
}

/** The facts of a server without ids: it reports no vocabulary and no length, and none is invented. */
interface TextFacts extends AnyFacts {
  readonly kind: 'text';
}

export interface Tokenizer {
  /** A plain tokenizer call: adds special tokens according to its configuration. */
  encode(text: string): Promise<number[]>;
  /** Text of the ids, spaces not cleaned up. [] gives ''. */
  decode(ids: readonly number[], options: { readonly skipSpecialTokens: boolean }): Promise<string>;
  /** The chat template as text, with the generation prompt. `variables`: the template's own, by name. */
  renderChat(messages: readonly ChatMessage[], tools?: readonly object[], variables?: JsonObject): string;
  /** Ids of the rendered chat. */
  encodeChat(messages: readonly Message[]): Promise<number[]>;
  /** Does what shownCall does with this template, without holding the event loop however long the conversation is. */
  showCall?(call: CallToShow): Promise<ShownCall | null>;
  /**
   * Ids of rendered chat text: adds no special tokens, and recognises those in the text. Rejects with TooManyTokens if there
   * are more than `most`.
   */
  encodeRendered(text: string, most?: number): Promise<number[]>;
  /** The chat template's text, for messages to people; null if there is none. */
  chatTemplate(): string | null;
}

/** The request, result and parts of the two kinds of backend. */
export interface Kinds {
  readonly tokens: { request: GenerateRequest; reply: Reply; facts: TokenFacts; parts: TokenParts };
  readonly text: { request: TextRequest; reply: TextReply; facts: TextFacts; parts: object };
}
export type Kind = keyof Kinds;

interface TokenParts {
  readonly tokenizer: Tokenizer;
  /** Embedded models alone: the same model with other weights, in the same process; answers in flight continue with their own. */
  withWeights?(weights: EmbeddedWeights): Promise<TokenBackend>;
}

interface Asked<K extends Kind> {
  readonly facts: Kinds[K]['facts'];
  generate(request: Kinds[K]['request'], options: GenerateOptions): Promise<Kinds[K]['reply']>;
  /** The state of each server, in the order given; absent where there are none. */
  serverStatus?(): readonly ServerStatus[];
  /** Closes every process and connection it owns. Requests in flight reject. */
  close(): Promise<void>;
}

export type BackendOf<K extends Kind> = Asked<K> & Kinds[K]['parts'];
export type TokenBackend = BackendOf<'tokens'>;
export type TextBackend = BackendOf<'text'>;
/** `facts.kind` says which. */
export type Backend = TokenBackend | TextBackend;

/** Weights that a run's trainer declared, for an embedded model. */
export interface EmbeddedWeights {
  readonly folder: string;
  readonly version: number;
  readonly label: string;
}

/** Decides whether a server that reports this label must get other weights before any request. */
export interface LateServers {
  /** The label that it should have; null if it may get requests. */
  wanted(label: string | null): Promise<string | null>;
  /** The adapter in force, which each request names; null: none. */
  adapter(): Promise<NamedAdapter | null>;
  /** Schedules its update. */
  update(): void;
}

/** The settings of a run that its servers are opened with. */
export interface FleetOptions extends Pick<
  RolloutSettings,
  'fleetPolicy' | 'maxInFlightPerServer' | 'serverLimits' | 'serverWeights' | 'recheckEvery'
> {
  /** A folder that all workers of the run share: limits then hold over all of them. Null: over this process alone. */
  readonly leaseFolder: string | null;
}

export interface BackendOptions
  extends
    FleetOptions,
    Pick<RolloutSettings, 'tokenizer' | 'apiKeyEnv' | 'requestTimeoutSeconds' | 'extraBody' | 'chatTemplateKwargs'> {
  /** The part after the scheme: a folder, a hub id, a url. Empty for `tiny`. */
  readonly target: string;
  /** Takes a backend's own log lines; one line each. */
  readonly log: (line: string) => void;
  /** Weights of an embedded model in place of those in `target`. */
  readonly weights?: EmbeddedWeights | undefined;
  /** Handles servers that restarted with older weights. */
  readonly late?: LateServers | undefined;
  /** Throws if a server names a folder or hub id that must not be loaded. Absent: any may be loaded. */
  readonly mayLoad?: ((folderOrHubId: string) => void) | undefined;
}
