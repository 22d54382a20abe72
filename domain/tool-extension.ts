// The text behind a reply that called tools: what the chat template adds for the results, and nothing before it. The reply
// itself is never rendered: a marker takes its place, as an answer or, for templates that want one, in a call; only what
// follows the reply's own stop token is taken. Reports why a template cannot show results.

import type { Extension, Render } from './feedback-delta.ts';
import { markerFor, withoutStop } from './feedback-delta.ts';
import { ModelError } from './errors.ts';
import type { ChatMessage, Message } from './query.ts';
import type { ToolSchema } from './tool.ts';

/** Tools as chat templates take them. */
export function templateTools(tools: readonly ToolSchema[]): object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/** `added`: the results, and messages behind them. `stop`: the text of the token that ended the reply. */
export function toolExtension(
  render: Render,
  messages: readonly Message[],
  added: readonly Message[],
  stop: string | null,
): Extension {
  const mark = markerFor([...messages, ...added]);
  let does = 'it does not show the results of tools';
  for (const { reply, inCall } of stand(mark, added)) {
    let whole: string;
    try {
      whole = render([...messages, reply, ...added]);
    } catch (error) {
      does = `it refuses the results of tools (${deepest(error)})`;
      continue;
    }
    const at = whole.lastIndexOf(mark);
    if (at < 0) continue;
    const text = behind(whole.slice(at + mark.length), stop, inCall);
    if (text !== null && added.every(({ content }) => shows(text, content))) return { ok: true, text };
  }
  return { ok: false, obstacle: { does, clues: ["'tool'", '"tool"'] } };
}

/** Throws a ModelError if the template does not show tools to the model, or swallows their results. */
export function mustTakeTools(
  { name, render }: { readonly name: string; readonly render: Render },
  tools: readonly ToolSchema[],
  openings: readonly (readonly Message[])[],
  stop: string | null,
): void {
  for (const messages of openings) {
    const shown = render(messages);
    const missing = tools.find((tool) => !shown.includes(tool.name));
    if (missing) {
      throw new ModelError(`The chat template of ${name} does not show the tool ${missing.name} to the model.`, {
        reason: 'tool-messages',
        fix: 'Give the model a chat_template.jinja that renders `tools`, or another model.',
      });
    }
    for (const count of [1, 2]) {
      const added = Array.from({ length: count }, (_, i) => probe(i, tools[i % tools.length]!.name));
      const extended = toolExtension(render, messages, added, stop);
      if (extended.ok) continue;
      throw new ModelError(`The chat template of ${name} cannot carry tools: ${extended.obstacle.does}.`, {
        reason: 'tool-messages',
        fix: 'Give the model a chat_template.jinja with the role "tool", or another model.',
      });
    }
  }
}

const probe = (i: number, name: string): Message => ({
  role: 'tool',
  content: `Result${i}of7`,
  name,
  tool_call_id: `probe000${i}`,
});

/** Messages in place of the reply: an answer, or as many calls as there are results. */
function* stand(
  mark: string,
  added: readonly Message[],
): Generator<{ readonly reply: ChatMessage; readonly inCall: boolean }> {
  yield { reply: { role: 'assistant', content: mark }, inCall: false };
  const results = added.filter(({ role }) => role !== 'user' && role !== 'system');
  for (const value of [{ mark }, JSON.stringify({ mark })]) {
    const calls = results.map(({ name = 'call', tool_call_id: id }, i) => ({
      id: id ?? `call0000${i}`,
      type: 'function',
      function: { name, arguments: value },
    }));
    yield { reply: { role: 'assistant', content: '', tool_calls: calls }, inCall: true };
  }
}

/** A reply that ends with the first stands where the template writes the second. */
const ALSO_ENDS: Readonly<Record<string, string>> = { '<|eom_id|>': '<|eot_id|>' };

/** Text behind the reply's own stop token; null if it cannot be told where the reply ends. */
function behind(text: string, stop: string | null, inCall: boolean): string | null {
  const end = stop === null || text.includes(stop) ? stop : (ALSO_ENDS[stop] ?? stop);
  if (!inCall) return withoutStop(text, end);
  const at = end === null ? -1 : text.indexOf(end);
  return at < 0 ? null : text.slice(at + end!.length);
}

/** Templates trim, escape and quote: the words of a result stay, in order. */
function shows(text: string, content: string): boolean {
  let at = 0;
  for (const [word] of content.matchAll(/[A-Za-z0-9]+/g)) {
    const found = text.indexOf(word, at);
    if (found < 0) return false;
    at = found + word.length;
  }
  return true;
}

function deepest(error: unknown): string {
  let e = error;
  while (e instanceof Error && e.cause instanceof Error) e = e.cause;
  return e instanceof Error ? e.message : String(e);
}
