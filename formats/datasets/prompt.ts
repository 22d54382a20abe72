// The question of a row: a plain prompt, chat messages, or a question with the parts that some data sets have in separate
// fields (a body, a context, choices). Pictures are refused, because no model here reads them.

import type { Message, Prompt } from '../../domain/query/query.ts';
import { listing, lists } from './listing.ts';
import { type Choices, choicesOf, type Unread } from './choices.ts';
import { parseJsonLine } from './json-line.ts';
import { nearText } from './near-layout.ts';
import { found, PROMPTS, type Found, type RowObject } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, kindText, shown, checkedText } from './row-fault.ts';

/** A million tokens and more. Up to this length no step blocks the event loop, and longer prompts fit no model. */
export const MAX_PROMPT_CHARS = 4 * 2 ** 20;

export function promptOf(row: RowObject, unread?: Unread): Prompt {
  refusePictures(row);
  const [first, ...others] = found(row, PROMPTS).map(read);
  const list = first ? undefined : Object.keys(row).find((name) => /^\w+$/.test(name) && isListOfRows(row[name]));
  if (list !== undefined) return failRow(list, 'is a list of rows', `Make a file of them: jq -c ".${list}[]".`);
  if (!first)
    return failRow(
      'prompt',
      'is missing',
      `${nearText(row)} Give one of: prompt, messages, question, problem; or --prompt, a template over these.`,
    );
  const { field, prompt } = others.reduce(oneOf, first);
  const choices = choicesOf(row, unread);
  const isQuestion = field.toLowerCase() === 'question' || field.toLowerCase() === 'problem';
  const complete = isQuestion ? whole(row, prompt, choices) : prompt;
  if (choices && unread !== 'ignored' && !isQuestion && !isSaid(textIn(complete), choices.texts))
    failRow(
      choices.field,
      `is there, and \`${field}\` does not list the choices`,
      'Write them into it, or give `question`.',
    );
  if (complete.kind === 'messages' && answered(complete.messages))
    failRow(field, "ends with the assistant's own words", "End with the user's message; an answer goes into `answer`.");
  if (complete.kind === 'messages' && complete.messages.every(({ content }) => content.trim() === ''))
    failRow(field, 'asks nothing: every message is blank', 'Give a text that is not blank.');
  mustFit(field, complete);
  return complete;
}

const isListOfRows = (value: unknown): boolean =>
  Array.isArray(value) && isObject(value[0]) && found(value[0], PROMPTS).length > 0;

interface Asked {
  readonly field: string;
  readonly prompt: Prompt;
}

function read({ field, value: given }: Found): Asked {
  const name = field.toLowerCase();
  const value = name === 'question' && isObject(given) && 'stem' in given ? given['stem'] : given;
  const chat = typeof value === 'string' && CHAT.test(value) ? chatIn(field, value) : value;
  if (name === 'messages' || chat !== value || (name === 'prompt' && Array.isArray(value)))
    return { field, prompt: { kind: 'messages', messages: messagesOf(field, chat) } };
  const text = checkedText(field, value);
  return { field, prompt: name === 'prompt' ? { kind: 'text', text } : asUser(text) };
}

