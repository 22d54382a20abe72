// The text that is appended behind an answer with calls: its results, as the model's template shows them, and the next
// generation prompt. The answer itself is never rendered: a call of the same tool with a marker in its arguments takes
// its place, and what follows the stop token behind the marker is appended. So the ids before stay as they are, also
// under templates that would render earlier turns in another way.

import { isBad, type Call, type ChatMessage, type ToolFormat } from './reply.ts';

/** The chat template as text, with the run's tools and the generation prompt. */
export type RenderChat = (messages: readonly ChatMessage[]) => string;

export interface Result {
  readonly call: Call;
  readonly output: string;
}

export type Appended =
  | { readonly ok: true; readonly text: string }
  /** `does`: what the template does instead. */
  | { readonly ok: false; readonly does: string };

/**
 * `before`: the conversation up to the answer, as messages. `stop`: the token that ended the answer, as text. If the
 * template ends a call with another token of the format, the answer's own stands for it.
 */
export function resultsText(
  { render, format }: { readonly render: RenderChat; readonly format: ToolFormat },
  before: readonly ChatMessage[],
  results: readonly Result[],
  stop: string,
): Appended {
  const messages = results.map(({ call, output }) => format.resultMessage(call, output));
  const [mark, probe] = markers([...before, ...messages]);
  let does = 'it leaves calls out';
  // Some templates want arguments as an object, some as text; some take one call in a message only.
  for (const count of results.length > 1 ? [results.length, 1] : [1]) {
    for (const args of [{ value: mark }, JSON.stringify({ value: mark })]) {
      const answer = callsMessage(results.slice(0, count), messages, args);
      try {
        const whole = render([...before, answer, ...messages]);
        const at = whole.lastIndexOf(mark);
        if (at < 0) continue;
        const behind = at + mark.length;
        const probed = render([...before, answer, ...messages.map((one) => ({ ...one, content: probe }))]);
        const shown = probed.split(probe).length - 1;
        if (shown !== results.length) {
          does = `it shows ${shown} of ${results.length} results of tools`;
          continue;
        }
        const gap = probed.slice(behind, probed.indexOf(probe));
        const end = endOfAnswer(gap, stop, format);
        if (end === null) does = `it ends a call with none of ${format.stops.join(', ')}`;
        else if (!whole.startsWith(gap, behind)) does = 'it shows results in a form that depends on their text';
        else return { ok: true, text: whole.slice(behind + end) };
      } catch (error) {
        does = `it refuses such a conversation (${deepest(error)})`;
      }
    }
  }
  return { ok: false, does };
}

/** Null if results can be appended to a conversation that begins with these messages, one or two at a time. */
export function obstacleToTools(
  template: { readonly render: RenderChat; readonly format: ToolFormat },
  before: readonly ChatMessage[],
): string | null {
  const stop = template.format.stops[0]!;
  const call: Call = { name: 'tool', arguments: {}, id: null, raw: '' };
  for (const outputs of [['4'], ['4', 'five\n"6"']]) {
    const results = outputs.map((output) => ({ call, output }));
    const appended = resultsText(template, before, results, stop);
    if (!appended.ok) return appended.does;
  }
  return null;
}

/** The marker stands in the last call: the template's text behind it is the same as behind any arguments. */
function callsMessage(
  results: readonly Result[],
  messages: readonly ChatMessage[],
  marked: object | string,
): ChatMessage {
  const calls = results.map(({ call }, i) => ({
    id: messages[i]!.tool_call_id ?? `call${String(i).padStart(5, '0')}`,
    type: 'function',
    function: {
      name: isBad(call) ? (call.name ?? 'unknown') : call.name,
      arguments: i === results.length - 1 ? marked : typeof marked === 'string' ? '{}' : {},
    },
  }));
  return { role: 'assistant', content: '', tool_calls: calls };
}

/** The place in `gap` where the text behind the answer begins: behind the stop token. */
function endOfAnswer(gap: string, stop: string, { stops, opensResults }: ToolFormat): number | null {
  const own = gap.indexOf(stop);
  if (own >= 0) return own + stop.length;
  const [first] = stops
    .map((token) => ({ token, at: gap.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  if (!first) return null;
  return first.token === opensResults ? first.at : first.at + first.token.length;
}

/** Two texts that occur in no message. */
function markers(messages: readonly ChatMessage[]): readonly [string, string] {
  let [mark, probe] = ['Argument', 'Outcome'];
  while (messages.some(({ content }) => content.includes(mark) || content.includes(probe))) {
    mark += 'x';
    probe += 'x';
  }
  return [mark, probe];
}

/** The template's own error: the innermost message. */
function deepest(error: unknown): string {
  let e = error;
  while (e instanceof Error && e.cause instanceof Error) e = e.cause;
  return e instanceof Error ? e.message : String(e);
}
