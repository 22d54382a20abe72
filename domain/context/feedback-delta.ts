// `delta` feedback: what the chat template adds for one more user message, with no second system prompt or BOS in
// mid-sequence; a marker takes the place of the model's own answer, whose ids stay as they were sampled, also under a template that
// drops the thoughts of earlier answers. Reports why a template cannot be extended that way.

import { FEEDBACK_WRONG } from './feedback.ts';
import { deepestMessage, ModelError } from '../errors/errors.ts';
import type { ChatMessage, Message } from '../query/query.ts';

/** The chat template as text, with the generation prompt. */
export type Render = (messages: readonly ChatMessage[]) => string;

/** Why the rendering of a conversation is not the beginning of the rendering of a longer one. */
interface Obstacle {
  /** The template's behaviour: "it drops …". */
  readonly does: string;
  /** Texts that identify the template's line, the most reliable first. */
  readonly clues: readonly string[];
}

/** `text`: everything after the answer. `rewrites`: the template shows the answer in another form than the model wrote it. */
export type Extension =
  | { readonly ok: true; readonly text: string; readonly rewrites?: Obstacle | undefined }
  | { readonly ok: false; readonly obstacle: Obstacle };

/** A `prompt` row counts as this rendered conversation of one user message, whatever its text. */
export const TEXT_PROMPT: readonly Message[] = [{ role: 'user', content: 'Question' }];

const PROBED_TURNS = 3;
const LOOKS_AHEAD = [
  'loop.last',
  'messages[-1]',
  'messages|length',
  'messages | length',
  'last_',
  'add_generation_prompt',
];

/**
 * The text after the answer of turn `turn` if `added` follows. Markers replace the answers of the turns between:
 * for a template that `obstacleOf` accepts they make no difference.
 */
export function feedbackExtension(
  render: Render,
  messages: readonly Message[],
  turn: number,
  added: readonly Message[],
): Extension {
  const mark = markerFor([...messages, ...added]);
  return extend(render, conversation(messages, turn, mark), mark, added);
}

/**
 * The text without the stop token that the answer already ends with, and without white space before it. A truncated
 * answer has no stop token (null); after a stop token other than the template's, the template's whole ending remains.
 */
export function withoutStop(text: string, stop: string | null): string {
  const at = stop ? text.indexOf(stop) : -1;
  return at >= 0 && text.slice(0, at).trim() === '' ? text.slice(at + stop!.length) : text;
}

/** Whether a conversation that begins with these messages can be extended, and whether its answers then stay as the model wrote them. */
function probed(
  render: Render,
  template: string,
  messages: readonly Message[],
): Omit<Extension & { ok: true }, 'text'> | (Extension & { ok: false }) {
  const mark = markerFor(messages);
  const added: readonly Message[] = [{ role: 'user', content: FEEDBACK_WRONG }];
  const answers: { text: string; clues: readonly string[] }[] = [
    { text: `${mark} \n\n  ${mark}`, clues: [] },
    ...soughtTexts(template).map(({ written, text }) => ({
      text: mark + text + mark,
      clues: [`split('${written}')`, `split("${written}")`, written],
    })),
  ];
  let rewrites: Obstacle | undefined;
  for (let turn = 1; turn <= PROBED_TURNS; turn++) {
    const before = conversation(messages, turn, mark);
    const plain = extend(render, before, mark, added);
    if (!plain.ok) return plain;
    rewrites ??= plain.rewrites;
    for (const { text, clues } of answers) {
      const extended = extend(render, before, text, added);
      if (!extended.ok) rewrites ??= { ...extended.obstacle, clues: [...clues, ...extended.obstacle.clues] };
    }
  }
  return { ok: true, rewrites };
}

interface NamedTemplate {
  /** The model's name, for messages. */
  readonly name: string;
  readonly text: string;
  readonly render: Render;
}

/** What the template does to earlier answers, which a rollout keeps as they are; null: nothing, or it cannot be extended. */
export function answersRewritten({ text, render }: NamedTemplate, messages: readonly Message[]): string | null {
  const found = probed(render, text, messages);
  return found.ok && found.rewrites ? inTemplate(text, found.rewrites) : null;
}

/** Throws a ModelError if conversations that begin with these messages cannot be extended. */
export function mustExtend({ name, text, render }: NamedTemplate, messages: readonly Message[]): void {
  const found = probed(render, text, messages);
  if (found.ok) return;
  const roles = messages.map(({ role }) => role).join(', ');
  throw new ModelError(
    `--feedback delta cannot extend the chat template of ${name} after messages of ${roles}: ${inTemplate(text, found.obstacle)}`,
    {
      reason: 'feedback-delta',
      fix: 'Play with --feedback seed, or give the model a chat_template.jinja that keeps earlier turns as they were.',
    },
  );
}

