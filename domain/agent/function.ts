// An agent as a function: a workflow of its own, whose calls of the model are activities (workflows/agent-function.ts). Its code
// is the run's, and its task queue is named by the code: a run in flight keeps what it began with.

import type { Json, JsonObject } from '../text/json.ts';
import type { AgentRequest } from './conversation.ts';

/** The word in place of an interpreter: the code is in the run's folder, by its fingerprint. */
export const FUNCTION = 'everturn/agent';

export const isFunction = ({ spec }: { readonly spec: readonly string[] }): boolean => spec[0] === FUNCTION;

export const functionQueue = (fingerprint: string): string => `everturn-agent-${fingerprint.slice(0, 16)}`;

/** Argument of the agent's workflow. */
export interface FunctionInput {
  readonly row: JsonObject;
  readonly seed: number;
  /** The idempotency key of its side effects. */
  readonly key: string;
  readonly maxCalls: number;
}

export interface FunctionOutput {
  /** The value that the function returned. */
  readonly said: Json;
  /** The call whose reply it was given last; null if there is none. */
  readonly last: string | null;
  /** Ids of all calls that it made. */
  readonly calls: readonly string[];
}

/** Argument of its activity `askModel`. */
export interface FunctionCall {
  readonly id: string;
  readonly hash: string;
  /** 0-based, among the calls of the hash. */
  readonly occurrence: number;
  readonly request: AgentRequest;
}
