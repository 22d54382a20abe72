// Conversations as a model's chat template shows them: short ones at once, long calls of agents on a thread, since a template
// takes some 20 microseconds for each message, and no rendering can be interrupted.

import { type CallToShow, type ShownCall, shownCall } from '../../domain/context/call-text.ts';
import { explain, ModelError } from '../../domain/errors/errors.ts';
import type { ChatMessage } from '../../domain/query/query.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { openThreads } from '../../local/machine/threads.ts';
import type { Tokenizer } from '../backend.ts';
import { chatTemplateOf } from './chat-template.ts';

export type ChatRenderer = Pick<Tokenizer, 'renderChat' | 'chatTemplate'> & Required<Pick<Tokenizer, 'showCall'>>;

export interface TemplateFiles {
  /** The model's, for messages. */
  readonly name: string;
  /** tokenizer_config.json with its tokens as texts. */
  readonly config: Readonly<Record<string, unknown>>;
  /** chat_template.jinja, if there is one. */
  readonly file: string | null;
}

export type ShownOrNot = { readonly shown: ShownCall | null } | { readonly refused: string };

export function openTemplate(files: TemplateFiles): ChatRenderer {
  const { renderChat, chatTemplate } = chatRenderer(files);
  const threads = openThreads<CallToShow, ShownOrNot>({
    script: () => compiledScript('./template-thread', import.meta.url, ModelError),
    beginning: files,
    most: 1,
    many: 1,
  });
  return {
    renderChat,
    chatTemplate,
    async showCall(call) {
      if (!isLong(call)) return shownCall(call, renderChat);
      const answer = await threads.ask(call);
      if ('shown' in answer) return answer.shown;
      throw new ModelError(answer.refused, { reason: 'chat-template-failed' });
    },
  };
}

/** On a thread of openTemplate. */
export function showInThread(call: CallToShow, { renderChat }: Pick<ChatRenderer, 'renderChat'>): ShownOrNot {
  try {
    return { shown: shownCall(call, renderChat) };
  } catch (error) {
    return { refused: explain(error) };
  }
}

export function chatRenderer({ name, config, file }: TemplateFiles): Omit<ChatRenderer, 'showCall'> {
  const template = chatTemplateOf(config, file);
  return {
    chatTemplate: () => template.text(),
    renderChat(messages, tools, variables) {
      try {
        if (template.text(tools) !== null) return template.render(messages, tools, variables);
      } catch (cause) {
        throw new ModelError(`The chat template of ${name} refuses these messages (${rolesOf(messages)})`, {
          reason: 'chat-template-failed',
          cause,
        });
      }
      throw new ModelError(`The tokenizer of ${name} has no chat template`, {
        reason: 'no-chat-template',
        fix: 'Give rows with `prompt`, which is used unchanged, or a model folder with chat_template.jinja.',
      });
    },
  };
}

const rolesOf = (messages: readonly ChatMessage[]) => messages.map(({ role }) => role).join(', ');

/** Characters of a conversation that a template shows in some milliseconds. */
const AT_ONCE = 2 ** 17;
const OF_MESSAGE = 1000;

function isLong({ messages, behind, tools }: CallToShow): boolean {
  let size = JSON.stringify(tools).length;
  for (const { text, reasoning = '', calls = [] } of [...messages, ...(behind?.messages ?? [])]) {
    size += OF_MESSAGE + text.length + reasoning.length + JSON.stringify(calls).length;
    if (size > AT_ONCE) return true;
  }
  return false;
}