/** A list of messages in a text, as JSON or as Python prints it. */
const CHAT = /^\s*\[\s*\{\s*["'](?:role|content|from|value|name)["']\s*:/;

function chatIn(field: string, text: string): unknown {
  const read = parseJsonLine({ number: 1, text, flaw: null, length: 0 });
  if (read && !('fault' in read)) return read.json;
  const { field: key = null, problem = 'is not JSON' } = read?.fault ?? {};
  return failRow(
    field,
    `is a chat in a text, and ${key === null ? '' : `\`${key}\` `}${problem}`,
    'Write it as json.dumps does, with double quotes, or as a list.',
  );
}

const asUser = (content: string): Prompt => ({ kind: 'messages', messages: [{ role: 'user', content }] });

/** A row may ask twice: as a question, and as a chat that contains it. Then the chat's instructions count,
 *  unless it includes the solution (NuminaMath, Open-R1). */
function oneOf(one: Asked, other: Asked): Asked {
  const fix = `Keep one of: ${one.field}, ${other.field}.`;
  if (one.prompt.kind === 'text' || other.prompt.kind === 'text')
    return failRow(other.field, `stands beside \`${one.field}\``, fix);
  const [a, b] = [one.prompt.messages, other.prompt.messages];
  if (isInside(a, b)) return answered(b) ? one : other;
  if (isInside(b, a)) return answered(a) ? other : one;
  return failRow(other.field, `stands beside \`${one.field}\`, and asks something else`, fix);
}

const isInside = (asked: readonly Message[], chat: readonly Message[]): boolean =>
  asked.length === 1 && chat.some(({ role, content }) => role === 'user' && content.includes(asked[0]!.content.trim()));

const answered = (chat: readonly Message[]): boolean => chat.at(-1)?.role === 'assistant';

/** SVAMP and ASDiv put the story into a body; OlympiadBench has a context; MMLU lists choices. */
function whole(row: RowObject, prompt: Prompt, choices: Choices | undefined): Prompt {
  const [message] = prompt.kind === 'messages' ? prompt.messages : [];
  if (!message) return prompt;
  const { Body, body, context } = row;
  const parts = [message.content];
  if (typeof Body === 'string') parts.unshift(checkedText('Body', Body).trimEnd(), ' ');
  else if (typeof body === 'string' && 'formula' in row) parts.unshift(checkedText('body', body).trimEnd(), ' ');
  if (typeof context === 'string' && context.trim() !== '' && 'final_answer' in row)
    parts.unshift(checkedText('context', context), '\n\n');
  const reading = choices && found(row, READINGS).find(({ value }) => typeof value === 'string' && value.trim() !== '');
  if (reading && !parts.join('').includes(String(reading.value).trim()))
    parts.unshift(checkedText(reading.field, reading.value).trim(), '\n\n');
  const asked = parts.join('');
  const complete = withChoices(asked, choices, lists);
  return complete === message.content ? prompt : asUser(complete);
}

/** The text that a question with choices is about: RACE, LogiQA, AGIEval. */
const READINGS = ['article', 'passage', 'context'] as const;

type Shows = (text: string, choices: readonly string[]) => boolean;

export const withChoices = (text: string, choices: Choices | undefined, shows: Shows): string =>
  choices && !shows(text, choices.texts) ? `${text}\n\n${listing(choices.texts)}` : text;

/** A prompt that is written as a whole may list them in a way of its own. */
export const isSaid: Shows = (text, choices) => lists(text, choices) || choices.every((own) => text.includes(own));

export const textIn = (prompt: Prompt): string =>
  prompt.kind === 'text' ? prompt.text : prompt.messages.map(({ content }) => content).join('\n');

export function mustFit(field: string, prompt: Prompt): void {
  const chars =
    prompt.kind === 'text' ? prompt.text.length : prompt.messages.reduce((sum, { content }) => sum + content.length, 0);
  if (chars <= MAX_PROMPT_CHARS) return;
  failRow(field, `has ${chars} characters`, `A prompt has at most ${MAX_PROMPT_CHARS}; which model could read it?`);
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function messagesOf(field: string, value: unknown): Message[] {
  const example = 'Give a list such as [{"role": "user", "content": "1 + 1 = ?"}].';
  if (!Array.isArray(value)) return failRow(field, `is ${kindText(value)}, not a list`, example);
  if (value.length === 0) failRow(field, 'is an empty list', example);
  return value.map((message: unknown, i) => {
    const at = `${field}[${i}]`;
    if (!isObject(message)) return failRow(at, `is ${kindText(message)}, not an object`, example);
    const { role, content } = message;
    if (typeof role !== 'string' || !ROLES.has(role))
      return failRow(`${at}.role`, `is ${shown(role)}`, 'Give system, developer, user, assistant or tool.');
    return { role, content: contentOf(`${at}.content`, content) };
  });
}

/** A text, or OpenAI's list of parts, whose texts are joined. */
function contentOf(field: string, content: unknown): string {
  if (!Array.isArray(content)) {
    if (typeof content !== 'string')
      return failRow(field, `is ${kindText(content)}`, 'Give a text, or a list of text parts.');
    return checkedText(field, content, 'allowed');
  }
  if (content.length === 0) return failRow(field, 'is an empty list', 'Give a text, or a list of text parts.');
  return content
    .map((part: unknown, i) => {
      const at = `${field}[${i}]`;
      if (!isObject(part))
        return failRow(at, `is ${kindText(part)}, not an object`, 'Give {"type": "text", "text": "…"}.');
      const { type, text } = part;
      if (type !== 'text' && type !== 'input_text')
        return failRow(at, `is of type ${shown(type)}`, 'Only texts are played: leave the row out.');
      return checkedText(`${at}.text`, text, 'allowed');
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
    failRow(field, 'is there, and questions with pictures or sound are not played', 'Leave the row out.');
  }
  if (row['modality'] === 'Multimodal')
    failRow('modality', 'is "Multimodal", and only texts are played', 'Leave the row out.');
}
