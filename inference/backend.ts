// The interface of every inference backend. A token backend takes ids and gives ids and logprobs, to train on; a text
// backend takes a conversation and gives text, and has no vocabulary, no ids and no tokenizer.
// A backend never retries: it throws a ModelError whose `retryable` says whether Temporal does.

import type { LogprobMeaning } from '../domain/logprob-meaning.ts';
import type { ModelIdentity } from '../domain/model-identity.ts';
import type { Message } from '../domain/query.ts';
import type { Sampling } from '../domain/sampling.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { Finish, VersionSpan } from '../domain/turn.ts';

interface AnyRequest {
  /** Stable over retries: `<run>/<query>/<sample>/<turn>`. */
  readonly requestId: string;
  /** At least 1. */
  readonly maxNewTokens: number;
  readonly sampling: Sampling;
  /** Seed of this request's own random stream. */
  readonly seed: number;
  /** Servers whose answers to this turn could not be read: others are asked first. */
  readonly avoid?: readonly string[];
}

export interface GenerateRequest extends AnyRequest {
  /** The whole context; every id is inside the vocabulary. Its length and maxNewTokens fit the model's contextLength. */
  readonly contextIds: readonly number[];
  /** Same seed, same ids, whatever else is in flight. */
  readonly deterministic: boolean;
  /** Generation ends after one of these; it stays in the output. */
  readonly stopTokenIds: readonly number[];
  /** The server of the chunk before: it holds the prefix. Null for a first chunk. */
  readonly prefer?: { readonly server: string; readonly version: number } | null;
}

export interface TextRequest extends AnyRequest {
  /** The whole conversation. */
  readonly messages: readonly Message[];
}

/** What a model answered to one request. */
export interface Reply {
  readonly outputIds: readonly number[];
  /** One natural logprob per output id, under the distribution it was sampled from. Finite. */
  readonly logprobs: readonly number[];
  readonly finish: Finish;
  /** Contiguous, covering all of outputIds. */
  readonly versions: readonly VersionSpan[];
  /** Which server answered; null for an embedded model. */
  readonly server: string | null;
}

export interface TextReply {
  /** The answer as the server wrote it. */
  readonly text: string;
  readonly finish: Finish;
  readonly server: string | null;
  /** The server's own tokens of `text` and their logprobs, where it gave them: never ids. */
  readonly textLogprobs: readonly TextLogprob[];
}

export interface TextLogprob {
  readonly token: string;
  readonly logprob: number;
}

export interface GenerateOptions {
  /** Aborts within one decode step; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called now and then with the tokens generated so far: a sign of life. */
  readonly onProgress?: (tokens: number) => void;
}

interface AnyFacts {
  /** Short name for people: `tiny`, `qwen2.5-0.5b`. */
  readonly name: string;
  /** Content hash or server id of the weights, where it is known. */
  readonly fingerprint: string | null;
  /** Which distribution the logprobs are of; absent: `policy`. Found out at start by asking. */
  readonly logprobs?: LogprobMeaning;
  /** Of each server that was reached at start. */
  readonly logprobsBy?: Readonly<Record<string, LogprobMeaning>>;
  /** What the model is known by, on another day too; absent where nothing tells. */
  readonly identity?: ModelIdentity;
  /** False where a server draws its own random numbers whatever seed it is given. */
  readonly seeded?: boolean;
}

export interface TokenFacts extends AnyFacts {
  readonly kind: 'tokens';
  readonly vocabSize: number;
  /** Context plus answer, at most. */
  readonly contextLength: number;
  /** Pad and EOS ids of the tokenizer: the seed's stop ids. */
  readonly stopTokenIds: readonly number[];
}

/** Of a server that gives no ids: it reports no vocabulary and no length, and none is invented. */
export interface TextFacts extends AnyFacts {
  readonly kind: 'text';
}

