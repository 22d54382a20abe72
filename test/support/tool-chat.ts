// A chat template that shows tools and their results, for the byte tokenizer; and the calls that a scripted model writes.

import type { TokenBackend } from '../../inference/backend.ts';
import { byteTokenizer } from './scripted-model.ts';

const shown = (tools: readonly object[]): string => `<start>system\nTools: ${JSON.stringify(tools)}<end>\n`;

/** The same model, with a template that renders `tools`. */
export function withTools<T extends TokenBackend>(backend: T): T {
  const { renderChat } = byteTokenizer;
  return {
    ...backend,
    tokenizer: {
      ...backend.tokenizer,
      renderChat: (messages, tools) => `${tools ? shown(tools) : ''}${renderChat(messages)}`,
      chatTemplate: () => '{# <tool_call> #}',
    },
  };
}

export const callText = (name: string, given: unknown): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;
