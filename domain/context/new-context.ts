// Makes C_t from S_{t-1}: the prompt, or the feedback on the turn before. The model's own ids are never made from text
// again; the added text is tokenised in its position after them.

import { feedbackOn, seedFeedback } from './feedback.ts';
import { ModelError } from '../errors/errors.ts';
import { feedbackExtension, mustExtend, type Render, TEXT_PROMPT, withoutStop } from './feedback-delta.ts';
import type { ChatMessage, Message, Prompt, Query } from '../query/query.ts';
import type { RolloutSettings } from '../rollout/settings.ts';
import type { JsonObject } from '../text/json.ts';
import type { CallToShow, ShownCall } from './call-text.ts';
import type { ToolSchema, ToolSettings } from '../tools/tool.ts';
import { templateTools, toolExtension } from './tool-extension.ts';
import type { RolloutRecord, VerdictRecord } from '../rollout/trajectory.ts';
import type { TurnRecord } from '../rollout/turn.ts';

/** The part of a tokenizer that a context is made with. */
export interface ContextTokenizer {
  encode(text: string): Promise<number[]>;
  /** Rejects with TooManyTokens if there are more than `most`. */
  encodeRendered(text: string, most?: number): Promise<number[]>;
  decode(ids: readonly number[], options: { readonly skipSpecialTokens: boolean }): Promise<string>;
  /** `tools`: as the template takes them. */
  renderChat(messages: readonly ChatMessage[], tools?: readonly object[], variables?: JsonObject): string;
  /** Does what shownCall does with this template, without holding the event loop however long the conversation is. */
  showCall?(call: CallToShow): Promise<ShownCall | null>;
  chatTemplate(): string | null;
}

/** The ids of a text, of which nobody could make use, are not made. */
export class TooManyTokens extends Error {
  readonly tokens: number;
  /** The call behind whose ids they would be. */
  readonly parent: string | null;

  constructor(tokens: number, parent: string | null = null) {
    super(`${tokens} tokens are too many`);
    this.tokens = tokens;
    this.parent = parent;
  }
}

/** The model that answers. */
export interface AskedModel {
  readonly tokenizer: ContextTokenizer;
  readonly facts: { readonly name: string };
}

export interface NewContext {
  readonly text: string;
  readonly ids: readonly number[];
}

/** An earlier turn and its verdict. */
export interface EarlierTurn {
  readonly turn: TurnRecord;
  readonly verdict: VerdictRecord;
  /** A person's message behind the feedback on it. */
  readonly said?: string;
}

export async function newContext(
  { query, settings }: RolloutRecord,
  answered: EarlierTurn | null,
  { tokenizer, facts }: AskedModel,
): Promise<NewContext> {
  const { prompt } = query;
  const variables = templateVariables({ query, settings });
  const render = renderFor(tokenizer, settings.tools?.list, variables);
  if (answered) {
    const feedback = feedbackOn(answered.verdict, answered.said);
    if (answered.verdict.verdict === 'called')
      return resultsOf(tokenizer, render, prompt, answered.turn, feedback, settings.tools);
    if (settings.feedback === 'delta') return deltaFeedback(tokenizer, render, prompt, answered.turn, feedback);
    // Alone, as the original renders it: the tools were shown with the question.
    const text = seedFeedback(feedback, renderFor(tokenizer, undefined, variables));
    return { text, ids: await tokenizer.encode(text) };
  }
  if (settings.feedback === 'delta') {
    mustExtend({ name: facts.name, text: tokenizer.chatTemplate() ?? '', render }, messagesOf(prompt));
  }
  if (prompt.kind === 'text') return { text: prompt.text, ids: await tokenizer.encode(prompt.text) };
  const text = render(prompt.messages);
  return { text, ids: await tokenizer.encodeRendered(text) };
}

/** The new part of a conversation with a model that takes messages, for readers: its own rendering is not known here. */
export function newTranscript({ query: { prompt } }: RolloutRecord, answered: EarlierTurn | null): string {
  if (answered) return seedFeedback(feedbackOn(answered.verdict, answered.said), transcript);
  return prompt.kind === 'text' ? prompt.text : transcript(prompt.messages);
}

function transcript(messages: readonly Message[]): string {
  return messages.map(({ role, content }) => `${role}: ${content}\n`).join('');
}