function inTemplate(text: string, obstacle: Obstacle): string {
  const line = templateLine(text, obstacle);
  return obstacle.does + (line ? ` (${line})` : '');
}

/** `line 12: …`, quoted from the template, if a clue identifies it. */
function templateLine(template: string, { clues }: Obstacle): string | null {
  const lines = template.split('\n');
  for (const clue of clues) {
    for (const [i, line] of lines.entries()) {
      const at = line.indexOf(clue);
      if (at < 0) continue;
      // Many templates are one long line; the tag that contains the clue is more informative.
      const tag = Math.max(line.lastIndexOf('{%', at), line.lastIndexOf('{{', at), 0);
      const from = line.length <= MAX_LINE ? 0 : tag;
      const end =
        line.length <= MAX_LINE
          ? line.length
          : Math.max(line.slice(0, from + MAX_LINE).lastIndexOf('}') + 1, at + clue.length);
      return `line ${i + 1}: ${line.slice(from, end).trim()}`;
    }
  }
  return null;
}

const MAX_LINE = 160;

function extend(render: Render, before: readonly Message[], answer: string, added: readonly Message[]): Extension {
  let prefix: string;
  let extended: string;
  try {
    prefix = render(before);
    extended = render([...before, { role: 'assistant', content: answer }, ...added]);
  } catch (error) {
    const reason = deepestMessage(error);
    return no(`it refuses such a conversation (${reason})`, [reason]);
  }
  const same = commonLength(prefix, extended);
  const [was, becomes] = [prefix.slice(same), extended.slice(same)];
  const changed = {
    does: `it renders what went before in another way once more follows: ${excerpt(was)} becomes ${excerpt(becomes)}`,
    clues: [...words(was), ...LOOKS_AHEAD],
  };
  // What stands behind the last message is the opening of the answer.
  const last = before.at(-1)?.content.trim() ?? '';
  if (was !== '' && same < prefix.lastIndexOf(last) + last.length) return { ok: false, obstacle: changed };
  const at = extended.indexOf(answer, same);
  if (at < 0) return no('it does not keep the text of earlier answers', ['split(', ...LOOKS_AHEAD]);
  const between = extended.slice(same, at);
  const put = `it puts ${excerpt(between)} before an answer once more follows`;
  const rewrites =
    was !== ''
      ? changed
      : between.trim() !== ''
        ? { does: put, clues: [...words(between), ...LOOKS_AHEAD] }
        : undefined;
  return { ok: true, text: extended.slice(at + answer.length), rewrites };
}

/** The conversation up to the answer of turn `turn`. */
function conversation(messages: readonly Message[], turn: number, mark: string): Message[] {
  const rounds = Array.from({ length: turn - 1 }, (): Message[] => [
    { role: 'assistant', content: mark },
    { role: 'user', content: FEEDBACK_WRONG },
  ]);
  return [...messages, ...rounds.flat()];
}

/** A text that occurs in no message and that no template would change. */
export function markerFor(messages: readonly Message[]): string {
  let longest = '';
  for (const { content } of messages)
    for (const [found] of content.matchAll(/Answerx*/g)) if (found.length > longest.length) longest = found;
  return longest === '' ? 'Answer' : `${longest}x`;
}

/** Texts that the template searches for in messages: an answer may contain them. `written`: as in the template. */
function soughtTexts(template: string): { written: string; text: string }[] {
  const calls = template.matchAll(/\b(?:split|replace|startswith|endswith|find|partition)\(\s*(['"])(.+?)\1/g);
  const contained = template.matchAll(/(['"])([^'"]+)\1\s+(?:not\s+)?in\b/g);
  const written = new Set([...calls, ...contained].map(([, , text]) => text!));
  return [...written]
    .map((text) => ({ written: text, text: text.replaceAll('\\n', '\n') }))
    .filter(({ text }) => text.trim() !== '');
}

function no(does: string, clues: readonly string[]): Extension {
  return { ok: false, obstacle: { does, clues } };
}

/** Words that the template may contain literally, longest first. */
function words(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word.length > 2)
    .slice(0, 3)
    .sort((a, b) => b.length - a.length);
}

function commonLength(a: string, b: string): number {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return n;
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** The template's own error: the innermost message. */
