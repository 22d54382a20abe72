// A dialect of model APIs reads a request, and writes a recorded reply as that API documents it, whole or as events.
// Every documented field is in every reply: each of them is missed by some client.

import { z } from 'zod';
import {
  type AgentMessage,
  type AgentReply,
  type AgentRequest,
  callNamedBy,
  callsNamedIn,
  type Cut,
  isEcho,
  type RecordedRequest,
  withoutForm,
} from '../../domain/agent/index.ts';
import type { Json, JsonObject } from '../../domain/text/json.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';
import type { ToolSchema } from '../../domain/tools/tool.ts';

/** An event of a stream; without a name where the dialect names none. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: JsonObject | '[DONE]';
}

/** A call of ours by its id, with the reply: requests refer to them. */
export type RecordedCalls = (
  call: string,
) => { readonly request: RecordedRequest; readonly reply: AgentMessage } | undefined;

export interface Dialect {
  /** Behind the base of its URLs. */
  readonly path: string;
  /** The form of its requests. */
  readonly schema: z.ZodType;
  /** `asked`: a body that has the form of its requests. Throws RefusedRequest. */
  read(asked: unknown, recorded: RecordedCalls): AgentRequest;
  /** The message of a reply, with the ids that this dialect gave it. */
  message(reply: AgentReply): AgentMessage;
  /** `body`: the request, of which some dialects repeat fields. */
  whole(reply: AgentReply, body: JsonObject): JsonObject;
  events(reply: AgentReply, body: JsonObject): readonly StreamEvent[];
  refusal(refused: RefusedRequest): JsonObject;
  /** Its request for the number of tokens of a call. */
  readonly count?: { readonly path: string; reply(tokens: number): JsonObject };
}

/** The status of a refusal that holds for whatever comes next: mini-swe-agent asks again after 400, and after 403 by LiteLLM. */
export const FINAL = 404;

/** A request that cannot be honoured. `field`: its path in the body. */
export class RefusedRequest extends Error {
  readonly reason: 'malformed' | 'unsupported-field' | 'unknown-item' | 'too-large' | Cut;
  readonly field: string;
  readonly status: 400 | 404 | 413;
  /** The arguments that make the same error in another thread. */
  readonly facts: ConstructorParameters<typeof RefusedRequest>;

  constructor(
    reason: RefusedRequest['reason'],
    field: string,
    message: string,
    status: RefusedRequest['status'] = 400,
  ) {
    super(`${field || 'the request'} ${message}`);
    this.name = 'RefusedRequest';
    this.reason = reason;
    this.field = field;
    this.status = status;
    this.facts = [reason, field, message, status];
  }
}

/** As OpenAI names it. */
export const codeOf = ({ reason }: RefusedRequest): string =>
  reason === 'context-length' ? 'context_length_exceeded' : reason;

/** The request of an earlier call with its reply behind it, as a request goes on from it that names it in `field`. */
export function continueFromReply(id: string, field: string, recorded: RecordedCalls): RecordedRequest {
  const call = callNamedBy(id);
  const earlier = call === undefined ? undefined : recorded(call);
  if (!earlier) throw new RefusedRequest('unknown-item', field, 'names no reply of this rollout');
  const { request, reply } = earlier;
  return { ...request, messages: [...withoutForm(request), { ...reply, ids: [id, ...(reply.ids ?? [])] }] };
}

/** Restores texts that a client left out beside calls which it sends back: their ids name the reply, which has its text. */
export function restoreReplyTexts(request: AgentRequest, recorded: RecordedCalls): AgentRequest {
  const messages = request.messages.map((message) => {
    const [named] = message.text === '' && message.calls ? callsNamedIn(message) : [];
    const reply = named === undefined ? undefined : recorded(named)?.reply;
    const whole = { ...message, text: reply?.text ?? '' };
    return reply && isEcho(whole, reply) ? whole : message;
  });
  return { ...request, messages };
}

/** Objects, or their JSON text, as clients send the arguments of calls. */
export const ARGUMENTS = z.union([z.string(), z.record(z.string(), z.json())]);

/**
 * The arguments of a call that a request sends back. Text that is no JSON stays text. JSON that readers take differently is
 * refused, unless it is a model's own, as its reply was sent. `id`: of the call.
 */
export function readCallArguments(
  given: z.output<typeof ARGUMENTS>,
  { id, field }: { readonly id: string; readonly field: string },
  recorded: RecordedCalls,
): Json {
  if (typeof given !== 'string') return given;
  try {
    return strictJson(given) as Json;
  } catch (error) {
    const call = callNamedBy(id);
    const reply = call === undefined ? undefined : recorded(call)?.reply;
    const isOurs = reply?.calls?.some((own) => own.arguments === given);
    if (!(error instanceof DoubtfulJson) || isOurs) return given;
    throw new RefusedRequest('malformed', field, error.message);
  }
}

/** Throws RefusedRequest with the path of the first wrong field. */
export function parseBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new RefusedRequest('malformed', pathOf(issue!.path), `is wrong: ${issue!.message}`);
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('');

/** Throws RefusedRequest for the first field that is asked for. */
export function refuseFields(fields: Readonly<Record<string, boolean>>): void {
  const field = Object.keys(fields).find((name) => fields[name]);
  if (field !== undefined) throw new RefusedRequest('unsupported-field', field, 'is not supported: leave it out');
}

export const PARTS = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));
export const CONTENT = z.union([z.string(), PARTS]).nullish();
/** An empty one would end every reply at once. */
export const STOP_TEXT = z.string().min(1);
const LIMIT_RULE = 'it takes a whole number above 0, and without it the limit is the run’s';
export const TOKEN_LIMIT = z.int(LIMIT_RULE).positive(LIMIT_RULE).nullish();

const TEXTS: ReadonlySet<string> = new Set([
  'text',
  'input_text',
  'output_text',
  'refusal',
  'summary_text',
  'reasoning_text',
]);

/** The text of a string or of parts, joined by line breaks. `field`: its path, for errors. */
export function joinTexts(content: z.output<typeof CONTENT>, field: string): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map(({ type, text }, i) => {
      if (TEXTS.has(type)) return text ?? '';
      throw new RefusedRequest(
        'unsupported-field',
        `${field}[${i}].type`,
        `is ${JSON.stringify(type)}: only text is taken`,
      );
    })
    .join('\n');
}

/** The same of a tool's result: a picture that it returned is named, and the agent goes on. */
export function resultTextOf(content: z.output<typeof CONTENT>, field: string): string {
  if (!Array.isArray(content)) return joinTexts(content, field);
  const named = content.map((part) =>
    TEXTS.has(part.type) ? part : { type: 'text', text: `[${short(part.type, 40)}: not shown]` },
  );
  return joinTexts(named, field);
}

/** The functions among a request's tools. Hosted ones nobody here can run: they are dropped, with a flag. */
export function readFunctions<T extends { readonly type?: string | undefined; readonly name?: string | undefined }>(
  tools: readonly T[] | null | undefined,
  schemaOf: (tool: T) => ToolSchema | undefined,
  flags: string[],
): readonly ToolSchema[] {
  return (tools ?? []).flatMap((tool) => {
    const schema = schemaOf(tool);
    if (schema) return [schema];
    flags.push(`The tool ${tool.name ?? tool.type ?? 'without a name'} is no function, and was left out.`);
    return [];
  });
}
