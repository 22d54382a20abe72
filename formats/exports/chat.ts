// A trajectory as a conversation: what each answer was given, as messages, and whether it was right. It ends with the
// first right answer, because what follows it is praise and a problem already solved. Text: a reader tokenises it again.

import { feedbackOn } from '../../domain/context/feedback.ts';
import { conversationOf } from '../../domain/context/new-context.ts';
import type { ChatMessage } from '../../domain/query/query.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { jsonFacts } from '../../domain/text/json-text.ts';
import type { GivenCall } from '../../domain/tools/tool.ts';
import { templateTools } from '../../domain/context/tool-extension.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';

export interface ChatTurn {
  /** The prompt, the earlier answers and the feedback on them. */
  readonly context: readonly ChatMessage[];
  readonly answer: ChatMessage;
  readonly right: boolean;
  /** It called tools, and is no answer; their results are in the next one's context. */
  readonly called: boolean;
}

/** A prompt that is bare text went through no chat template: as a message, which endpoints of text get, it would be another prompt. */
export function withoutChat({ rollout: { query }, turns }: Trajectory): 'text-prompt' | undefined {
  return query.prompt.kind === 'text' && turns[0]?.record.trainable !== false ? 'text-prompt' : undefined;
}

export function withoutRight({ turns }: Trajectory): 'no-right-answer' | undefined {
  return turns.some(({ verdict }) => verdict?.verdict === 'right') ? undefined : 'no-right-answer';
}

/** The tools that the model was shown, as chat templates take them: a field of each line, or none. */
export function chatTools({ rollout: { settings } }: Trajectory): { readonly tools?: readonly object[] } {
  return settings.tools ? { tools: templateTools(settings.tools.list) } : {};
}

/** Up to the first right answer, of a rollout that was a chat. */
export function chatOf({ rollout: { query }, turns }: Trajectory): ChatTurn[] {
  let context: readonly ChatMessage[] = conversationOf(query.prompt, []);
  const chat: ChatTurn[] = [];
  for (const [i, { record, verdict }] of turns.entries()) {
    const { answer: content, calls, toolCalls } = record;
    const given = calls && toolCalls && { tool_calls: templateCalls(toolCalls) };
    const answer: ChatMessage = { role: 'assistant', content, ...given };
    const right = verdict?.verdict === 'right';
    chat.push({ context, answer, right, called: verdict?.verdict === 'called' });
    if (right) break;
    context = [...context, answer, ...(verdict ? feedbackOn(verdict, turns[i + 1]?.record.said?.text) : [])];
  }
  return chat;
}

/** A template that is given a text as arguments would encode it twice. */
const templateCalls = (calls: readonly GivenCall[]): object[] =>
  calls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: argumentsOf(text) },
  }));

/** The arguments as an object; a text that is no object, or that an object would change, stays as the model wrote it. */
export function argumentsOf(text: string): object | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const { doubled, inexact, tooDeep } = jsonFacts(text, value);
    return isObject(value) && doubled === undefined && inexact.size === 0 && !tooDeep ? value : text;
  } catch {
    return text;
  }
}
