// The form that a request asks its reply to have: JSON by a schema, another grammar, a call of a tool. A run takes it in one of four
// ways. `prompt`: the system text says it, in one wording, and the policy answers freely: the sample is the policy's own.
// `constrain`: the server holds the reply to it, and its tokens are trained over the sets that this left, if the server says them.
// `pass`: an endpoint of chat completions takes it as it is. `refuse`: nothing is held to a form. Pure.

import type { Json } from '../text/json.ts';
import type { AgentMessage, AgentRequest, RecordedRequest } from './conversation.ts';
import type { Asks, ReplyForm, Structured } from './reply-form.ts';

/** The request as the run takes it; its flags say what became of the form. */
export function withReplyForm({ asks = {}, ...request }: AgentRequest, mode: Structured): AgentRequest {
  const { form } = asks;
  const call = callable(request, asks.call);
  const flagged = (more: readonly string[]) => ({ ...request, flags: [...request.flags, ...more] });
  if (asks.call !== undefined && (call === undefined || mode === 'refuse'))
    request = flagged([LEFT_OUT('tool_choice')]);
  if (mode === 'refuse') return form ? flagged([LEFT_OUT(form.field)]) : request;
  const isHeld = form !== undefined && isHeldBy(mode, form, request);
  const isPassed = call !== undefined && mode === 'pass';
  const lines = [
    ...(form && !isHeld ? [wordsOfForm(form, request.tools.length > 0)] : []),
    ...(call !== undefined && !isPassed ? [wordsOfCall(call)] : []),
  ];
  if (form) request = flagged([isHeld ? HELD[mode](form.field) : IN_WORDS(form.field)]);
  if (call !== undefined && !isPassed) request = flagged([IN_WORDS('tool_choice')]);
  const { field: _, ...held } = form ?? {};
  return {
    ...request,
    messages: inSystemText(request.messages, lines),
    limits: {
      ...request.limits,
      ...(isPassed && { toolChoice: call === true ? ('required' as const) : { name: call } }),
      ...(isHeld && { form: held as ReplyForm }),
    },
    ...((form ?? call) !== undefined && { asks: { ...(form && { form }), ...(call !== undefined && { call }) } }),
  };
}

/** The first field that a run takes no request with. */
export const refusedForm = ({ asks }: AgentRequest, mode: Structured): string | undefined =>
  mode === 'refuse' && asks?.form && asks.form.kind !== 'json' ? asks.form.field : undefined;

const LEFT_OUT = (field: string) => `${field} was left out: a reply that is held to a form is no sample of the policy.`;
const IN_WORDS = (field: string) => `${field} stands in the system text.`;
const HELD = {
  prompt: IN_WORDS,
  constrain: (field: string) =>
    `The server held the reply to ${field}: without the sets of tokens that this left it is not trained.`,
  pass: (field: string) => `${field} was passed on.`,
};

/** A server of tokens would hold a call of a tool to the form, too. Chat completions have schemas and objects alone. */
function isHeldBy(mode: Structured, { kind }: ReplyForm, { tools, limits }: AgentRequest): boolean {
  if (mode === 'pass') return kind === 'schema' || kind === 'json';
  return mode === 'constrain' && (tools.length === 0 || limits.toolChoice === 'none');
}

/** Undefined where no tool is offered that could be called. */
function callable({ tools }: AgentRequest, call: Asks['call']): Asks['call'] {
  const isThere = call === true ? tools.length > 0 : tools.some(({ name }) => name === call);
  return isThere ? call : undefined;
}

const HEAD = '# Form of the reply';

const FORMS: Readonly<Record<ReplyForm['kind'], string>> = {
  schema: 'JSON alone, without other text or a code fence, that is valid by this JSON schema:',
  json: 'one JSON object alone, without other text or a code fence.',
  regex: 'text alone that this regular expression matches as a whole:',
  choice: 'one of these texts, to the letter, and nothing else:',
  grammar: 'text alone that this grammar allows:',
  tag: 'text in the form that this structural tag describes:',
};

function wordsOfForm({ kind, value }: ReplyForm, hasTools: boolean): string {
  const said = `${hasTools ? 'Unless you call a tool, reply' : 'Reply'} with ${FORMS[kind]}`;
  return kind === 'json' ? said : `${said}\n${typeof value === 'string' ? value : JSON.stringify(inOrder(value))}`;
}

/** A rerun may write the keywords of a schema in another order. That of properties is the order in which they are written. */
function inOrder(value: Json, arePlaces = false): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: Json) => inOrder(one));
  const entries = Object.entries(value).map(
    ([key, one]) => [key, inOrder(one, !arePlaces && key === 'properties')] as const,
  );
  return Object.fromEntries(arePlaces ? entries : entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const wordsOfCall = (call: string | true): string =>
  `${call === true ? 'Call one of the tools' : `Call the tool ${call}`}: a reply without the call is not accepted.`;

/** At the end of the first system message: templates have a place for one. */
function inSystemText(messages: readonly AgentMessage[], lines: readonly string[]): readonly AgentMessage[] {
  if (lines.length === 0) return messages;
  const words = wordsOf(lines);
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [{ role: 'system', text: words }, ...messages];
  return [{ ...first, text: first.text === '' ? words : `${first.text}\n\n${words}` }, ...rest];
}

const wordsOf = (lines: readonly string[]): string => [HEAD, ...lines].join('\n\n');

/** Messages of a recorded request as its program sent them: a form is of one reply. A program may write such a heading itself. */
export function withoutForm({ messages, tools, asks = {} }: RecordedRequest): readonly AgentMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return messages;
  const form = asks.form ? [wordsOfForm(asks.form, tools.length > 0)] : [];
  const call = asks.call === undefined ? [] : [wordsOfCall(asks.call)];
  const said = [[...form, ...call], form, call].filter((lines) => lines.length > 0).map(wordsOf);
  const words = said.find((text) => first.text.endsWith(text));
  if (words === undefined) return messages;
  const text = first.text.slice(0, -words.length).replace(/\n\n$/, '');
  return text === '' ? rest : [{ ...first, text }, ...rest];
}

/** Forced questions in a row that brought no call; a further one would bring none either. */
export const MOST_IN_VAIN = 5;

/** Replies without a call at the end of a request: it was asked again in the same conversation. */
export function repliesInVain(messages: readonly AgentMessage[]): number {
  const last = messages.findLastIndex(({ role, calls }) => role !== 'assistant' || calls);
  return messages.length - 1 - last;
}
