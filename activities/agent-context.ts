// The context of an agent's call: the tokens that it adds, or the reason why it is refused, before a turn is begun for it.

import {
  type AgentRequest,
  type AskedCall,
  type Claim,
  placeInTree,
  prefillOf,
  tooLong,
} from '../domain/agent/index.ts';
import { callContext, type CallContext, type PlayedCall } from '../domain/context/call-context.ts';
import { explain } from '../domain/errors/errors.ts';
import { tokenBudget } from '../domain/rollout/ending.ts';
import { templateVariables, TooManyTokens } from '../domain/context/new-context.ts';
import type { Query } from '../domain/query/query.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import type { RefusedCall } from '../endpoint/index.ts';
import type { Backend, TokenBackend } from '../inference/backend.ts';
import type { Stored } from '../records/store.ts';

interface Answering {
  readonly query: Query;
  readonly settings: RolloutSettings;
  readonly backend: Backend;
  readonly calls: {
    readonly played: readonly PlayedCall[];
    turnOf(call: string): Stored<TurnRecord>;
  };
}

/** Ids are made once: those that the model sampled, and those before them, stay as they are. */
export async function contextOfCall(request: AgentRequest, answering: Answering): Promise<CallContext | RefusedCall> {
  const { settings, backend, calls } = answering;
  if (request.tools.length > 0 && !settings.tools) return noTools(backend);
  if (!isOfTokens(backend)) return prefillOf(request.messages) ? noPrefill : placed(request, calls.played);
  const context = await inTokens(request, answering, backend);
  if ('refused' in context) return context;
  const length = lengthOf(context, calls);
  const { contextLength } = backend.facts;
  if ('ids' in context && tokenBudget(length, settings.maxNewTokens, contextLength) > 0) return context;
  return { refused: 'context-length', message: tooLong(length, contextLength) } as const;
}

/** The length of the context that the call would have now, whatever the model's holds. */
export async function countCallTokens(
  request: AgentRequest,
  answering: Answering,
): Promise<number | RefusedCall | null> {
  const { settings, backend, calls } = answering;
  if (!isOfTokens(backend)) return null;
  if (request.tools.length > 0 && !settings.tools) return noTools(backend);
  const context = await inTokens(request, answering, backend);
  return 'refused' in context ? context : lengthOf(context, calls);
}

/** No ids are made that the model's context does not hold. */
function inTokens(request: AgentRequest, answering: Answering, { tokenizer, facts }: TokenBackend) {
  const form = { ...answering.settings.tools, variables: templateVariables(answering) };
  return callContext(request, answering.calls.played, tokenizer, form, facts.contextLength).catch((error: unknown) =>
    error instanceof TooManyTokens ? error : unshowable(error),
  );
}

function lengthOf(context: CallContext | TooManyTokens, calls: Answering['calls']): number {
  const before = context.parent === null ? undefined : calls.turnOf(context.parent).record;
  return (
    (before ? before.contextLength + before.outputIds.length : 0) +
    ('ids' in context ? context.ids.length : context.tokens)
  );
}

/** The place of a call to a model that is sent messages. */
function placed(request: AgentRequest, calls: readonly PlayedCall[]): CallContext {
  const place = placeInTree(request, calls);
  const own = { ids: [], text: '', systemAsUser: false };
  if (place.parent) {
    const { parent, reasoningDropped } = place;
    const shared = parent.request.messages.length;
    return { parent: parent.id, branch: null, differsAt: null, shared, reasoningDropped, ...own };
  }
  const differsAt = place.branch === null ? null : place.differsAt;
  return { parent: null, branch: place.branch, differsAt, shared: 0, reasoningDropped: false, ...own };
}

const noTools = ({ facts }: Backend) =>
  ({
    refused: 'unsupported-field',
    message: `offers tools, and no form of tool calls of ${facts.name} is known (--tool-format names one)`,
  }) as const;

const noPrefill = {
  refused: 'unsupported-field',
  message: 'ends with a message of the assistant, which this endpoint cannot go on from: end it with another message',
} as const;

const unshowable = (error: unknown) =>
  ({
    refused: 'unsupported-field',
    message: `cannot be shown by the chat template: ${oneLine(explain(error)).slice(0, 300)}`,
  }) as const;

const isOfTokens = (backend: Backend): backend is TokenBackend => backend.facts.kind !== 'text';

/** A call as it is recorded. `parent`: the turn whose tokens it extends. */
export function askedCall(
  { call }: Claim,
  request: AgentRequest,
  dialect: string,
  context: CallContext,
  parent: number | null,
): AskedCall {
  const { shared, branch, differsAt } = context;
  const flags = [
    ...request.flags,
    ...(context.reasoningDropped
      ? ['The echo of the reply before lacks its reasoning, which stays in the context.']
      : []),
    ...(context.systemAsUser ? ['The chat template takes no such system message: it was shown as a user’s.'] : []),
    ...(prefillOf(request.messages) ? ['The last message is the assistant’s: the reply goes on from its text.'] : []),
  ];
  return {
    call: call.id,
    hash: call.hash,
    occurrence: call.occurrence,
    dialect,
    parent,
    branch,
    differsAt,
    shared,
    messages: request.messages.slice(shared),
    ...(shared === 0 && request.tools.length > 0 && { tools: request.tools }),
    limits: request.limits,
    ...(request.instructed && { instructed: true }),
    ...(request.asks && { asks: request.asks }),
    ...(flags.length > 0 && { flags }),
    ...request.label,
  };
}