/** A message, of the assistant with the calls that an endpoint gave apart from its text, and the thoughts that led to them. */
type Spoken = Message & Pick<TurnRecord, 'toolCalls' | 'reasoning'>;

/** The whole conversation as messages, for a backend that takes no ids. A prompt that is a text is one message. */
export function conversationOf(prompt: Prompt, answered: readonly EarlierTurn[]): readonly Spoken[] {
  return [
    ...(prompt.kind === 'messages' ? prompt.messages : [{ role: 'user' as const, content: prompt.text }]),
    ...answered.flatMap(({ turn, verdict, said }): Spoken[] => [spoken(turn), ...feedbackOn(verdict, said)]),
  ];
}

function spoken({ answer, calls, toolCalls, reasoning }: TurnRecord): Spoken {
  const message = { role: 'assistant' as const, content: answer };
  return calls && toolCalls ? { ...message, toolCalls, ...(reasoning !== undefined && { reasoning }) } : message;
}

/** The variables of the chat template in a rollout: the row's own before the run's; undefined if there are none. */
export function templateVariables({
  query: { chatTemplateKwargs: ofRow },
  settings: { chatTemplateKwargs: ofRun },
}: {
  readonly query: Pick<Query, 'chatTemplateKwargs'>;
  readonly settings: Pick<RolloutSettings, 'chatTemplateKwargs'>;
}): JsonObject | undefined {
  return ofRow || ofRun ? { ...ofRun, ...ofRow } : undefined;
}

/** The chat template with tools and variables. */
export function renderFor(
  tokenizer: Pick<ContextTokenizer, 'renderChat'>,
  tools: readonly ToolSchema[] | undefined,
  variables: JsonObject | undefined,
): Render {
  const shown = tools && templateTools(tools);
  return (messages) => tokenizer.renderChat(messages, shown, variables);
}

/** The results of a turn's calls, in whatever feedback mode: they extend the conversation as it stands. */
async function resultsOf(
  tokenizer: ContextTokenizer,
  render: Render,
  prompt: Prompt,
  { outputIds, finish }: TurnRecord,
  results: readonly Message[],
  { stops = [], opensResults }: Partial<ToolSettings> = {},
): Promise<NewContext> {
  const last = finish === 'stop' ? outputIds.at(-1) : undefined;
  const stop = last === undefined ? null : await tokenizer.decode([last], { skipSpecialTokens: false });
  const end = { stop, stops, ...(opensResults !== undefined && { opensResults }) };
  const extended = toolExtension(render, messagesOf(prompt), results, end);
  if (!extended.ok) throw new ModelError(extended.obstacle.does, { reason: 'tool-messages' });
  const { text } = extended;
  return { text, ids: await idsBehind(tokenizer, stop === null ? ['a', '.', '\n'] : [stop], text) };
}

async function deltaFeedback(
  tokenizer: ContextTokenizer,
  render: Render,
  prompt: Prompt,
  { turn, outputIds, finish }: TurnRecord,
  feedback: readonly Message[],
): Promise<NewContext> {
  const extended = feedbackExtension(render, messagesOf(prompt), turn, feedback);
  if (!extended.ok) throw new ModelError(extended.obstacle.does, { reason: 'feedback-delta' });
  const last = finish === 'stop' ? outputIds.at(-1) : undefined;
  const stop = last === undefined ? null : await tokenizer.decode([last], { skipSpecialTokens: false });
  const text = withoutStop(extended.text, stop);
  return { text, ids: await idsBehind(tokenizer, stop === null ? ['a', '.', '\n'] : [stop], text) };
}

/**
 * Ids of a text in its position after another one: by itself, some tokenizers would put a space before it. Of several
 * possible predecessors, the first that does not merge with the text is used.
 */
export async function idsBehind(
  tokenizer: ContextTokenizer,
  before: readonly string[],
  text: string,
  most = Infinity,
): Promise<number[]> {
  for (const front of before) {
    const head = await tokenizer.encodeRendered(front);
    const jointIds = await tokenizer.encodeRendered(front + text, most + head.length).catch((error: unknown) => {
      throw error instanceof TooManyTokens ? new TooManyTokens(error.tokens - head.length) : error;
    });
    if (head.every((id, i) => jointIds[i] === id)) return jointIds.slice(head.length);
  }
  return tokenizer.encodeRendered(text, most);
}

function messagesOf(prompt: Prompt) {
  return prompt.kind === 'messages' ? prompt.messages : TEXT_PROMPT;
}