/** One server of a fleet, as this worker sees it. */
export interface ServerStatus {
  readonly url: string;
  /** `trying`: it was down, and is being tried again. */
  readonly state: 'up' | 'trying' | 'down';
  readonly requests: number;
  /** Part of all requests, 0 to 1. */
  readonly share: number;
  readonly failures: number;
  /** The same by reason (ModelError.reason). */
  readonly failuresBy: Readonly<Record<string, number>>;
  readonly inFlight: number;
  /** Median over the latest answers; null before the first. */
  readonly latencyP50Ms: number | null;
  readonly version: number | null;
  readonly versionLabel: string | null;
  /** One line; null while none failed. */
  readonly lastFailure: string | null;
}

export interface Tokenizer {
  /** A plain tokenizer call: special tokens are added as its configuration says. */
  encode(text: string): Promise<number[]>;
  /** Text of the ids, spaces not cleaned up. [] gives ''. */
  decode(ids: readonly number[], options: { readonly skipSpecialTokens: boolean }): Promise<string>;
  /** The chat template as text, with the generation prompt. */
  renderChat(messages: readonly Message[]): string;
  /** Ids of the rendered chat. */
  encodeChat(messages: readonly Message[]): Promise<number[]>;
  /** Ids of rendered chat text: no special tokens are added, those that are written in it are found. */
  encodeRendered(text: string): Promise<number[]>;
  /** The chat template's own text, for messages to people; null where there is none. */
  chatTemplate(): string | null;
}

/** What the two kinds of backend take, give and have. */
export interface Kinds {
  readonly tokens: { request: GenerateRequest; reply: Reply; facts: TokenFacts; parts: TokenParts };
  readonly text: { request: TextRequest; reply: TextReply; facts: TextFacts; parts: object };
}
export type Kind = keyof Kinds;

interface TokenParts {
  readonly tokenizer: Tokenizer;
  /** For embedded models: the same with other weights, in the same process; answers in flight go on with their own. */
  withWeights?(weights: EmbeddedWeights): Promise<TokenBackend>;
}

interface Asked<K extends Kind> {
  readonly facts: Kinds[K]['facts'];
  generate(request: Kinds[K]['request'], options: GenerateOptions): Promise<Kinds[K]['reply']>;
  /** For backends that ask servers: each of them, in the order given. */
  serverStatus?(): readonly ServerStatus[];
  /** Ends every process and connection it owns. Requests in flight reject. */
  close(): Promise<void>;
}

export type BackendOf<K extends Kind> = Asked<K> & Kinds[K]['parts'];
export type TokenBackend = BackendOf<'tokens'>;
export type TextBackend = BackendOf<'text'>;
/** `facts.kind` says which. */
export type Backend = TokenBackend | TextBackend;

/** Weights that a run's trainer declared, for a model that runs here. */
export interface EmbeddedWeights {
  readonly folder: string;
  readonly version: number;
  readonly label: string;
}

/** Is a server that says it has this label to get other weights before it is asked for anything? */
export interface LateServers {
  /** The label that it should have; null where it may be asked. */
  wanted(label: string | null): Promise<string | null>;
  /** Has it brought up to date, some time soon. */
  update(): void;
}

/** What of a run's settings its servers are opened with. */
export interface FleetOptions extends Pick<
  RolloutSettings,
  'fleetPolicy' | 'maxInFlightPerServer' | 'serverLimits' | 'serverWeights'
> {
  /** A folder that all workers of the run reach: limits hold over all of them. Null: over this process alone. */
  readonly leaseFolder: string | null;
}

export interface BackendOptions
  extends FleetOptions, Pick<RolloutSettings, 'tokenizer' | 'apiKeyEnv' | 'requestTimeoutSeconds'> {
  /** The part after the scheme: a folder, a hub id, a url. Empty for `tiny`. */
  readonly target: string;
  /** Where a backend's own log lines go; one line each. */
  readonly log: (line: string) => void;
  /** Of an embedded model: in place of the weights in `target`. */
  readonly weights?: EmbeddedWeights | undefined;
  /** Of servers: those that came back with older weights. */
  readonly late?: LateServers | undefined;
  /** Throws where a server names a folder or hub id that is not to be loaded. Absent: it may name any. */
  readonly mayLoad?: ((folderOrHubId: string) => void) | undefined;
}
