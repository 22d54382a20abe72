// The question of a row: a plain prompt, chat messages, or a question with the parts that some data sets have in separate
// fields (a body, a context, choices). Pictures are refused, because no model here reads them.

import type { Message, Prompt } from '../../domain/run/query.ts';
import { choicesOf, listing } from './choices.ts';
import { found, PROMPTS, type Found, type RowObject } from './names.ts';
import { fail, isObject, kindOf, shown, textOf } from './problem.ts';

/** A million tokens and more. Up to this length no step blocks the event loop, and longer prompts fit no model. */
export const MAX_PROMPT_CHARS = 4 * 2 ** 20;

export function promptOf(row: RowObject): Prompt {
  refusePictures(row);
  const [first, ...others] = found(row, PROMPTS).map(read);
  if (!first)
    return fail(
      'prompt',
      'is missing',
      'Give one of: prompt, messages, question, problem; or --prompt, a template over the fields that it has.',
    );
  const { field, prompt } = others.reduce(oneOf, first);
  const complete =
    field.toLowerCase() === 'question' || field.toLowerCase() === 'problem' ? whole(row, prompt) : prompt;
  if (complete.kind === 'messages' && answered(complete.messages))
    fail(field, "ends with the assistant's own words", "End with the user's message; an answer goes into `answer`.");
  if (complete.kind === 'messages' && complete.messages.every(({ content }) => content.trim() === ''))
    fail(field, 'asks nothing: every message is blank', 'Give a text that is not blank.');
  mustFit(field, complete);
  return complete;
}

interface Asked {
  readonly field: string;
  readonly prompt: Prompt;
}

function read({ field, value }: Found): Asked {
  const name = field.toLowerCase();
  if (name === 'messages' || (name === 'prompt' && Array.isArray(value)))
    return { field, prompt: { kind: 'messages', messages: messagesOf(field, value) } };
  const text = textOf(field, value);
  return { field, prompt: name === 'prompt' ? { kind: 'text', text } : asUser(text) };
}

const asUser = (content: string): Prompt => ({ kind: 'messages', messages: [{ role: 'user', content }] });

/** A row may ask twice: as a question, and as a chat that contains it. Then the chat's instructions count,
 *  unless it includes the solution (NuminaMath, Open-R1). */
function oneOf(one: Asked, other: Asked): Asked {
  const fix = `Keep one of: ${one.field}, ${other.field}.`;
  if (one.prompt.kind === 'text' || other.prompt.kind === 'text')
    return fail(other.field, `stands beside \`${one.field}\``, fix);
  const [a, b] = [one.prompt.messages, other.prompt.messages];
  if (isInside(a, b)) return answered(b) ? one : other;
  if (isInside(b, a)) return answered(a) ? other : one;
  return fail(other.field, `stands beside \`${one.field}\`, and asks something else`, fix);
}

const isInside = (asked: readonly Message[], chat: readonly Message[]): boolean =>
  asked.length === 1 && chat.some(({ role, content }) => role === 'user' && content.includes(asked[0]!.content.trim()));

const answered = (chat: readonly Message[]): boolean => chat.at(-1)?.role === 'assistant';

/** SVAMP and ASDiv put the story into a body; OlympiadBench has a context; MMLU lists choices. */
function whole(row: RowObject, prompt: Prompt): Prompt {
  const [message] = prompt.kind === 'messages' ? prompt.messages : [];
  if (!message) return prompt;
  const { Body, body, context } = row;
  const parts = [message.content];
  if (typeof Body === 'string') parts.unshift(textOf('Body', Body).trimEnd(), ' ');
  else if (typeof body === 'string' && 'formula' in row) parts.unshift(textOf('body', body).trimEnd(), ' ');
  if (typeof context === 'string' && context.trim() !== '' && 'final_answer' in row)
    parts.unshift(textOf('context', context), '\n\n');
  const choices = choicesOf(row);
  if (choices && !choices.texts.every((text) => message.content.includes(text))) parts.push('\n\n', listing(choices));
  return parts.length === 1 ? prompt : asUser(parts.join(''));
}

export function mustFit(field: string, prompt: Prompt): void {
  const chars =
    prompt.kind === 'text' ? prompt.text.length : prompt.messages.reduce((sum, { content }) => sum + content.length, 0);
  if (chars <= MAX_PROMPT_CHARS) return;
  fail(field, `has ${chars} characters`, `A prompt has at most ${MAX_PROMPT_CHARS}; which model could read it?`);
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function messagesOf(field: string, value: unknown): Message[] {
  const example = 'Give a list such as [{"role": "user", "content": "1 + 1 = ?"}].';
  if (!Array.isArray(value)) return fail(field, `is ${kindOf(value)}, not a list`, example);
  if (value.length === 0) fail(field, 'is an empty list', example);
  return value.map((message: unknown, i) => {
    const at = `${field}[${i}]`;
    if (!isObject(message)) return fail(at, `is ${kindOf(message)}, not an object`, example);
    const { role, content } = message;
    if (typeof role !== 'string' || !ROLES.has(role))
      return fail(`${at}.role`, `is ${shown(role)}`, 'Give system, developer, user, assistant or tool.');
    return { role, content: contentOf(`${at}.content`, content) };
  });
}

/** A text, or OpenAI's list of parts, whose texts are joined. */
function contentOf(field: string, content: unknown): string {
  if (!Array.isArray(content)) {
    if (typeof content !== 'string')
      return fail(field, `is ${kindOf(content)}`, 'Give a text, or a list of text parts.');
    return textOf(field, content, 'allowed');
  }
  if (content.length === 0) return fail(field, 'is an empty list', 'Give a text, or a list of text parts.');
  return content
    .map((part: unknown, i) => {
      const at = `${field}[${i}]`;
      if (!isObject(part)) return fail(at, `is ${kindOf(part)}, not an object`, 'Give {"type": "text", "text": "…"}.');
      const { type, text } = part;
      if (type !== 'text' && type !== 'input_text')
        return fail(at, `is of type ${shown(type)}`, 'Only texts are played: leave the row out.');
      return textOf(`${at}.text`, text, 'allowed');
    })
    .join('');
}

const PICTURES = /^(?:decoded_)?(?:images?|pictures?|audios?|videos?)(?:_?\d{1,2})?$/i;

function refusePictures(row: RowObject): void {
  for (const field of Object.keys(row)) {
    if (!PICTURES.test(field)) continue;
    const value = row[field];
    if (value == null || value === '' || value === false || (Array.isArray(value) && value.every((v) => v == null)))
      continue;
    fail(field, 'is there, and questions with pictures or sound are not played', 'Leave the row out.');
  }
  if (row['modality'] === 'Multimodal')
    fail('modality', 'is "Multimodal", and only texts are played', 'Leave the row out.');
}
