// The text behind a reply that called tools: what the chat template adds for the results, and the next generation prompt.
// The reply itself is never rendered: a call with a marker in its arguments takes its place, or, for templates that leave
// calls out, an answer that is the marker; what follows the reply's own stop token is appended. So the ids before stay as
// they are, also under templates that would render earlier turns in another way. Reports why a template cannot do it.

import { type Extension, type Render, markerFor, withoutStop } from './feedback-delta.ts';
import { deepestMessage, ModelError } from '../errors/errors.ts';
import type { ChatMessage, Message } from '../query/query.ts';
import type { GivenCall, ToolSchema, ToolSettings } from '../tools/tool.ts';

/** The end of a reply: its own stop token as text, and those of its format. */
export interface ReplyEnd extends Pick<ToolSettings, 'stops' | 'opensResults'> {
  readonly stop: string | null;
}

/** Tools as chat templates take them. */
export function templateTools(tools: readonly ToolSchema[]): object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/** Calls of an assistant's message, as chat completions have them. */
export const messageCalls = (calls: readonly GivenCall[]): object[] =>
  calls.map(({ id, more, ...call }) => ({ ...more, id, type: 'function', function: call }));

/** `added`: the results, and messages behind them; or messages alone. */
export function toolExtension(
  render: Render,
  messages: readonly Message[],
  added: readonly Message[],
  end: ReplyEnd,
): Extension {
  const mark = markerFor([...messages, ...added]);
  const probe = markerFor([...messages, ...added, { role: '', content: mark }]);
  const results = added.filter(isResult);
  let does = 'it does not show the results of tools';
  for (const { reply, endOf } of replies(mark, results, end)) {
    try {
      const rendered = render([...messages, reply, ...added]);
      const at = rendered.lastIndexOf(mark);
      if (at < 0) continue;
      const behind = at + mark.length;
      const probes = added.map((one) => (isResult(one) ? { ...one, content: probe } : one));
      const probed = results.length > 0 ? render([...messages, reply, ...probes]) : rendered;
      const shown = probed.split(probe).length - 1;
      if (shown !== results.length) {
        does = `it shows ${shown} of ${results.length} results of tools`;
        continue;
      }
      const gap = probed.slice(behind, results.length > 0 ? probed.indexOf(probe) : undefined);
      const length = endOf(gap);
      if (length === null) does = 'it ends a call with another token than the model does';
      else if (!rendered.startsWith(gap, behind)) does = 'it shows results in a form that depends on their text';
      else return { ok: true, text: rendered.slice(behind + length) };
    } catch (error) {
      does = `it refuses the results of tools (${deepestMessage(error)})`;
    }
  }
  return { ok: false, obstacle: { does, clues: ["'tool'", '"tool"'] } };
}

const NO_RESULTS: ReadonlySet<string> = new Set(['user', 'system', 'assistant', 'developer']);
const isResult = ({ role }: Message): boolean => !NO_RESULTS.has(role);

interface ToolTemplate {
  /** The model's name, for messages. */
  readonly name: string;
  readonly render: Render;
  readonly end: ReplyEnd;
}

/**
 * Throws a ModelError if the template swallows the results of tools. Returns whether it shows the tools themselves: some,
 * such as DeepSeek's, leave that to the messages.
 */
export function mustTakeTools(
  { name, render, end }: ToolTemplate,
  tools: readonly ToolSchema[],
  openings: readonly (readonly Message[])[],
): boolean {
  for (const messages of openings) {
    for (const count of [1, 2]) {
      const added = Array.from({ length: count }, (_, i) => probeOf(i, tools[i % tools.length]!.name));
      const extended = toolExtension(render, messages, added, end);
      if (extended.ok) continue;
      throw new ModelError(`The chat template of ${name} cannot carry tools: ${extended.obstacle.does}.`, {
        reason: 'tool-messages',
        fix: 'Give the model a chat_template.jinja with the role "tool", or another model.',
      });
    }
  }
  return openings.every((messages) => tools.every((tool) => render(messages).includes(tool.name)));
}

const probeOf = (i: number, name: string): Message => ({
  role: 'tool',
  content: i === 0 ? '4' : 'five\n"6"',
  name,
  tool_call_id: `probe000${i}`,
});

interface Stand {
  readonly reply: ChatMessage;
  /** Characters of the text behind the marker that are still of the reply; null if its end is not in it. */
  readonly endOf: (gap: string) => number | null;
}

/** Messages in place of the reply. Some templates want arguments as an object, some as text; some take one call only. */
function* replies(mark: string, results: readonly Message[], end: ReplyEnd): Generator<Stand> {
  for (const count of [results.length, 1].slice(0, results.length)) {
    for (const marked of [{ value: mark }, JSON.stringify({ value: mark })]) {
      const calls = results.slice(0, count).map(({ name = 'unknown', tool_call_id: id }, i, all) => ({
        id: id ?? `call${String(i).padStart(5, '0')}`,
        type: 'function',
        function: { name, arguments: i === all.length - 1 ? marked : typeof marked === 'string' ? '{}' : {} },
      }));
      const reply = { role: 'assistant', content: '', tool_calls: calls };
      yield { reply, endOf: (gap) => endOfCalls(gap, end) };
    }
  }
  const endOf = (gap: string) => gap.length - withoutStop(gap, end.stop).length;
  yield { reply: { role: 'assistant', content: mark }, endOf };
}

/** If the template ends a call with another token of the format, the reply's own stands for it. */
function endOfCalls(gap: string, { stop, stops = [], opensResults }: ReplyEnd): number | null {
  const stopAt = stop === null ? -1 : gap.indexOf(stop);
  if (stopAt >= 0) return stopAt + stop!.length;
  const [first] = stops
    .map((token) => ({ token, at: gap.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  if (!first) return null;
  return first.token === opensResults ? first.at : first.at + first.token.length;
}

/** The template's own error: the innermost message. */
