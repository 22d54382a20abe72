// What the tests of real servers share: how those of one kind are started, and the ones that are up.

import type { TokenBackend, GenerateRequest, Reply } from '../../../inference/backend.ts';
import type { RealKind, RealServer, Start } from './real-server.ts';

/** How the servers of one kind are started and paused, and what is expected of them. */
export interface Traits {
  readonly kind: RealKind;
  readonly seeded: boolean;
  /** It says on a CPU which ids it drew from. */
  readonly saysSets: boolean;
  readonly first: Start & { readonly meaning: 'raw' | 'temperature' | 'policy' };
  /** With its other switch for logprobs. */
  readonly second: Start & { readonly meaning: 'raw' | 'temperature' | 'policy' };
  /** A folder that it cannot load: the state of its server after that. */
  readonly afterBadFolder: readonly ('refused' | 'unsure' | 'unreached')[];
  /** Tokens that it has made since it was started, by its own count, where it keeps one. */
  tokensMade?(server: RealServer): Promise<number>;
  /** Raw logprobs of the ids from place `from` on, by one pass over all of them. */
  forced(server: RealServer, ids: readonly number[], from: number): Promise<number[]>;
  pauseWithAbort(server: RealServer): Promise<unknown>;
  resume(server: RealServer): Promise<unknown>;
}

/** What the tests of a suite share, once it is up. */
export interface Place {
  readonly traits: Traits;
  readonly first: () => RealServer;
  readonly second: () => RealServer;
  readonly backend: () => TokenBackend;
  readonly open: (...servers: readonly RealServer[]) => Promise<TokenBackend>;
  readonly ask: (question: string, changes?: Partial<GenerateRequest>, backend?: TokenBackend) => Promise<Reply>;
  readonly say: (line: string) => void;
}

/** Runs for a while: no stop token ends it. */
export const LONG = { stopTokenIds: [], maxNewTokens: 1900 };
